/**
 * In a frame of XProf's page: reports the frame's requests to the page around it, which shows how far they are.
 */
import { watchRequests } from "./requests.js";

/** Tells the page around this frame something; it listens in boot.js. */
export function tell(kind, content) {
  parent.postMessage({ xprofHub: { kind, content } }, location.origin);
}

const running = new Map();

function ended(request) {
  running.delete(request.id);
  tell("ended", request);
}

/** Starts to report; failures too, unless the frame shows them itself. */
export function reportRequests({ failures }) {
  watchRequests({
    began: (request) => {
      running.set(request.id, request);
      tell("began", request);
    },
    ended,
    failed: (failure) => failures && tell("failed", failure),
  });
  // Whoever leaves the frame does not wait for it any more.
  addEventListener("pagehide", () => [...running.values()].forEach(ended));
}
