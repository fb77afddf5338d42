/**
 * Keeps XProf's styles from asking other hosts for fonts.
 *
 * XProf's bundle, which is served byte for byte, holds some sixty component styles that begin with an import of
 * a web font. The import is cut from the text while Angular puts it into a <style> element; the font's
 * fallbacks are used instead.
 */

const FOREIGN_IMPORT = /@import\s*(?:url\()?\s*["']?https?:[^;]*;/g;

/** Cuts foreign imports from every text that a <style> element is given from now on. */
export function keepStylesLocal() {
  const { get, set } = Object.getOwnPropertyDescriptor(Node.prototype, "textContent");
  Object.defineProperty(HTMLStyleElement.prototype, "textContent", {
    configurable: true,
    enumerable: true,
    get,
    set(text) {
      set.call(this, typeof text === "string" ? text.replace(FOREIGN_IMPORT, "") : text);
    },
  });
}
