/**
 * Lays graphs out, apart from the page: whatever a graph does to Graphviz, the page can end it (graphlayout.js).
 */
import { Graphviz } from "./vendor/graphviz.js";

addEventListener("message", async ({ data: { dot, engine } }) => {
  try {
    const graphviz = await Graphviz.load();
    postMessage({ svg: graphviz.layout(dot, "svg", engine) });
  } catch (error) {
    postMessage({ error: String(error?.message ?? error) });
  }
});
