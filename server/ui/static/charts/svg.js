/**
 * Small helpers to draw SVG: elements, text that fits, the root of a chart, and what an empty one says.
 */

const NAMESPACE = "http://www.w3.org/2000/svg";

/** What a chart says that has nothing to show. */
export const NOTHING = "Nothing of this kind was recorded";

/** An SVG element with attributes, and text if given, in `parent`. */
export function draw(parent, name, attributes, text) {
  const made = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== null) made.setAttribute(key, value);
  }
  if (text !== undefined) made.textContent = text;
  parent?.append(made);
  return made;
}

/** XProf's font, as charts.css has it. */
const FAMILY = 'Roboto, "Helvetica Neue", Arial, sans-serif';

let measure = null;

/** The width in pixels of a text in the charts' font. */
export function textWidth(text, size) {
  measure ??= document.createElement("canvas").getContext("2d");
  measure.font = `${size}px ${FAMILY}`;
  return measure.measureText(text).width;
}

/** The text, shortened with an ellipsis to at most `width` pixels. */
export function fitText(text, size, width) {
  if (textWidth(text, size) <= width) return text;
  let [kept, cut] = [0, text.length];
  while (cut - kept > 1) {
    const middle = (kept + cut) >> 1;
    if (textWidth(`${text.slice(0, middle)}…`, size) <= width) kept = middle;
    else cut = middle;
  }
  return `${text.slice(0, kept)}…`;
}

/**
 * The size of a chart: its options, else its container, else Google's default.
 *
 * Where charts.css lays charts out in a grid (`--xh-fit`), the container's width bounds what XProf asks for.
 */
export function chartSize(container, options) {
  const room = container.clientWidth;
  const wanted = Number.parseFloat(options.width) || room || 400;
  const fits = room > 0 && getComputedStyle(container).getPropertyValue("--xh-fit").trim() === "1";
  const height = Number.parseFloat(options.height) || container.clientHeight || 200;
  return { width: fits ? Math.min(wanted, room) : wanted, height };
}

/** The root of a chart, in no document yet; `label` is what a screen reader says of it. */
export function drawRoot({ width, height }, label) {
  const attributes = { class: "xh-chart", width, height, role: "img", "aria-label": label || "Chart" };
  return draw(null, "svg", attributes);
}

/** Says in the middle of a chart that there is nothing to draw. */
export function drawEmpty(root, { width, height }) {
  const at = { x: width / 2, y: height / 2, "text-anchor": "middle", "font-size": 12, class: "xh-empty" };
  draw(root, "text", at, fitText(NOTHING, 12, width - 8));
}
