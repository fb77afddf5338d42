/**
 * Keeps every link and window that XProf makes under this link's prefix (see paths.js).
 *
 * Links to documentation on other hosts stay links, opened apart and without a referrer.
 */
import { insidePrefix } from "./paths.js";

/** The moments at which a reader can see, open or copy a link's address. */
const MOMENTS = ["pointerover", "focusin", "click", "auxclick", "contextmenu"];

/** Gives a link the address that was meant. */
function correctLink(link) {
  const inside = insidePrefix(link.href);
  if (inside === null) {
    link.target = "_blank";
    link.rel = "noopener noreferrer";
  } else if (new URL(inside, document.baseURI).href !== link.href) {
    link.href = inside;
  }
}

function correctLinksOnUse() {
  for (const moment of MOMENTS) {
    const listener = (event) => {
      const link = event.composedPath().find((node) => node.localName === "a" && node.hasAttribute("href"));
      // The bar's own links lead to other sessions of the same link, on purpose.
      if (link && !link.closest("#xh-bar")) correctLink(link);
    };
    document.addEventListener(moment, listener, { capture: true });
  }
}

function correctWindows() {
  const open = window.open.bind(window);
  window.open = (address, ...rest) => {
    const inside = address === undefined ? "" : insidePrefix(String(address));
    return inside === null ? null : open(inside, ...rest);
  };
}

/** Starts to correct links and windows of this page. */
export function keepLinksInside() {
  correctLinksOnUse();
  correctWindows();
}
