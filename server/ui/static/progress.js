/**
 * Shows how far an answer is that takes a while: downloading, checking, converting, or waiting for its turn.
 *
 * The server is asked at `progress/<name><query>`, the address of the answer with `progress/` before it:
 * `{"state": "idle" | "running" | "ready", "phase", "seconds", "ahead", "doneBytes", "totalBytes"}`.
 */
import { busyWords } from "./comeback.js";
import { basePath } from "./paths.js";

/** How long an answer may take before anything is said, in milliseconds. */
const PATIENCE = 500;
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 2000;
const LONGEST_PAUSE_UNANSWERED = 10_000;
const PAUSE_GROWTH = 1.3;
/** After how long, in milliseconds, it is said that the server gives no sign at all. */
const SILENCE = 6000;
/** After how many seconds it is said that no worker has begun: one that is there does so at once. */
const STARTING = 4;
const TICK = 1000;
const MEGABYTE = 1e6;
const SPEAK_AFTER = 100;

/** Requests under way by their id, the oldest first, with what is known of them. */
const running = new Map();
let card = null;
let ticking = 0;

/** Notes a request; says how far it is when it takes a while. */
export function beginProgress(request) {
  running.set(request.id, { request, known: null, at: 0, begun: performance.now() });
  setTimeout(() => follow(request), PATIENCE);
}

/** Notes that a frame waits until it asks a busy server again, and shows that at once; ends like a request. */
export function showWaiting({ ahead, ...request }) {
  const now = performance.now();
  running.set(request.id, { request, known: { state: "busy", ahead }, at: now, begun: now });
  render();
}

/** Notes that a request is over. */
export function endProgress(request) {
  if (running.delete(request.id)) render();
}

async function follow(request) {
  let pause = FIRST_PAUSE;
  while (running.has(request.id)) {
    // Nobody looks at a page in the background.
    const isWell = document.hidden || (await look(request));
    await new Promise((resolve) => setTimeout(resolve, pause));
    // A server that can't say how far it is has other cares.
    pause = isWell ? Math.min(pause * PAUSE_GROWTH, LONGEST_PAUSE) : Math.min(pause * 2, LONGEST_PAUSE_UNANSWERED);
  }
}

/** Shows how far a request is; whether the server could say. */
async function look(request) {
  const known = await Promise.race([ask(request), silence()]);
  const entry = running.get(request.id);
  if (!entry) return true;
  if (known) Object.assign(entry, { known, at: performance.now() });
  else if (performance.now() - (entry.at || entry.begun) >= SILENCE) entry.known = { state: "silent" };
  render();
  return known !== null;
}

/** Null, after a while: who gives no answer to this either is not there, or has no time. */
function silence() {
  return new Promise((resolve) => setTimeout(resolve, SILENCE, null));
}

/** What the server knows of the answer; null when it can't be asked. */
async function ask({ name, query }) {
  try {
    const response = await fetch(`${basePath}progress/${name}${query}`);
    return response.ok ? await response.json() : null;
  } catch {
    return null; // The request itself fails too then, and says so.
  }
}

/** The entry to show: the newest that is being worked on, else the newest that anything is known of. */
function chosen() {
  const entries = [...running.values()].filter(({ known }) => known).reverse();
  return entries.find(({ known }) => known.state === "running") ?? entries[0];
}

function render() {
  const entry = chosen();
  if (!entry) {
    hide();
    return;
  }
  card ??= makeCard();
  ticking ||= setInterval(render, TICK);
  const { request, known, at, begun } = entry;
  const since = known.state === "idle" ? begun : at || begun;
  const seconds = (known.seconds ?? 0) + (performance.now() - since) / 1000;
  card.show(titleOf(request), known, describe(known, seconds));
}

function hide() {
  clearInterval(ticking);
  ticking = 0;
  card?.remove();
  card = null;
}

