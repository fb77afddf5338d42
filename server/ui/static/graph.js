/**
 * Draws a graph of HLO ops, or the allocation timeline of a module's memory, from the data alone.
 *
 * The page has the address of the answer that it replaces; the data is at `graph_data` or `timeline_data` with
 * the same query: `{"dot": "…"}`. XProf looks into the page for nodes as soon as its head has a child, so the
 * head stays empty until the graph is drawn.
 */
import { Graphviz } from "./vendor/graphviz.js";
import { hoverRules, safeSvg } from "./graphsvg.js";
import { reportRequests } from "./report.js";

/** What each kind of page asks for and how Graphviz lays it out. The timeline's boxes have places already. */
const KINDS = {
  graph: { data: "graph_data", engine: "dot", title: "HLO graph" },
  timeline: { data: "timeline_data", engine: "neato", title: "Memory allocation timeline" },
};

const container = document.getElementById("graph-container");
const status = document.getElementById("graph-status");

/** The DOT text of this page's graph. Throws an Error with a sentence for the reader. */
async function loadDot(name) {
  const response = await fetch(new URL(name + location.search, location.href));
  const answer = await response.json().catch(() => null);
  if (response.ok && typeof answer?.dot === "string") return answer.dot;
  throw new Error(answer?.error?.message ?? `The server answered with error ${response.status}.`);
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
  document.getElementById("graph-actions").append(link);
}

/** Gives a page of its own an icon; inside XProf's frame the head must stay empty. */
function addIcon() {
  const icon = document.createElement("link");
  icon.rel = "icon";
  icon.href = new URL("favicon.svg", import.meta.url);
  document.head.append(icon);
}

async function show({ data, engine }) {
  const [graphviz, dot] = await Promise.all([Graphviz.load(), loadDot(data)]);
  const svg = safeSvg(graphviz.layout(dot, "svg", engine));
  container.replaceChildren(svg);
  highlightEdges(svg, hoverRules(dot));
  addDownload("graph.svg", "image/svg+xml", new XMLSerializer().serializeToString(svg));
  addDownload("graph.dot", "text/vnd.graphviz", dot);
  window.svgPanZoom(svg, {
    controlIconsEnabled: true,
    dblClickZoomEnabled: false,
    maxZoom: 200,
    minZoom: 0,
    zoomEnabled: true,
  });
  status.remove();
}

if (parent === window) addIcon();
else reportRequests({ failures: false });
const kind = KINDS[document.body.dataset.kind];
try {
  await show(kind);
} catch (error) {
  status.textContent = error.message;
  status.classList.add("failed");
}
// Setting the title gives the head its first child: now XProf looks.
document.title = kind.title;
