/** `/` leads to the page's search field, Escape out of it. */
const TYPED_INTO = "input, textarea, select, [contenteditable]";

document.addEventListener("keydown", (event) => {
  const field = document.querySelector("input[type=search]");
  if (!field || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/" && !event.target.closest?.(TYPED_INTO)) {
    event.preventDefault();
    field.focus();
    field.select();
  } else if (event.key === "Escape" && event.target === field && !field.value) field.blur();
});
