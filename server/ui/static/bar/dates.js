/**
 * How long a link works, in words.
 */

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** From here on the hours count, not the day. */
const SOON = 48 * HOUR;

const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", year: "numeric" });
const TIME = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeStyle: "short" });

const count = (number, unit) => `${number} ${unit}${number === 1 ? "" : "s"}`;

/**
 * “works until 30 December 2026”, “works for 5 more hours”; empty when it never ends.
 *
 * @param {string | null} expires the first moment at which the link no longer works, ISO 8601
 * @param {number} now milliseconds since 1970
 */
export function untilText(expires, now) {
  if (!expires) return "";
  const left = Date.parse(expires) - now;
  if (left <= 0) return "no longer works";
  if (left < HOUR) return `works for ${count(Math.ceil(left / MINUTE), "more minute")}`;
  if (left < SOON) return `works for ${count(Math.floor(left / HOUR), "more hour")}`;
  return `works until ${DAY.format(new Date(expires))}`;
}

/** A moment as day and time of day, where the reader is. */
export function momentText(moment) {
  return TIME.format(new Date(moment));
}

/** “Shared by alice · works until 30 December 2026”: as much of it as is known. */
export function sharingText({ sharedBy, expires }, now) {
  const until = untilText(expires, now);
  if (sharedBy) return `Shared by ${sharedBy}${until && ` · ${until}`}`;
  return until && `This link ${until}`;
}
