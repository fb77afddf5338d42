/**
 * Takes the first glance away as soon as something better is there: XProf's own overview, another tool, or words
 * about what is the matter or how far it is.
 */
import { toolOfAddress } from "./paths.js";

const TOOL = "overview_page";
/** XProf's figures, and our own parts that speak in place of the figures. */
const SUCCESSORS = "overview-page performance-summary .item-container, .xh-notice, .xh-progress, main.xh-message";

/** Removes the glance when its time is over. */
export function replaceGlance() {
  const glance = document.getElementById("xh-glance");
  if (!glance) return;
  const observer = new MutationObserver(() => {
    if ((toolOfAddress() || TOOL) === TOOL && !document.querySelector(SUCCESSORS)) return;
    observer.disconnect();
    glance.remove();
  });
  observer.observe(document.body, { childList: true, subtree: true });
}
