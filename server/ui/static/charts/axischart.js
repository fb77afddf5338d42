/**
 * Charts with two axes: they read a table, choose scales, draw marks, and answer the reader.
 */
import { addScales, typeOf } from "./chartscales.js";
import { trigger, triggerReady } from "./events.js";
import { drawBottomAxis, drawSideAxis, drawTitles, plotRect } from "./frame.js";
import { drawLegend } from "./legend.js";
import * as shapes from "./marks.js";
import { isDiscrete, readDomain, readSeries, readSpans, summary } from "./model.js";
import { listen } from "./pointer.js";
import { unwatchSize, watchSize } from "./sizes.js";
import { chartSize, draw, drawEmpty, drawRoot } from "./svg.js";
import { hideTooltip } from "./tooltip.js";
import { enableZoom } from "./zoom.js";

/** Pixels between the plot and a legend that is behind a second axis. */
const BESIDE_SECOND_AXIS = 66;

/** Pixels by which a line is wider that lies below an equal one. */
const COVERED = 4;

export class AxisChart {
  #container;
  #kind;
  #selection = [];
  #marks = [];
  #overlay = null;
  #drawn = null;
  #under = null;
  #zoom = {};

  /** @param {string} kind the class's name without `Chart`, e.g. `Area`. */
  constructor(container, kind) {
    this.#container = container;
    this.#kind = kind;
  }

