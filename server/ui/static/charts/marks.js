/**
 * The marks of axis charts: bars, areas, lines, points, candles, bubbles, intervals and annotations.
 *
 * Each function draws one series into `chart.layer` and returns its marks `{row, column, x, y, box?}`, by
 * which pointer.js finds what lies under the pointer. `chart.point(domain, value)` gives pixels. Series of
 * thousands of values become one element each, without what can't be seen (thin.js).
 */
import { PALETTE, safeColor } from "./colors.js";
import { defaultText } from "./readable.js";
import { draw } from "./svg.js";
import { thinBoxes, thinLine, thinPoints } from "./thin.js";

/** Bars or points of one series from which they are drawn as one element. */
const MANY = 800;

/** How much of an area's colour shows: Google's share, and more where areas don't overlap. */
const OPACITY = 0.3;
const STACKED_OPACITY = 0.5;

/** Share of a band that its bars fill, from `bar.groupWidth`. */
function groupShare({ bar }) {
  const width = bar?.groupWidth;
  if (typeof width === "string" && width.endsWith("%")) return Number.parseFloat(width) / 100;
  return 0.7;
}

/** The rectangle between two corners. */
function boxOf(from, to) {
  return {
    x: Math.min(from.x, to.x),
    y: Math.min(from.y, to.y),
    width: Math.max(0.5, Math.abs(to.x - from.x)),
    height: Math.max(0.5, Math.abs(to.y - from.y)),
  };
}

/** Moves a point by pixels along the domain's direction. */
function shift(point, pixels, vertical) {
  return vertical ? { x: point.x, y: point.y + pixels } : { x: point.x + pixels, y: point.y };
}

/** The colour of one mark: its style column's, else the series'. */
function markColor(chart, series, row) {
  const style = series.roles.style;
  if (style === undefined) return series.color;
  const given = String(chart.table.getValue(row, style) ?? "");
  return safeColor(/(?:^|;)\s*(?:fill-)?color:\s*([^;]+)/.exec(given)?.[1].trim() ?? given, series.color);
}

/** Bars of one series: `place` is its number among `places` side by side. */
export function drawBars(chart, series, spans, { place, places }) {
  const share = groupShare(chart.options);
  const width = (chart.band * share) / places;
  const start = -(chart.band * share) / 2 + place * width;
  const marks = [];
  for (const [row, span] of spans.entries()) {
    if (!span || chart.domain[row] === null) continue;
    const from = shift(chart.point(chart.domain[row], span.from, series), start, chart.vertical);
    const to = shift(chart.point(chart.domain[row], span.to, series), start + width, chart.vertical);
    const box = boxOf(from, to);
    marks.push({ row, column: series.column, x: box.x + box.width / 2, y: box.y, box });
  }
  if (marks.length > MANY && series.roles.style === undefined) {
    drawBarsAsOne(chart, series, marks);
  } else {
    for (const { row, box } of marks) {
      draw(chart.layer, "rect", { ...box, fill: markColor(chart, series, row), class: "xh-bar" });
    }
  }
  return marks;
}

/** Thousands of bars as one shape; those that share a pixel become one as high as the highest. */
function drawBarsAsOne(chart, series, marks) {
  const boxes = thinBoxes(marks.map(({ box }) => box), chart.vertical);
  const d = boxes
    .map(({ x, y, width, height }) => `M${x.toFixed(2)},${y.toFixed(2)}h${width.toFixed(2)}v${height.toFixed(2)}h${(-width).toFixed(2)}z`)
    .join("");
  draw(chart.layer, "path", { d, fill: series.color, class: "xh-bars" });
}

/** Consecutive rows with values, as lists of `{row, at, base}`. */
function runs(chart, series, spans, area) {
  const found = [[]];
  for (let row = 0; row < spans.length; row++) {
    const span = spans[row];
    if (span && chart.domain[row] !== null) {
      const at = chart.point(chart.domain[row], span.to, series);
      found.at(-1).push({ row, at, base: area ? chart.point(chart.domain[row], span.from, series) : at });
    } else if (!chart.options.interpolateNulls && found.at(-1).length) {
      found.push([]);
    }
  }
  return found.filter((run) => run.length);
}

/** Path commands through points; `stepped` keeps each value until the middle of the next. */
function path(points, stepped) {
  if (!stepped) return points.map(({ x, y }, index) => `${index ? "L" : "M"}${x.toFixed(1)},${y.toFixed(1)}`).join("");
  let text = "";
  for (const [index, { x, y }] of points.entries()) {
    const half = ((points[index + 1] ?? points[index]).x - (points[index - 1] ?? points[index]).x) / 2;
    const spread = index && index < points.length - 1 ? half / 2 : half;
    text += `${index ? "L" : "M"}${(x - spread).toFixed(1)},${y.toFixed(1)}L${(x + spread).toFixed(1)},${y.toFixed(1)}`;
  }
  return text;
}

