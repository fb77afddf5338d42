/** Moments, as the server wrote them in UTC, in words that are short and in the reader's own zone. */
import { forEveryPart } from "./changes.js";

const SECONDS = { day: 86400, hour: 3600, minute: 60 };
const RELATIVE_DAYS = 6;
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const date = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const whole = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "long" });

function words(moment, now) {
  const seconds = (moment - now) / 1000;
  const distance = Math.abs(seconds);
  if (distance > RELATIVE_DAYS * SECONDS.day) return date.format(moment);
  for (const [unit, length] of Object.entries(SECONDS)) {
    if (distance >= length) return relative.format(Math.trunc(seconds / length), unit);
  }
  return seconds <= 0 ? "just now" : "in a moment";
}

forEveryPart((part) => {
  for (const time of part.querySelectorAll("time[datetime]")) {
    const moment = new Date(time.dateTime);
    time.title = whole.format(moment);
    if (!time.closest("[data-exact]")) time.textContent = words(moment, Date.now());
  }
});