/** A tool's name for people: `trace_viewer@` is “Trace viewer”. XProf shows nothing before it knows the tools. */
function titleOf({ tool, name }) {
  const words = (tool || (name === "run_tools" ? "opening the session" : name)).replace(/@$/, "").replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** How far an answer is, as a heading to be read out, which changes with the phase only, and as a sentence. */
export function describe({ state, phase, ahead, doneBytes, totalBytes }, seconds) {
  if (state === "ready") return { heading: "Receiving the answer", text: "Receiving the answer" };
  if (state === "silent") return { heading: "Waiting for the server", text: `No sign of the server for ${duration(seconds)}` };
  if (state === "idle") return idleWords(seconds);
  // The frame that waits has it read out.
  if (state === "busy") return { heading: "", text: busyWords(ahead) };
  if (phase === "download") return { heading: "Downloading the profile", text: downloadText(doneBytes, totalBytes) };
  if (phase === "inspect") return { heading: "Checking the profile", text: "Checking the profile" };
  if (phase === "convert") return { heading: "Converting the profile", text: `Converting: ${duration(seconds)} so far` };
  return { heading: "Waiting for a turn", text: waitText(ahead) };
}

function downloadText(done, total) {
  if (!total) return "Downloading the profile";
  // The same unit for both, with a decimal place where there is little of it.
  const digits = total < 10 * MEGABYTE ? 1 : 0;
  const megabytes = (bytes) => (bytes / MEGABYTE).toFixed(digits);
  return `Downloading ${megabytes(done)} of ${megabytes(total)} MB`;
}

function waitText(ahead) {
  return ahead ? busyWords(ahead) : "Waiting: next in line";
}

/** No worker has said anything: at first the files are listed; a platform may start one, which takes a while. */
function idleWords(seconds) {
  if (seconds < STARTING) return { heading: "Preparing", text: "Preparing" };
  return { heading: "Waiting for a worker", text: `Waiting for a worker: ${duration(seconds)}` };
}

function duration(seconds) {
  const whole = Math.floor(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

/** The share that is done, or null when nobody can tell. */
function shareDone({ state, phase, doneBytes, totalBytes }) {
  const isMeasured = state === "running" && (phase === "download" || phase === "inspect") && totalBytes > 0;
  return isMeasured ? Math.min(1, doneBytes / totalBytes) : null;
}

function makeCard() {
  const made = (name, attributes) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  };
  const title = made("b", { class: "xh-progress-title" });
  const text = made("span", { class: "xh-progress-text" });
  const words = made("p", { "aria-hidden": "true" });
  words.append(title, text);
  const fill = made("div", { class: "xh-progress-fill" });
  const bar = made("div", { class: "xh-progress-bar", role: "progressbar", "aria-valuemin": "0", "aria-valuemax": "100" });
  bar.append(fill);
  // Only the phase is read out: seconds and megabytes would be read out without end.
  const spoken = made("p", { class: "xh-spoken", "aria-live": "polite" });
  const box = made("section", { class: "xh-progress", "aria-label": "Progress" });
  box.append(words, bar, spoken);
  document.body.append(box);
  let announced = "";
  return {
    remove: () => box.remove(),
    show: (name, known, { heading, text: sentence }) => {
      title.textContent = name;
      text.textContent = sentence;
      bar.setAttribute("aria-label", name);
      bar.setAttribute("aria-valuetext", sentence);
      const toSay = `${name}: ${heading}`;
      if (heading && toSay !== announced) {
        announced = toSay;
        // A region is read out when it changes, not when it arrives with its text.
        setTimeout(() => (spoken.textContent = toSay), SPEAK_AFTER);
      }
      const share = shareDone(known);
      box.classList.toggle("xh-measured", share !== null);
      if (share === null) bar.removeAttribute("aria-valuenow");
      else bar.setAttribute("aria-valuenow", String(Math.round(share * 100)));
      fill.style.width = share === null ? "" : `${share * 100}%`;
    },
  };
}
