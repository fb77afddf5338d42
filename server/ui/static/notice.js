/**
 * Says in words what went wrong: a notice over XProf's page, or a page of its own when nothing can be shown.
 *
 * Every text is set as text; messages may quote names from a profile.
 */
import { toolOfAddress } from "./paths.js";

/** A new element with attributes, text and children. */
export function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** The address at which somebody opened this page. XProf leaves it when it can't list the tools. */
const opened = location.href;

/** Opens the view again. */
export function reopen() {
  if (location.pathname.endsWith("/empty")) location.replace(opened);
  else location.reload();
}

/** Milliseconds until a region is there for who reads pages out: what it holds when it comes is not read out. */
const SPEAK_AFTER = 100;

let notice = null;
let onGone = null;

/** Says a text to who does not see the page, when nothing else is being said. */
function spokenLine(text) {
  const line = element("p", { class: "xh-spoken", role: "status" });
  setTimeout(() => (line.textContent = text), SPEAK_AFTER);
  return line;
}

function removeNotice() {
  notice?.remove();
  onGone?.();
  notice = null;
  onGone = null;
}

/**
 * Removes the notice, unless it is about this tool, or about what all tools need; what it says has passed. One that
 * waits for a busy server stays as long as the view does that it is about: the view asks for other tools' data, too.
 */
export function dismissNotice(tool) {
  if (!notice || [tool, ""].includes(notice.dataset.tool)) return;
  if (notice.classList.contains("xh-passing") && notice.dataset.view === toolOfAddress()) return;
  removeNotice();
  document.body.classList.remove("xh-failed");
}

/** Removes the notice of a failure for which better words are shown elsewhere, as `isExplained(failure)` says. */
export function withdrawNotice(isExplained) {
  if (!notice || !isExplained(notice.dataset)) return;
  removeNotice();
  document.body.classList.remove("xh-failed");
}

/**
 * Puts a notice about a tool over the page; a later one replaces it. It is read out at once, or politely as `spoken`
 * where there is such a text. `gone` is called when it goes.
 */
export function placeNotice(tool, kind, children, { spoken = "", gone = null } = {}) {
  removeNotice();
  const close = element("button", { type: "button", "aria-label": "Dismiss" }, "×");
  const role = spoken ? { "aria-label": "Notice" } : { role: "alert" };
  notice = element("section", { class: `xh-notice ${kind}`, ...role }, close, ...children);
  if (spoken) notice.append(spokenLine(spoken));
  notice.dataset.tool = tool;
  notice.dataset.view = toolOfAddress();
  onGone = gone;
  close.addEventListener("click", removeNotice);
  document.body.append(notice);
  // XProf's own account of the same failure quotes the address, which holds the link's token; and what it waits for
  // will not come, so that its spinners would turn for ever, also after the notice was put away.
  document.body.classList.add("xh-failed");
}

/** What to name to whoever runs the server; one click marks it whole. */
function requestLine(id) {
  return element("p", { class: "xh-request" }, "Request id: ", element("code", {}, id));
}

/** Shows one failure. */
export function showNotice({ tool, message, file, reason, requestId }) {
  const again = element("button", { type: "button", class: "xh-action" }, "Try again");
  again.addEventListener("click", reopen);
  const details = file ? [element("p", { class: "xh-file" }, `File: ${file}`)] : [];
  if (requestId) details.push(requestLine(requestId));
  const heading = element("h2", {}, "This view could not be made");
  placeNotice(tool, "xh-final", [heading, element("p", {}, message), ...details, again]);
  notice.dataset.reason = reason ?? "";
}

/** Replaces the whole page: no host of the session can be read. */
export function showSessionProblem(problems) {
  const items = problems.map(({ host, file, message }) => {
    const name = file || host || "";
    return element("li", {}, ...(name ? [element("b", {}, name), " "] : []), message);
  });
  const page = element(
    "main",
    { class: "xh-message" },
    element("h1", {}, "This profile can’t be shown"),
    element("p", {}, "No host of this session has a file that XProf can read."),
    element("ul", {}, ...items),
    element("p", {}, "Capture the profile again, or replace the files, and reload this page."),
  );
  document.title = "This profile can’t be shown";
  document.body.replaceChildren(page);
}
