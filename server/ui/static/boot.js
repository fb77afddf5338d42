/**
 * Prepares the page before XProf's bundle runs: links, styles, requests, and the share bar.
 */
import { enableCopy, showHosts } from "./bar.js";
import { keepLinksInside } from "./links.js";
import { dismissNotice, showNotice, showSessionProblem } from "./notice.js";
import { basePath } from "./paths.js";
import { watchRequests } from "./requests.js";
import { keepStylesLocal } from "./styles.js";

/** Asks once how the session is, and says so if it is not well. */
async function showStatus() {
  const response = await fetch(`${basePath}status`, { headers: { Accept: "application/json" } });
  if (!response.ok) return; // XProf's own requests fail too then, and each shows its reason.
  const { hosts = [], problems = [] } = await response.json();
  const broken = new Set(problems.map((problem) => problem.host));
  const nothing = problems.length > 0 && hosts.every((host) => broken.has(host));
  if (nothing) showSessionProblem(problems);
  else showHosts({ hosts, problems });
}

keepStylesLocal();
keepLinksInside();
watchRequests({ started: dismissNotice, failed: showNotice });
enableCopy();
// The trace viewer is a page of its own in a frame; it reports through trace.js.
addEventListener("message", ({ origin, data }) => {
  if (origin === location.origin && data?.xprofHubFailure) showNotice(data.xprofHubFailure);
});
showStatus().catch(() => {
  // Offline: nothing is known about the session, and XProf's requests say that the server is away.
});
