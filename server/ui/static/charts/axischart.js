/**
 * Charts with two axes: they read a table, choose scales, draw marks, and answer the pointer.
 */
import { trigger, triggerReady } from "./events.js";
import { drawBottomAxis, drawLegend, drawSideAxis, drawTitles, plotRect } from "./frame.js";
import * as shapes from "./marks.js";
import { extent, isDiscrete, markText, readDomain, readSeries, readSpans } from "./model.js";
import { axisRange, bandScale, linearScale, logScale } from "./scale.js";
import { chartSize, draw, drawEmpty, drawRoot, hideTooltip, showTooltip } from "./svg.js";
import { enableZoom } from "./zoom.js";

/** How far from a point the pointer may be to mean it, in pixels. */
const REACH = 24;

const FROM_ZERO = new Set(["area", "bars", "steppedArea"]);
const SERIES_TYPE = {
  Area: "area", Bar: "bars", Column: "bars", Combo: "line", Line: "line", Scatter: "scatter",
  SteppedArea: "steppedArea", Bubble: "bubble", Candlestick: "candlesticks",
};

function isLog(axis) {
  return axis.logScale === true || ["log", "mirrorLog"].includes(axis.scaleType);
}

export class AxisChart {
  #container;
  #kind;
  #selection = [];
  #marks = [];
  #overlay = null;
  #drawn = null;
  #under = null;

  /** @param {string} kind the class's name without `Chart`, e.g. `Area`. */
  constructor(container, kind) {
    this.#container = container;
    this.#kind = kind;
  }

  /** Shows a DataTable or DataView with Google's options. */
  draw(table, options = {}) {
    this.#drawn = { table, options: options ?? {} };
    this.#selection = [];
    this.#redraw({});
    triggerReady(this);
  }

  clearChart() {
    hideTooltip();
    this.#container.replaceChildren();
    this.#marks = [];
    this.#overlay = null;
  }

  getSelection() {
    return this.#selection.map((item) => ({ ...item }));
  }

  setSelection(selection) {
    this.#selection = (selection ?? []).map(({ row = null, column = null }) => ({ row, column }));
    this.#markSelection();
  }

