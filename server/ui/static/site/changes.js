/** What scripts of the site do to every part of a page: once for the page, and for each part that htmx puts in. */

/** Calls `act(part)` for the document now, and for what comes later. */
export function forEveryPart(act) {
  act(document);
  document.addEventListener("htmx:load", ({ detail }) => act(detail.elt));
}

/** Tells a screen reader. */
export function say(text) {
  document.getElementById("spoken").textContent = text;
}
