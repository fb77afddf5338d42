/**
 * Says in words what went wrong: a notice over XProf's page, or a page of its own when nothing can be shown.
 *
 * Every text is set as text; messages may quote names from a profile.
 */

/** A new element with text and children. */
function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

let notice = null;

/** Removes the notice, unless it is about this tool. */
export function dismissNotice(tool) {
  if (!notice || notice.dataset.tool === tool) return;
  notice.remove();
  notice = null;
  document.body.classList.remove("xh-failed");
}

/** Shows one failure; a later one replaces it. */
export function showNotice({ tool, message, file }) {
  notice?.remove();
  const close = element("button", { type: "button", "aria-label": "Dismiss" }, "×");
  const again = element("button", { type: "button", class: "xh-action" }, "Try again");
  notice = element(
    "section",
    { class: "xh-notice", role: "alert" },
    close,
    element("h2", {}, "This view could not be made"),
    element("p", {}, message),
    ...(file ? [element("p", { class: "xh-file" }, `File: ${file}`)] : []),
    again,
  );
  notice.dataset.tool = tool;
  close.addEventListener("click", () => dismissNotice(null));
  again.addEventListener("click", () => location.reload());
  document.body.append(notice);
  // XProf's own account of the same failure quotes the address, which holds the link's token.
  document.body.classList.add("xh-failed");
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
