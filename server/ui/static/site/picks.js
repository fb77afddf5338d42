/** A button with `data-picks="2"` works when just so many boxes of its form are ticked; without scripts, always. */
import { forEveryPart } from "./changes.js";

function follow(button) {
  const boxes = button.form.querySelectorAll("input.pick");
  const wanted = Number(button.dataset.picks);
  const show = () => {
    button.disabled = [...boxes].filter((box) => box.checked).length !== wanted;
  };
  button.form.addEventListener("change", show);
  show();
}

forEveryPart((part) => {
  for (const button of part.querySelectorAll("[data-picks]")) follow(button);
});
