/**
 * The other sessions of the run, when the link opens them all: a panel of links that keep the tool and the view.
 */
import { element } from "../notice.js";
import { pageData } from "../page.js";
import { viewQuery } from "../remember/address.js";
import { momentText } from "./dates.js";
import { openPanelBy } from "./panel.js";

/** From so many sessions on there is a field to search in them. */
const MANY = 8;

const links = (panel) => [...panel.querySelectorAll("li:not([hidden]) a")];

/** A link to a session, which shows there what is shown here as far as that session has it. */
function entry({ name, href, created, current }) {
  const time = created ? [element("small", {}, momentText(created))] : [];
  const link = element("a", { href: href + viewQuery(), title: name, ...(current ? { "aria-current": "page" } : {}) });
  link.append(element("span", {}, name), ...time);
  return element("li", {}, link);
}

/** Goes through the links by the arrow keys, also from the field. */
function walk(panel, event) {
  const all = links(panel);
  const at = all.indexOf(document.activeElement);
  const last = all.length - 1;
  const isField = document.activeElement instanceof HTMLInputElement;
  const next = { ArrowDown: Math.min(at + 1, last), ArrowUp: at - 1, Home: isField ? -2 : 0, End: isField ? -2 : last }[event.key];
  if (next === undefined || next === -2) return;
  event.preventDefault();
  (all[next] ?? panel.querySelector("input") ?? all[0])?.focus();
}

/** A field that leaves of the list what holds every word of it. */
function searchField(panel, list, nothing) {
  const field = element("input", { type: "search", placeholder: "Search sessions", "aria-label": "Search sessions", autocomplete: "off", spellcheck: "false" });
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const item of list.children) {
      const text = item.textContent.toLowerCase();
      item.hidden = !words.every((word) => text.includes(word));
    }
    nothing.hidden = links(panel).length > 0;
  });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") links(panel)[0]?.click();
  });
  return field;
}

function fill(panel) {
  const { sessions, moreSessions } = pageData;
  const list = element("ul", {}, ...sessions.map(entry));
  const nothing = element("p", { class: "xh-quiet", role: "status" }, "No session of this run has that in its name.");
  nothing.hidden = true;
  const field = sessions.length > MANY ? [searchField(panel, list, nothing)] : [];
  const more = moreSessions ? [element("p", { class: "xh-quiet" }, "Older sessions of this run are not listed.")] : [];
  panel.replaceChildren(...field, list, nothing, ...more);
  return field[0] ?? list.querySelector("[aria-current]") ?? list.querySelector("a");
}

/** Shows the button when there is another session to go to. */
export function enableSessions() {
  const button = document.getElementById("xh-sessions");
  if (!button || pageData.sessions.length < 2) return;
  button.hidden = false;
  const { sessions, moreSessions } = pageData;
  const others = `${sessions.length - 1}${moreSessions ? " or more" : ""}`;
  button.title = `Other sessions of this run (${others})`;
  button.setAttribute("aria-label", button.title);
  button.append(element("span", { class: "xh-count", "aria-hidden": "true" }, `${sessions.length - 1}${moreSessions ? "+" : ""}`));
  const panel = document.getElementById("xh-sessions-panel");
  panel.addEventListener("keydown", (event) => walk(panel, event));
  openPanelBy(button, panel, () => fill(panel));
}
