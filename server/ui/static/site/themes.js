/** The switch between light, dark, and what the reader's system says, in the top bar. */
import { chooseTheme, themeChoice } from "../theme.js";

const choices = document.querySelectorAll("#theme input");
for (const input of choices) {
  input.checked = input.value === themeChoice();
  input.addEventListener("change", () => chooseTheme(input.value));
}
