/**
 * Starts XProf's scripts once the page is drawn: they keep the thread busy for some tenths of a second, and the first
 * figures, which the page holds already, would wait for their end.
 */

/** What to start is loaded ahead, in order, by links of this class. */
const AHEAD = "link.xh-start";
/** Milliseconds after which a page that nobody looks at, and which is not drawn, starts all the same. */
const LATEST = 100;

function start() {
  for (const { href } of document.querySelectorAll(AHEAD)) {
    const script = document.createElement("script");
    script.src = href;
    script.async = false; // in the order of the page
    document.head.append(script);
  }
}

/** Starts XProf after the next frame. */
export function startXprof() {
  let isStarted = false;
  const once = () => {
    if (!isStarted) start();
    isStarted = true;
  };
  requestAnimationFrame(() => setTimeout(once));
  setTimeout(once, LATEST);
}
