/**
 * What an address says about each of XProf's tools: found out by experiment with XProf 2.24.2 (docs/adr/025).
 *
 * Every tool reads and writes `run`, `tag` and `host`. What else there is:
 *
 *   tool            XProf reads at load            XProf writes               XProf forgets; fed back by
 *   trace_viewer@   hosts (a,b)                    hosts, host                view_start, view_end; the frame's address
 *   graph_viewer    node_name or opName,           opName, moduleName;        graph_width, show_metadata, merge_fusion,
 *                   module_name or moduleName      after “Search”: all, as    graph_type, program_id; going to the
 *                                                  node_name, module_name     address once more
 *   memory_viewer   module_name or moduleName      moduleName                 memory_space; its menu
 *   op_profile      -                              -                          group_by; its menu
 *   memory_profile  host_id                        -                          host_id; going to the address once more
 *   hlo_stats       hlo_op_name, program_id        both                       -
 *   roofline_model  roofline_op_name               it                         -
 *   overview_page, input_pipeline_analyzer, framework_op_stats, kernel_stats, pod_viewer and the others: -
 *
 * “Reads at load” goes by way of `sessionStorage`, which lasts as long as the tab and across links; `address.js`
 * empties it, or a tool would be asked with what another one was opened with.
 */

/** An address may name any tool, also `constructor`, which every plain object has. */
const byTool = (entries) => new Map(Object.entries(entries));

/** Parameters that mean something to one tool only. */
const TOOL_PARAMETERS = byTool({
  trace_viewer: ["hosts", "view_start", "view_end"],
  graph_viewer: [
    "opName", "node_name", "moduleName", "module_name", "program_id", "graph_width", "show_metadata", "merge_fusion",
    "graph_type", "symbol_id", "symbol_type", "show_me_graph",
  ],
  memory_viewer: ["moduleName", "module_name", "memory_space"],
  op_profile: ["group_by"],
  memory_profile: ["host_id"],
  hlo_stats: ["hlo_op_name", "program_id"],
  roofline_model: ["roofline_op_name"],
});

const ALL_PARAMETERS = new Set([...TOOL_PARAMETERS.values()].flat());

/** Those that XProf neither keeps nor reads by itself, and how they come back. */
const FORGOTTEN = byTool({
  trace_viewer: { frame: ["view_start", "view_end"] },
  graph_viewer: { router: ["graph_width", "show_metadata", "merge_fusion", "graph_type", "program_id"] },
  memory_viewer: { menu: ["memory_space"] },
  op_profile: { menu: ["group_by"] },
  memory_profile: { router: ["host_id"] },
});

/** What a tool shows when nothing else was chosen; not worth a place in the address. */
const DEFAULTS = {
  memory_space: "0", group_by: "program", host_id: "0", graph_width: "1", show_metadata: "false", merge_fusion: "false",
  graph_type: "xla",
};

/** A tool's name without the sign of its streaming form. */
export function plainName(tool) {
  return (tool ?? "").replace(/@$/, "");
}

/** The tool that a query of XProf's page names. */
export function toolOf(query) {
  return plainName(query.get("tag") ?? query.get("tool"));
}

/** The parameters of a tool that XProf forgets and that come back by `way`: `frame`, `router` or `menu`. */
export function forgotten(tool, way) {
  return FORGOTTEN.get(tool)?.[way] ?? [];
}

/** The parameters of a tool that XProf forgets. */
export function forgottenNames(tool) {
  return Object.values(FORGOTTEN.get(tool) ?? {}).flat();
}

/** Whether a value is what the tool shows anyway. */
export function isDefault(name, value) {
  return DEFAULTS[name] === value;
}

/** What XProf calls by two names; the first one is newer when an address has both. */
const SYNONYMS = [["moduleName", "module_name"], ["opName", "node_name"]];

/** Takes out of a query what belongs to other tools, what is said twice, and XProf's note to itself. */
export function dropForeign(query) {
  const own = TOOL_PARAMETERS.get(toolOf(query)) ?? [];
  const foreign = [...query.keys()].filter((name) => ALL_PARAMETERS.has(name) && !own.includes(name));
  const twice = SYNONYMS.filter((names) => names.every((name) => query.has(name))).map(([, older]) => older);
  for (const name of [...foreign, ...twice, "firstLoad"]) query.delete(name);
}