/** The line of one series, and the area below it when `area`. */
export function drawLine(chart, series, spans, { area, stepped, lineWidth }) {
  const marks = [];
  for (const run of runs(chart, series, spans, area)) {
    const line = path(thinLine(run.map(({ at }) => at), chart.vertical), stepped);
    if (area) {
      const back = path(thinLine(run.map(({ base }) => base), chart.vertical).reverse(), stepped);
      const opacity = chart.options.areaOpacity ?? (chart.options.isStacked ? STACKED_OPACITY : OPACITY);
      const d = `${line}${back.replace("M", "L")}Z`;
      draw(chart.layer, "path", { d, fill: series.color, "fill-opacity": opacity, class: "xh-area" });
    }
    // A layer without height would paint its line over that of the layer below it.
    const flat = area && run.every(({ row }) => spans[row].from !== 0 && spans[row].from === spans[row].to);
    if (lineWidth > 0 && !flat) {
      const dash = series.options.lineDashStyle?.map(Number).join(" ");
      const stroke = { stroke: series.color, "stroke-width": lineWidth, "stroke-dasharray": dash };
      draw(chart.layer, "path", { d: line, fill: "none", ...stroke, class: "xh-line" });
    }
    for (const { row, at } of run) marks.push({ row, column: series.column, x: at.x, y: at.y });
  }
  return marks;
}

/** The points of one series. */
export function drawPoints(chart, series, spans, pointSize) {
  const marks = [];
  for (const [row, span] of spans.entries()) {
    if (!span || chart.domain[row] === null || !chart.isVisible(row, span.to, series)) continue;
    marks.push({ row, column: series.column, ...chart.point(chart.domain[row], span.to, series) });
  }
  if (marks.length > MANY && series.roles.style === undefined) {
    drawPointsAsOne(chart, series, marks, pointSize);
  } else {
    for (const { row, x, y } of marks) {
      const fill = markColor(chart, series, row);
      draw(chart.layer, "circle", { cx: x, cy: y, r: pointSize / 2, fill, class: "xh-point" });
    }
  }
  return marks;
}

/** Thousands of points as one path of dots; of those on one pixel one is drawn. */
function drawPointsAsOne(chart, series, marks, pointSize) {
  const d = thinPoints(marks).map(({ x, y }) => `M${x.toFixed(1)},${y.toFixed(1)}h0`).join("");
  const stroke = { stroke: series.color, "stroke-width": pointSize, "stroke-linecap": "round" };
  draw(chart.layer, "path", { d, fill: "none", ...stroke, class: "xh-points" });
}

/** Candles: columns 1 to 4 are low, open, close, high. */
export function drawCandles(chart, series) {
  const width = chart.band * groupShare(chart.options);
  return chart.table.rowIndexes().map((row) => {
    const values = [1, 2, 3, 4].map((column) => chart.table.getValue(row, column));
    const [low, open, close, high] = values.map((value) => chart.point(chart.domain[row], value, series));
    const line = { x1: low.x, y1: low.y, x2: high.x, y2: high.y, stroke: series.color };
    draw(chart.layer, "line", line);
    const box = boxOf(shift(open, -width / 2, chart.vertical), shift(close, width / 2, chart.vertical));
    const fill = values[1] > values[2] ? "var(--xh-surface, #fff)" : series.color;
    draw(chart.layer, "rect", { ...box, fill, stroke: series.color, class: "xh-bar" });
    return { row, column: 1, x: box.x + box.width / 2, y: box.y, box };
  });
}

/** Bubbles: columns are name, x, y, and optionally colour and size. */
export function drawBubbles(chart, series) {
  const { table } = chart;
  const columns = table.getNumberOfColumns();
  const groups = columns > 3 ? table.getDistinctValues(3) : [];
  const largest = columns > 4 ? table.getColumnRange(4).max || 1 : 1;
  return table.rowIndexes().map((row) => {
    const at = chart.point(chart.domain[row], table.getValue(row, 2), series);
    const size = columns > 4 ? Math.max(0, table.getValue(row, 4)) / largest : 0.25;
    const fill = columns > 3 ? PALETTE[groups.indexOf(table.getValue(row, 3)) % PALETTE.length] : series.color;
    const bubble = { cx: at.x, cy: at.y, r: 4 + 26 * Math.sqrt(size), fill, "fill-opacity": 0.75 };
    draw(chart.layer, "circle", { ...bubble, class: "xh-point" });
    return { row, column: 2, ...at };
  });
}

/** The interval columns of a series, in pairs of low and high, as thin boxes. */
export function drawIntervals(chart, series) {
  const color = safeColor(chart.options.intervals?.color, series.color);
  const width = Math.max(2, Math.min(12, chart.band * 0.4));
  for (const row of chart.table.rowIndexes()) {
    const values = series.intervals
      .map((column) => chart.table.getValue(row, column))
      .filter((value) => typeof value === "number");
    if (values.length < 2 || chart.domain[row] === null) continue;
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const from = shift(chart.point(chart.domain[row], low, series), -width / 2, chart.vertical);
    const to = shift(chart.point(chart.domain[row], high, series), width / 2, chart.vertical);
    draw(chart.layer, "rect", { ...boxOf(from, to), fill: color, "fill-opacity": 0.25, stroke: color });
  }
}

/** The annotation column of a series, as text beyond its marks. */
export function drawAnnotations(chart, series, marks) {
  for (const mark of marks) {
    const text = defaultText(chart.table.getValue(mark.row, series.roles.annotation));
    if (!text) continue;
    const end = mark.box ? mark.box.x + mark.box.width : mark.x;
    const at = chart.vertical
      ? { x: end + 5, y: (mark.box ? mark.box.y + mark.box.height / 2 : mark.y) + 4 }
      : { x: mark.x, y: mark.y - 5, "text-anchor": "middle" };
    draw(chart.layer, "text", { ...at, "font-size": 11 }, text);
  }
}
