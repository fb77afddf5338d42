/**
 * Draws charts again when the place that they fill changes its size: the window, the side bar, a panel that opens.
 */

/** @type {WeakMap<Element, {draw: Function, width: number}>} */
const watched = new WeakMap();

const observer = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const known = watched.get(target);
    const width = target.clientWidth;
    if (!known || width === 0 || width === known.width) continue;
    watched.set(target, { ...known, width });
    known.draw();
  }
});

/** Calls `draw` whenever the width of `container` is another than now. */
export function watchSize(container, draw) {
  watched.set(container, { draw, width: container.clientWidth });
  observer.observe(container);
}

export function unwatchSize(container) {
  watched.delete(container);
  observer.unobserve(container);
}
