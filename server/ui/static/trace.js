/**
 * Runs in the frame of the trace viewer: reports its requests to the page around it, which shows how far they are.
 */
import { watchRequests } from "./requests.js";

const report = (kind, content) => parent.postMessage({ xprofHub: { kind, content } }, location.origin);
const running = new Map();

function ended(request) {
  running.delete(request.id);
  report("ended", request);
}

watchRequests({
  began: (request) => {
    running.set(request.id, request);
    report("began", request);
  },
  ended,
  failed: (failure) => report("failed", failure),
});
// Whoever leaves the trace viewer does not wait for it any more.
addEventListener("pagehide", () => [...running.values()].forEach(ended));
