/**
 * Looking around in a drawn graph: zoom by buttons and keys, the whole graph at once, and finding an op by its name.
 */

/** Nodes up to which each is a stop of the Tab key. */
const TAB_STOPS = 150;

/** Pixels that a found node is wide at least, so that it can be read. */
const READABLE = 140;

/** Scales between which all of a graph is shown at first; below, nobody can read it. */
const SMALLEST = 0.6;
const LARGEST = 1.6;

/** Pixels that an arrow key moves the graph. */
const STEP = 80;

const KEYS = {
  "+": (view) => view.zoomIn(),
  "=": (view) => view.zoomIn(),
  "-": (view) => view.zoomOut(),
  0: fit,
  ArrowLeft: (view) => view.panBy({ x: STEP, y: 0 }),
  ArrowRight: (view) => view.panBy({ x: -STEP, y: 0 }),
  ArrowUp: (view) => view.panBy({ x: 0, y: STEP }),
  ArrowDown: (view) => view.panBy({ x: 0, y: -STEP }),
};

/** Shows all of the graph. */
function fit(view) {
  view.resize();
  view.fit();
  view.center();
}

/** The words of a node, as a reader sees them. */
function wordsOf(node) {
  return [...node.querySelectorAll("text")].map((text) => text.textContent).join(" ");
}

/** Makes nodes reachable by keyboard: Enter does what a click does, Shift and Enter what a double click does. */
function letKeysReach(nodes) {
  for (const node of nodes) {
    node.setAttribute("tabindex", nodes.length <= TAB_STOPS ? "0" : "-1");
    node.setAttribute("role", "button");
    node.setAttribute("aria-label", wordsOf(node));
    node.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      node.dispatchEvent(new MouseEvent(event.shiftKey ? "dblclick" : "click", { bubbles: true, cancelable: true }));
    });
  }
}

/** A button in the bar below the graph. */
function addButton(bar, text, label, press) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = text;
  button.setAttribute("aria-label", label);
  button.title = label;
  button.addEventListener("click", press);
  bar.append(button);
}

/** A field to search with, and where it says what it found. */
function addSearch(bar) {
  const field = document.createElement("input");
  field.type = "search";
  field.placeholder = "Find an op";
  field.setAttribute("aria-label", "Find an op in this graph");
  const told = document.createElement("output");
  bar.append(field, told);
  return { field, told };
}

/** The middle of a rectangle. */
function middle({ left, top, width, height }) {
  return { x: left + width / 2, y: top + height / 2 };
}

/** Brings a node to the middle of the view, large enough to be read. */
function moveTo(node, container, view) {
  const { width } = node.getBoundingClientRect();
  if (width < READABLE) view.zoomBy(READABLE / Math.max(1, width));
  // The zoom is drawn with the next frame, and the node has its place after it.
  requestAnimationFrame(() =>
    requestAnimationFrame(() => {
      const [is, wanted] = [middle(node.getBoundingClientRect()), middle(container.getBoundingClientRect())];
      view.panBy({ x: wanted.x - is.x, y: wanted.y - is.y });
    }),
  );
}

/** The node or the cluster of an op: the one that names it first, since users and operands may name it too. */
function placeOf(container, name) {
  const nodes = [...container.querySelectorAll(".node, .cluster")];
  const places = nodes.map((node) => [node, wordsOf(node).split(/[^\w.-]+/).indexOf(name)]);
  return places.filter(([, at]) => at >= 0).sort(([, left], [, right]) => left - right)[0]?.[0];
}

/** Shows all of the graph if that can be read, else the op that was asked for at the size of its text. */
function begin(container, view) {
  const { realZoom } = view.getSizes();
  if (realZoom > LARGEST) {
    view.zoomBy(LARGEST / realZoom);
    view.center();
  }
  const asked = placeOf(container, new URLSearchParams(location.search).get("node_name") ?? "");
  if (realZoom >= SMALLEST || !asked) return;
  // A fusion is shown whole if it can be read then.
  const [place, window] = [asked.getBoundingClientRect(), container.getBoundingClientRect()];
  const whole = Math.min(window.width / place.width, window.height / place.height) * 0.9;
  view.zoomBy(Math.min(1, Math.max(SMALLEST, realZoom * whole)) / realZoom);
  moveTo(asked, container, view);
}

/** Finds nodes by their text; Enter goes on to the next one. */
function search({ field, told }, container, nodes, view) {
  let [found, at] = [[], -1];
  const go = () => {
    for (const node of container.querySelectorAll(".found")) node.classList.remove("found");
    told.textContent = !field.value ? "" : found.length ? `${at + 1} of ${found.length}` : "Not in this graph";
    const node = found[at];
    if (!node) return;
    node.classList.add("found");
    moveTo(node, container, view);
  };
  field.addEventListener("input", () => {
    const wanted = field.value.toLowerCase();
    found = wanted ? nodes.filter((node) => wordsOf(node).toLowerCase().includes(wanted)) : [];
    at = found.length ? 0 : -1;
    go();
  });
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !found.length) return;
    at = (at + (event.shiftKey ? found.length - 1 : 1)) % found.length;
    go();
  });
}

/**
 * Lets the reader look around.
 *
 * @param {SVGElement} svg in `container`.
 * @param {Element} bar where the buttons go.
 */
export function lookAround(svg, container, bar) {
  const nodes = [...svg.querySelectorAll(".node")];
  letKeysReach(nodes);
  const find = addSearch(bar);
  addButton(bar, "−", "Zoom out", () => view.zoomOut());
  addButton(bar, "+", "Zoom in", () => view.zoomIn());
  addButton(bar, "Fit", "Show the whole graph", () => fit(view));
  // Only now, because the bar takes some of the room that the graph is fitted to.
  const view = window.svgPanZoom(svg, { dblClickZoomEnabled: false, maxZoom: 200, minZoom: 0.1, zoomEnabled: true });
  search(find, container, nodes, view);
  begin(container, view);
  container.tabIndex = 0;
  container.setAttribute("role", "group");
  container.setAttribute("aria-label", "Graph. Plus and minus zoom, arrow keys move, 0 shows all of it.");
  container.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !KEYS[event.key]) return;
    event.preventDefault();
    KEYS[event.key](view);
  });
  addEventListener("resize", () => view.resize());
}
