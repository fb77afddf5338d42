/**
 * The table of `google.visualization`: sorting, paging, selection; cells are text (see markup.js).
 *
 * Of long tables only the rows near the view are in the page (rowwindow.js), so that sorting 5,000 rows stays instant.
 */
import { trigger, triggerReady } from "./events.js";
import { fillCell } from "./markup.js";
import { RowWindow } from "./rowwindow.js";
import { NOTHING } from "./svg.js";

/** Rows up to which all are in the page. */
const WHOLE_UP_TO = 200;

/** Characters from which a cell shows its first lines only, until its row is selected. */
const LONG_TEXT = 160;

/** Rows that are looked at to see how wide a column should be, and the characters that ask for more room. */
const SAMPLE = 40;
const WIDE_TEXT = 24;

/** Rows that Page Up and Page Down walk over. */
const LEAP = 10;

/** Keys that walk through the rows: from an index among `last + 1` rows to another one. */
const WALK = {
  ArrowDown: (at) => at + 1,
  ArrowUp: (at) => at - 1,
  PageDown: (at) => at + LEAP,
  PageUp: (at) => at - LEAP,
  Home: () => 0,
  End: (_, last) => last,
};

const CLASS_NAMES = /^[\w -]+$/;
const CELL_WIDTH = /^width: ?([\d.]+(?:%|px));?$/;

/** A new element in `parent`, with classes from us and from XProf. */
function add(parent, name, ...classes) {
  const made = document.createElement(name);
  const given = classes.filter((text) => text && CLASS_NAMES.test(text));
  if (given.length) made.className = given.join(" ");
  parent.append(made);
  return made;
}

/** A CSS length from XProf's option: a number of pixels or text. */
function length(value) {
  if (value === undefined || value === null || value === "") return "";
  return typeof value === "number" || /^\d+$/.test(value) ? `${value}px` : value;
}

export class Table {
  #container;
  #data = null;
  #options = {};
  #selection = [];
  #sort = { column: -1, ascending: true };
  #page = 0;
  #order = [];
  #shown = [];
  #window = null;

  constructor(container) {
    this.#container = container;
  }

  /** Shows a DataTable or DataView; Google's options, of which XProf's matter. */
  draw(data, options = {}) {
    if (!data?.getNumberOfColumns()) {
      this.clearChart();
      add(this.#container, "p", "xh-nothing").textContent = NOTHING;
      trigger(this, "error", { id: "no-columns", message: "Table has no columns." });
      return;
    }
    this.#data = data;
    this.#options = options ?? {};
    this.#page = Math.max(0, this.#options.startPage ?? 0);
    this.#selection = [];
    this.#sort = this.#firstSort();
    this.#show();
    triggerReady(this);
  }

  clearChart() {
    this.#window?.stop();
    this.#container.replaceChildren();
    this.#selection = [];
  }

  getSelection() {
    return this.#selection.map((item) => ({ ...item }));
  }

  setSelection(selection) {
    this.#selection = (selection ?? []).map(({ row }) => ({ row, column: null }));
    this.#markSelection();
  }

  /** The shown sort: column (-1: none), direction, and the rows in shown order. */
  getSortInfo() {
    return { ...this.#sort, sortedIndexes: [...this.#order] };
  }

  /** The sort that the options ask for, else the one that the reader chose before. */
  #firstSort() {
    const { sortColumn, sortAscending } = this.#options;
    if (sortColumn !== undefined) return { column: sortColumn, ascending: sortAscending ?? true };
    const known = this.#sort.column < this.#data.getNumberOfColumns();
    return known ? this.#sort : { column: -1, ascending: true };
  }

  /** With `sort: "event"` XProf sorts the data itself and draws again. */
  get #sortsItself() {
    return (this.#options.sort ?? "enable") === "enable";
  }

  get #pageSize() {
    return this.#options.page === "enable" ? (this.#options.pageSize ?? 10) : Infinity;
  }

