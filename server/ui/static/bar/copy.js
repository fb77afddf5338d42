/**
 * The button that copies the address: with the tool, hosts, module, op and range that it holds (remember/address.js).
 */
import { element } from "../notice.js";

/** How long “Copied” stays, in milliseconds. */
const COPIED_FOR = 2000;

/** The old way, which also works without a secure context; says whether it did. */
function copyBySelection(text) {
  const focused = document.activeElement;
  const field = element("textarea", { class: "xh-spoken", readonly: "", "aria-hidden": "true" });
  field.value = text;
  document.body.append(field);
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return isCopied;
}

async function copyText(text) {
  try {
    if (navigator.clipboard) {
      await navigator.clipboard.writeText(text);
      return true;
    }
  } catch {
    // A page around this one, or the reader, does not allow it; the old way asks for less.
  }
  return copyBySelection(text);
}

/** Makes the copy button work. */
export function enableCopy() {
  const button = document.getElementById("xh-copy");
  if (!button) return;
  const spoken = document.getElementById("xh-copied");
  let timer = 0;
  button.addEventListener("click", async () => {
    const isCopied = await copyText(location.href);
    spoken.textContent = isCopied ? "Link copied" : "Your browser does not let this page copy. Copy the address bar instead.";
    button.classList.toggle("xh-copied", isCopied);
    button.classList.toggle("xh-not-copied", !isCopied);
    clearTimeout(timer);
    timer = setTimeout(() => {
      button.classList.remove("xh-copied", "xh-not-copied");
      spoken.textContent = "";
    }, isCopied ? COPIED_FOR : COPIED_FOR * 3);
  });
}
