/**
 * Pie charts: slices, small ones joined as "Other", percentages, legend, tooltip, selection.
 */
import { PALETTE, REST, safeColor } from "./colors.js";
import { trigger, triggerReady } from "./events.js";
import { fontSize } from "./frame.js";
import { drawLegend, legendPosition } from "./legend.js";
import { unwatchSize, watchSize } from "./sizes.js";
import { chartSize, draw, drawEmpty, drawRoot, fitText, textWidth } from "./svg.js";
import { hideTooltip, say, showTooltip } from "./tooltip.js";

/** Google joins slices below this share unless `sliceVisibilityThreshold` says otherwise. */
const LEAST_SHARE = 1 / 720;

/** The rest's share that is not 0.0 %. */
const LEAST_NAMED_REST = 0.0005;

/** Pixels of arc below which a slice, or all that is left of the pie, has no edge. */
const THINNEST = 2;

/** The slices of a table: `{label, value, share, color, row}`; `row` is null for the joined rest. */
export function readSlices(table, options) {
  const colors = options.colors?.length ? options.colors : PALETTE;
  const all = table.rowIndexes().map((row) => ({
    row,
    label: table.getFormattedValue(row, 0),
    text: table.getFormattedValue(row, 1),
    value: Math.max(0, table.getValue(row, 1) ?? 0),
    color: safeColor(options.slices?.[row]?.color ?? colors[row % colors.length], PALETTE[row % PALETTE.length]),
  }));
  const total = all.reduce((sum, slice) => sum + slice.value, 0);
  const threshold = options.sliceVisibilityThreshold ?? LEAST_SHARE;
  const slices = all.map((slice) => ({ ...slice, share: total ? slice.value / total : 0 }));
  const shown = slices.filter((slice) => slice.share > 0 && slice.share >= threshold);
  const rest = slices.filter((slice) => slice.share > 0 && slice.share < threshold);
  if (!rest.length) return shown;
  const share = rest.reduce((sum, slice) => sum + slice.share, 0);
  const value = rest.reduce((sum, slice) => sum + slice.value, 0);
  const label = options.pieResidueSliceLabel ?? "Other";
  return [...shown, { row: null, label, text: `${Number(value.toPrecision(6))}`, value, share, color: REST }];
}

/** Whether an edge would be seen more than the slice, or than what lies beside it. */
function isThin({ share }, radius) {
  const [arc, whole] = [share * 2 * Math.PI * radius, 2 * Math.PI * radius];
  return arc < THINNEST || whole - arc < THINNEST;
}

/** The outline of a slice between two angles, in radians clockwise from the top. */
function slicePath({ x, y, radius, hole }, from, to) {
  const at = (angle, r) => `${x + r * Math.sin(angle)},${y - r * Math.cos(angle)}`;
  const large = to - from > Math.PI ? 1 : 0;
  const outer = `${at(from, radius)}A${radius},${radius} 0 ${large} 1 ${at(to, radius)}`;
  if (!hole) return `M${x},${y}L${outer}Z`;
  return `M${outer}L${at(to, hole)}A${hole},${hole} 0 ${large} 0 ${at(from, hole)}Z`;
}

/** The circle and the legend's room, from size and options. */
function pieFrame(size, options) {
  const right = legendPosition(options) === "right";
  const top = options.title ? 28 : 8;
  const room = right ? size.width * 0.5 : size.width;
  const high = size.height - top - (legendPosition(options) === "bottom" ? 30 : 8);
  const radius = Math.max(8, Math.min(room - 16, high) / 2);
  return { x: room / 2, y: top + high / 2, radius, hole: radius * (options.pieHole ?? 0) };
}

/** The share of a slice in words. */
function percent({ share }) {
  return `${(share * 100).toFixed(1)}%`;
}

export class PieChart {
  #container;
  #selection = [];
  #slices = [];
  #drawn = null;
  #current = -1;

  constructor(container) {
    this.#container = container;
  }

