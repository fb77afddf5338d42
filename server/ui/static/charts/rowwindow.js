/**
 * The rows of a long table: only those near the view are in the page, the others are empty space of their height.
 *
 * Rows come in parts, each a `<tbody>`. A part is filled when it comes near the view and emptied when it is far away,
 * so a table of 5,000 rows has as many elements as one of 200.
 */

/** Rows of one part. */
const PART = 40;

/** Pixels around the view in which parts are filled. */
const NEAR = 600;

/** The height of a row that nobody has measured. */
const USUAL_HEIGHT = 29;

/** The nearest element around that scrolls up and down; null for the page. */
function scrollerOf(element) {
  for (let at = element; at && at !== document.body; at = at.parentElement) {
    const { overflowY, maxHeight } = getComputedStyle(at);
    const bounded = at.scrollHeight > at.clientHeight + 1 || maxHeight !== "none";
    if (["auto", "scroll"].includes(overflowY) && bounded) return at;
  }
  return null;
}

export class RowWindow {
  #parts = [];
  #byBody = new Map();
  #columns;
  #observer = null;
  #rowHeight = USUAL_HEIGHT;
  #fillRow;
  #onFill;

  /**
   * @param {HTMLTableElement} table in the page already.
   * @param {number[]} rows what is shown, in order.
   * @param {{columns: number, fillRow: Function, onFill: Function}} how `fillRow(parent, row, index)` adds one row;
   *   `onFill()` is called when rows have been added.
   */
  constructor(table, rows, { columns, fillRow, onFill }) {
    this.#columns = columns;
    this.#fillRow = fillRow;
    this.#onFill = onFill;
    const bodies = document.createDocumentFragment();
    for (let first = 0; first < rows.length; first += PART) {
      const body = document.createElement("tbody");
      this.#parts.push({ body, first, rows: rows.slice(first, first + PART), height: 0, filled: false });
      bodies.append(body);
    }
    table.append(bodies);
    if (this.#parts.length) this.#fill(this.#parts[0]);
    const [start] = this.#parts;
    if (start?.body.offsetHeight) this.#rowHeight = start.body.offsetHeight / start.rows.length;
    for (const part of this.#parts.slice(1)) this.#empty(part);
  }

  /** Starts to follow the view. */
  follow() {
    // The browser keeps whoever listens, and XProf drops its tables without a word: nothing may hang on the listener.
    const known = new WeakRef(this);
    const look = (entries) => known.deref()?.#look(entries);
    const root = scrollerOf(this.#parts[0]?.body.parentElement ?? null);
    this.#observer = new IntersectionObserver(look, { root, rootMargin: `${NEAR}px 0px` });
    for (const part of this.#parts) {
      this.#byBody.set(part.body, part);
      this.#observer.observe(part.body);
    }
  }

  /** Fills parts that have come near, and empties those that are far away. */
  #look(entries) {
    let filled = false;
    for (const { target, isIntersecting } of entries) {
      const part = this.#byBody.get(target);
      if (isIntersecting && !part.filled) {
        this.#fill(part);
        filled = true;
      } else if (!isIntersecting && part.filled && target.offsetHeight && !target.contains(document.activeElement)) {
        this.#empty(part);
      }
    }
    if (filled) this.#onFill();
  }

  /** Fills the part that holds a row of the shown order, and returns the row's element. */
  reveal(index) {
    const part = this.#parts[Math.floor(index / PART)];
    if (!part) return null;
    if (!part.filled) {
      this.#fill(part);
      this.#onFill();
    }
    return part.body.children[index - part.first] ?? null;
  }

  stop() {
    this.#observer?.disconnect();
  }

  #fill(part) {
    const fragment = document.createDocumentFragment();
    for (const [index, row] of part.rows.entries()) this.#fillRow(fragment, row, part.first + index);
    part.body.replaceChildren(fragment);
    part.filled = true;
  }

  #empty(part) {
    if (part.filled) part.height = part.body.offsetHeight;
    const gap = document.createElement("tr");
    gap.className = "xh-gap";
    gap.setAttribute("aria-hidden", "true");
    const cell = document.createElement("td");
    cell.colSpan = this.#columns;
    cell.style.height = `${part.height || part.rows.length * this.#rowHeight}px`;
    gap.append(cell);
    part.body.replaceChildren(gap);
    part.filled = false;
  }
}
