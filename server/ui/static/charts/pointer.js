/**
 * What the reader points at in an axis chart, by mouse or by keyboard, and what is told of it.
 *
 * Arrow keys walk from mark to mark: left and right along the rows of a series, up and down between the series of a
 * row; Enter selects as a click does, Escape lets go.
 */
import { categoryText, markText } from "./model.js";
import { hideTooltip, say, showTooltip } from "./tooltip.js";

/** How far from a point the pointer may be to mean it, in pixels. */
const REACH = 24;

/** Pixels within which points lie on one spot, and how many of them are told of. */
const SAME_SPOT = 2;
const MOST_TOLD = 8;

const STEPS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** Where a mark is, in pixels of the chart. */
function placeOf({ box, x, y }) {
  return box ? { x: box.x + box.width / 2, y: box.y + box.height / 2 } : { x, y };
}

/** The mark at a place of the chart: a bar around it, else the nearest point in reach. */
function nearest(marks, x, y) {
  let [best, distance] = [null, REACH];
  for (const mark of marks) {
    const { box } = mark;
    if (box && x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height) return mark;
    const away = box ? Infinity : Math.hypot(mark.x - x, mark.y - y);
    if (away < distance) [best, distance] = [mark, away];
  }
  return best;
}

/** A point and all others on its spot, which it covers or which cover it; a bar is alone. */
function onSpot(marks, mark) {
  if (mark.box) return [mark];
  const others = marks.filter((one) => one !== mark && !one.box && Math.hypot(one.x - mark.x, one.y - mark.y) <= SAME_SPOT);
  return [mark, ...others];
}

/** What is told of everything on one spot. */
function textOfSpot(marks, mark, textOf) {
  const texts = [...new Set(onSpot(marks, mark).map(textOf))];
  const more = texts.length > MOST_TOLD ? [`and ${texts.length - MOST_TOLD} more at this spot`] : [];
  return [...texts.slice(0, MOST_TOLD), ...more].join("\n\n");
}

/** A mark of the category whose band lies at a place of the plot; its column is null, as Google's is. */
function category(marks, { plot, vertical, along, domain }, x, y) {
  if (x < plot.left || x > plot.left + plot.width || y < plot.top || y > plot.top + plot.height) return null;
  const at = along.valueAt(vertical ? (y - plot.top) / plot.height : (x - plot.left) / plot.width);
  const away = (mark) => Math.abs(domain[mark.row] - at);
  const found = marks.reduce((best, mark) => (best && away(best) <= away(mark) ? best : mark), null);
  return found && { ...found, column: null };
}

/** The next mark in the direction of a key; the first one from nowhere. */
function neighbour(marks, from, [along, across]) {
  if (!from) return marks[0] ?? null;
  if (along) {
    const line = marks.filter((mark) => mark.series === from.series);
    const at = line.findIndex((mark) => mark.row === from.row);
    return line[Math.min(line.length - 1, Math.max(0, at + along))] ?? from;
  }
  const stack = marks.filter((mark) => mark.row === from.row);
  const at = stack.findIndex((mark) => mark.series === from.series);
  return stack[Math.min(stack.length - 1, Math.max(0, at + across))] ?? from;
}

/**
 * Listens to the pointer and the keys over a chart.
 *
 * @param {SVGElement} root
 * @param {object} chart its `marks`, `table`, `series`, `options` and scales.
 * @param {{enter: Function, choose: Function}} hear `enter(mark|null)` when another mark is meant, `choose(mark|null)`.
 */
export function listen(root, chart, hear) {
  const { options, table, marks } = chart;
  const silent = options.tooltip?.trigger === "none";
  const wide = options.focusTarget === "category";
  // In a stack, layers without height lie on one spot everywhere.
  const alone = chart.options.isStacked || !["Scatter", "Line", "Combo"].includes(chart.kind);
  const oneText = (mark) => markText(table, mark.series, mark.row);
  const textOf = (mark) => {
    if (wide) return categoryText(table, chart.series, mark.row);
    return alone ? oneText(mark) : textOfSpot(marks, mark, oneText);
  };
  let current = null;
  const mean = (mark, at) => {
    const same = mark?.row === current?.row && mark?.column === current?.column;
    current = mark;
    if (!same) hear.enter(mark);
    if (mark && !silent) showTooltip(at, textOf(mark), mark.series.color);
    else hideTooltip();
  };
  const markAt = (event) => {
    const { left, top } = root.getBoundingClientRect();
    const [x, y] = [event.clientX - left, event.clientY - top];
    return wide ? category(marks, chart, x, y) : nearest(marks, x, y);
  };
  root.addEventListener("mousemove", (event) => mean(markAt(event), event));
  root.addEventListener("mouseleave", () => mean(null));
  root.addEventListener("blur", () => mean(null));
  root.addEventListener("click", (event) => hear.choose(markAt(event)));
  root.addEventListener("keydown", (event) => {
    if (event.key === "Escape") mean(null);
    else if (event.key === "Enter" && current) hear.choose(current);
    else if (STEPS[event.key] && !event.altKey && !event.ctrlKey && !event.metaKey) walk(event);
  });
  const walk = (event) => {
    event.preventDefault();
    const next = neighbour(marks, current, STEPS[event.key]);
    if (!next) return;
    const { left, top } = root.getBoundingClientRect();
    const { x, y } = placeOf(next);
    mean(next, { clientX: left + x, clientY: top + y });
    say(textOf(next));
  };
}
