/**
 * Folds XProf's side bar where it lies over the page: on narrow windows XProf opens it over what the reader came for.
 */

const VIEW = "main-page > mat-sidenav-container > mat-sidenav-content > .full-height";
const OVER_THE_PAGE = "main-page > mat-sidenav-container > mat-sidenav.mat-drawer-over.mat-drawer-opened";
const BACKDROP = "main-page > mat-sidenav-container > .mat-drawer-backdrop";

/** XProf opens it a moment after a tool is there; milliseconds. */
const LOOK_EVERY = 100;
const LOOK_FOR = 1000;

let looking = 0;

/** Folds it if it opens by itself in the next moment. */
function fold() {
  clearInterval(looking);
  const begun = performance.now();
  looking = setInterval(() => {
    if (document.querySelector(OVER_THE_PAGE)) document.querySelector(BACKDROP)?.click();
    if (performance.now() - begun > LOOK_FOR) clearInterval(looking);
  }, LOOK_EVERY);
}

/** Folds the side bar whenever XProf shows another tool; whoever opens it afterwards keeps it. */
export function foldSideBar() {
  const waiting = new MutationObserver(() => {
    const view = document.querySelector(VIEW);
    if (!view) return;
    waiting.disconnect();
    new MutationObserver(fold).observe(view, { childList: true });
    fold();
  });
  waiting.observe(document.body, { childList: true, subtree: true });
  addEventListener("pointerdown", ({ isTrusted }) => isTrusted && clearInterval(looking), true);
}
