/**
 * The table that XProf's JSON becomes: typed columns, and cells with a value, a format and properties.
 */
import { Readable } from "./readable.js";

/** Whether a value given for a cell is a description `{v, f, p}` and not the value itself. */
export function isCell(value) {
  return (
    value !== null &&
    typeof value === "object" &&
    !(value instanceof Date) &&
    ("v" in value || "f" in value || "p" in value)
  );
}

/** A cell as it is stored, from a value or a description. */
function makeCell(given) {
  const { v, f, p } = isCell(given) ? given : { v: given };
  return { v: v ?? null, f: f ?? undefined, p };
}

/** A column as it is stored, from a description or from type, label and id. */
function makeColumn(description, label, id) {
  const given = typeof description === "object" ? description : { type: description, label, id };
  const { type, label: text = "", id: key = "", p = {} } = given;
  return { type, label: text, id: key, role: given.role ?? p.role ?? "", p };
}

export class DataTable extends Readable {
  #columns = [];
  #rows = [];
  #properties = {};

  /** @param {object|string} [json] XProf's `{cols, rows, p}`, parsed or as text. */
  constructor(json) {
    super();
    const source = typeof json === "string" ? JSON.parse(json) : (json ?? {});
    for (const column of source.cols ?? []) this.addColumn(column);
    for (const row of source.rows ?? []) this.addRow(row?.c ?? []);
    this.#properties = { ...source.p };
  }

  getNumberOfRows() {
    return this.#rows.length;
  }

  getNumberOfColumns() {
    return this.#columns.length;
  }

  getColumnLabel(column) {
    return this.#columns[column].label ?? "";
  }

  getColumnId(column) {
    return this.#columns[column].id ?? "";
  }

  getColumnType(column) {
    return this.#columns[column].type;
  }

  getColumnRole(column) {
    return this.#columns[column].role;
  }

  getColumnProperties(column) {
    return this.#columns[column].p;
  }

  setColumnLabel(column, label) {
    this.#columns[column].label = label;
  }

  setColumnProperty(column, name, value) {
    this.#columns[column].p = { ...this.#columns[column].p, [name]: value };
  }

  setColumnProperties(column, properties) {
    this.#columns[column].p = { ...properties };
  }

  getValue(row, column) {
    return this.#rows[row][column].v;
  }

  /** The format that was set for a cell, or undefined. */
  getOwnFormat(row, column) {
    return this.#rows[row][column].f;
  }

  getProperties(row, column) {
    return this.#rows[row][column].p ?? {};
  }

  setProperty(row, column, name, value) {
    const cell = this.#rows[row][column];
    cell.p = { ...cell.p, [name]: value };
  }

  setProperties(row, column, properties) {
    this.#rows[row][column].p = { ...properties };
  }

  /** Sets what is given of a cell: undefined leaves a part as it is, null clears it. */
  setCell(row, column, value, format, properties) {
    const cell = this.#rows[row][column];
    if (value !== undefined) cell.v = value;
    if (format !== undefined) cell.f = format ?? undefined;
    if (properties !== undefined) cell.p = { ...properties };
  }

  /** Sets a value and clears the format and the properties that were made for the old one. */
  setValue(row, column, value) {
    this.setCell(row, column, value ?? null, null, null);
  }

  setFormattedValue(row, column, format) {
    this.#rows[row][column].f = format ?? undefined;
  }

  addColumn(description, label, id) {
    this.insertColumn(this.#columns.length, description, label, id);
    return this.#columns.length - 1;
  }

  insertColumn(index, description, label, id) {
    this.#columns.splice(index, 0, makeColumn(description, label, id));
    for (const row of this.#rows) row.splice(index, 0, makeCell(null));
  }

  removeColumn(index) {
    this.removeColumns(index, 1);
  }

  removeColumns(index, count) {
    this.#columns.splice(index, count);
    for (const row of this.#rows) row.splice(index, count);
  }

  /** Adds a row of values or cell descriptions; missing cells are empty. Returns its index. */
  addRow(cells) {
    this.insertRows(this.#rows.length, [cells ?? []]);
    return this.#rows.length - 1;
  }

  /** Adds rows, or that many empty ones. Returns the last index. */
  addRows(rows) {
    this.insertRows(this.#rows.length, rows);
    return this.#rows.length - 1;
  }

  insertRows(index, rows) {
    const given = typeof rows === "number" ? Array.from({ length: rows }, () => []) : rows;
    const made = given.map((cells) => this.#columns.map((_, column) => makeCell(cells[column])));
    // Spreading a long list into splice's arguments overflows the stack.
    this.#rows = [...this.#rows.slice(0, index), ...made, ...this.#rows.slice(index)];
  }

  removeRow(index) {
    this.removeRows(index, 1);
  }

  removeRows(index, count) {
    this.#rows.splice(index, count);
  }

  sort(request) {
    const rows = this.#rows;
    this.#rows = this.getSortedRows(request).map((row) => rows[row]);
  }

  getTableProperties() {
    return this.#properties;
  }

  setTableProperty(name, value) {
    this.#properties[name] = value;
  }

  setTableProperties(properties) {
    this.#properties = { ...properties };
  }

  clone() {
    return copyOf(this);
  }

  toDataTable() {
    return copyOf(this);
  }
}

/** A DataTable with the content of any table or view, independent of it. */
export function copyOf(source) {
  const columns = Array.from({ length: source.getNumberOfColumns() }, (_, index) => index);
  const copy = new DataTable();
  for (const column of columns) copy.addColumn(source.describeColumn(column));
  copy.addRows(
    source.rowIndexes().map((row) => columns.map((column) => source.describeCell(row, column))),
  );
  copy.setTableProperties(source.getTableProperties());
  return copy;
}

/** The type of a column of an array, from its first value. */
function typeOf(rows, column) {
  for (const row of rows) {
    const value = isCell(row[column]) ? row[column].v : row[column];
    if (value !== null && value !== undefined) return value instanceof Date ? "date" : typeof value;
  }
  return "string";
}

/** A DataTable of an array of rows, whose first row holds labels or column descriptions. */
export function arrayToDataTable(array, firstRowIsData = false) {
  const rows = firstRowIsData ? array : array.slice(1);
  const table = new DataTable();
  (array[0] ?? []).forEach((header, column) => {
    const type = typeOf(rows, column);
    if (firstRowIsData) table.addColumn(type);
    else if (header !== null && typeof header === "object") table.addColumn({ type, ...header });
    else table.addColumn(type, String(header ?? ""));
  });
  table.addRows(rows);
  return table;
}