  /** Shows the first two columns of a DataTable or DataView: names and sizes. Fewer are an `error` event. */
  draw(table, options = {}) {
    this.#drawn = { table, options: options ?? {} };
    this.#selection = [];
    this.#redraw();
    watchSize(this.#container, () => this.#redraw());
    if (table?.getNumberOfColumns() >= 2) triggerReady(this);
    else trigger(this, "error", { id: "few-columns", message: "A pie needs two columns." });
  }

  clearChart() {
    hideTooltip();
    unwatchSize(this.#container);
    this.#container.replaceChildren();
    this.#selection = [];
    this.#slices = [];
  }

  getSelection() {
    return this.#selection.map((item) => ({ ...item }));
  }

  setSelection(selection) {
    this.#selection = (selection ?? []).map(({ row = null }) => ({ row, column: null }));
    this.#markSelection();
  }

  #redraw() {
    hideTooltip();
    const { table, options } = this.#drawn;
    const size = chartSize(this.#container, options);
    const root = drawRoot(size, options.title ?? "Pie chart");
    this.#slices = table?.getNumberOfColumns() >= 2 ? readSlices(table, options) : [];
    this.#current = -1;
    if (this.#slices.length) this.#fill(root, size, options);
    else drawEmpty(root, size);
    if (options.title) {
      const title = fitText(options.title, 13, size.width - 16);
      draw(root, "text", { class: "xh-title", x: 8, y: 16, "font-size": 13 }, title);
    }
    this.#container.replaceChildren(root);
    this.#markSelection();
  }

  #fill(root, size, options) {
    const parts = this.#slices.map((slice) => `${slice.label}: ${percent(slice)}`);
    draw(root, "desc", {}, `Pie chart of ${parts.length} slices. ${parts.slice(0, 12).join("; ")}.`);
    root.setAttribute("tabindex", "0");
    root.addEventListener("keydown", (event) => this.#walk(root, event));
    root.addEventListener("blur", () => this.#mean(root, -1));
    this.#drawSlices(root, size, options);
  }

  #drawSlices(root, size, options) {
    const frame = pieFrame(size, options);
    const shares = [];
    let from = 0;
    for (const [index, slice] of this.#slices.entries()) {
      const to = from + slice.share * 2 * Math.PI;
      slice.place = this.#drawSlice(root, frame, index, from, to);
      shares.push([slice, (from + to) / 2]);
      from = to;
    }
    // Above all slices, so that no neighbour covers a share.
    for (const [slice, angle] of options.pieSliceText === "none" ? [] : shares) drawShare(root, frame, slice, angle);
    const right = legendPosition(options) === "right";
    const top = right ? Math.max(frame.y - frame.radius + 6, 12) : frame.y - frame.radius;
    const plot = right
      ? { left: 0, top, width: frame.x + frame.radius, height: frame.radius * 2 }
      : { left: 8, top, width: size.width - 16, height: frame.radius * 2 };
    // A rest of which nothing can be seen needs no name.
    const named = this.#slices.filter(({ row, share }) => row !== null || share >= LEAST_NAMED_REST);
    drawLegend(root, plot, size, options, named, {
      point: (slice) => this.#highlight(root, this.#slices.indexOf(slice)),
      choose: (slice) => this.#select(slice),
    });
  }

  /** Draws one slice, and returns where its middle is. */
  #drawSlice(root, frame, index, from, to) {
    const slice = this.#slices[index];
    // An arc from a point to itself draws nothing, so a whole circle stops just short of it.
    const end = Math.min(to, from + 2 * Math.PI - 1e-4);
    const path = { d: slicePath(frame, from, end), fill: slice.color, class: isThin(slice, frame.radius) ? "xh-slice xh-thin" : "xh-slice" };
    const made = draw(root, "path", { ...path, "data-row": slice.row ?? "rest" });
    made.addEventListener("mousemove", (event) => this.#mean(root, index, event));
    made.addEventListener("mouseleave", () => this.#mean(root, -1));
    made.addEventListener("click", () => this.#select(slice));
    const [angle, away] = [(from + to) / 2, (frame.radius + frame.hole) / 2];
    return { x: frame.x + away * Math.sin(angle), y: frame.y - away * Math.cos(angle) };
  }

  #highlight(root, index) {
    root.classList.toggle("xh-dimmed", index >= 0);
    for (const [at, made] of [...root.querySelectorAll(".xh-slice")].entries()) made.classList.toggle("xh-lit", at === index);
  }

  /** The slice that the reader means, by its index; -1 for none. */
  #mean(root, index, at) {
    if (index !== this.#current) {
      if (this.#current >= 0) trigger(this, "onmouseout", { row: this.#slices[this.#current].row, column: null });
      this.#current = index;
      if (index >= 0) trigger(this, "onmouseover", { row: this.#slices[index].row, column: null });
    }
    const slice = this.#slices[index];
    if (slice) showTooltip(at, textOf(slice), slice.color);
    else hideTooltip();
  }

  /** Arrow keys walk around the pie; Enter selects, Escape lets go. */
  #walk(root, event) {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const count = this.#slices.length;
    if (event.key === "Escape") this.#mean(root, -1);
    else if (event.key === "Enter" && this.#current >= 0) this.#select(this.#slices[this.#current]);
    if (!step || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const next = this.#current < 0 ? 0 : (this.#current + step + count) % count;
    const { left, top } = root.getBoundingClientRect();
    const { x, y } = this.#slices[next].place;
    this.#mean(root, next, { clientX: left + x, clientY: top + y });
    say(textOf(this.#slices[next]));
  }

  #select(slice) {
    trigger(this, "click", { row: slice.row });
    const again = this.#selection.some((item) => item.row === slice.row);
    this.setSelection(again || slice.row === null ? [] : [{ row: slice.row }]);
    trigger(this, "select");
  }

  #markSelection() {
    const rows = new Set(this.#selection.map((item) => String(item.row)));
    for (const slice of this.#container.querySelectorAll("[data-row]")) {
      slice.classList.toggle("xh-selected", rows.has(slice.dataset.row));
    }
  }
}

/** What the tooltip says of a slice. */
function textOf(slice) {
  return `${slice.label}\n${slice.text} (${percent(slice)})`;
}

/** Writes the share onto a slice that has room for it. */
function drawShare(root, frame, slice, angle) {
  const font = fontSize({});
  const text = percent(slice);
  const middle = (frame.radius + Math.max(frame.hole, frame.radius * 0.35)) / 2;
  if (slice.share * 2 * Math.PI * middle < textWidth(text, font) + 4) return;
  const at = { x: frame.x + middle * Math.sin(angle), y: frame.y - middle * Math.cos(angle) + font * 0.35 };
  draw(root, "text", { ...at, "text-anchor": "middle", "font-size": font, class: "xh-share" }, text);
}
