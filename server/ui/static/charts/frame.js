/**
 * Where a chart draws: the plot's rectangle, its axes with grid and titles, and the legend.
 *
 * The rectangle depends on size and options only, never on the data: XProf lays charts over each other and
 * relies on their plots being congruent.
 */
import { draw, fitText, textWidth } from "./svg.js";

const FONT = 11;
const MARGIN = { side: 0.04, legend: 0.24, labels: 0.11, names: 0.24 };

/** The text size that an option asks for. */
export function fontSize(options) {
  return options?.textStyle?.fontSize ?? FONT;
}

/** Where the legend is: right unless the option, an object or a bare word, says otherwise. */
export function legendPosition({ legend }) {
  return (typeof legend === "string" ? legend : legend?.position) ?? "right";
}

/** A length of `chartArea` in pixels; undefined when it is not given. */
function pixels(value, whole) {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "number") return value;
  const number = Number.parseFloat(value);
  return String(value).endsWith("%") ? (number / 100) * whole : number;
}

/** Start and length of the plot along one side, from what is given of start, length and end. */
function span(whole, { start, length, end }, usual) {
  if (start !== undefined && end !== undefined) return [start, Math.max(10, whole - start - end)];
  if (length === undefined) {
    const [first, last] = [start ?? usual.start, end ?? usual.end];
    return [first, Math.max(10, whole - first - last)];
  }
  const first = start ?? (end === undefined ? Math.max(0, (whole - length) / 2) : whole - end - length);
  // A plot of 100 % still leaves room for the labels beside it.
  const room = length > whole - usual.end - usual.start ? Math.max(first, usual.start) : first;
  const from = start ?? room;
  return [from, Math.max(10, Math.min(length, whole - from - Math.min(usual.end, whole * 0.05)))];
}

/** The rectangle of the plot. `vertical`: categories run from top to bottom. */
export function plotRect(size, options, vertical) {
  const area = options.chartArea ?? {};
  const right = legendPosition(options) === "right";
  const { width, height } = size;
  const [left, wide] = span(
    width,
    { start: pixels(area.left, width), length: pixels(area.width, width), end: pixels(area.right, width) },
    {
      start: Math.min(180, Math.max(46, width * (vertical ? MARGIN.names : MARGIN.labels))),
      end: width * (right ? MARGIN.legend : MARGIN.side),
    },
  );
  const [top, high] = span(
    height,
    { start: pixels(area.top, height), length: pixels(area.height, height), end: pixels(area.bottom, height) },
    {
      start: 12 + (options.title ? 20 : 0) + (legendPosition(options) === "top" ? 16 : 0),
      end: 24 + (options.hAxis?.title ? 18 : 0),
    },
  );
  // XProf gives a title and a plot that starts above it; Google moves the title, we move the plot.
  const below = options.title ? Math.max(top, 26) : top;
  const bottom = Math.min(top + high, height - (options.hAxis?.title ? 30 : 0));
  return { left, top: below, width: wide, height: Math.max(10, bottom - below) };
}

/** A line of the grid, unless the axis hides it. */
function drawGridLine(root, axis, from, to, isBaseline) {
  const wanted = isBaseline ? (axis.baselineColor ?? "#9aa0a6") : (axis.gridlines?.color ?? "#e0e0e0");
  if (wanted === "transparent" || wanted === "none") return;
  const stroke = isBaseline ? "#9aa0a6" : "#e0e0e0";
  draw(root, "line", { x1: from.x, y1: from.y, x2: to.x, y2: to.y, stroke });
}

/** The ticks that have room for their labels. */
function sparse(ticks, room, sizeOf, every) {
  if (!ticks.length) return [];
  const step = Math.max(every ?? 1, Math.ceil((sizeOf * ticks.length) / Math.max(1, room)), 1);
  return ticks.filter((_, index) => index % step === 0);
}

/** The axis along the bottom: labels and grid lines of its scale. */
export function drawBottomAxis(root, plot, scale, axis, { grid }) {
  const size = fontSize(axis);
  const bottom = plot.top + plot.height;
  const texts = scale.ticks.map((tick) => scale.text(tick));
  const widest = Math.min(120, Math.max(0, ...texts.slice(0, 200).map((text) => textWidth(text, size))));
  const shown = axis.textPosition === "none" ? [] : scale.ticks;
  for (const tick of grid ? scale.ticks : []) {
    const x = plot.left + scale.at(tick) * plot.width;
    drawGridLine(root, axis, { x, y: plot.top }, { x, y: bottom }, tick === 0);
  }
  for (const tick of sparse(shown, plot.width, widest + 10, axis.showTextEvery)) {
    const x = plot.left + scale.at(tick) * plot.width;
    const text = fitText(scale.text(tick), size, 120);
    draw(root, "text", { x, y: bottom + size + 4, "text-anchor": "middle", "font-size": size }, text);
  }
}

