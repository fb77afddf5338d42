/**
 * Text with the little markup that XProf writes, made into nodes without ever parsing HTML.
 *
 * XProf puts names from the profile unescaped between tags of its own. A sanitiser that allows tags can't
 * tell those from tags in a name, so nothing is parsed here: the exact shapes that XProf writes are
 * recognised as a whole, and everything else, also inside them, is text. A name that is such a shape from end to end
 * gets what XProf would: a link to a tool of this same profile, a title, or a coloured text. No name gets more.
 */
import { insidePrefix } from "../paths.js";

const ENTITIES = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'" };

/** The tags of XProf's own tooltips: line ends, and others that only decorate. */
const LINE_ENDS = /<br\s*\/?>|<\/div>\s*(?=<div\b)|<\/p>/g;
const DECORATION = /<\/?(?:div|b|span|p)(?: style="[\w\s:;#%.-]*")?>/g;

/** A name of a colour or a hexadecimal one; nothing that could load something. */
const COLOR = /^(?:#[0-9a-f]{3,8}|[a-z]{3,20})$/i;

/** Undoes what `PatternFormat` escapes. */
function unescapeHtml(text) {
  return text.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity]);
}

/** An element with text. */
function element(name, text, attributes = {}) {
  const made = document.createElement(name);
  made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

/** The shapes of cells: pattern, and the nodes of a match. */
const SHAPES = [
  {
    // A link to another tool: dataService.getGraphViewerLink around an op's name.
    pattern: /^<a href="([^"]*)" target="_blank">([\s\S]*)<\/a>$/,
    nodes: ([, href, text]) => {
      const inside = insidePrefix(href);
      return [inside?.startsWith("/") ? element("a", text, { href: inside, target: "_blank", rel: "noopener" }) : text];
    },
  },
  {
    // The line of the source; XProf reads class and title back when it is clicked.
    pattern: /^<div class='source-info-cell' title='([\s\S]*?)'>([\s\S]*)<\/div>$/,
    nodes: ([, title, text]) => [element("div", text, { class: "source-info-cell", title })],
  },
  {
    // A counter and its description, made by PatternFormat.
    pattern: /^<div title="([^"]*)">([^<]*)<\/div>$/,
    nodes: ([, title, text]) => [
      element("div", unescapeHtml(text), { title: unescapeHtml(title) }),
    ],
  },
  {
    // A number and, in a comparison, its coloured difference: String.prototype.fontcolor.
    pattern: /^([^<]*)<font color="([^"]*)">([^<]*)<\/font>$/,
    nodes: ([, text, color, difference]) => {
      const made = element("span", difference);
      if (COLOR.test(color)) made.style.color = color;
      return [text, made];
    },
  },
];

/** Puts a cell's text into `parent`, with the markup of XProf's own shapes. */
export function fillCell(parent, text) {
  const shape = text.startsWith("<") || text.endsWith("</font>") ? SHAPES : [];
  for (const { pattern, nodes } of shape) {
    const match = pattern.exec(text);
    if (match) {
      parent.replaceChildren(...nodes(match));
      return;
    }
  }
  parent.textContent = text;
}

/** The lines of a tooltip that XProf wrote as HTML, without its tags. */
export function tooltipText(html) {
  const lines = html.replace(LINE_ENDS, "\n").replace(DECORATION, "").split("\n");
  return lines
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .join("\n");
}
