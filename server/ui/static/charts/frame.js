/**
 * Where a chart draws: the plot's rectangle, and its axes with grid and titles.
 *
 * The rectangle depends on size and options only, never on the data: XProf lays charts over each other and
 * relies on their plots being congruent.
 */
import { legendPosition } from "./legend.js";
import { draw, fitText, textWidth } from "./svg.js";

const FONT = 11;
const MARGIN = { side: 0.04, legend: 0.24, labels: 0.11, names: 0.24 };

/** Pixels below the plot that labels with a title need. */
const BELOW_WITH_TITLE = 38;

/** Pixels of a second line of the bottom axis' title, and the sizes of titles. */
const TITLE_LINE = 14;
const TITLE = 12;

/** Pixels beside the plot that a second axis needs. */
const SECOND_AXIS = 52;

/** The widest label of an axis, in pixels. */
const WIDEST = 120;

/** The text size that an option asks for. */
export function fontSize(options) {
  return options?.textStyle?.fontSize ?? FONT;
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
  const second = options.vAxes?.[1] ? SECOND_AXIS : 0;
  const { width, height } = size;
  const [left, wide] = span(
    width,
    { start: pixels(area.left, width), length: pixels(area.width, width), end: pixels(area.right, width) },
    {
      start: Math.min(180, Math.max(46, width * (vertical ? MARGIN.names : MARGIN.labels))),
      end: Math.max(second, width * (right ? MARGIN.legend : MARGIN.side) + (right ? second : 0)),
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
  const start = options.title ? Math.max(top, 28) : top;
  const end = Math.min(top + high, height - roomBelow(options, wide));
  return { left, top: start, width: wide, height: Math.max(10, end - start) };
}

/** The pixels that the bottom axis needs. XProf asks for plots that leave less. */
function roomBelow({ hAxis, legend }, wide) {
  const below = legendPosition({ legend }) === "bottom" ? 18 : 0;
  if (hAxis?.title) {
    const second = titleLines(hAxis.title, wide).length > 1 ? TITLE_LINE : 0;
    return BELOW_WITH_TITLE - (hAxis.textPosition === "none" ? 16 : 0) + below + second;
  }
  // Without axes' names a plot may fill everything, as the bars of the memory viewer do.
  return below;
}

/** A title in at most two lines that are no wider than the plot. */
function titleLines(text, width) {
  if (textWidth(text, TITLE) <= width) return [text];
  const words = text.split(" ");
  let first = words.length;
  while (first > 1 && textWidth(words.slice(0, first).join(" "), TITLE) > width) first--;
  const rest = words.slice(first).join(" ");
  return [words.slice(0, first).join(" "), ...(rest ? [rest] : [])].map((line) => fitText(line, TITLE, width));
}

/** A line of the grid, unless the axis hides it. */
function drawGridLine(root, axis, from, to, isBaseline) {
  const wanted = isBaseline ? axis.baselineColor : axis.gridlines?.color;
  if (wanted === "transparent" || wanted === "none") return;
  draw(root, "line", { x1: from.x, y1: from.y, x2: to.x, y2: to.y, class: isBaseline ? "xh-base" : "xh-grid" });
}

/** The ticks that have room for their labels. */
function sparse(ticks, room, sizeOf, every) {
  if (!ticks.length) return [];
  const step = Math.max(every ?? 1, Math.ceil((sizeOf * ticks.length) / Math.max(1, room)), 1);
  return ticks.filter((_, index) => index % step === 0);
}

/** The widest of the labels of an axis, in pixels; of long lists the first ones stand for all. */
function widestOf(scale, size) {
  const widths = scale.ticks.slice(0, 200).map((tick) => textWidth(scale.text(tick), size));
  return widths.reduce((most, width) => Math.max(most, width), 0);
}

/** The axis along the bottom: labels and grid lines of its scale. Labels stay inside of `size`. */
export function drawBottomAxis(root, plot, scale, axis, { grid, size: whole }) {
  const size = fontSize(axis);
  const bottom = plot.top + plot.height;
  const shown = axis.textPosition === "none" ? [] : scale.ticks;
  for (const tick of grid ? scale.ticks : []) {
    const x = plot.left + scale.at(tick) * plot.width;
    drawGridLine(root, axis, { x, y: plot.top }, { x, y: bottom }, tick === 0);
  }
  const widest = shown.length ? Math.min(WIDEST, widestOf(scale, size)) : 0;
  for (const tick of sparse(shown, plot.width, widest + 12, axis.showTextEvery)) {
    const text = fitText(scale.text(tick), size, WIDEST);
    const half = textWidth(text, size) / 2 + 1;
    const middle = plot.left + scale.at(tick) * plot.width;
    const x = Math.max(half, Math.min(middle, whole.width - half));
    draw(root, "text", { x, y: bottom + size + 5, "text-anchor": "middle", "font-size": size }, text);
  }
}

/**
 * An axis along the left side (or the right one): labels and grid lines of its scale.
 *
 * Returns the pixels from the plot to the far end of its labels.
 */
export function drawSideAxis(root, plot, scale, axis, { grid, right = false, fromTop = false }) {
  const size = fontSize(axis);
  const edge = right ? plot.left + plot.width : plot.left;
  const y = (tick) => plot.top + (fromTop ? scale.at(tick) : 1 - scale.at(tick)) * plot.height;
  for (const tick of grid ? scale.ticks : []) {
    const from = { x: plot.left, y: y(tick) };
    drawGridLine(root, axis, from, { x: plot.left + plot.width, y: y(tick) }, tick === 0);
  }
  if (axis.textPosition === "none") return 0;
  const room = Math.max(24, plot.left - (axis.title ? 20 : 8));
  for (const tick of sparse(scale.ticks, plot.height, size + 4, axis.showTextEvery)) {
    const at = { x: right ? edge + 7 : edge - 7, y: y(tick) + size * 0.35 };
    const anchor = right ? "start" : "end";
    draw(root, "text", { ...at, "text-anchor": anchor, "font-size": size }, fitText(scale.text(tick), size, room));
  }
  return Math.min(room, widestOf(scale, size)) + 7;
}

/** The titles of the chart and of its axes; `beside` is where the labels of the side axes end. */
export function drawTitles(root, plot, size, titles, beside) {
  const centre = plot.top + plot.height / 2;
  if (titles.title) {
    const text = fitText(titles.title, 13, size.width - plot.left - 4);
    draw(draw(root, "text", { class: "xh-title", x: plot.left, y: 16, "font-size": 13 }, text), "title", {}, titles.title);
  }
  const axisTitle = (text, x, y, whole, transform) => {
    const at = { x, y, "font-size": TITLE, "text-anchor": "middle", transform };
    draw(draw(root, "text", { class: "xh-axis-title", ...at }, text), "title", {}, whole);
  };
  const sideTitle = (text, x) => {
    const y = middleOf(text);
    axisTitle(fitText(text, TITLE, size.height - 4), x, y, text, `rotate(-90 ${x} ${y})`);
  };
  const middleOf = (text) => {
    const half = Math.min(size.height / 2 - 2, textWidth(text, TITLE) / 2);
    return Math.min(size.height - half - 2, Math.max(half + 2, centre));
  };
  if (titles.bottom) {
    const end = plot.top + plot.height;
    const lines = titleLines(titles.bottom, plot.width);
    const last = Math.min(size.height - 5, end + (beside.bottom ? 36 : 18) + (lines.length - 1) * TITLE_LINE);
    for (const [at, line] of lines.entries()) {
      axisTitle(line, plot.left + plot.width / 2, last - (lines.length - 1 - at) * TITLE_LINE, titles.bottom);
    }
  }
  if (titles.left) {
    sideTitle(titles.left, Math.max(12, plot.left - beside.left - 9));
  }
  if (titles.right) {
    sideTitle(titles.right, Math.min(size.width - 5, plot.left + plot.width + beside.right + 17));
  }
}
