/**
 * Runs in the frame of the trace viewer, before XProf's script: reports its requests and its visible range,
 * and keeps its links inside.
 *
 * XProf's viewer reads `view_start` and `view_end` of the frame's own address and loads that range's detail; here it is
 * only kept from showing nothing where the trace has nothing, and the page is told what is shown.
 */
import { keepLinksInside } from "./links.js";
import { clipRange, rangeTexts } from "./remember/range.js";
import { reportRequests, tell } from "./report.js";
import { replaceRefusedStorage } from "./storage.js";
import { writeDetails } from "./tracedetails.js";

/** Shows a range at once, as XProf does at the beginning. */
function show(trackView, { min, max }) {
  const transform = trackView.viewport.currentDisplayTransform.clone();
  transform.xSetWorldBounds(min, max, trackView.modelTrackContainer_.canvas.width);
  trackView.viewport.setDisplayTransformImmediately(transform);
}

/** Whether the range that the address asks for has been looked at. */
let isOpened = !new URLSearchParams(location.search).has("view_start");

/** XProf tells of its range half a second after it last changed. */
function followRange({ detail: { range } }) {
  // Its library wraps elements; what an event brings along is a bare one, without XProf's properties.
  const viewer = document.querySelector("tf-trace-viewer");
  const bounds = viewer?._fullBounds;
  if (!bounds) return;
  const shown = clipRange(range, bounds);
  const wanted = shown ?? bounds;
  if (!isOpened && (wanted.min !== range.min || wanted.max !== range.max)) show(viewer._traceViewer.trackView, wanted);
  isOpened = true;
  tell("range", shown && rangeTexts(shown));
}

/** XProf's own accounts of requests that failed. They quote the address, which holds the link's token. */
const REQUEST_FAILED = /could not be loaded|^(Cannot|Failed to) fetch /;

/** Leaves it to the page around this frame to say what failed, and what becomes of it. */
function leaveFailures(viewer) {
  const show = viewer._displayOverlay;
  viewer._displayOverlay = (title, text) => {
    if (!REQUEST_FAILED.test(text)) show.call(viewer, title, text);
  };
}

/** Before XProf's own work at this moment, with which its requests begin. */
function prepareViewer() {
  const viewer = document.querySelector("tf-trace-viewer");
  writeDetails(viewer);
  if (parent !== window) leaveFailures(viewer);
}

replaceRefusedStorage();
reportRequests({ failures: true });
keepLinksInside();
addEventListener("load", prepareViewer);
// It does not bubble, but every event passes here on its way down.
document.addEventListener("viewport-changed", followRange, { capture: true });
