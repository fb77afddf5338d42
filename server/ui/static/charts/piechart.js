/**
 * Pie charts: slices, small ones joined as "Other", percentages, legend, tooltip, selection.
 */
import { trigger, triggerReady } from "./events.js";
import { drawLegend, fontSize, legendPosition } from "./frame.js";
import { chartSize, draw, drawEmpty, drawRoot, hideTooltip, PALETTE, safeColor, showTooltip, textWidth } from "./svg.js";

/** Google joins slices below this share unless `sliceVisibilityThreshold` says otherwise. */
const LEAST_SHARE = 1 / 720;

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
  return [...shown, { row: null, label, text: `${Number(value.toPrecision(6))}`, value, share, color: "#cccccc" }];
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

export class PieChart {
  #container;
  #selection = [];
  #slices = [];

  constructor(container) {
    this.#container = container;
  }

  /** Shows the first two columns of a DataTable or DataView: names and sizes. */
  draw(table, options = {}) {
    this.clearChart();
    const size = chartSize(this.#container, options ?? {});
    const root = drawRoot(this.#container, size, options?.title);
    this.#slices = readSlices(table, options ?? {});
    if (this.#slices.length) this.#drawSlices(root, size, options ?? {});
    else drawEmpty(root, size);
    if (options?.title) draw(root, "text", { class: "xh-title", x: 8, y: 16, "font-size": 13 }, options.title);
    triggerReady(this);
  }

  clearChart() {
    hideTooltip();
    this.#container.replaceChildren();
    this.#selection = [];
  }

  getSelection() {
    return this.#selection.map((item) => ({ ...item }));
  }

  setSelection(selection) {
    this.#selection = (selection ?? []).map(({ row = null }) => ({ row, column: null }));
    const rows = new Set(this.#selection.map((item) => String(item.row)));
    for (const slice of this.#container.querySelectorAll("[data-row]")) {
      slice.classList.toggle("xh-selected", rows.has(slice.dataset.row));
    }
  }

  #drawSlices(root, size, options) {
    const frame = pieFrame(size, options);
    let from = 0;
    for (const slice of this.#slices) {
      const to = from + slice.share * 2 * Math.PI;
      this.#drawSlice(root, frame, slice, from, to);
      if (options.pieSliceText !== "none") this.#drawShare(root, frame, slice, (from + to) / 2);
      from = to;
    }
    const right = legendPosition(options) === "right";
    const top = right ? Math.max(frame.y - frame.radius + 6, 12) : frame.y - frame.radius;
    const plot = right
      ? { left: 0, top, width: frame.x + frame.radius, height: frame.radius * 2 }
      : { left: 8, top, width: size.width - 16, height: frame.radius * 2 };
    drawLegend(root, plot, size, options, this.#slices);
  }

  #drawSlice(root, frame, slice, from, to) {
    // An arc from a point to itself draws nothing, so a whole circle stops just short of it.
    const end = Math.min(to, from + 2 * Math.PI - 1e-4);
    const path = { d: slicePath(frame, from, end), fill: slice.color, stroke: "#fff", class: "xh-slice" };
    const made = draw(root, "path", { ...path, "data-row": slice.row ?? "rest" });
    const percent = `${(slice.share * 100).toFixed(1)}%`;
    made.addEventListener("mousemove", (event) => showTooltip(event, `${slice.label}\n${slice.text} (${percent})`));
    made.addEventListener("mouseleave", hideTooltip);
    made.addEventListener("click", () => this.#select(slice));
  }

  #drawShare(root, frame, slice, angle) {
    const font = fontSize({});
    const text = `${(slice.share * 100).toFixed(1)}%`;
    const middle = (frame.radius + Math.max(frame.hole, frame.radius * 0.35)) / 2;
    if (slice.share * 2 * Math.PI * middle < textWidth(text, font) + 4) return;
    const at = { x: frame.x + middle * Math.sin(angle), y: frame.y - middle * Math.cos(angle) + font * 0.35 };
    // An inline fill, because the stylesheet's colour of chart texts wins over the attribute.
    const made = draw(root, "text", { ...at, "text-anchor": "middle", "font-size": font }, text);
    made.style.fill = "#fff";
    made.style.pointerEvents = "none";
  }

  #select(slice) {
    trigger(this, "click", { row: slice.row });
    const again = this.#selection.some((item) => item.row === slice.row);
    this.setSelection(again || slice.row === null ? [] : [{ row: slice.row }]);
    trigger(this, "select");
  }
}
