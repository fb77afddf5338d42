/**
 * A drawing that came out of Graphviz, copied part by part: only known shapes with known attributes.
 *
 * Labels, tooltips and identifiers come from the profile. A copy of what is known can't carry a script, a
 * handler, a foreign element or an address.
 */

const NAMESPACE = "http://www.w3.org/2000/svg";

const ELEMENTS = new Set([
  "svg", "g", "title", "path", "polygon", "polyline", "ellipse", "circle", "rect", "line", "text", "tspan",
  "defs", "linearGradient", "radialGradient", "stop",
]);

const ATTRIBUTES = new Set([
  "id", "class", "d", "points", "x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "rx", "ry", "width", "height",
  "viewBox", "transform", "fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity",
  "opacity", "text-anchor", "font-family", "font-size", "font-weight", "font-style", "text-decoration",
  "baseline-shift", "offset", "stop-color", "stop-opacity", "gradientUnits",
]);

/** A value that names something outside of the drawing. */
const FOREIGN = /url\(\s*["']?(?!#)/i;

/** XProf's stylesheet inside of DOT: an edge is coloured while the pointer is over a node or cluster. */
const HOVER_RULE = /%23((?:node|clust)\d+):hover ~ %23(edge\d+) path \{ stroke: %23([0-9a-f]{6});/g;

function copyAttributes(source, copy) {
  for (const { name, value } of source.attributes) {
    if (ATTRIBUTES.has(name) && !FOREIGN.test(value)) copy.setAttribute(name, value);
  }
}

/** The name of the copy: links become groups, which keep their tooltip as a title. */
function copyOf(source) {
  const name = source.localName === "a" ? "g" : source.localName;
  if (source.namespaceURI !== NAMESPACE || !ELEMENTS.has(name)) return null;
  const copy = document.createElementNS(NAMESPACE, name);
  copyAttributes(source, copy);
  const tooltip = source.getAttributeNS("http://www.w3.org/1999/xlink", "title") ?? "";
  if (tooltip.trim()) copy.append(textElement("title", tooltip));
  return copy;
}

function textElement(name, text) {
  const made = document.createElementNS(NAMESPACE, name);
  made.textContent = text;
  return made;
}

function copyChildren(source, copy) {
  for (const child of source.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) {
      copy.append(child.data);
    } else if (child.nodeType === Node.ELEMENT_NODE) {
      const made = copyOf(child);
      if (!made) continue;
      copyChildren(child, made);
      copy.append(made);
    }
  }
}

/** The `<svg>` element of Graphviz's text, safe to put into the page. */
export function safeSvg(text) {
  const parsed = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  const copy = copyOf(parsed);
  if (copy?.localName !== "svg") throw new Error("The graph could not be drawn.");
  copyChildren(parsed, copy);
  return copy;
}

/** The edges and colours of each node or cluster under the pointer, from XProf's stylesheet in the DOT text. */
export function hoverRules(dot) {
  const rules = new Map();
  for (const [, source, edge, color] of dot.matchAll(HOVER_RULE)) {
    if (!rules.has(source)) rules.set(source, []);
    rules.get(source).push({ edge, color: `#${color}` });
  }
  return rules;
}
