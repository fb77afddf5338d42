/** Menus are `<details>`: they close when one clicks or goes elsewhere, and with Escape. `data-opens` opens a dialog. */
const OPEN = "details.menu[open]";

function closeAllBut(inside) {
  for (const menu of document.querySelectorAll(OPEN)) {
    if (!menu.contains(inside)) menu.open = false;
  }
}

document.addEventListener("click", ({ target }) => {
  closeAllBut(target);
  const dialog = document.getElementById(target.closest("[data-opens]")?.dataset.opens ?? "");
  if (dialog) dialog.showModal();
  if (target.closest("[data-closes]")) target.closest("dialog")?.close();
});
document.addEventListener("focusin", ({ target }) => closeAllBut(target));
document.addEventListener("keydown", (event) => {
  const menu = event.key === "Escape" && document.querySelector(OPEN);
  if (!menu) return;
  menu.open = false;
  menu.querySelector("summary").focus();
});
