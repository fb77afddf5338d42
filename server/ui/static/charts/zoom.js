/**
 * Google's `explorer`: dragging across a chart zooms into that part of the domain; a right click, a double click, the
 * key 0 or the button that appears show all of it again. `scrollToZoom`, or Ctrl with the wheel, zooms around the pointer.
 */
import { draw, textWidth } from "./svg.js";
import { hideTooltip } from "./tooltip.js";

/** Drags shorter than this, in pixels, are clicks. */
const LEAST_DRAG = 5;

/** What one turn of the wheel or one key leaves of the range. */
const STEP = 0.8;

/** Least part of the whole range, unless `maxZoomIn` says otherwise. */
const LEAST_PART = 1e-3;

/** Lets the reader drag over the part to show. */
function dragToZoom(root, plot, show) {
  const within = (event) => {
    const x = event.clientX - root.getBoundingClientRect().left;
    return Math.min(plot.left + plot.width, Math.max(plot.left, x));
  };
  root.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || event.target.closest(".xh-legend, .xh-reset")) return;
    const start = within(event);
    const band = draw(root, "rect", { x: start, y: plot.top, width: 0, height: plot.height, class: "xh-drag" });
    const move = (moved) => {
      band.setAttribute("x", Math.min(start, within(moved)));
      band.setAttribute("width", Math.abs(within(moved) - start));
      hideTooltip();
    };
    const dragging = new AbortController();
    const { signal } = dragging;
    const leave = () => {
      dragging.abort();
      band.remove();
    };
    const end = (ended) => {
      leave();
      const [first, last] = [start, within(ended)].sort((left, right) => left - right);
      if (last - first >= LEAST_DRAG) show((first - plot.left) / plot.width, (last - plot.left) / plot.width);
    };
    addEventListener("pointermove", move, { signal });
    addEventListener("pointerup", end, { signal });
    // A finger that turns out to scroll the page.
    addEventListener("pointercancel", leave, { signal });
  });
}

/** A button that shows everything again. */
function drawReset(root, plot, reset) {
  const text = "Show all";
  const width = textWidth(text, 11) + 16;
  const group = draw(root, "g", { class: "xh-reset" });
  const x = plot.left + plot.width - width - 6;
  draw(group, "rect", { x, y: plot.top + 6, width, height: 22, rx: 11 });
  draw(group, "text", { x: x + width / 2, y: plot.top + 21, "text-anchor": "middle", "font-size": 11 }, text);
  group.addEventListener("click", (event) => {
    event.stopPropagation();
    reset();
  });
}

/**
 * Lets the reader zoom.
 *
 * @param {{from?: number, to?: number}} zoom what is shown now.
 * @param {Function} show called with `{from, to}` to draw a part of the domain, `{}` for all of it.
 */
export function enableZoom(root, { plot, along, options }, zoom, show) {
  const { actions = ["dragToZoom", "rightClickToReset"], maxZoomIn = LEAST_PART } = options.explorer;
  const zoomed = zoom.from !== undefined;
  const whole = zoom.whole ?? { low: along.low, high: along.high };
  const reset = () => zoomed && show({});
  const showPart = (first, last) => {
    const [from, to] = [along.valueAt(first), along.valueAt(last)];
    if (from <= whole.low && to >= whole.high) reset();
    else if (to - from >= (whole.high - whole.low) * maxZoomIn) {
      show({ from: Math.max(whole.low, from), to: Math.min(whole.high, to), whole });
    }
  };
  const zoomAround = (centre, factor) => showPart(centre - centre * factor, centre + (1 - centre) * factor);
  if (actions.includes("dragToZoom")) dragToZoom(root, plot, showPart);
  if (actions.includes("rightClickToReset")) {
    root.addEventListener("contextmenu", (event) => {
      event.preventDefault();
      reset();
    });
    root.addEventListener("dblclick", reset);
    if (zoomed) drawReset(root, plot, reset);
  }
  root.addEventListener(
    "wheel",
    (event) => {
      if (!actions.includes("scrollToZoom") && !event.ctrlKey) return;
      event.preventDefault();
      const x = event.clientX - root.getBoundingClientRect().left;
      zoomAround(Math.min(1, Math.max(0, (x - plot.left) / plot.width)), event.deltaY < 0 ? STEP : 1 / STEP);
    },
    { passive: false },
  );
  root.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "+" || event.key === "=") zoomAround(0.5, STEP);
    else if (event.key === "-") zoomAround(0.5, 1 / STEP);
    else if (event.key === "0") reset();
  });
}
