/**
 * What is said of a server that is busy, when it is asked again, and the clock that is shown until then.
 */

/** Statuses after which the same request may well succeed a little later, also from a proxy that says no more. */
const BUSY = new Set([429, 503]);
/** What is the matter, by the server's reason. */
const HEADINGS = {
  incomplete: "This file may still be uploading",
  storage_unavailable: "The profile can’t be reached at the moment",
  source_changed: "The file was replaced just now",
  worker_full: "No worker has room at the moment",
};
/** Seconds, where the server names none. */
const UNTOLD = 5;
const LONGEST = 120;
/** Seconds up to which every try that fails makes the next wait longer. */
const PATIENT = 60;
const GROWTH = 1.5;
const TICK = 250;

/** Whether a server has too much to do. */
export function isBusy({ status }) {
  return BUSY.has(status);
}

/** Whether waiting helps against a failure. */
export function isPassing(failure) {
  return isBusy(failure) || (Object.hasOwn(HEADINGS, failure.reason) && failure.retryAfter > 0);
}

/** That a server is busy, without a full stop, wherever that is said. */
export function busyWords(ahead) {
  return ahead > 0 ? `Busy, ${ahead} ahead of you` : "Busy at the moment";
}

/** What is the matter, without a full stop. */
export function passingWords({ reason, ahead }) {
  return HEADINGS[reason] ?? busyWords(ahead);
}

/** A time, or up to as much again by chance: thousands who began in the same second shall not come back in one. */
export function scattered(time) {
  return time * (1 + Math.random());
}

/** Seconds until the next try: what the server asks for, longer after several tries, scattered. */
export function secondsUntil(retryAfter, tries) {
  const asked = Math.min(LONGEST, retryAfter > 0 ? retryAfter : UNTOLD);
  return scattered(Math.max(asked, Math.min(PATIENT, asked * GROWTH ** tries)));
}

/**
 * Tells how long it still takes until the time has come, and calls `act` then, or when somebody looks at the page
 * again: one in the background costs the server something and shows nobody anything. Returns what ends it.
 */
export function comeBack(seconds, tell, act) {
  const due = performance.now() + seconds * 1000;
  const tick = () => {
    const left = due - performance.now();
    tell(`Trying again in ${Math.max(0, Math.ceil(left / 1000))} s`);
    if (left > 0 || document.hidden) return;
    clearInterval(clock);
    act();
  };
  const clock = setInterval(tick, TICK);
  tick();
  return () => clearInterval(clock);
}
