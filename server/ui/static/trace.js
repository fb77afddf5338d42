/**
 * Runs in the trace viewer's frame: reports failed requests to the page around it.
 */
import { watchRequests } from "./requests.js";

watchRequests({
  started: () => {},
  failed: (failure) => parent.postMessage({ xprofHubFailure: failure }, location.origin),
});
