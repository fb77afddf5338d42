/**
 * Keeps XProf to its first trace viewer. The second one compiles text as code and needs WebGPU; the page's policy
 * forbids the one, and where it was once chosen, by an address or a click elsewhere, nothing would be shown.
 */
const SWITCH = "use_trace_viewer_v2";

/** Takes the choice of the second trace viewer back; before XProf's scripts read it. */
export function keepFirstTraceViewer() {
  localStorage.removeItem(SWITCH);
  const address = new URL(location.href);
  if (!address.searchParams.has(SWITCH)) return;
  address.searchParams.delete(SWITCH);
  history.replaceState(history.state, "", address);
}
