/**
 * Where this page may go: one link's prefix, `<prefix>/data/plugin/profile/`.
 *
 * XProf was made to live at the root of a host. Several of its links, frames and windows leave out the prefix,
 * double its slashes or name the root; `insidePrefix` gives the address that was meant.
 */

const PROFILE = "/data/plugin/profile/";

/** The directory of the page: `<prefix>/data/plugin/profile/`. */
export const basePath = new URL(".", document.baseURI).pathname;

/** Everything before `/data/plugin/profile/`; empty when the service lives at the root. */
const prefix = basePath.slice(0, basePath.length - PROFILE.length);

/** The tool that the address names, as XProf writes it: in the query, or as the last part of the path; empty for none. */
export function toolOfAddress() {
  const last = location.pathname.split("/").pop();
  return new URLSearchParams(location.search).get("tag") || (last === "index.html" ? "" : last);
}

/** Whether a path lies under this link. */
export function isInside(path) {
  return path.startsWith(basePath);
}

/** Query parameters as XProf's router reads them: root links say `tool` where it reads `tag`. */
function toolQuery(parameters) {
  const query = new URLSearchParams(parameters);
  const tool = query.get("tool");
  if (tool) {
    query.delete("tool");
    query.set("tag", tool);
  }
  return query.size ? `?${query}` : "";
}

/** The path under this link that a path of this host stands for. */
function pathInside(url) {
  const path = url.pathname.replace(/\/{2,}/g, "/");
  if (isInside(path)) return path + url.search;
  if (prefix && path.startsWith(PROFILE)) return prefix + path + url.search;
  // `/?tool=…`, `/roofline_model/<run>?…` and whatever else starts at the root opens a tool by its query.
  const named = /^\/(\w+@?)\/[^/]*$/.exec(path);
  if (named && !url.searchParams.has("tag")) url.searchParams.set("tag", named[1]);
  return basePath + toolQuery(url.searchParams);
}

/** The address that was meant, under this link; null when it is on another host or is none at all. */
export function insidePrefix(address) {
  if (!URL.canParse(address, document.baseURI)) return null;
  const url = new URL(address, document.baseURI);
  if (url.protocol === "blob:" || url.protocol === "about:") return address;
  if (url.origin !== location.origin) return null;
  return pathInside(url) + (url.hash === "#profile" ? "" : url.hash);
}