  /** Shows a DataTable or DataView with Google's options; one without columns is an `error` event. */
  draw(table, options = {}) {
    this.#drawn = { table, options: options ?? {} };
    this.#selection = [];
    this.#zoom = {};
    this.#redraw();
    watchSize(this.#container, () => this.#redraw());
    if (table?.getNumberOfColumns()) triggerReady(this);
    else trigger(this, "error", { id: "no-columns", message: "Table has no columns." });
  }

  clearChart() {
    hideTooltip();
    unwatchSize(this.#container);
    this.#container.replaceChildren();
    this.#marks = [];
    this.#overlay = null;
    this.#selection = [];
  }

  getSelection() {
    return this.#selection.map((item) => ({ ...item }));
  }

  setSelection(selection) {
    this.#selection = (selection ?? []).map(({ row = null, column = null }) => ({ row, column }));
    this.#markSelection();
  }

  /** Draws again, with the part of the domain that the reader zoomed into; the old drawing stays until then. */
  #redraw() {
    hideTooltip();
    const { table, options } = this.#drawn;
    const size = chartSize(this.#container, options);
    const chart = table?.getNumberOfColumns() ? this.#prepare(table, options, size) : null;
    const label = [options.title, options.vAxis?.title ?? options.vAxes?.[0]?.title].find(Boolean);
    const root = drawRoot(size, label ?? `${this.#kind} chart`);
    [this.#marks, this.#overlay, this.#under] = [[], null, null];
    if (chart) this.#fill(root, chart, size);
    else drawEmpty(root, size);
    const focused = this.#container.contains(document.activeElement);
    this.#container.replaceChildren(root);
    if (focused) root.focus({ preventScroll: true });
    this.#markSelection();
  }

  #fill(root, chart, size) {
    const { plot, options } = chart;
    draw(root, "desc", {}, summary(chart.table, chart.series, this.#kind));
    root.setAttribute("tabindex", "0");
    this.#drawAxes(root, chart, size);
    const { left: x, top: y, width, height } = plot;
    chart.clip = draw(root, "svg", { x, y, width, height, viewBox: `${x} ${y} ${width} ${height}` });
    chart.free = draw(root, "g", {});
    this.#marks = this.#drawSeries(chart);
    chart.marks = this.#marks;
    const light = (entry) => this.#highlight(root, entry);
    const hear = { point: light, choose: (entry) => this.#select({ row: null, column: entry.column, series: entry }) };
    drawLegend(root, plot, size, options, this.#legendEntries(chart), hear, chart.values[1] && chart.axes.second ? BESIDE_SECOND_AXIS : 14);
    this.#overlay = draw(root, "g", { class: "xh-overlay" });
    const hover = draw(root, "g", { class: "xh-overlay" });
    listen(root, chart, {
      enter: (mark) => this.#enter(mark, hover),
      choose: (mark) => this.#select(mark),
    });
    if (options.explorer && !chart.discrete) {
      enableZoom(root, chart, this.#zoom, (next) => {
        this.#zoom = next;
        this.#redraw();
      });
    }
  }

  /** Everything that marks need to know; null when there is nothing to show. */
  #prepare(table, options, size) {
    const bubble = this.#kind === "Bubble";
    const most = { Bubble: 2, Candlestick: 1 }[this.#kind] ?? Infinity;
    const series = readSeries(table, options).slice(0, most);
    const discrete = !bubble && isDiscrete(table);
    const domain = bubble
      ? table.rowIndexes().map((row) => table.getValue(row, 1))
      : readDomain(table, discrete);
    const vertical = this.#kind === "Bar" ? options.orientation !== "horizontal" : options.orientation === "vertical";
    const spans = readSpans(table, series, options);
    const plot = plotRect(size, options, vertical);
    const chart = { kind: this.#kind, table, options, series, discrete, domain, vertical, spans, plot };
    return addScales(chart, this.#zoom) ? chart : null;
  }

  #drawAxes(root, chart, size) {
    const { plot, axes, vertical, discrete, options } = chart;
    const values = chart.values[0] ?? chart.values[1];
    const [bottomScale, sideScale] = vertical ? [values, chart.along] : [chart.along, values];
    drawBottomAxis(root, plot, bottomScale, axes.bottom, { grid: vertical || !discrete, size });
    const left = drawSideAxis(root, plot, sideScale, axes.side, { grid: !vertical, fromTop: vertical && discrete });
    const right =
      chart.values[1] && axes.second ? drawSideAxis(root, plot, chart.values[1], axes.second, { grid: false, right: true }) : 0;
    const titles = { title: options.title, bottom: axes.bottom.title, left: axes.side.title };
    const beside = { left, right, bottom: axes.bottom.textPosition !== "none" };
    drawTitles(root, plot, size, { ...titles, right: right ? axes.second.title : undefined }, beside);
  }

  /** Draws every series into a group of its own, and returns all marks. */
  #drawSeries(chart) {
    const marks = [];
    const stacked = Boolean(chart.options.isStacked);
    const bars = chart.series.filter((one) => typeOf(chart, one) === "bars");
    for (const [index, one] of chart.series.entries()) {
      if (this.#kind === "Bubble" && index > 0) break;
      const free = one.roles.annotation !== undefined;
      chart.layer = draw(free ? chart.free : chart.clip, "g", { class: "xh-series", "data-column": one.column });
      const place = stacked ? { place: 0, places: 1 } : { place: bars.indexOf(one), places: bars.length };
      const made = this.#drawOne(chart, one, chart.spans[index], place);
      if (one.intervals.length >= 2) shapes.drawIntervals(chart, one);
      if (free) shapes.drawAnnotations(chart, one, made);
      for (const mark of made) {
        mark.series = one;
        marks.push(mark);
      }
    }
    return marks;
  }

  /** Whether a later series has the same values and hides this one. */
  #isCovered(chart, index) {
    const own = chart.spans[index];
    return chart.spans.slice(index + 1).some((later) => own.every((span, row) => span?.to === later[row]?.to));
  }

  #drawOne(chart, one, spans, place) {
    const type = typeOf(chart, one);
    if (type === "bars") return shapes.drawBars(chart, one, spans, place);
    if (type === "candlesticks") return shapes.drawCandles(chart, one);
    if (type === "bubble") return shapes.drawBubbles(chart, one);
    const scatter = type === "scatter";
    const lineWidth = one.options.lineWidth ?? chart.options.lineWidth ?? (scatter ? 0 : 2);
    const pointSize = one.options.pointSize ?? chart.options.pointSize ?? (scatter ? 7 : 0);
    const points = pointSize > 0 && one.options.pointsVisible !== false;
    const area = type === "area" || type === "steppedArea";
    const covered = type === "line" && !chart.options.isStacked && this.#isCovered(chart, chart.series.indexOf(one));
    const style = { area, stepped: type === "steppedArea", lineWidth: covered ? lineWidth + COVERED : lineWidth };
    const onLine = area || lineWidth > 0 ? shapes.drawLine(chart, one, spans, style) : [];
    const onPoints = points ? shapes.drawPoints(chart, one, spans, pointSize) : [];
    return onPoints.length ? onPoints : onLine;
  }

  #legendEntries({ series }) {
    if (this.#kind === "Bubble" || this.#kind === "Candlestick") return [];
    return series.filter((one) => one.options.visibleInLegend !== false);
  }

  /** Lets the other series step back while the pointer is over a name in the legend. */
  #highlight(root, entry) {
    root.classList.toggle("xh-dimmed", entry !== null);
    for (const group of root.querySelectorAll(".xh-series")) {
      group.classList.toggle("xh-lit", entry !== null && group.dataset.column === String(entry.column));
    }
  }

  /** Shows which mark is meant, and tells XProf when the pointer enters or leaves one. */
  #enter(mark, layer) {
    const named = ({ row, column }) => ({ row, column });
    if (this.#under) trigger(this, "onmouseout", named(this.#under));
    this.#under = mark;
    layer.replaceChildren();
    if (!mark) return;
    outline(layer, mark, "xh-hover");
    trigger(this, "onmouseover", named(mark));
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
      const mark = row === null ? null : this.#marks.find((one) => one.row === row && (column === null || one.column === column));
      if (mark) outline(this.#overlay, mark, "xh-selected");
    }
  }
}

/** Draws around a mark. */
function outline(layer, { box, x, y, series }, name) {
  const style = { class: name, fill: "none" };
  if (box) draw(layer, "rect", { ...box, ...style });
  else draw(layer, "circle", { cx: x, cy: y, r: 5, ...style, fill: name === "xh-hover" ? series.color : "none" });
}
