/** Asks again for a part of a page that did not come because the server was busy. */
import { isBusy, passingWords, secondsUntil } from "../comeback.js";
import { say } from "./changes.js";

/** How often each element has asked in vain. */
const tries = new WeakMap();

document.addEventListener("htmx:responseError", ({ detail: { elt, xhr, requestConfig } }) => {
  if (!isBusy(xhr) || requestConfig.verb !== "get") return;
  const count = tries.get(elt) ?? 0;
  tries.set(elt, count + 1);
  if (count === 0) say(passingWords({ reason: "busy", ahead: 0 }));
  const seconds = secondsUntil(Number(xhr.getResponseHeader("Retry-After")), count);
  setTimeout(() => {
    if (elt.isConnected) window.htmx.ajax("GET", requestConfig.path, { source: elt });
  }, seconds * 1000);
});
