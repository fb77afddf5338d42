/**
 * Gives back to XProf what it forgot of an address, in its own ways, and notices what the reader chooses instead.
 *
 * The trace viewer reads its range from its frame's address. What can only be chosen in a tool's own menu is chosen
 * there. (What XProf's router reads is `address.js`' matter.)
 */
import { recalled, remember } from "./address.js";
import { readRange } from "./range.js";
import { forgotten, plainName } from "./parameters.js";

/** How often, and for how long, to look for a menu that XProf draws when its data is there; milliseconds. */
const LOOK_EVERY = 100;
const LOOK_FOR = 120_000;

/** Where a value is chosen, and the text of its choice there. Memory spaces are XLA's numbers. */
const MEMORY_SPACES = new Map(
  ["HBM", "VMEM", "Sflag", "CMEM", "SMEM", "Host", "SparseCore"].map((name, number) => [String(number), name]),
);
const MENUS = {
  memory_space: { tool: "memory_viewer", menu: "memory-viewer mat-select", choice: (value) => MEMORY_SPACES.get(value) },
  group_by: { tool: "op_profile", menu: "op-profile mat-select", choice: (value) => value },
};

/** Values that are still to be chosen, by their names: what XProf asks for until then is not the reader's wish. */
const pending = new Map();

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** The first element of a selector that `matches`; null when there is none for long. */
async function appearing(selector, matches, patience) {
  for (let waited = 0; waited < patience; waited += LOOK_EVERY) {
    const found = [...document.querySelectorAll(selector)].find(matches);
    if (found) return found;
    await pause(LOOK_EVERY);
  }
  return null;
}

/** Chooses an entry of one of XProf's menus, unseen. */
async function choose(selector, text) {
  const menu = await appearing(selector, (found) => found.getClientRects().length > 0, LOOK_FOR);
  const isWanted = (found) => found.textContent.trim().toLowerCase() === text.toLowerCase();
  if (!menu || isWanted(menu)) return;
  const focused = document.activeElement;
  document.body.classList.add("xh-recalling");
  menu.querySelector(".mat-mdc-select-trigger")?.click();
  const entry = await appearing("mat-option", isWanted, LOOK_EVERY * 10);
  // What this profile does not offer is not chosen, and the menu must not stay open.
  (entry ?? document.querySelector(".cdk-overlay-backdrop"))?.click();
  document.body.classList.remove("xh-recalling");
  if (focused instanceof HTMLElement) focused.focus();
}

async function recallMenu(name, { tool, menu, choice }) {
  const value = recalled(tool, name);
  const text = value === null ? "" : choice(value);
  if (!text) return;
  pending.set(name, value);
  await choose(menu, text);
  // What was chosen is asked for at once; whatever else comes now is the reader's.
  await pause(LOOK_EVERY);
  pending.delete(name);
}

/** Chooses again what the address says, now and when the reader comes back to another address. */
export function recallMenus() {
  const recall = () => Object.entries(MENUS).forEach(([name, menu]) => recallMenu(name, menu));
  addEventListener("popstate", recall);
  recall();
}

/** Keeps what a tool asks for now, which is what the reader chose in it. */
export function rememberRequest({ tool, name, query }) {
  if (name !== "data") return;
  const asked = new URLSearchParams(query);
  for (const choice of forgotten(plainName(tool), "menu")) {
    const value = asked.get(choice);
    if (value !== null && (pending.get(choice) ?? value) === value) remember(plainName(tool), { [choice]: value });
  }
}

/** The address of the trace viewer's frame with the range that it is to show; any other address as it is. */
export function frameAddress(address) {
  const range = readRange(recalled("trace_viewer", "view_start"), recalled("trace_viewer", "view_end"));
  const url = new URL(address, document.baseURI);
  if (!range || !url.pathname.endsWith("/trace_viewer_index.html")) return address;
  url.searchParams.set("view_start", range.min);
  url.searchParams.set("view_end", range.max);
  return url.pathname + url.search;
}

/** Keeps the range that the trace viewer's frame tells of; null says that it shows everything. */
export function rememberRange(range) {
  remember("trace_viewer", range ?? { view_start: null, view_end: null });
}
