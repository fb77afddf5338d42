/**
 * The notice that stands in XProf's page where a tool has nothing to show: why, what helps, and tools that work.
 *
 * XProf's empty view lies under it, hidden by a class of the body: Angular owns it.
 */
import { element } from "./notice.js";
import { basePath } from "./paths.js";

const CONTENT = "main-page > mat-sidenav-container > mat-sidenav-content";
/** Tools that show something of nearly every profile. */
const OTHERS = [
  { tool: "overview_page", title: "Overview" },
  { tool: "trace_viewer@", title: "Trace viewer" },
];

let shown = null;
let key = "";

/** Links to tools that do work, but for the one that is open. */
function offers(open, unfit) {
  return OTHERS.filter(({ tool }) => tool !== open && !unfit.has(tool)).map(({ tool, title }) =>
    element("a", { class: "xh-action", href: `${basePath}?tag=${encodeURIComponent(tool)}` }, title),
  );
}

/** Removes the notice. */
export function clearToolNotice() {
  shown?.remove();
  shown = null;
  key = "";
  document.body.classList.remove("xh-instead");
}

/**
 * Shows why there is nothing: in place of XProf's view, or above it when another tool's view is there.
 *
 * `unfit` are names of tools that are not offered. Returns whether XProf's page was there to put it in.
 */
export function showToolNotice({ heading, reason, open, unfit, replacesView }) {
  const content = document.querySelector(CONTENT);
  if (!content) return false;
  const wanted = JSON.stringify([heading, reason, open, replacesView]);
  if (shown?.isConnected && key === wanted) return true;
  clearToolNotice();
  key = wanted;
  const links = offers(open, unfit);
  const body = [element("h2", {}, heading), element("p", {}, reason)];
  if (replacesView && links.length) body.push(element("p", { class: "xh-others" }, "These show this profile:"), element("div", {}, ...links));
  if (!replacesView) {
    const close = element("button", { type: "button", class: "xh-quiet" }, "Dismiss");
    close.addEventListener("click", clearToolNotice);
    body.push(close);
  }
  shown = element("section", { class: `xh-tool-notice${replacesView ? "" : " xh-above"}`, role: "status" }, ...body);
  content.prepend(shown);
  document.body.classList.toggle("xh-instead", replacesView);
  return true;
}
