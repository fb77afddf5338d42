/**
 * A panel that a button of the bar opens and closes; one at a time, by mouse, touch or keyboard.
 */

let closeOpen = () => {};

/** What Escape, a click or the focus somewhere else do to an open panel. */
function closeFromOutside(button, panel, close) {
  const isOutside = (node) => node instanceof Node && !panel.contains(node) && !button.contains(node);
  const controller = new AbortController();
  const options = { signal: controller.signal, capture: true };
  const onKey = (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    close();
    button.focus();
  };
  document.addEventListener("keydown", onKey, options);
  document.addEventListener("pointerdown", ({ target }) => isOutside(target) && close(), options);
  document.addEventListener("focusin", ({ target }) => isOutside(target) && close(), options);
  // A click into a frame is no event here, but takes the focus.
  addEventListener("blur", () => document.activeElement instanceof HTMLIFrameElement && close(), options);
  return controller;
}

/**
 * Lets a button open a panel.
 *
 * @param {HTMLElement} button says by `aria-expanded` whether the panel is open
 * @param {HTMLElement} panel is hidden until then
 * @param {() => HTMLElement | null} prepare fills the panel each time before it opens; gives what gets the focus
 */
export function openPanelBy(button, panel, prepare) {
  let outside = null;
  const close = () => {
    outside?.abort();
    outside = null;
    panel.hidden = true;
    button.setAttribute("aria-expanded", "false");
    closeOpen = () => {};
  };
  const open = () => {
    closeOpen();
    const first = prepare();
    panel.hidden = false;
    button.setAttribute("aria-expanded", "true");
    outside = closeFromOutside(button, panel, close);
    closeOpen = close;
    (first ?? panel).focus({ preventScroll: true });
  };
  panel.tabIndex = -1;
  button.addEventListener("click", () => (outside ? close() : open()));
}

/** Lets `details` close as panels do. */
export function closeDetailsFromOutside(details) {
  const summary = details.querySelector("summary");
  let outside = null;
  // The event `toggle` comes later than the details open; Escape may be faster.
  details.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !details.open) return;
    event.stopPropagation();
    details.open = false;
    summary.focus();
  });
  details.addEventListener("toggle", () => {
    outside?.abort();
    outside = details.open ? closeFromOutside(summary, details, () => (details.open = false)) : null;
  });
}
