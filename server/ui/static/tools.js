/**
 * Says which of XProf's tools have nothing to show for this profile: in the menu, and where one of them is open.
 *
 * What is known comes from the session's status, before a tool is opened, and from the tool's own answer.
 */
import { harmlessAnswer, isEmptyAnswer } from "./emptiness.js";
import { withdrawNotice } from "./notice.js";
import { toolOfAddress } from "./paths.js";
import { showInMenu } from "./toolmenu.js";
import { clearToolNotice, showToolNotice } from "./toolnotice.js";

const VIEW = "main-page > mat-sidenav-container > mat-sidenav-content > .full-height";
/** Reasons of failures that lie in what a profile holds. */
const OF_THE_PROFILE = new Set(["engine_refused", "engine_crash"]);
const GENERAL =
  "XProf found nothing for it in what was recorded. Another host may have recorded more; otherwise capture again " +
  "while steps are running.";

/** The tool that somebody asked for by the address; XProf opens another one when it does not offer it. */
const asked = toolOfAddress();
let isAskedFor = true;

/** Unfit tools by name. */
let unfit = new Map();
/** Tools whose last answer showed nothing, with what XProf's menu calls them. */
const empty = new Set();

/** What XProf's menu shows as chosen, which is the open tool's title. */
function titleOnScreen() {
  const menus = document.querySelectorAll("main-page sidenav > .item-container mat-select");
  return menus[1]?.textContent.trim() || "This tool";
}

/** Why a tool shows nothing; null when it may show something. */
function whyEmpty(tool) {
  const known = unfit.get(tool);
  if (known) return { title: known.title, reason: known.reason };
  return empty.has(tool) ? { title: titleOnScreen(), reason: GENERAL } : null;
}

/** Shows what is to be said of the open tool. */
function update() {
  const open = toolOfAddress();
  const names = new Set([...unfit.keys(), ...empty]);
  const why = whyEmpty(open);
  if (why) {
    const heading = `${why.title} has nothing to show here`;
    showToolNotice({ heading, reason: why.reason, open, unfit: names, replacesView: true });
    return;
  }
  const missing = isAskedFor && open && open !== asked ? unfit.get(asked) : null;
  if (missing) {
    const heading = `${missing.title} has nothing to show here, so you see another tool`;
    showToolNotice({ heading, reason: missing.reason, open, unfit: names, replacesView: false });
  } else {
    clearToolNotice();
  }
}

/** Whether a failure is that of a tool that has nothing to show, so that better words than its error are there. */
export function isExplained({ tool, reason }) {
  return unfit.has(tool) && OF_THE_PROFILE.has(reason);
}

/** Takes what the session's status says: `{"tool", "title", "reason"}` for each tool that has nothing to show. */
export function showUnfitTools(tools) {
  unfit = new Map(tools.map((note) => [note.tool, note]));
  showInMenu(tools);
  withdrawNotice(isExplained);
  update();
}

/** Looks at a tool's answer; gives the text that XProf's page is to read. */
export function readAnswer({ tool, name }, text) {
  if (name !== "data") return text;
  isAskedFor &&= tool !== asked;
  const isEmpty = isEmptyAnswer(tool, text);
  if (isEmpty) empty.add(tool);
  else empty.delete(tool);
  update();
  return isEmpty ? harmlessAnswer(tool, text) : text;
}

/** Follows which tool is open: XProf puts another element into its page for each. */
export function followTools() {
  let tool = "";
  const look = () => {
    if (toolOfAddress() !== tool) {
      // The first tool that XProf shows may be another one than was asked for; later ones were chosen.
      isAskedFor &&= tool === "" || tool === asked;
      tool = toolOfAddress();
    }
    update();
  };
  const observer = new MutationObserver(() => {
    const view = document.querySelector(VIEW);
    if (!view) return;
    observer.disconnect();
    new MutationObserver(look).observe(view, { childList: true });
    look();
  });
  observer.observe(document.body, { childList: true, subtree: true });
}
