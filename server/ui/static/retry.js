/**
 * Opens the page again by itself when the server says that its answer will be there a little later.
 */
import { comeBack, passingWords, secondsUntil } from "./comeback.js";
import { element, placeNotice, reopen } from "./notice.js";

/** Tries longer ago than this, in milliseconds, belong to another trouble. */
const MEMORY = 240_000;
const KEY = "xprof-hub-tries";
const TRIES_UNKNOWN = 4;

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

let stop = null;

/** Says what is the matter and counts down; opens the page again at the end. */
export function showRetry(failure) {
  if (stop) return; // Several views failed for the same reason: one clock is enough.
  const { tool, message, file, retryAfter } = failure;
  const clock = element("span", {});
  // The seconds would be read out without end.
  const line = element("p", { class: "xh-clock", "aria-hidden": "true" }, clock);
  const now = element("button", { type: "button", class: "xh-action" }, "Try now");
  now.addEventListener("click", reopen);
  const tell = (text) => (clock.textContent = text);
  stop = comeBack(secondsUntil(retryAfter, countTries()), tell, reopen);
  const details = [element("p", {}, message), ...(file ? [element("p", { class: "xh-file" }, `File: ${file}`)] : [])];
  const heading = passingWords(failure);
  const gone = () => {
    stop();
    stop = null;
  };
  const spoken = `${heading}. ${message}`;
  placeNotice(tool, "xh-passing", [element("h2", {}, heading), ...details, line, now], { spoken, gone });
}
