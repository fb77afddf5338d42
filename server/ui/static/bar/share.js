/**
 * The way to where a link to this view is made, for people who have signed in: their own address opens for no one else.
 */
import { pageData } from "../page.js";
import { viewQuery } from "../remember/address.js";

/** The moments at which a reader can open or copy a link's address. */
const MOMENTS = ["pointerover", "focusin", "click", "auxclick", "contextmenu"];

/** Lets the button take along what is shown when it is used. */
export function enableShare() {
  const button = document.getElementById("xh-share");
  if (!button) return;
  for (const moment of MOMENTS) button.addEventListener(moment, () => (button.href = pageData.pages.share + viewQuery()));
}
