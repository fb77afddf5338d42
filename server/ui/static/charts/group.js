/**
 * `google.visualization.data`: rows with equal keys become one row with aggregated values.
 */
import { DataTable } from "./datatable.js";
import { compareValues } from "./readable.js";

/** The sum of the values; nothing counts as 0. */
export function sum(values) {
  return values.reduce((total, value) => total + (value ?? 0), 0);
}

export function count(values) {
  return values.length;
}

export function avg(values) {
  return values.length ? sum(values) / values.length : null;
}

export function min(values) {
  return values.reduce((least, value) => (compareValues(value, least) < 0 ? value : least), values[0] ?? null);
}

export function max(values) {
  return values.reduce((most, value) => (compareValues(value, most) > 0 ? value : most), values[0] ?? null);
}

/** A key or aggregate of the request, with what it doesn't say taken from the table. */
function describe(table, request) {
  const given = typeof request === "object" ? request : { column: request };
  const source = table.getColumnIndex(given.column);
  return {
    source,
    type: given.type ?? table.getColumnType(source),
    label: given.label ?? table.getColumnLabel(source),
    id: given.id ?? table.getColumnId(source),
    modifier: given.modifier ?? ((value) => value),
    aggregation: given.aggregation,
  };
}

/** Orders two lists of key values. */
function compareKeys(left, right) {
  for (const [index, value] of left.entries()) {
    const order = compareValues(value, right[index]);
    if (order) return order;
  }
  return 0;
}

/** Rows of `table` with equal `keys` joined, `columns` aggregated, in the order of the keys. */
export function group(table, keys, columns = []) {
  const by = keys.map((key) => describe(table, key));
  const made = columns.map((column) => describe(table, column));
  const groups = new Map();
  for (const row of table.rowIndexes()) {
    const values = by.map(({ source, modifier }) => modifier(table.getValue(row, source)));
    const key = JSON.stringify(values);
    if (!groups.has(key)) groups.set(key, { values, rows: [] });
    groups.get(key).rows.push(row);
  }
  const result = new DataTable();
  for (const { type, label, id } of [...by, ...made]) result.addColumn(type, label, id);
  const sorted = [...groups.values()].sort((left, right) => compareKeys(left.values, right.values));
  for (const { values, rows } of sorted) {
    const aggregates = made.map(({ source, aggregation }) =>
      aggregation(rows.map((row) => table.getValue(row, source))),
    );
    result.addRow([...values, ...aggregates]);
  }
  return result;
}
