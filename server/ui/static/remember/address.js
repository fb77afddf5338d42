/**
 * The address bar: keeps it under the link, and adds what XProf forgets of the view (parameters.js).
 *
 * Who copies the address gets the same view: tool, hosts, module, op, and the visible range of a trace. XProf writes
 * its own address now and then; each time, and when the view changes, the rest is added in place, so that the
 * history holds one entry for each step of the reader, as XProf made it.
 */
import { insidePrefix } from "../paths.js";
import { dropForeign, forgotten, forgottenNames, isDefault, toolOf } from "./parameters.js";

/** Where XProf keeps the query that it was opened with. */
const XPROF_MEMORY = "searchParams";

/** XProf's mark on an address that it wrote without the reader's doing. */
const BY_ITSELF = "firstLoad";

/** What is shown, or will be once it is fed back: the present tool's own parameters by their names. */
let view = new Map();
let tool = "";
let writeNow = () => {};

/** Path, query and fragment; names of hosts and modules stay legible. */
function withQuery({ pathname, hash }, query) {
  const text = query.toString().replace(/%(2C|28|29|40|3A)/g, decodeURIComponent).replace(/\+/g, "%20");
  return pathname + (text && `?${text}`) + hash;
}

/** Reads what the address says beyond XProf's own part. */
function takeView(query) {
  tool = toolOf(query);
  const given = forgottenNames(tool).map((name) => [name, query.get(name)]);
  view = new Map(given.filter(([name, value]) => value !== null && !isDefault(name, value)));
}

/** Puts one value of the view in or, if it needs no mention, out. */
function note(name, value) {
  if (value === null || isDefault(name, value)) view.delete(name);
  else view.set(name, value);
}

/**
 * Follows an address of XProf's with what its router reads: what it says counts. What it leaves out by itself is fed
 * back; what it leaves out because the reader chose something else is over.
 */
function followRouter(query, state) {
  const names = forgotten(tool, "router");
  names.filter((name) => query.has(name)).forEach((name) => note(name, query.get(name)));
  const lost = names.filter((name) => view.has(name) && !query.has(name));
  if (!lost.length || !Number.isInteger(state?.navigationId)) return;
  if (query.has(BY_ITSELF)) setTimeout(() => dispatchEvent(new PopStateEvent("popstate", { state: null })));
  else lost.forEach((name) => view.delete(name));
}

/** The address that XProf meant, with the view. */
function completed(address, state) {
  const url = new URL(insidePrefix(String(address)) ?? document.baseURI, document.baseURI);
  const query = url.searchParams;
  if (toolOf(query) !== tool) takeView(query);
  followRouter(query, state);
  dropForeign(query);
  for (const name of forgottenNames(tool)) query.delete(name);
  for (const [name, value] of view) query.set(name, value);
  return withQuery(url, query);
}

/**
 * Keeps XProf's memory to what it needs: it sends all of it along with every request for data, so that what is left of
 * another tool or link would be asked for, and a trace's range would miss the browser's cache.
 */
function keepMemoryShort() {
  // The page's own memory may stand here in place of the browser's (storage.js).
  const kind = Object.getPrototypeOf(sessionStorage);
  const { setItem } = kind;
  kind.setItem = function setShort(key, value) {
    if (this !== sessionStorage || key !== XPROF_MEMORY) return setItem.call(this, key, value);
    const query = new URLSearchParams(value);
    dropForeign(query);
    for (const name of forgottenNames(toolOf(query))) query.delete(name);
    return setItem.call(this, key, query.toString());
  };
  sessionStorage.removeItem(XPROF_MEMORY);
}

/** Takes over the address bar; before XProf's scripts run. */
export function keepAddress() {
  const write = {};
  for (const kind of ["pushState", "replaceState"]) {
    write[kind] = history[kind].bind(history);
    history[kind] = (state, unused, address) =>
      write[kind](state, unused, address === undefined || address === null ? address : completed(address, state));
  }
  writeNow = () => write.replaceState(history.state, "", completed(location.href, null));
  addEventListener("popstate", () => takeView(new URLSearchParams(location.search)));
  keepMemoryShort();
  const query = new URLSearchParams(location.search);
  takeView(query);
  // The trace viewer reads `hosts` only; that one was meant is plain.
  if (tool === "trace_viewer" && query.has("host") && !query.has("hosts")) {
    query.set("hosts", query.get("host"));
    write.replaceState(history.state, "", withQuery(location, query));
  }
}

/** A value that the address gave for a tool, if that is the present one; else null. */
export function recalled(ofTool, name) {
  return ofTool === tool ? (view.get(name) ?? null) : null;
}

/** Puts values of the view into the address, null takes one out; not if another tool is there by now. */
export function remember(ofTool, values) {
  if (ofTool !== tool) return;
  for (const [name, value] of Object.entries(values)) note(name, value);
  writeNow();
}

/** The present view as a query for another session of the run: all that the address says but the session. */
export function viewQuery() {
  const query = new URLSearchParams(location.search);
  query.delete("run");
  return query.size ? `?${query}` : "";
}