  /** Draws again; `window` is the part of the domain that the reader zoomed into. */
  #redraw(window) {
    this.clearChart();
    const { table, options } = this.#drawn;
    const size = chartSize(this.#container, options);
    const root = drawRoot(this.#container, size, options.title ?? options.vAxis?.title);
    const chart = this.#prepare(table, options, size, window);
    if (!chart) {
      drawEmpty(root, size);
      return;
    }
    this.#drawAxes(root, chart, size);
    const clip = draw(root, "svg", { x: chart.plot.left, y: chart.plot.top, width: chart.plot.width, height: chart.plot.height });
    clip.setAttribute("viewBox", `${chart.plot.left} ${chart.plot.top} ${chart.plot.width} ${chart.plot.height}`);
    chart.layer = chart.overflows ? draw(root, "g", {}) : clip;
    this.#marks = this.#drawSeries(chart);
    drawLegend(root, chart.plot, size, options, this.#legendEntries(chart));
    this.#overlay = draw(root, "g", { class: "xh-overlay" });
    this.#listen(root, chart);
    if (options.explorer && !chart.discrete) enableZoom(root, chart, (next) => this.#redraw(next));
  }

  /** Everything that marks need to know; null when there is nothing to show. */
  #prepare(table, options, size, window) {
    const series = this.#kind === "Candlestick" || this.#kind === "Bubble"
      ? readSeries(table, options).slice(0, this.#kind === "Bubble" ? 2 : 1)
      : readSeries(table, options);
    const bubble = this.#kind === "Bubble";
    const discrete = !bubble && isDiscrete(table);
    const domain = bubble
      ? table.rowIndexes().map((row) => table.getValue(row, 1))
      : readDomain(table, discrete);
    const vertical = this.#kind === "Bar" ? options.orientation !== "horizontal" : options.orientation === "vertical";
    const spans = readSpans(table, series, options);
    const chart = { table, options, series, discrete, domain, vertical, spans };
    chart.plot = plotRect(size, options, vertical);
    chart.overflows = series.some((one) => one.roles.annotation !== undefined);
    return this.#addScales(chart, window) ? chart : null;
  }

  #typeOf(chart, one) {
    const combined = this.#kind === "Combo" ? chart.options.seriesType : undefined;
    return one.options.type ?? combined ?? SERIES_TYPE[this.#kind];
  }

  /** Adds the scales, and `point`, to a chart; false when it has no values. */
  #addScales(chart, window) {
    const { options, vertical, plot } = chart;
    const bottom = options.hAxis ?? {};
    const side = options.vAxes?.[0] ?? options.vAxis ?? {};
    chart.axes = { bottom, side, second: options.vAxes?.[1] };
    const [domainAxis, valueAxis] = vertical ? [side, bottom] : [bottom, side];
    chart.values = [0, 1].map((index) => this.#valueScale(chart, index, index ? (chart.axes.second ?? {}) : valueAxis));
    chart.along = this.#domainScale(chart, domainAxis, window);
    if (!chart.values[0] || !chart.along) return false;
    const scaleOf = (series) => chart.values[series.options.targetAxisIndex ?? 0] ?? chart.values[0];
    chart.point = (domain, value, series) => {
      const [d, v] = [chart.along.at(domain), scaleOf(series).at(value)];
      return vertical
        ? { x: plot.left + v * plot.width, y: plot.top + d * plot.height }
        : { x: plot.left + d * plot.width, y: plot.top + (1 - v) * plot.height };
    };
    chart.isVisible = (row, value, series) =>
      [chart.along.at(chart.domain[row]), scaleOf(series).at(value)].every((at) => at >= -0.001 && at <= 1.001);
    chart.band = this.#bandWidth(chart);
    return true;
  }

  #valueScale(chart, axisIndex, axis) {
    const values = [];
    let fromZero = false;
    for (const [index, one] of chart.series.entries()) {
      if ((one.options.targetAxisIndex ?? 0) !== axisIndex) continue;
      const type = this.#typeOf(chart, one);
      fromZero ||= FROM_ZERO.has(type);
      for (const span of chart.spans[index]) if (span) values.push(span.to, ...(FROM_ZERO.has(type) ? [span.from] : []));
      for (const column of one.intervals) values.push(...chart.table.rowIndexes().map((row) => chart.table.getValue(row, column)));
    }
    if (this.#kind === "Bubble") values.splice(0, Infinity, ...chart.table.rowIndexes().map((row) => chart.table.getValue(row, 2)));
    if (this.#kind === "Candlestick") {
      for (const column of [2, 3, 4]) values.push(...chart.table.rowIndexes().map((row) => chart.table.getValue(row, column)));
    }
    const found = extent(values, isLog(axis));
    if (!found) return null;
    if (isLog(axis)) return logScale(axisRange(found, axis, { fromZero: false }), axis);
    const pixels = chart.vertical ? chart.plot.width / 80 : chart.plot.height / 40;
    const range = axisRange(found, axis, { fromZero });
    return linearScale(range, axis, { count: Math.max(2, Math.round(pixels)), nice: true });
  }

  #domainScale(chart, axis, { from, to }) {
    if (chart.discrete) {
      return bandScale(chart.domain.length, (row) => chart.table.getFormattedValue(row, 0));
    }
    const found = extent(chart.domain, isLog(axis));
    if (!found) return null;
    const bars = chart.series.some((one) => ["bars", "candlesticks"].includes(this.#typeOf(chart, one)));
    const half = bars ? this.#leastGap(chart) / 2 : 0;
    const range = axisRange({ low: found.low - half, high: found.high + half }, axis, { fromZero: false });
    if (isLog(axis)) return logScale(range, axis);
    const zoomed = from === undefined ? range : { low: from, high: to };
    const count = Math.max(2, Math.round((chart.vertical ? chart.plot.height : chart.plot.width) / 90));
    return linearScale(zoomed, axis, { count, nice: false });
  }

  /** The least distance between two domain values; 1 when there are not two. */
  #leastGap(chart) {
    const sorted = chart.domain.filter((value) => value !== null).sort((left, right) => left - right);
    const gaps = sorted.slice(1).map((value, index) => value - sorted[index]).filter((gap) => gap > 0);
    return gaps.length ? gaps.reduce((least, gap) => Math.min(least, gap)) : 1;
  }

  /** The pixels along the domain that belong to one row. */
  #bandWidth(chart) {
    const whole = chart.vertical ? chart.plot.height : chart.plot.width;
    if (chart.discrete) return whole / Math.max(1, chart.domain.length);
    return Math.min(whole, (this.#leastGap(chart) / (chart.along.high - chart.along.low || 1)) * whole);
  }

  #drawAxes(root, chart, size) {
    const { plot, axes, vertical, discrete, options } = chart;
    const [bottomScale, sideScale] = vertical ? [chart.values[0], chart.along] : [chart.along, chart.values[0]];
    drawBottomAxis(root, plot, bottomScale, axes.bottom, { grid: vertical || !discrete });
    drawSideAxis(root, plot, sideScale, axes.side, { grid: !vertical, fromTop: vertical && discrete });
    if (chart.values[1] && axes.second) {
      drawSideAxis(root, plot, chart.values[1], axes.second, { grid: false, right: true });
    }
    const titles = { title: options.title, bottom: axes.bottom.title, left: axes.side.title };
    drawTitles(root, plot, size, { ...titles, right: axes.second?.title });
  }

  #drawSeries(chart) {
    const marks = [];
    const stacked = Boolean(chart.options.isStacked);
    const bars = chart.series.filter((one) => this.#typeOf(chart, one) === "bars");
    for (const [index, one] of chart.series.entries()) {
      if (this.#kind === "Bubble" && index > 0) break;
      const place = stacked ? { place: 0, places: 1 } : { place: bars.indexOf(one), places: bars.length };
      const made = this.#drawOne(chart, one, chart.spans[index], place);
      if (one.intervals.length >= 2) shapes.drawIntervals(chart, one);
      if (one.roles.annotation !== undefined) shapes.drawAnnotations(chart, one, made);
      marks.push(...made.map((mark) => ({ ...mark, series: one })));
    }
    return marks;
  }

  #drawOne(chart, one, spans, place) {
    const type = this.#typeOf(chart, one);
    if (type === "bars") return shapes.drawBars(chart, one, spans, place);
    if (type === "candlesticks") return shapes.drawCandles(chart, one);
    if (type === "bubble") return shapes.drawBubbles(chart, one);
    const scatter = type === "scatter";
    const lineWidth = one.options.lineWidth ?? chart.options.lineWidth ?? (scatter ? 0 : 2);
    const pointSize = one.options.pointSize ?? chart.options.pointSize ?? (scatter ? 7 : 0);
    const points = pointSize > 0 && one.options.pointsVisible !== false;
    const area = type === "area" || type === "steppedArea";
    const style = { area, stepped: type === "steppedArea", lineWidth };
    const onLine = area || lineWidth > 0 ? shapes.drawLine(chart, one, spans, style) : [];
    const onPoints = points ? shapes.drawPoints(chart, one, spans, pointSize) : [];
    return onPoints.length ? onPoints : onLine;
  }

  #legendEntries({ series }) {
    if (this.#kind === "Bubble" || this.#kind === "Candlestick") return [];
    return series.filter((one) => one.options.visibleInLegend !== false);
  }

  /** The mark under the pointer: a bar around it, else the nearest point in reach. */
  #markAt(root, event) {
    const { left, top } = root.getBoundingClientRect();
    const [x, y] = [event.clientX - left, event.clientY - top];
    let [best, distance] = [null, REACH];
    for (const mark of this.#marks) {
      const { box } = mark;
      if (box && x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height) return mark;
      const away = box ? Infinity : Math.hypot(mark.x - x, mark.y - y);
      if (away < distance) [best, distance] = [mark, away];
    }
    return best;
  }

  #listen(root, { options, table }) {
    const silent = options.tooltip?.trigger === "none";
    root.addEventListener("mousemove", (event) => {
      const mark = this.#markAt(root, event);
      this.#pointAt(mark);
      if (mark && !silent) showTooltip(event, markText(table, mark.series, mark.row));
      else hideTooltip();
    });
    root.addEventListener("mouseleave", () => {
      this.#pointAt(null);
      hideTooltip();
    });
    root.addEventListener("click", (event) => this.#select(this.#markAt(root, event)));
  }

  /** Tells XProf when the pointer enters or leaves a mark. */
  #pointAt(mark) {
    if (mark === this.#under) return;
    const named = ({ row, column }) => ({ row, column });
    if (this.#under) trigger(this, "onmouseout", named(this.#under));
    this.#under = mark;
    if (mark) trigger(this, "onmouseover", named(mark));
  }

  #select(mark) {
    trigger(this, "click", mark ? { row: mark.row, column: mark.column } : {});
    const { row, column } = mark ?? {};
    const again = this.#selection.some((item) => item.row === row && item.column === column);
    if (!mark && !this.#selection.length) return;
    this.setSelection(mark && !again ? [{ row, column }] : []);
    trigger(this, "select");
  }

  #markSelection() {
    this.#overlay?.replaceChildren();
    for (const { row, column } of this.#overlay ? this.#selection : []) {
      const mark = this.#marks.find((one) => one.row === row && (column === null || one.column === column));
      if (!mark) continue;
      const style = { class: "xh-selected", fill: "none" };
      if (mark.box) draw(this.#overlay, "rect", { ...mark.box, ...style });
      else draw(this.#overlay, "circle", { cx: mark.x, cy: mark.y, r: 6, ...style });
    }
  }
}
