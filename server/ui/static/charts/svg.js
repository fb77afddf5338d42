/**
 * Small helpers to draw SVG: elements, colours, text that fits, and the one tooltip of the page.
 */

const NAMESPACE = "http://www.w3.org/2000/svg";

/** Google's series colours, which XProf's own texts refer to. */
export const PALETTE = [
  "#3366cc", "#dc3912", "#ff9900", "#109618", "#990099", "#0099c6", "#dd4477", "#66aa00", "#b82e2e",
  "#316395", "#994499", "#22aa99", "#aaaa11", "#6633cc", "#e67300", "#8b0707", "#651067", "#329262",
  "#5574a6", "#3b3eac",
];

/** Colours that an option or a style column may name; `url(…)` would load something. */
const COLOR = /^(?:#[0-9a-f]{3,8}|[a-z]{3,20}|rgba?\([\d\s.,%]+\))$/i;

/** The colour if it is one, else the fallback. */
export function safeColor(color, fallback) {
  return typeof color === "string" && COLOR.test(color) ? color : fallback;
}

/** An SVG element with attributes, and text if given, in `parent`. */
export function draw(parent, name, attributes, text) {
  const made = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== null) made.setAttribute(key, value);
  }
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}

let measure = null;

/** The width in pixels of a text in the charts' font. */
export function textWidth(text, size) {
  measure ??= document.createElement("canvas").getContext("2d");
  measure.font = `${size}px Roboto, Arial, sans-serif`;
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

/** The size of a chart: its options, else its container, else Google's default. */
export function chartSize(container, options) {
  const width = Number.parseFloat(options.width) || container.clientWidth || 400;
  const height = Number.parseFloat(options.height) || container.clientHeight || 200;
  return { width, height };
}

/** The root of a chart; `label` is what a screen reader says of it. */
export function drawRoot(container, { width, height }, label) {
  const attributes = { class: "xh-chart", width, height, role: "img", "aria-label": label || "Chart" };
  return draw(container, "svg", attributes);
}

/** Says in the middle of a chart that there is nothing to draw. */
export function drawEmpty(root, { width, height }) {
  const at = { x: width / 2, y: height / 2, "text-anchor": "middle", "font-size": 12 };
  draw(root, "text", at, "No data");
}

let tooltip = null;

/** Shows the page's tooltip with this text near the pointer. */
export function showTooltip(event, text) {
  if (!tooltip?.isConnected) {
    tooltip = document.createElement("div");
    tooltip.className = "xh-tooltip";
    tooltip.setAttribute("role", "tooltip");
    document.body.append(tooltip);
  }
  tooltip.textContent = text;
  tooltip.hidden = false;
  const { offsetWidth, offsetHeight } = tooltip;
  const below = event.clientY + 16 + offsetHeight < innerHeight;
  tooltip.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - offsetWidth - 8))}px`;
  tooltip.style.top = `${below ? event.clientY + 16 : Math.max(4, event.clientY - offsetHeight - 10)}px`;
}

export function hideTooltip() {
  if (tooltip) tooltip.hidden = true;
}