  #show() {
    const { column, ascending } = this.#sort;
    const sorted = this.#sortsItself && column >= 0;
    this.#order = sorted
      ? this.#data.getSortedRows({ column, desc: !ascending })
      : this.#data.rowIndexes();
    this.#window?.stop();
    const aside = this.#container.querySelector(".xh-table-scroll")?.scrollLeft ?? 0;
    const root = document.createElement("div");
    root.className = "google-visualization-table xh-table";
    root.style.width = length(this.#options.width);
    const scroll = add(root, "div", "xh-table-scroll");
    scroll.style.maxHeight = length(this.#options.height);
    const table = add(scroll, "table", "google-visualization-table-table");
    table.setAttribute("role", "grid");
    table.setAttribute("aria-rowcount", String(this.#order.length + 1));
    table.setAttribute("aria-multiselectable", "true");
    this.#addHead(table);
    this.#addPager(root);
    this.#container.replaceChildren(root);
    this.#addRows(table);
    this.#letHeadStick(scroll);
    scroll.scrollLeft = aside;
  }

  /** A table that fits needs no scrolling of its own, and then its head can stick to the page's top. */
  #letHeadStick(scroll) {
    if (!this.#options.height && scroll.clientWidth && scroll.scrollWidth <= scroll.clientWidth) {
      scroll.classList.add("xh-whole");
    }
  }

  #addHead(table) {
    const row = add(add(table, "thead"), "tr", this.#classOf("headerRow"));
    if (this.#options.showRowNumber) add(row, "th", this.#classOf("headerCell"));
    for (let column = 0; column < this.#data.getNumberOfColumns(); column++) {
      const type = `google-visualization-table-type-${this.#data.getColumnType(column)}`;
      const wide = this.#holdsLongTexts(column) ? "xh-wide" : "";
      const cell = add(row, "th", "google-visualization-table-th", type, wide, this.#classOf("headerCell"));
      cell.scope = "col";
      this.#addHeading(cell, column);
    }
  }

  /** Whether a column needs more room than its heading, by the first rows. */
  #holdsLongTexts(column) {
    if (this.#data.getColumnType(column) !== "string") return false;
    return this.#order.slice(0, SAMPLE).some((row) => this.#data.getFormattedValue(row, column).length > WIDE_TEXT);
  }

  #addHeading(cell, column) {
    const label = this.#data.getColumnLabel(column);
    if (this.#options.sort === "disable") {
      cell.textContent = label;
      return;
    }
    const button = add(cell, "button", "xh-table-sort");
    button.type = "button";
    button.textContent = label;
    button.addEventListener("click", () => this.#sortBy(column));
    if (this.#sort.column === column) {
      cell.setAttribute("aria-sort", this.#sort.ascending ? "ascending" : "descending");
    }
  }

  #sortBy(column) {
    const ascending = this.#sort.column === column ? !this.#sort.ascending : true;
    this.#sort = { column, ascending };
    this.#page = 0;
    this.#show();
    const number = this.#options.showRowNumber ? 1 : 0;
    this.#container.querySelectorAll("th")[column + number]?.querySelector("button")?.focus({ preventScroll: true });
    trigger(this, "sort", this.getSortInfo());
  }

  #addRows(table) {
    const first = this.#page * this.#pageSize || 0;
    this.#shown = this.#order.slice(first, first + this.#pageSize);
    table.addEventListener("keydown", (event) => this.#walk(event));
    if (!this.#shown.length) this.#addNothing(table);
    const fillRow = (parent, row, index) => this.#addRow(parent, row, first + index + 1);
    if (this.#shown.length > WHOLE_UP_TO) {
      const onFill = () => this.#markSelection();
      this.#window = new RowWindow(table, this.#shown, { columns: this.#width, fillRow, onFill });
      this.#freezeWidths(table);
      this.#window.follow();
    } else {
      this.#window = null;
      const fragment = document.createDocumentFragment();
      for (const [index, row] of this.#shown.entries()) fillRow(fragment, row, index);
      if (this.#shown.length) add(table, "tbody").append(fragment);
    }
    const start = table.querySelector("tr[data-row]");
    if (start) start.tabIndex = 0;
    this.#markSelection();
  }

  get #width() {
    return this.#data.getNumberOfColumns() + (this.#options.showRowNumber ? 1 : 0);
  }

  #addNothing(table) {
    const cell = add(add(add(table, "tbody"), "tr"), "td", "xh-nothing");
    cell.colSpan = this.#width;
    cell.textContent = NOTHING;
  }

  /** Keeps columns as wide as they are, whatever rows come into the page later. */
  #freezeWidths(table) {
    const widths = [...table.querySelectorAll("th")].map((cell) => cell.offsetWidth);
    if (!widths.some(Boolean)) return;
    const group = document.createElement("colgroup");
    for (const width of widths) add(group, "col").style.width = `${width}px`;
    table.prepend(group);
    table.classList.add("xh-frozen");
  }

  /** Arrow keys walk through the rows, Enter and space select the one that has the focus. */
  #walk(event) {
    const from = event.target.closest("tr[data-row]");
    if (!from || event.target !== from) return;
    const at = this.#shown.indexOf(Number(from.dataset.row));
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.#select(this.#shown[at], event);
    } else if (WALK[event.key]) {
      event.preventDefault();
      const last = this.#shown.length - 1;
      const to = Math.max(0, Math.min(last, WALK[event.key](at, last)));
      const next = this.#window ? this.#window.reveal(to) : this.#rowElement(this.#shown[to]);
      from.tabIndex = -1;
      if (next) next.tabIndex = 0;
      next?.focus();
    }
  }

  #rowElement(row) {
    return this.#container.querySelector(`tr[data-row="${row}"]`);
  }

  #addRow(parent, row, number) {
    const made = add(parent, "tr", this.#classOf("tableRow"));
    made.dataset.row = row;
    made.tabIndex = -1;
    made.setAttribute("aria-rowindex", String(number + 1));
    made.addEventListener("click", (event) => this.#select(row, event));
    if (this.#options.showRowNumber) {
      add(made, "td", "xh-number", this.#classOf("tableCell")).textContent = String(number);
    }
    for (let column = 0; column < this.#data.getNumberOfColumns(); column++) {
      this.#addCell(made, row, column);
    }
  }

  #addCell(parent, row, column) {
    const type = this.#data.getColumnType(column);
    const properties = this.#data.getProperties(row, column);
    const cell = add(
      parent,
      "td",
      `google-visualization-table-type-${type}`,
      type === "number" ? "xh-number" : "",
      this.#classOf("tableCell"),
      properties.className,
    );
    const width = CELL_WIDTH.exec(properties.style ?? "");
    if (width) cell.style.width = width[1];
    const text = this.#data.getFormattedValue(row, column);
    const target = text.length > LONG_TEXT ? add(cell, "div", "xh-long") : cell;
    if (target !== cell) cell.title = "Select the row to read all of it.";
    if (type === "boolean") target.textContent = this.#data.getValue(row, column) ? "✔" : "✗";
    else if (this.#options.allowHtml) fillCell(target, text);
    else target.textContent = text;
  }

  #addPager(root) {
    const pages = Math.ceil(this.#order.length / this.#pageSize);
    if (!(pages > 1)) return;
    const pager = add(root, "div", "xh-pager");
    const step = (label, name, page) => {
      const button = add(pager, "button");
      button.type = "button";
      button.textContent = label;
      button.setAttribute("aria-label", name);
      button.disabled = page < 0 || page >= pages;
      button.addEventListener("click", () => this.#turnTo(page));
    };
    const first = this.#page * this.#pageSize;
    const last = Math.min(this.#order.length, first + this.#pageSize);
    step("‹", "Previous page", this.#page - 1);
    add(pager, "span").textContent = `${first + 1}–${last} of ${this.#order.length}`;
    step("›", "Next page", this.#page + 1);
  }

  #turnTo(page) {
    this.#page = page;
    this.#show();
    trigger(this, "page", { page });
  }

  /** A click selects one row, or with Ctrl or Command one more; a second click takes it back. */
  #select(row, event) {
    if (event.target.closest("a")) return;
    const was = this.#selection.some((item) => item.row === row);
    const kept = event.ctrlKey || event.metaKey ? this.#selection.filter((item) => item.row !== row) : [];
    this.#selection = was ? kept : [...kept, { row, column: null }];
    this.#markSelection();
    trigger(this, "select");
  }

  #markSelection() {
    const selected = new Set(this.#selection.map((item) => String(item.row)));
    for (const row of this.#container.querySelectorAll("tbody tr")) {
      if (selected.has(row.dataset.row)) row.setAttribute("aria-selected", "true");
      else row.removeAttribute("aria-selected");
    }
  }

  #classOf(part) {
    return this.#options.cssClassNames?.[part] ?? "";
  }
}
