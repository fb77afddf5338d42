/**
 * The scales of an axis chart: from its table and Google's axis options to positions in the plot.
 */
import { extent } from "./model.js";
import { axisRange, bandScale, linearScale, logScale } from "./scale.js";

const FROM_ZERO = new Set(["area", "bars", "steppedArea"]);
const SERIES_TYPE = {
  Area: "area", Bar: "bars", Column: "bars", Combo: "line", Line: "line", Scatter: "scatter",
  SteppedArea: "steppedArea", Bubble: "bubble", Candlestick: "candlesticks",
};

/** Pixels between two labels of an axis, along it. */
const BETWEEN = { across: 90, values: 80, up: 40 };

/** How a series is drawn: its own type, the combination's, or the chart's. */
export function typeOf(chart, one) {
  const combined = chart.kind === "Combo" ? chart.options.seriesType : undefined;
  return one.options.type ?? combined ?? SERIES_TYPE[chart.kind];
}

function isLog(axis) {
  return axis.logScale === true || ["log", "mirrorLog"].includes(axis.scaleType);
}

/** All numbers of some columns. */
function* columnValues(table, columns) {
  const rows = table.getNumberOfRows();
  for (const column of columns) for (let row = 0; row < rows; row++) yield table.getValue(row, column);
}

/** The series of one value axis, and whether one of its bars or areas stands on 0. */
function seriesOfAxis(chart, axisIndex) {
  const own = [...chart.series.entries()].filter(([, one]) => (one.options.targetAxisIndex ?? 0) === axisIndex);
  return { own, fromZero: own.some(([, one]) => FROM_ZERO.has(typeOf(chart, one))) };
}

/** The numbers that one value axis must show. */
function* axisValues(chart, own, fromZero) {
  if (chart.kind === "Bubble") yield* columnValues(chart.table, [2]);
  if (chart.kind === "Candlestick") yield* columnValues(chart.table, [2, 3, 4]);
  for (const [index, one] of chart.kind === "Bubble" ? [] : own) {
    for (const span of chart.spans[index]) {
      if (!span) continue;
      yield span.to;
      if (fromZero) yield span.from;
    }
    yield* columnValues(chart.table, one.intervals);
  }
}

function valueScale(chart, axisIndex, axis) {
  const { own, fromZero } = seriesOfAxis(chart, axisIndex);
  const found = extent(axisValues(chart, own, fromZero), isLog(axis));
  if (!found) return null;
  if (isLog(axis)) return logScale(axisRange(found, axis, { fromZero: false }), axis);
  const pixels = chart.vertical ? chart.plot.width / BETWEEN.values : chart.plot.height / BETWEEN.up;
  return linearScale(axisRange(found, axis, { fromZero }), axis, { count: Math.max(2, Math.round(pixels)), nice: true });
}

function domainScale(chart, axis, { from, to }) {
  if (chart.discrete) return bandScale(chart.domain.length, (row) => chart.table.getFormattedValue(row, 0));
  const found = extent(chart.domain, isLog(axis));
  if (!found) return null;
  const bars = chart.series.some((one) => ["bars", "candlesticks"].includes(typeOf(chart, one)));
  const half = bars ? leastGap(chart) / 2 : 0;
  const range = axisRange({ low: found.low - half, high: found.high + half }, axis, { fromZero: false });
  if (isLog(axis)) return logScale(from === undefined ? range : { ...range, low: from, high: to }, axis);
  const zoomed = from === undefined ? range : { low: from, high: to };
  const count = Math.max(2, Math.round((chart.vertical ? chart.plot.height : chart.plot.width) / BETWEEN.across));
  return linearScale(zoomed, axis, { count, nice: false });
}

/** The least distance between two domain values; 1 when there are not two. */
function leastGap(chart) {
  const sorted = chart.domain.filter((value) => value !== null).sort((left, right) => left - right);
  let least = Infinity;
  for (let index = 1; index < sorted.length; index++) {
    const gap = sorted[index] - sorted[index - 1];
    if (gap > 0 && gap < least) least = gap;
  }
  return least === Infinity ? 1 : least;
}

/** The pixels along the domain that belong to one row. */
function bandWidth(chart) {
  const whole = chart.vertical ? chart.plot.height : chart.plot.width;
  if (chart.discrete) return whole / Math.max(1, chart.domain.length);
  return Math.min(whole, (leastGap(chart) / (chart.along.high - chart.along.low || 1)) * whole);
}

/**
 * Adds the scales, and what turns values into pixels, to a chart; false when it has no values.
 *
 * @param {{from?: number, to?: number}} zoom the part of the domain to show.
 */
export function addScales(chart, zoom) {
  const { options, vertical, plot } = chart;
  const bottom = options.hAxis ?? {};
  const side = options.vAxes?.[0] ?? options.vAxis ?? {};
  chart.axes = { bottom, side, second: options.vAxes?.[1] };
  const [domainAxis, valueAxis] = vertical ? [side, bottom] : [bottom, side];
  chart.values = [0, 1].map((index) => valueScale(chart, index, index ? (chart.axes.second ?? {}) : valueAxis));
  chart.along = domainScale(chart, domainAxis, zoom);
  if (!chart.values.some(Boolean) || !chart.along) return false;
  const scaleOf = (series) => chart.values[series.options.targetAxisIndex ?? 0] ?? chart.values[0] ?? chart.values[1];
  chart.point = (domain, value, series) => {
    const d = chart.along.at(domain);
    const v = scaleOf(series).at(value);
    return vertical
      ? { x: plot.left + v * plot.width, y: plot.top + d * plot.height }
      : { x: plot.left + d * plot.width, y: plot.top + (1 - v) * plot.height };
  };
  chart.isVisible = (row, value, series) =>
    [chart.along.at(chart.domain[row]), scaleOf(series).at(value)].every((at) => at >= -0.001 && at <= 1.001);
  chart.band = bandWidth(chart);
  return true;
}
