/**
 * What is known of this link, in full: the panel behind the names, and the line beside them.
 */
import { element } from "../notice.js";
import { pageData } from "../page.js";
import { viewQuery } from "../remember/address.js";
import { appearanceChoice } from "./appearance.js";
import { momentText, sharingText, untilText } from "./dates.js";
import { openPanelBy } from "./panel.js";

const upper = (text) => text.charAt(0).toUpperCase() + text.slice(1);

const PSEUDONYMS =
  "Those inside the profile are pseudonyms: functions, operations and source files have other names. " +
  "Sizes and times are the real ones.";

/** A row of the panel; none if there is nothing to say. */
function row(name, text, title = "") {
  return text ? [element("dt", {}, name), element("dd", title ? { title } : {}, text)] : [];
}

function rows() {
  const { run, session, sharedBy, expires, note, redacted } = pageData;
  const until = untilText(expires, Date.now());
  return [
    ...row("Run", run),
    ...row("Session", session),
    ...row("Names", redacted ? PSEUDONYMS : ""),
    ...row("Note", note),
    ...row("Shared by", sharedBy),
    ...row("This link", expires ? upper(until) : "", expires ? momentText(expires) : ""),
  ];
}

/** Ways to what the hub knows besides, for people who have signed in; they come with what is shown now. */
function pageLinks() {
  if (!pageData.pages) return [];
  const { about, comments, newComment, commentCount } = pageData.pages;
  const link = (text, href) => element("a", { href, target: "_blank", rel: "noopener" }, text);
  const links = [
    link("About this session", about),
    link(`Comments (${commentCount})`, comments),
    link("Comment on this view", newComment + viewQuery()),
  ];
  return [element("nav", { "aria-label": "More about this session" }, ...links)];
}

/** A way to the sessions' panel, for screens that have no place for its button. */
function sessionsButton() {
  const sessions = document.getElementById("xh-sessions");
  if (sessions.hidden) return [];
  const button = element("button", { type: "button", class: "xh-wide xh-on-phones" }, "Other sessions of this run");
  button.addEventListener("click", () => sessions.click());
  return [button];
}

/** Fills the line beside the names, and lets these open the panel. */
export function enableAbout() {
  const button = document.getElementById("xh-about");
  if (!button) return;
  document.getElementById("xh-sharing").textContent = sharingText(pageData, Date.now());
  const panel = document.getElementById("xh-about-panel");
  const list = element("dl", {});
  openPanelBy(button, panel, () => {
    list.replaceChildren(...rows());
    panel.replaceChildren(list, ...pageLinks(), ...sessionsButton(), appearanceChoice());
    return null;
  });
}
