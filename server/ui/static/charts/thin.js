/**
 * Leaves out of long series what can't be seen: of the points in one pixel column only those that shape the line stay.
 */

/** Points up to which nothing is left out. */
const PLENTY = 2000;

/** Of points in drawing order those that matter: per pixel column the first, lowest, highest and last one. */
export function thinLine(points, vertical = false) {
  if (points.length <= PLENTY) return points;
  const [along, across] = vertical ? ["y", "x"] : ["x", "y"];
  const kept = [];
  let start = 0;
  for (let index = 1; index <= points.length; index++) {
    const column = Math.round(points[start][along]);
    if (index < points.length && Math.round(points[index][along]) === column) continue;
    let [low, high] = [start, start];
    for (let at = start + 1; at < index; at++) {
      if (points[at][across] < points[low][across]) low = at;
      if (points[at][across] > points[high][across]) high = at;
    }
    const chosen = [...new Set([start, low, high, index - 1])].sort((left, right) => left - right);
    for (const at of chosen) kept.push(points[at]);
    start = index;
  }
  return kept;
}

/** Of boxes `{x, y, width, height}` one per pixel column: the union of those that share it. */
export function thinBoxes(boxes, vertical = false) {
  const [along, across, length] = vertical ? ["y", "x", "width"] : ["x", "y", "height"];
  const columns = new Map();
  for (const box of boxes) {
    const key = Math.round(box[along] * 2);
    const known = columns.get(key);
    if (!known) {
      columns.set(key, { ...box });
      continue;
    }
    const end = Math.max(known[across] + known[length], box[across] + box[length]);
    known[across] = Math.min(known[across], box[across]);
    known[length] = end - known[across];
  }
  return [...columns.values()];
}

/** Of points those that don't lie on a pixel that is taken already. */
export function thinPoints(points) {
  if (points.length <= PLENTY) return points;
  const taken = new Set();
  return points.filter(({ x, y }) => {
    const key = `${Math.round(x)},${Math.round(y)}`;
    if (taken.has(key)) return false;
    taken.add(key);
    return true;
  });
}
