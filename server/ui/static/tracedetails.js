/**
 * What the trace viewer's frame says about a selected event, besides its own table: a link to the op's graph, and its
 * operands and consumers.
 *
 * XProf makes HTML of names from the profile here, links to the root of the host, and asks there too, so that its
 * “loading…” never ends. These lines are made anew instead: names as text, addresses under the link.
 */
import { isBusy, secondsUntil } from "./comeback.js";
import { basePath } from "./paths.js";

/** Before report.js watches it: that an op has no neighbours in its module is no failure to show. */
const ask = window.fetch.bind(window);

const UNKNOWN_MODULE = "default";
/** How often a busy server is asked again; another event asks anew. */
const MOST_TRIES = 5;

/** The query by which the graph viewer finds an op. */
function opQuery(viewer, op, module) {
  const traced = new URL(viewer.traceDataUrl, location.origin).searchParams;
  const query = new URLSearchParams({ tag: "graph_viewer", run: traced.get("run") ?? "", node_name: op });
  if (module !== UNKNOWN_MODULE) query.set("module_name", module);
  return query;
}

async function neighbours(viewer, op, module) {
  const query = opQuery(viewer, op, module);
  query.set("type", "adj_nodes");
  try {
    for (let tries = 0; ; tries += 1) {
      const response = await ask(`${basePath}data?${query}`);
      if (response.ok) return await response.json();
      if (!isBusy(response) || tries === MOST_TRIES) return null;
      const seconds = secondsUntil(Number(response.headers.get("Retry-After")), tries);
      await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    }
  } catch {
    return null; // The connection is away; the next event asks again.
  }
}

/** A new line of the details. The frame's library wraps elements, and knows none but the oldest ways to join them. */
function addLine(viewer, text) {
  const line = document.createElement("div");
  line.textContent = text;
  viewer._eventDetails.appendChild(line);
  return line;
}

const names = (title, list) => `${title}: ${list.length ? list.join(", ") : "none"}`;

/** Replaces the lines that XProf would make. */
export function writeDetails(viewer) {
  const known = new Map();
  viewer.createCrossToolLinkOss = (tool, label, { hloOp, hloModule }, text) => {
    const address = `${basePath}?${opQuery(viewer, hloOp, hloModule)}`;
    const link = document.createElement("a");
    Object.assign(link, { href: address, target: "_blank", rel: "noopener", textContent: text });
    addLine(viewer, `${label}: `).appendChild(link);
  };
  viewer.addHloGraphInfo = async (op, module) => {
    if (module === UNKNOWN_MODULE) return;
    const line = addLine(viewer, `Looking up the neighbours of ${op} …`);
    const key = `${module} ${op}`;
    if (!known.has(key)) known.set(key, await neighbours(viewer, op, module));
    const found = known.get(key);
    line.textContent = found ? names("Operands", found.operand_names) : "";
    if (found) addLine(viewer, names("Consumers", found.consumer_names));
    else known.delete(key);
  };
}
