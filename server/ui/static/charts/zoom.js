/**
 * Google's `explorer`: dragging across a chart zooms into that part of the domain, a right click resets it.
 */
import { draw, hideTooltip } from "./svg.js";

/** Drags shorter than this, in pixels, are clicks. */
const LEAST_DRAG = 5;

/** Lets the reader zoom; `show({from, to})` draws a part of the domain, `show({})` all of it. */
export function enableZoom(root, { plot, along, options }, show) {
  const actions = options.explorer.actions ?? ["dragToZoom", "rightClickToReset"];
  const within = (event) => {
    const x = event.clientX - root.getBoundingClientRect().left;
    return Math.min(plot.left + plot.width, Math.max(plot.left, x));
  };
  if (actions.includes("dragToZoom")) {
    root.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      const start = within(event);
      const band = draw(root, "rect", {
        x: start, y: plot.top, width: 0, height: plot.height, fill: "#1967d2", "fill-opacity": 0.15,
      });
      const move = (moved) => {
        band.setAttribute("x", Math.min(start, within(moved)));
        band.setAttribute("width", Math.abs(within(moved) - start));
        hideTooltip();
      };
      const end = (ended) => {
        removeEventListener("pointermove", move);
        band.remove();
        const [first, last] = [start, within(ended)].sort((left, right) => left - right);
        if (last - first < LEAST_DRAG) return;
        const valueAt = (x) => along.valueAt((x - plot.left) / plot.width);
        show({ from: valueAt(first), to: valueAt(last) });
      };
      addEventListener("pointermove", move);
      addEventListener("pointerup", end, { once: true });
    });
  }
  if (actions.includes("rightClickToReset")) {
    root.addEventListener("contextmenu", (event) => {
      event.preventDefault();
      show({});
    });
  }
}
