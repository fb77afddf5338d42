/**
 * Light or dark: the reader's choice for this browser, or their system's. theme.css and xprof.css do the rest. Where
 * a page is refused its storage, `storage.js` must have replaced it before.
 */
const KEY = "xprof-hub-theme";
const CHOICES = ["light", "dark"];
const SYSTEM = "system";
const systemIsDark = matchMedia("(prefers-color-scheme: dark)");

/** What the reader chose: `light`, `dark`, or `system` to follow their system. */
export function themeChoice() {
  const choice = localStorage.getItem(KEY);
  return CHOICES.includes(choice) ? choice : SYSTEM;
}

/**
 * Shows the page as chosen; the first time before anything is drawn. A frame in a page of ours is light, because
 * that page darkens all that stands in it.
 */
export function applyTheme() {
  const choice = frameElement ? "light" : themeChoice();
  const isDark = choice === "dark" || (choice === SYSTEM && systemIsDark.matches);
  document.documentElement.dataset.xhTheme = isDark ? "dark" : "light";
}

/** Keeps the choice for all pages of this server, and shows it: `light`, `dark`, or `system`. */
export function chooseTheme(name) {
  if (CHOICES.includes(name)) localStorage.setItem(KEY, name);
  else localStorage.removeItem(KEY);
  applyTheme();
}

/** Follows the system, and a choice in another tab. */
export function followTheme() {
  systemIsDark.addEventListener("change", applyTheme);
  addEventListener("storage", ({ key }) => key === KEY && applyTheme());
}
