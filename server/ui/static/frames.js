/**
 * Keeps every frame that XProf makes under this link's prefix (see paths.js), and gives the trace viewer's its range.
 *
 * Frames of other hosts (Perfetto) are not loaded.
 */
import { insidePrefix } from "./paths.js";
import { frameAddress } from "./remember/recall.js";

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

/** Starts to correct the frames of this page. */
export function keepFramesInside() {
  correctFrames();
  replaceInlineHandlers();
}