/** An axis along the left side (or the right one): labels and grid lines of its scale. */
export function drawSideAxis(root, plot, scale, axis, { grid, right = false, fromTop = false }) {
  const size = fontSize(axis);
  const edge = right ? plot.left + plot.width : plot.left;
  const y = (tick) => plot.top + (fromTop ? scale.at(tick) : 1 - scale.at(tick)) * plot.height;
  for (const tick of grid ? scale.ticks : []) {
    const from = { x: plot.left, y: y(tick) };
    drawGridLine(root, axis, from, { x: plot.left + plot.width, y: y(tick) }, tick === 0);
  }
  const shown = axis.textPosition === "none" ? [] : scale.ticks;
  for (const tick of sparse(shown, plot.height, size + 3, axis.showTextEvery)) {
    const at = { x: right ? edge + 6 : edge - 6, y: y(tick) + size * 0.35 };
    const anchor = right ? "start" : "end";
    const text = fitText(scale.text(tick), size, Math.max(24, plot.left - 8));
    draw(root, "text", { ...at, "text-anchor": anchor, "font-size": size }, text);
  }
}

/** The titles of the chart and of its axes. */
export function drawTitles(root, plot, size, { title, bottom, left, right }) {
  const middle = plot.left + plot.width / 2;
  const centre = plot.top + plot.height / 2;
  if (title) {
    const text = fitText(title, 13, size.width - plot.left);
    draw(root, "text", { class: "xh-title", x: plot.left, y: 16, "font-size": 13 }, text);
  }
  const axisTitle = (text, x, y, turn) =>
    draw(
      root,
      "text",
      {
        class: "xh-axis-title", x, y, "font-size": 12, "text-anchor": "middle",
        transform: turn ? `rotate(-90 ${x} ${y})` : undefined,
      },
      fitText(text, 12, turn ? size.height : size.width),
    );
  if (bottom) axisTitle(bottom, middle, Math.min(size.height - 4, plot.top + plot.height + 36), false);
  if (left) axisTitle(left, 12, centre, true);
  if (right) axisTitle(right, size.width - 6, centre, true);
}

/** The places of legend entries in rows above or below the plot. */
function rowPlaces(entries, plot, font, top, lines) {
  const places = [];
  let [x, line] = [plot.left, 0];
  for (const entry of entries) {
    const text = fitText(entry.label, font, plot.width / 2);
    const width = textWidth(text, font) + 28;
    if (x > plot.left && x + width > plot.left + plot.width) [x, line] = [plot.left, line + 1];
    if (line >= lines) break;
    places.push({ entry, text, x, y: top + line * (font + 5) });
    x += width;
  }
  return places;
}

/** The places of legend entries in a column right of the plot. */
function columnPlaces(entries, plot, size, font) {
  const x = plot.left + plot.width + 14;
  const room = Math.max(1, Math.floor((size.height - plot.top) / (font + 7)));
  return entries.slice(0, room).map((entry, index) => ({
    entry,
    text: fitText(entry.label, font, Math.max(20, size.width - x - 18)),
    x,
    y: plot.top + 4 + index * (font + 7),
  }));
}

/** The legend of `entries` `{label, color}` where the options want it. */
export function drawLegend(root, plot, size, options, entries) {
  const position = legendPosition(options);
  const named = entries.filter((entry) => entry.label !== "");
  if (position === "none" || !named.length) return;
  const font = fontSize(options.legend);
  const lines = options.legend?.maxLines ?? 2;
  const above = Math.max(10, plot.top - 8 - (options.legend?.maxLines ? (lines - 1) * (font + 5) : 0));
  const below = plot.top + plot.height + 34;
  const places =
    position === "right" || position === "left"
      ? columnPlaces(named, plot, size, font)
      : rowPlaces(named, plot, font, position === "bottom" ? below : above, lines);
  for (const { entry, text, x, y } of places) {
    draw(root, "rect", { x, y: y - 8, width: 10, height: 10, fill: entry.color, rx: 2 });
    const label = draw(root, "text", { x: x + 15, y: y + 1, "font-size": font }, text);
    draw(label, "title", {}, entry.label);
  }
}
