/**
 * A choice of columns and rows of a table, with calculated columns; it holds no values of its own.
 */
import { copyOf, isCell } from "./datatable.js";
import { Readable } from "./readable.js";

export class DataView extends Readable {
  #table;
  #columns;
  #rows = null;

  constructor(table) {
    super();
    this.#table = table;
    this.#columns = Array.from({ length: table.getNumberOfColumns() }, (_, index) => index);
  }

  /** Shows these columns: indexes, ids, labels, or `{calc|sourceColumn, type, label, id, role, properties}`. */
  setColumns(columns) {
    this.#columns = columns.map((column) =>
      typeof column === "object" ? column : this.#table.getColumnIndex(column),
    );
  }

  /** Shows these rows of the table: a list of indexes, or the first and the last one. */
  setRows(first, last) {
    this.#rows = Array.isArray(first)
      ? [...first]
      : Array.from({ length: last - first + 1 }, (_, offset) => first + offset);
  }

  hideColumns(columns) {
    const hidden = new Set(columns.map((column) => this.#table.getColumnIndex(column)));
    this.#columns = this.#columns.filter((column) => !hidden.has(column));
  }

  hideRows(rows) {
    const hidden = new Set(rows);
    this.#rows = this.getViewRows().filter((row) => !hidden.has(row));
  }

  getViewColumns() {
    return [...this.#columns];
  }

  getViewRows() {
    return this.#rows ? [...this.#rows] : this.#table.rowIndexes();
  }

  getNumberOfRows() {
    return this.#rows ? this.#rows.length : this.#table.getNumberOfRows();
  }

  getNumberOfColumns() {
    return this.#columns.length;
  }

  /** The table's column that a column of the view shows; -1 for a calculated one. */
  getTableColumnIndex(column) {
    const shown = this.#columns[column];
    if (typeof shown !== "object") return shown;
    return shown.sourceColumn === undefined ? -1 : this.#table.getColumnIndex(shown.sourceColumn);
  }

  getTableRowIndex(row) {
    return this.#rows ? this.#rows[row] : row;
  }

  /** The view's column that shows a column of the table; -1 when none does. */
  getViewColumnIndex(tableColumn) {
    return this.#columns.findIndex((_, column) => this.getTableColumnIndex(column) === tableColumn);
  }

  /** The view's row that shows a row of the table; -1 when none does. */
  getViewRowIndex(tableRow) {
    return this.#rows ? this.#rows.indexOf(tableRow) : tableRow;
  }

  getColumnLabel(column) {
    return this.#described(column, "label", (source) => this.#table.getColumnLabel(source)) ?? "";
  }

  getColumnId(column) {
    return this.#described(column, "id", (source) => this.#table.getColumnId(source)) ?? "";
  }

  getColumnType(column) {
    return this.#described(column, "type", (source) => this.#table.getColumnType(source));
  }

  getColumnRole(column) {
    return this.#described(column, "role", (source) => this.#table.getColumnRole(source)) ?? "";
  }

  getColumnProperties(column) {
    const ofTable = (source) => this.#table.getColumnProperties(source);
    return this.#described(column, "properties", ofTable) ?? this.#columns[column].p ?? {};
  }

  getValue(row, column) {
    const shown = this.#columns[column];
    const tableRow = this.getTableRowIndex(row);
    const source = this.getTableColumnIndex(column);
    if (typeof shown === "object" && shown.calc !== undefined) {
      return this.#calculated(shown, tableRow, source).v ?? null;
    }
    return source < 0 ? null : this.#table.getValue(tableRow, source);
  }

  /** The format of the cell that is shown, or undefined. */
  getOwnFormat(row, column) {
    const shown = this.#columns[column];
    const tableRow = this.getTableRowIndex(row);
    const source = this.getTableColumnIndex(column);
    if (typeof shown === "object" && shown.calc !== undefined) {
      return this.#calculated(shown, tableRow, source).f;
    }
    return source < 0 ? undefined : this.#table.getOwnFormat(tableRow, source);
  }

  getProperties(row, column) {
    const source = this.getTableColumnIndex(column);
    return source < 0 ? {} : this.#table.getProperties(this.getTableRowIndex(row), source);
  }

  getTableProperties() {
    return this.#table.getTableProperties();
  }

  toDataTable() {
    return copyOf(this);
  }

  /** What the view says of a column, else what the table says of the column that it shows. */
  #described(column, name, ofTable) {
    const shown = this.#columns[column];
    if (typeof shown === "object" && shown[name] !== undefined) return shown[name];
    const source = this.getTableColumnIndex(column);
    return source < 0 ? undefined : ofTable(source);
  }

  /** The cell of a calculated column. `stringify` is the one calculation that Google names. */
  #calculated({ calc }, tableRow, source) {
    if (calc === "stringify") return { v: this.#table.getFormattedValue(tableRow, source) };
    const result = calc(this.#table, tableRow);
    return isCell(result) ? result : { v: result };
  }
}
