/**
 * Listeners of charts and tables, as `google.visualization.events` offers them.
 *
 * Charts know only `trigger`; XProf adds listeners to the chart object that it made.
 */

/** @type {WeakMap<object, Map<string, Set<Function>>>} */
const listeners = new WeakMap();

/** The set of one source's listeners for one event, made when it is missing. */
function listenersOf(source, name) {
  if (!listeners.has(source)) listeners.set(source, new Map());
  const byName = listeners.get(source);
  if (!byName.has(name)) byName.set(name, new Set());
  return byName.get(name);
}

/** Calls `callback` on every event `name` of `source`; returns a handle for `removeListener`. */
export function addListener(source, name, callback) {
  listenersOf(source, name).add(callback);
  return { source, name, callback };
}

/** Like `addListener`, for the next event only. */
export function addOneTimeListener(source, name, callback) {
  const handle = addListener(source, name, (payload) => {
    removeListener(handle);
    callback(payload);
  });
  return handle;
}

/** Undoes one `addListener`. */
export function removeListener(handle) {
  listenersOf(handle.source, handle.name).delete(handle.callback);
}

/** Undoes every `addListener` of `source`. */
export function removeAllListeners(source) {
  listeners.delete(source);
}

/** Calls the listeners of `source` for `name`; a listener added meanwhile waits for the next event. */
export function trigger(source, name, payload = {}) {
  for (const callback of [...listenersOf(source, name)]) callback(payload);
}

/** Tells `source` that it is drawn, after the caller's turn: XProf adds its listener after `draw`. */
export function triggerReady(source) {
  queueMicrotask(() => trigger(source, "ready"));
}
