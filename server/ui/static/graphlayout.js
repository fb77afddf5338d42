/**
 * Has a worker lay a graph out, with limits: a graph that nobody can wait for, or look at, becomes a sentence.
 */

/** Milliseconds that a layout may take. */
const LONGEST = 30_000;

/** Edges of a graph whose places Graphviz must find; twice as many take it four times as long. */
const MOST_EDGES = 6000;

/** Characters of a drawing; a page with more stops answering. */
const LARGEST_DRAWING = 16_000_000;

const ADVICE = "Choose a smaller graph width, or save the DOT text and draw it with Graphviz on your own machine.";

/** A graph that can't be drawn; its message is for the reader. */
export class LayoutError extends Error {}

/** How many edges a DOT text has, at most. */
function countEdges(dot) {
  return dot.split(" -> ").length - 1;
}

/**
 * A worker of our origin. Its first script is a blob, because such a worker keeps the policy of this page; as a file
 * it would have the policy of the file's answer, which allows nothing.
 */
function startWorker() {
  const script = `import ${JSON.stringify(new URL("graphworker.js", import.meta.url).href)};`;
  const address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const worker = new Worker(address, { type: "module" });
  return { worker, end: () => (worker.terminate(), URL.revokeObjectURL(address)) };
}

/**
 * The SVG text that Graphviz makes of a DOT text.
 *
 * @param {string} engine of Graphviz: `dot` finds places, `neato` uses the given ones.
 * @param {{longest?: number, signal?: AbortSignal}} [limits] milliseconds, and what ends it before.
 * @throws {LayoutError} when it is too large, takes too long, is ended, or is no graph.
 */
export async function layOut(dot, engine, { longest = LONGEST, signal } = {}) {
  const edges = countEdges(dot);
  if (engine === "dot" && edges > MOST_EDGES) {
    throw new LayoutError(`This graph has about ${edges.toLocaleString("en-US")} edges, too many to draw in a browser. ${ADVICE}`);
  }
  const { worker, end } = startWorker();
  let clock = 0;
  try {
    const svg = await new Promise((resolve, reject) => {
      const fail = (text) => reject(new LayoutError(text));
      clock = setTimeout(() => fail(`Drawing this graph takes longer than ${longest / 1000} seconds. ${ADVICE}`), longest);
      signal?.addEventListener("abort", () => fail(`Drawing was stopped. ${ADVICE}`));
      worker.addEventListener("error", () => fail("Graphviz could not be started. Reload this page."));
      worker.addEventListener("message", ({ data }) => {
        if (data.svg === undefined) fail(`Graphviz could not draw this graph: ${data.error}`);
        else resolve(data.svg);
      });
      worker.postMessage({ dot, engine });
    });
    if (svg.length > LARGEST_DRAWING) throw new LayoutError(`This graph is too large to show in a browser. ${ADVICE}`);
    return svg;
  } finally {
    clearTimeout(clock);
    end();
  }
}
