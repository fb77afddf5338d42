/**
 * The visible range of a trace, in milliseconds of the trace's own axis: what an address holds of it.
 *
 * Knows no page, so that the trace viewer's frame can use it.
 */

/** How much empty space XProf shows on each side of a whole trace, as a part of its length. */
const MARGIN = 0.15;
/** A range is kept to a part of itself that no screen shows. */
const STEPS = 20_000;

/**
 * The part of a range that has something to show; null when that is everything, or nothing.
 *
 * @param {{min: number, max: number}} range what is to be shown
 * @param {{min: number, max: number}} bounds beginning and end of the trace
 */
export function clipRange(range, bounds) {
  const margin = (bounds.max - bounds.min) * MARGIN;
  const isAll = range.min <= bounds.min && range.max >= bounds.max;
  const isBeside = range.max <= bounds.min || range.min >= bounds.max;
  if (isAll || isBeside || !(range.min < range.max)) return null;
  return { min: Math.max(range.min, bounds.min - margin), max: Math.min(range.max, bounds.max + margin) };
}

/** Both ends as decimal numbers, no longer than the range's width deserves. */
export function rangeTexts({ min, max }) {
  const decimals = Math.min(12, Math.max(0, Math.ceil(Math.log10(STEPS / (max - min)))));
  return { view_start: String(Number(min.toFixed(decimals))), view_end: String(Number(max.toFixed(decimals))) };
}

/** The range that two texts of an address mean; null when they mean none. */
export function readRange(start, end) {
  const range = { min: Number.parseFloat(start), max: Number.parseFloat(end) };
  return Number.isFinite(range.min) && Number.isFinite(range.max) && range.min < range.max ? range : null;
}
