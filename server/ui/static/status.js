/**
 * Asks how the session is, and goes on asking while hosts of it are still to come, or nobody can say.
 */
import { showHosts, usableHosts } from "./bar/hosts.js";
import { isBusy, scattered } from "./comeback.js";
import { showSessionProblem } from "./notice.js";
import { basePath } from "./paths.js";
import { showRetry } from "./retry.js";
import { showUnfitTools } from "./tools.js";

const FIRST_PAUSE = 5000;
const LONGEST_PAUSE = 60_000;
const PAUSE_GROWTH = 1.5;

const NOTHING = { state: "ok", hosts: [], problems: [], warnings: [], notes: [], tools: [], expectedHosts: null };
const UNKNOWN = { ...NOTHING, state: "unknown" };

/**
 * The session's state: `unknown` when nobody can say now, null when the link opens nothing any more. XProf's own
 * requests fail too then, and show the reason.
 */
async function askStatus() {
  try {
    const response = await fetch(`${basePath}status`, { headers: { Accept: "application/json" } });
    if (response.ok) return { ...NOTHING, ...(await response.json()) };
    return response.status < 500 && !isBusy(response) ? null : UNKNOWN;
  } catch {
    return UNKNOWN; // The connection is away, or what answered is not this server.
  }
}

/** Waits, and then until somebody looks: a page in the background costs the server something for nobody. */
async function pauseFor(milliseconds) {
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
  while (document.hidden) {
    await new Promise((resolve) => document.addEventListener("visibilitychange", resolve, { once: true }));
  }
}

/** Says that nothing can be shown: for good, or until an upload is over. */
function showNothing({ state, problems }) {
  if (state !== "incomplete") {
    showSessionProblem(problems);
    return;
  }
  const { message, file } = problems.find(({ reason }) => reason === "incomplete") ?? problems[0];
  showRetry({ tool: "", message, file: file ?? "", reason: "incomplete", retryAfter: FIRST_PAUSE / 1000 });
}

/** Shows how the session is, and follows it while it is not whole or not known. */
export async function followStatus() {
  let first = null;
  for (let pause = FIRST_PAUSE; ; pause = Math.min(pause * PAUSE_GROWTH, LONGEST_PAUSE)) {
    const status = await askStatus();
    if (!status) return;
    // What is not known changes nothing that is shown.
    if (status.state !== "unknown") {
      const usable = usableHosts(status);
      if (!usable && status.problems.length) {
        showNothing(status);
        return;
      }
      first ??= usable;
      showHosts(status, usable > first);
      showUnfitTools(status.tools);
      if (status.state !== "incomplete") return;
    }
    await pauseFor(scattered(pause));
  }
}
