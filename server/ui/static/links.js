/**
 * Keeps every link, window and frame that XProf makes under this link's prefix (see paths.js).
 *
 * Links to documentation on other hosts stay links, opened apart and without a referrer. Frames of other hosts
 * (Perfetto) are not loaded.
 */
import { insidePrefix } from "./paths.js";
import { frameAddress } from "./remember/recall.js";

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
      const link = event.composedPath().find((node) => node instanceof HTMLAnchorElement && node.hasAttribute("href"));
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

/** What XProf uses of the graph's frame: its location, which it replaces by an address with doubled slashes. */
function graphWindow(inner) {
  const replace = (address) => inner.location.replace(insidePrefix(address) ?? "about:blank");
  return { location: { replace, toString: () => inner.location.href } };
}

function correctFrames() {
  const frame = HTMLIFrameElement.prototype;
  const source = Object.getOwnPropertyDescriptor(frame, "src");
  Object.defineProperty(frame, "src", {
    ...source,
    set(address) {
      const inside = insidePrefix(String(address));
      source.set.call(this, inside === null ? "about:blank" : frameAddress(inside));
    },
  });
  const content = Object.getOwnPropertyDescriptor(frame, "contentWindow");
  Object.defineProperty(frame, "contentWindow", {
    ...content,
    get() {
      const inner = content.get.call(this);
      return inner && this.id === "graph-html" ? graphWindow(inner) : inner;
    },
  });
}

/**
 * Leaves out handlers that a template writes as attributes, which the page's policy forbids.
 *
 * The one that matters is the trace viewer's frame taking the keyboard when it is loaded.
 */
function replaceInlineHandlers() {
  const { setAttribute } = Element.prototype;
  Element.prototype.setAttribute = function setSafeAttribute(name, value) {
    if (!/^on/i.test(name)) setAttribute.call(this, name, value);
    else if (name === "onload" && value === "focus();") this.addEventListener("load", () => this.focus());
  };
}

/** Starts to correct links, windows and frames of this page. */
export function keepLinksInside() {
  correctLinksOnUse();
  correctWindows();
  correctFrames();
  replaceInlineHandlers();
}
