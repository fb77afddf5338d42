/**
 * Draws a graph of HLO ops, or the allocation timeline of a module's memory, from the data alone.
 *
 * The page has the address of the answer that it replaces; the data is at `graph_data` or `timeline_data` with
 * the same query: `{"dot": "…"}`. XProf looks into the page for nodes as soon as its head has a child, so the
 * head stays empty until the graph is drawn.
 */
import { comeBack, isBusy, passingWords, secondsUntil } from "./comeback.js";
import { LayoutError, layOut } from "./graphlayout.js";
import { hoverRules, safeSvg } from "./graphsvg.js";
import { lookAround } from "./graphview.js";
import { reportRequests, tell } from "./report.js";
import { readFailure } from "./requests.js";

/** What each kind of page asks for and how Graphviz lays it out. The timeline's boxes have places already. */
const KINDS = {
  graph: { data: "graph_data", engine: "dot", title: "HLO graph" },
  timeline: { data: "timeline_data", engine: "neato", title: "Memory allocation timeline" },
};

const isFramed = parent !== window;
const DRAWING = "Drawing the graph…";
const container = document.getElementById("graph-container");
const status = document.getElementById("graph-status");
const bar = document.getElementById("graph-actions");

/** The DOT text in an answer; null when it holds none. */
function dotOf(text) {
  try {
    const { dot } = JSON.parse(text);
    return typeof dot === "string" ? dot : null;
  } catch {
    return null;
  }
}

/** The DOT text of this page's graph, however long the server is busy. Throws an Error with a sentence for the reader. */
async function loadDot(name) {
  for (let tries = 0; ; tries += 1) {
    const response = await fetch(new URL(name + location.search, location.href));
    const text = await response.text();
    const dot = response.ok ? dotOf(text) : null;
    if (dot !== null) return dot;
    const failure = readFailure({ tool: "" }, response.status, text, response.headers.get("Retry-After"));
    if (!isBusy(failure)) throw new Error(failure.message);
    await waitShown(failure, tries);
  }
}

/** What the page around this frame shows of its waiting: on a narrow screen the frame is out of sight. */
const WAITING = { id: `waiting-${Math.random()}`, tool: "graph_viewer", name: "data" };

/** Says that the server is busy, and ends when it is to be asked again. */
function waitShown(failure, tries) {
  const clock = document.createElement("span");
  clock.setAttribute("aria-hidden", "true"); // it would be read out without end
  const now = document.createElement("button");
  now.type = "button";
  now.textContent = "Try now";
  status.replaceChildren(`${passingWords(failure)}. `, clock, " ", now);
  if (isFramed) tell("waiting", { ...WAITING, ahead: failure.ahead });
  return new Promise((resolve) => {
    const go = () => {
      stop();
      if (isFramed) tell("ended", WAITING);
      status.textContent = DRAWING;
      resolve();
    };
    const stop = comeBack(secondsUntil(failure.retryAfter, tries), (text) => (clock.textContent = text), go);
    now.addEventListener("click", go);
  });
}

/** Colours the edges of a node or cluster while the pointer is over it. */
function highlightEdges(svg, rules) {
  for (const [source, edges] of rules) {
    const node = svg.getElementById(source);
    const paint = (on) => {
      for (const { edge, color } of edges) {
        const drawn = svg.getElementById(edge);
        drawn?.style.setProperty("--edge", on ? color : "");
        drawn?.classList.toggle("lit", on);
      }
    };
    node?.addEventListener("mouseenter", () => paint(true));
    node?.addEventListener("mouseleave", () => paint(false));
  }
}

/** Offers text as a file. */
function addDownload(name, type, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.textContent = `Save ${name.split(".")[1].toUpperCase()}`;
  bar.append(link);
}

/** Gives a page of its own an icon; inside XProf's frame the head must stay empty. */
function addIcon() {
  const icon = document.createElement("link");
  icon.rel = "icon";
  icon.href = new URL("favicon.svg", import.meta.url);
  document.head.append(icon);
}

/** Says how long drawing has taken and offers to end it; returns what ends both. */
function tellDrawing(stop) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Stop";
  button.addEventListener("click", stop);
  const start = performance.now();
  const clock = setInterval(() => {
    status.firstChild.data = `${DRAWING} ${Math.round((performance.now() - start) / 1000)} s `;
    if (!button.isConnected) status.append(button);
  }, 1000);
  return () => {
    clearInterval(clock);
    button.remove();
  };
}

/** The drawing of a DOT text as SVG text; the reader may stop it. */
async function drawn(dot, engine) {
  const stopping = new AbortController();
  const told = tellDrawing(() => stopping.abort());
  try {
    return await layOut(dot, engine, { signal: stopping.signal });
  } finally {
    told();
  }
}

async function show({ data, engine }) {
  const dot = await loadDot(data);
  let svg;
  try {
    svg = safeSvg(await drawn(dot, engine));
  } catch (error) {
    if (error instanceof LayoutError) addDownload("graph.dot", "text/vnd.graphviz", dot);
    throw error;
  }
  const file = new XMLSerializer().serializeToString(svg);
  status.remove();
  container.replaceChildren(svg);
  highlightEdges(svg, hoverRules(dot));
  addDownload("graph.svg", "image/svg+xml", file);
  addDownload("graph.dot", "text/vnd.graphviz", dot);
  lookAround(svg, container, bar);
}

if (isFramed) {
  reportRequests({ failures: false });
  // Whoever leaves the frame does not wait for it any more.
  addEventListener("pagehide", () => tell("ended", WAITING));
} else {
  addIcon();
}
const kind = KINDS[document.body.dataset.kind];
try {
  await show(kind);
} catch (error) {
  status.textContent = error.message;
  status.classList.add("failed");
}
// Setting the title gives the head its first child: now XProf looks.
document.title = kind.title;
