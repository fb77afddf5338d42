/**
 * Names the tools that have nothing to show: in a list under XProf's menu of tools, and as marks in the open menu.
 *
 * XProf's own elements stay as they are, but for a class on an entry of its menu.
 */
import { element } from "./notice.js";

const SIDE = "main-page sidenav";
const OPEN_MENU = ".mat-mdc-select-panel mat-option";
/** What opens XProf's menu, or goes through it. */
const MOMENTS = ["click", "keydown"];

let list = null;
let titles = new Set();
let watching = false;

/** One entry: tools that lack the same, and the reason. */
function entry([reason, tools]) {
  return element("li", {}, element("b", {}, tools.join(", ")), element("p", {}, reason));
}

/** Titles by reason. */
function byReason(tools) {
  const groups = new Map();
  for (const { title, reason } of tools) groups.set(reason, [...(groups.get(reason) ?? []), title]);
  return [...groups];
}

function makeList(tools) {
  const summary = element("summary", {}, "Not in this profile", element("span", { class: "xh-count" }, String(tools.length)));
  return element("details", { class: "xh-absent" }, summary, element("ul", {}, ...byReason(tools).map(entry)));
}

/** Puts the list behind the menu of tools, the second of the side bar's parts, if it is not there. */
function place() {
  const side = document.querySelector(SIDE);
  if (!side || !list || list.isConnected) return Boolean(side);
  const parts = side.querySelectorAll(":scope > .item-container");
  (parts[1] ?? side.lastElementChild)?.after(list);
  return true;
}

/** Marks entries of the open menu; only that of the tools has entries with these titles. */
function markMenu() {
  for (const option of document.querySelectorAll(OPEN_MENU)) {
    option.classList.toggle("xh-absent-option", titles.has(option.textContent.trim()));
  }
}

/** Waits for the side bar, and puts the list back should XProf make its side bar anew. */
function keepPlaced() {
  watching = true;
  const observer = new MutationObserver(() => {
    if (!place()) return;
    const bar = document.querySelector(SIDE).parentElement;
    observer.disconnect();
    observer.observe(bar, { childList: true, subtree: true });
  });
  observer.observe(document.body, { childList: true, subtree: true });
  place();
  for (const moment of MOMENTS) {
    addEventListener(moment, () => titles.size && requestAnimationFrame(() => requestAnimationFrame(markMenu)), { capture: true });
  }
}

/** Shows which tools have nothing to show: `{"tool", "title", "reason"}` each. */
export function showInMenu(tools) {
  list?.remove();
  titles = new Set(tools.map(({ title }) => title));
  list = tools.length ? makeList(tools) : null;
  if (!watching) keepPlaced();
  else place();
}
