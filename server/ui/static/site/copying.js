/** Buttons with `data-copy`: they copy that text. */
import { say } from "./changes.js";

const SHOWN_MS = 1600;

async function copy(button) {
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
  } catch {
    // No clipboard on an insecure address: select the text, so that the reader's own keys copy it.
    const code = button.parentElement.querySelector("code, input");
    if (code) getSelection().selectAllChildren(code);
    say("Press Ctrl and C to copy");
    return;
  }
  button.classList.add("copied");
  say("Copied");
  setTimeout(() => button.classList.remove("copied"), SHOWN_MS);
}

document.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-copy]");
  if (button) copy(button);
});
