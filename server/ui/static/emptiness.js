/**
 * Tells whether a tool's answer shows a reader anything at all. XProf draws empty tables and charts without a word.
 *
 * Facts: xprof 2.24.2. Of most answers nothing is concluded; what is not sure counts as something.
 */

/** An answer without content is short: columns without rows. Longer ones are not even parsed. */
const LONGEST = 20_000;
/** XProf's own rows for time in which nothing ran, and for sums over nothing. */
const FILLERS = new Set(["IDLE", "Program"]);
const ONE_TABLE = ["hlo_stats", "kernel_stats", "perf_counters", "utilization_viewer"];

const isFiller = ({ c }) => c.some((cell) => FILLERS.has(cell?.v));
const hasRows = (table) => table.rows.some((row) => !isFiller(row));
const hasWork = ({ children = [] }) => children.some(({ name }) => !FILLERS.has(name));

const CHECKS = {
  ...Object.fromEntries(ONE_TABLE.map((tool) => [tool, hasRows])),
  framework_op_stats: (tables) => tables.some(hasRows),
  roofline_model: ([operations]) => hasRows(operations),
  op_profile: ({ byProgram }) => hasWork(byProgram),
  memory_profile: ({ memoryProfilePerAllocator }) => Object.keys(memoryProfilePerAllocator).length > 0,
};

/** Whether a tool's answer, as text, is sure to show nothing. */
export function isEmptyAnswer(tool, text) {
  if (!Object.hasOwn(CHECKS, tool) || text.length > LONGEST) return false;
  try {
    return !CHECKS[tool](JSON.parse(text));
  } catch {
    return false; // An answer of another shape: nothing is known of it.
  }
}

/**
 * The text that XProf's page gets in place of an empty answer. Its memory profile looks into the first allocator
 * without asking whether there is one, and takes `null` for what it is.
 */
export function harmlessAnswer(tool, text) {
  return tool === "memory_profile" ? "null" : text;
}
