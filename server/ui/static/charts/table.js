/**
 * The table of `google.visualization`: sorting, paging, selection; cells are text (see markup.js).
 *
 * Long tables are drawn in parts as the end comes into view, so that sorting 5,000 rows stays instant.
 */
import { trigger, triggerReady } from "./events.js";
import { fillCell } from "./markup.js";

/** Rows drawn at once, and the size from which a table is drawn in parts. */
const PART = 100;
const WHOLE_UP_TO = 1000;

/** Characters from which a cell scrolls instead of growing. */
const LONG_TEXT = 400;

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
  #observer = null;

  constructor(container) {
    this.#container = container;
  }

  /** Shows a DataTable or DataView; Google's options, of which XProf's matter. */
  draw(data, options = {}) {
    this.#data = data;
    this.#options = options ?? {};
    this.#page = Math.max(0, this.#options.startPage ?? 0);
    this.#selection = [];
    this.#sort = this.#firstSort();
    this.#show();
    triggerReady(this);
  }

  clearChart() {
    this.#observer?.disconnect();
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
    this.#observer?.disconnect();
    this.#container.replaceChildren();
    const root = add(this.#container, "div", "google-visualization-table", "xh-table");
    root.style.width = length(this.#options.width);
    const scroll = add(root, "div", "xh-table-scroll");
    scroll.style.maxHeight = length(this.#options.height);
    const table = add(scroll, "table", "google-visualization-table-table");
    table.setAttribute("aria-rowcount", String(this.#order.length + 1));
    this.#addHead(table);
    this.#addRows(table);
    this.#addPager(root);
  }

  #addHead(table) {
    const row = add(add(table, "thead"), "tr", this.#classOf("headerRow"));
    if (this.#options.showRowNumber) add(row, "th", this.#classOf("headerCell"));
    for (let column = 0; column < this.#data.getNumberOfColumns(); column++) {
      const type = `google-visualization-table-type-${this.#data.getColumnType(column)}`;
      const cell = add(row, "th", "google-visualization-table-th", type, this.#classOf("headerCell"));
      cell.scope = "col";
      this.#addHeading(cell, column);
    }
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
    trigger(this, "sort", this.getSortInfo());
  }

  #addRows(table) {
    const first = this.#page * this.#pageSize || 0;
    const rows = this.#order.slice(first, first + this.#pageSize);
    const body = add(table, "tbody");
    const part = rows.length > WHOLE_UP_TO ? PART : rows.length;
    let drawn = 0;
    const drawPart = () => {
      const fragment = document.createDocumentFragment();
      for (const row of rows.slice(drawn, drawn + part)) this.#addRow(fragment, row, first + ++drawn);
      body.append(fragment);
      this.#markSelection();
    };
    drawPart();
    if (drawn < rows.length) this.#drawMoreAtEnd(table, drawPart, () => drawn >= rows.length);
  }

  /** Calls `drawPart` whenever the end of the table comes near the view. */
  #drawMoreAtEnd(table, drawPart, done) {
    const end = add(table.parentElement, "div", "xh-table-end");
    this.#observer = new IntersectionObserver(
      (entries) => {
        if (!entries.some((entry) => entry.isIntersecting)) return;
        drawPart();
        this.#observer.unobserve(end);
        if (done()) end.remove();
        else this.#observer.observe(end);
      },
      { rootMargin: "600px" },
    );
    this.#observer.observe(end);
  }

  #addRow(parent, row, number) {
    const made = add(parent, "tr", this.#classOf("tableRow"));
    made.dataset.row = row;
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
