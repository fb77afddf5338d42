/**
 * Asks how the session is, and goes on asking while hosts of it are still to come.
 */
import { showHosts, usableHosts } from "./bar.js";
import { showSessionProblem } from "./notice.js";
import { basePath } from "./paths.js";
import { showRetry } from "./retry.js";

const FIRST_PAUSE = 5000;
const LONGEST_PAUSE = 60_000;
const PAUSE_GROWTH = 1.5;

const NOTHING = { state: "ok", hosts: [], problems: [], warnings: [], notes: [], expectedHosts: null };

/** The session's state, or null when XProf's own requests fail too, and each shows its reason. */
async function askStatus() {
  const response = await fetch(`${basePath}status`, { headers: { Accept: "application/json" } });
  return response.ok ? { ...NOTHING, ...(await response.json()) } : null;
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

/** Shows how the session is, and follows it while it is not whole. */
export async function followStatus() {
  let first = null;
  for (let pause = FIRST_PAUSE; ; pause = Math.min(pause * PAUSE_GROWTH, LONGEST_PAUSE)) {
    const status = await askStatus();
    if (!status) return;
    const usable = usableHosts(status);
    if (!usable && status.problems.length) {
      showNothing(status);
      return;
    }
    first ??= usable;
    showHosts(status, usable > first);
    if (status.state !== "incomplete") return;
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
