/**
 * What an axis chart shows, read from its table: series with their roles, domain values, stacked ends.
 *
 * Nothing here knows pixels.
 */
import { PALETTE, safeColor } from "./colors.js";
import { tooltipText } from "./markup.js";
import { defaultText } from "./readable.js";

/** The options of one series; Google takes a list or an object of them. */
function seriesOptions(options, index) {
  return options.series?.[index] ?? {};
}

/** Splits the columns after the domain into series, each with the role columns that follow it. */
export function readSeries(table, options) {
  const series = [];
  for (let column = 1; column < table.getNumberOfColumns(); column++) {
    const role = table.getColumnRole(column);
    if (!role || role === "data") {
      const index = series.length;
      const own = seriesOptions(options, index);
      const colors = options.colors?.length ? options.colors : PALETTE;
      const fallback = PALETTE[index % PALETTE.length];
      series.push({
        column,
        index,
        label: own.labelInLegend ?? table.getColumnLabel(column),
        color: safeColor(own.color ?? colors[index % colors.length], fallback),
        options: own,
        roles: {},
        intervals: [],
      });
    } else if (series.length) {
      const last = series.at(-1);
      if (role === "interval") last.intervals.push(column);
      else last.roles[role] = column;
    }
  }
  return series;
}

/** Whether the first column names categories, rather than being a measure. */
export function isDiscrete(table) {
  return table.getColumnType(0) === "string" || table.getColumnType(0) === "boolean";
}

/** The domain's value of every row: its index for categories, else a number or null. */
export function readDomain(table, discrete) {
  return table.rowIndexes().map((row) => {
    if (discrete) return row;
    const value = table.getValue(row, 0);
    return value === null ? null : Number(value);
  });
}

/** The sum of the sizes of one row's stacked values. */
function rowTotal(table, series, row) {
  return series.reduce((total, { column }) => total + Math.abs(table.getValue(row, column) ?? 0), 0);
}

/** The values of every series as `{from, to}` per row, stacked on the series of the same axis before it. */
export function readSpans(table, series, options) {
  const stacked = Boolean(options.isStacked) && options.isStacked !== "false";
  const share = ["percent", "relative"].includes(options.isStacked);
  const rows = table.getNumberOfRows();
  // Google stacks negative values downwards, apart from the positive ones.
  const ends = new Map();
  const endsOf = (axis) => {
    if (!ends.has(axis)) ends.set(axis, { up: new Float64Array(rows), down: new Float64Array(rows) });
    return ends.get(axis);
  };
  return series.map((one) => {
    const { up, down } = endsOf(one.options.targetAxisIndex ?? 0);
    const stacks = stacked && one.options.type !== "line";
    return Array.from({ length: rows }, (_, row) => {
      const value = table.getValue(row, one.column);
      if (typeof value !== "number" || Number.isNaN(value)) return null;
      if (!stacks) return { from: 0, to: value };
      const size = share ? value / (rowTotal(table, series, row) || 1) : value;
      const end = size < 0 ? down : up;
      const from = end[row];
      end[row] += size;
      return { from, to: from + size };
    });
  });
}

/** The least and the greatest of the numbers; null without any. */
export function extent(values, positiveOnly = false) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (value === null || !Number.isFinite(value) || (positiveOnly && value <= 0)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return low <= high ? { low, high } : null;
}

/** The text of the tooltip of one mark: XProf's own, else domain, series and value. */
export function markText(table, series, row) {
  const own = series.roles.tooltip;
  const text = own === undefined ? "" : table.getFormattedValue(row, own);
  if (text) return table.getColumnProperty(own, "html") ? tooltipText(text) : text;
  const value = table.getFormattedValue(row, series.column);
  const named = series.label ? `${series.label}: ${value}` : value;
  return [table.getFormattedValue(row, 0), named].filter((line) => line !== "").join("\n");
}

/** The text of the tooltip of a whole category: its name and the value of every series. */
export function categoryText(table, series, row) {
  const lines = series.map((one) => `${one.label}: ${table.getFormattedValue(row, one.column)}`);
  return [table.getFormattedValue(row, 0), ...lines].filter((line) => line !== "").join("\n");
}

/** The most series that a summary names. */
const NAMED = 8;

/** What somebody who can't see the chart should know of it: rows, and the range of every series. */
export function summary(table, series, kind) {
  const rows = table.getNumberOfRows();
  const ranges = series.slice(0, NAMED).map((one) => {
    const found = extent(table.rowIndexes().map((row) => table.getValue(row, one.column)));
    const name = one.label || "Values";
    return found ? `${name}: ${defaultText(found.low)} to ${defaultText(found.high)}` : `${name}: nothing recorded`;
  });
  const more = series.length > NAMED ? [`and ${series.length - NAMED} more series`] : [];
  return `${kind} chart of ${rows} ${rows === 1 ? "row" : "rows"}. ${[...ranges, ...more].join("; ")}.`;
}
