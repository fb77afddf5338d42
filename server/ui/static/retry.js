/**
 * Opens the page again by itself when the server says that its answer will be there a little later.
 */
import { element, placeNotice, reopen } from "./notice.js";

/** What is the matter, by the server's reason. */
const HEADINGS = {
  incomplete: "This file may still be uploading",
  busy: "No worker is free at the moment",
  storage_unavailable: "The profile can’t be reached at the moment",
  source_changed: "The file was replaced just now",
};
const LONGEST_WAIT = 60;
const GROWTH = 1.5;
/** Tries longer ago than this, in milliseconds, belong to another trouble. */
const MEMORY = 120_000;
const KEY = "xprof-hub-tries";
const TRIES_UNKNOWN = 4;

/** Whether waiting helps against this failure. */
export function isPassing({ reason, retryAfter }) {
  return Object.hasOwn(HEADINGS, reason) && retryAfter > 0;
}

/** How often this page has been opened again for a passing failure of late; counts this time. */
function countTries() {
  try {
    const [tries = 0, at = 0] = JSON.parse(sessionStorage.getItem(KEY) ?? "[]");
    const count = Date.now() - at < MEMORY ? tries : 0;
    sessionStorage.setItem(KEY, JSON.stringify([count + 1, Date.now()]));
    return count;
  } catch {
    return TRIES_UNKNOWN; // The browser keeps nothing for this page.
  }
}

/** Seconds until the next try; not quite the same for everybody who failed at the same moment. */
function waitFor(retryAfter) {
  return Math.round(Math.min(LONGEST_WAIT, retryAfter * GROWTH ** countTries()) * (1 + Math.random() / 4));
}

let timer = 0;

/** Says what is the matter and counts down; opens the page again at the end. */
export function showRetry({ tool, message, file, reason, retryAfter }) {
  if (timer) return; // Several views failed for the same reason: one clock is enough.
  let left = waitFor(retryAfter);
  const clock = element("span", {});
  const line = element("p", { class: "xh-clock", "aria-hidden": "true" }, clock);
  const now = element("button", { type: "button", class: "xh-action" }, "Try now");
  const tick = () => {
    clock.textContent = `Trying again in ${Math.max(left, 0)} s`;
    // A page in the background costs the server something and shows nobody anything.
    if (left <= 0 && !document.hidden) reopen();
    left -= 1;
  };
  tick();
  timer = setInterval(tick, 1000);
  now.addEventListener("click", reopen);
  const details = [element("p", {}, message), ...(file ? [element("p", { class: "xh-file" }, `File: ${file}`)] : [])];
  placeNotice(tool, "xh-passing", "status", [element("h2", {}, HEADINGS[reason]), ...details, line, now], () => {
    clearInterval(timer);
    timer = 0;
  });
}
