/**
 * What can be asked of a table, whether it is a DataTable or a DataView of one.
 *
 * A subclass gives sizes, columns, values and own formats; everything here is derived from those.
 */

/** Digits that an unformatted number shows after the point. */
const DEFAULT_FORMAT = new Intl.NumberFormat("en-US", { maximumFractionDigits: 3 });

/** Orders two values of one column: nothing first, then by the values' own order. */
export function compareValues(left, right) {
  if (left === right) return 0;
  if (left === null || left === undefined) return -1;
  if (right === null || right === undefined) return 1;
  return left < right ? -1 : left > right ? 1 : 0;
}

/** The text of a value that nobody formatted. */
export function defaultText(value) {
  if (value === null || value === undefined) return "";
  return typeof value === "number" ? DEFAULT_FORMAT.format(value) : String(value);
}

/** Whether one row passes one condition of `getFilteredRows`. */
function passes(table, row, filter) {
  const column = table.getColumnIndex(filter.column);
  const value = table.getValue(row, column);
  if (filter.value !== undefined && value !== filter.value) return false;
  const atLeast = filter.minValue ?? null;
  const atMost = filter.maxValue ?? null;
  if (atLeast !== null && (value === null || value < atLeast)) return false;
  if (atMost !== null && (value === null || value > atMost)) return false;
  return filter.test ? Boolean(filter.test(value, row, column, table)) : true;
}

/** The keys of a sort request (a column, an object, or a list of either) as a list of objects. */
function sortKeys(table, request) {
  return (Array.isArray(request) ? request : [request]).map((key) => {
    const { column, desc = false, compare = compareValues } =
      typeof key === "object" ? key : { column: key };
    return { column: table.getColumnIndex(column), sign: desc ? -1 : 1, compare };
  });
}

export class Readable {
  /** The text that a cell shows: its own format, or the default one. */
  getFormattedValue(row, column) {
    const format = this.getOwnFormat(row, column);
    return format ?? defaultText(this.getValue(row, column));
  }

  /** The index of a column given by index, id or label; -1 when there is none. */
  getColumnIndex(key) {
    if (typeof key === "number") return key >= 0 && key < this.getNumberOfColumns() ? key : -1;
    const columns = Array.from({ length: this.getNumberOfColumns() }, (_, index) => index);
    const byId = columns.find((column) => this.getColumnId(column) === key);
    return byId ?? columns.find((column) => this.getColumnLabel(column) === key) ?? -1;
  }

  /** One property of a column, e.g. `html`. */
  getColumnProperty(column, name) {
    return this.getColumnProperties(column)[name] ?? null;
  }

  /** One property of a cell, e.g. `className`. */
  getProperty(row, column, name) {
    return this.getProperties(row, column)[name] ?? null;
  }

  /** One property of the table (`p` in XProf's JSON). */
  getTableProperty(name) {
    return this.getTableProperties()[name] ?? null;
  }

  /** XProf gives rows no properties; Google's method exists all the same. */
  getRowProperties() {
    return {};
  }

  getRowProperty() {
    return null;
  }

  /** Formats are set by formatters here, never by a column's pattern. */
  getColumnPattern() {
    return "";
  }

  /** The indexes of the rows that pass every filter, or the predicate. */
  getFilteredRows(filters) {
    const wanted =
      typeof filters === "function"
        ? filters
        : (row) => filters.every((filter) => passes(this, row, filter));
    return this.rowIndexes().filter((row) => wanted(row));
  }

  /** The indexes of all rows in sorted order; equal rows keep their order. */
  getSortedRows(request) {
    if (typeof request === "function") return this.rowIndexes().sort(request);
    const rows = this.rowIndexes();
    const keys = sortKeys(this, request).map(({ column, ...key }) => ({
      ...key,
      values: rows.map((row) => this.getValue(row, column)),
    }));
    return rows.sort((left, right) => {
      for (const { values, sign, compare } of keys) {
        const order = compare(values[left], values[right]);
        if (order) return order * sign;
      }
      return left - right;
    });
  }

  /** The different values of a column, in order. */
  getDistinctValues(column) {
    const index = this.getColumnIndex(column);
    return [...new Set(this.rowIndexes().map((row) => this.getValue(row, index)))].sort(compareValues);
  }

  /** The smallest and the largest value of a column, `null` when it has none. */
  getColumnRange(column) {
    const values = this.getDistinctValues(column).filter((value) => value !== null);
    return { min: values[0] ?? null, max: values.at(-1) ?? null };
  }

  /** The indexes of all rows. */
  rowIndexes() {
    return Array.from({ length: this.getNumberOfRows() }, (_, row) => row);
  }

  /** The description of one column, as `addColumn` takes it. */
  describeColumn(column) {
    const described = {
      id: this.getColumnId(column),
      label: this.getColumnLabel(column),
      type: this.getColumnType(column),
      p: { ...this.getColumnProperties(column) },
    };
    const role = this.getColumnRole(column);
    return role ? { ...described, role } : described;
  }

  /** The description of one cell, as `addRow` takes it. */
  describeCell(row, column) {
    const cell = { v: this.getValue(row, column) };
    const format = this.getOwnFormat(row, column);
    if (format !== undefined) cell.f = format;
    const properties = this.getProperties(row, column);
    return Object.keys(properties).length ? { ...cell, p: { ...properties } } : cell;
  }

  /** The whole table as JSON that `new DataTable` reads. */
  toJSON() {
    const columns = Array.from({ length: this.getNumberOfColumns() }, (_, index) => index);
    return JSON.stringify({
      cols: columns.map((column) => this.describeColumn(column)),
      rows: this.rowIndexes().map((row) => ({
        c: columns.map((column) => this.describeCell(row, column)),
      })),
      p: this.getTableProperties(),
    });
  }
}
