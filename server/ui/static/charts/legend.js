/**
 * The legend of a chart: places beside, above or below the plot, pages when there is no room for all, and what it
 * tells the chart: over which series the pointer is, and which one is chosen.
 */
import { draw, fitText, textWidth } from "./svg.js";

const FONT = 11;
const SWATCH = 10;

/** Where the legend is: right unless the option, an object or a bare word, says otherwise. */
export function legendPosition({ legend }) {
  return (typeof legend === "string" ? legend : legend?.position) ?? "right";
}

/** The size of its text. XProf asks for 10 in places, which nobody can read. */
function legendFont({ legend }) {
  return Math.max(FONT, legend?.textStyle?.fontSize ?? FONT);
}

/** Entries in rows above or below the plot, split into pages of `lines` rows. */
function rowPages(entries, plot, font, top, lines) {
  const pages = [[]];
  const end = plot.left + plot.width - 52;
  let [x, line] = [plot.left, 0];
  for (const entry of entries) {
    const text = fitText(entry.label, font, Math.max(40, plot.width / 2));
    const width = textWidth(text, font) + 30;
    if (x > plot.left && x + width > end) [x, line] = [plot.left, line + 1];
    if (line >= lines) {
      pages.push([]);
      [x, line] = [plot.left, 0];
    }
    pages.at(-1).push({ entry, text, x, y: top + line * (font + 6) });
    x += width;
  }
  return { pages, pager: { x: end + 2, y: top } };
}

/** Entries in a column right of the plot, split into pages. */
function columnPages(entries, { left, top }, size, font) {
  const high = font + 7;
  const fits = Math.max(1, Math.floor((size.height - top - 4) / high));
  const room = entries.length > fits ? Math.max(1, fits - 1) : fits;
  const pages = [];
  for (let first = 0; first < entries.length; first += room) {
    pages.push(
      entries.slice(first, first + room).map((entry, index) => ({
        entry,
        text: fitText(entry.label, font, Math.max(20, size.width - left - 18)),
        x: left,
        y: top + 4 + index * high,
      })),
    );
  }
  return { pages, pager: { x: left, y: top + 4 + room * high } };
}

/** The pages of a legend at its place. */
function pagesOf(entries, plot, size, options, beside) {
  const font = legendFont(options);
  const position = legendPosition(options);
  if (position === "right" || position === "left") {
    return columnPages(entries, { left: plot.left + plot.width + beside, top: plot.top }, size, font);
  }
  const lines = options.legend?.maxLines ?? 2;
  const above = Math.max(10, plot.top - 10 - (options.legend?.maxLines ? (lines - 1) * (font + 6) : 0));
  const wanted = position === "bottom" ? Math.min(size.height - 6, plot.top + plot.height + 36) : above;
  const room = position === "bottom" ? 1 : Math.max(1, Math.min(lines, 1 + Math.floor((plot.top - wanted) / (font + 6))));
  return rowPages(entries, plot, font, wanted, room);
}

function drawEntry(parent, { entry, text, x, y }, font, hear) {
  const group = draw(parent, "g", { class: "xh-legend-entry" });
  draw(group, "rect", { x, y: y - SWATCH + 2, width: SWATCH, height: SWATCH, fill: entry.color, rx: 2 });
  const label = draw(group, "text", { x: x + SWATCH + 5, y: y + 1, "font-size": font }, text);
  draw(label, "title", {}, entry.label);
  group.addEventListener("mouseenter", () => hear.point(entry));
  group.addEventListener("mouseleave", () => hear.point(null));
  group.addEventListener("click", (event) => {
    event.stopPropagation();
    hear.choose(entry);
  });
}

function drawPager(parent, { x, y }, page, pages, turn) {
  const group = draw(parent, "g", { class: "xh-legend-pager" });
  const arrow = (at, d, to) => {
    const hit = draw(group, "g", { class: to < 0 || to >= pages ? "xh-legend-turn xh-off" : "xh-legend-turn" });
    draw(hit, "rect", { x: at - 2, y: y - 10, width: 14, height: 14, fill: "transparent" });
    draw(hit, "path", { d: `M${at},${d}` });
    hit.addEventListener("click", (event) => {
      event.stopPropagation();
      if (to >= 0 && to < pages) turn(to);
    });
  };
  arrow(x, `${y}l5,-7l5,7z`, page - 1);
  draw(group, "text", { x: x + 23, y, "font-size": FONT, "text-anchor": "middle" }, `${page + 1}/${pages}`);
  arrow(x + 36, `${y - 7}l5,7l5,-7z`, page + 1);
}

/**
 * Draws the legend of `entries` `{label, color}` where the options want it.
 *
 * @param {{point: Function, choose: Function}} hear called with the entry under the pointer (or null), and a chosen one.
 * @param {number} [beside] pixels between plot and legend.
 */
export function drawLegend(root, plot, size, options, entries, hear, beside = 14) {
  const named = entries.filter((entry) => entry.label !== "");
  if (legendPosition(options) === "none" || !named.length) return;
  const { pages, pager } = pagesOf(named, plot, size, options, beside);
  const group = draw(root, "g", { class: "xh-legend" });
  const show = (page) => {
    group.replaceChildren();
    for (const place of pages[page]) drawEntry(group, place, legendFont(options), hear);
    if (pages.length > 1) drawPager(group, pager, page, pages.length, show);
  };
  show(0);
}
