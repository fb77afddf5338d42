/**
 * The choice between light, dark, and what the reader's system says.
 */
import { element } from "../notice.js";
import { chooseTheme, themeChoice } from "../theme.js";

const CHOICES = { system: "System", light: "Light", dark: "Dark" };

function choice([name, label]) {
  const button = element("input", { type: "radio", name: "xh-appearance", value: name });
  button.checked = name === themeChoice();
  button.addEventListener("change", () => chooseTheme(name));
  return element("label", {}, button, element("span", {}, label));
}

/** A row of the three choices. */
export function appearanceChoice() {
  const legend = element("legend", {}, "Appearance");
  return element("fieldset", { class: "xh-appearance" }, legend, ...Object.entries(CHOICES).map(choice));
}
