/**
 * Prepares the page before XProf's bundle runs: links, styles, requests, and the share bar.
 */
import { enableBar } from "./bar/bar.js";
import { isPassing } from "./comeback.js";
import { foldSideBar } from "./drawer.js";
import { keepFramesInside } from "./frames.js";
import { replaceGlance } from "./glance.js";
import { keepLinksInside } from "./links.js";
import { dismissNotice, showNotice } from "./notice.js";
import { beginProgress, endProgress, showWaiting } from "./progress.js";
import { watchRequests } from "./requests.js";
import { keepAddress } from "./remember/address.js";
import { recallMenus, rememberRange, rememberRequest } from "./remember/recall.js";
import { showRetry } from "./retry.js";
import { startXprof } from "./start.js";
import { followStatus } from "./status.js";
import { keepStylesLocal } from "./styles.js";
import { followTools, isExplained, readAnswer } from "./tools.js";

const onRequest = {
  began: (request) => {
    dismissNotice(request.tool);
    beginProgress(request);
    rememberRequest(request);
  },
  ended: endProgress,
  answered: readAnswer,
  failed: (failure) => {
    if (isPassing(failure)) showRetry(failure);
    else if (!isExplained(failure)) showNotice(failure);
  },
};

keepAddress();
keepStylesLocal();
keepLinksInside();
keepFramesInside();
watchRequests(onRequest);
enableBar();
followTools();
foldSideBar();
replaceGlance();
// The trace viewer and the graph are pages of their own in frames; they report through report.js. Their requests
// dismiss nothing: the trace viewer asks again and again while somebody zooms.
addEventListener("message", ({ origin, data }) => {
  if (origin !== location.origin || !data?.xprofHub) return;
  const { kind, content } = data.xprofHub;
  if (kind === "began") beginProgress(content);
  if (kind === "waiting") showWaiting(content);
  if (kind === "ended") endProgress(content);
  if (kind === "failed") onRequest.failed(content);
  if (kind === "range") rememberRange(content);
});
followStatus();
recallMenus();
startXprof();
