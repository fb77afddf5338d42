/**
 * From values to positions along one axis, and the values that the axis names.
 *
 * A scale is `{at(value), ticks, text(value), low, high}`; positions are fractions of the axis, 0 to 1.
 */
import { patternFormatter } from "./formats.js";

/** Most ticks on one axis, whatever options ask for. */
const MOST_TICKS = 60;

/** The round step (1, 2, 2.5 or 5 times a power of ten) that cuts `span` into about `count` parts. */
function roundStep(span, count) {
  const rough = span / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough * 0.999) * power;
}

/** Text of numbers on an axis: few digits, and powers of ten where those would be many. */
function axisText(pattern) {
  if (pattern) return patternFormatter(pattern);
  const plain = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 6 });
  return (value) => {
    const size = Math.abs(value);
    if (size !== 0 && (size < 1e-4 || size >= 1e9)) return value.toExponential().replace("e+", "e");
    return plain.format(value);
  };
}

function linearTicks(low, high, count) {
  const step = roundStep(high - low, count);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  const length = Math.min(MOST_TICKS, last - first + 1);
  // Multiplying keeps 0.3 from becoming 0.30000000000000004, as adding up steps would.
  return Array.from({ length }, (_, index) => Number(((first + index) * step).toPrecision(12)));
}

function logTicks(low, high) {
  const first = Math.ceil(Math.log10(low) - 1e-9);
  const last = Math.floor(Math.log10(high) + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => 10 ** (first + index));
}

/** The ends of an axis: what the data spans, widened or fixed by Google's axis options. */
export function axisRange({ low, high }, axis, { fromZero }) {
  const window = axis.viewWindow ?? {};
  let [least, most] = fromZero ? [Math.min(0, low), Math.max(0, high)] : [low, high];
  least = Math.min(least, axis.minValue ?? least, axis.baseline ?? least);
  most = Math.max(most, axis.maxValue ?? most, axis.baseline ?? most);
  return { low: window.min ?? least, high: window.max ?? most, fixed: { low: window.min, high: window.max } };
}

/** Widens the ends to the next round value, where no option fixes them. */
function niceEnds({ low, high, fixed = {} }, count) {
  if (high <= low) return low === 0 || fixed.low === low ? { low, high: low + 1 } : { low: low - 0.5, high: low + 0.5 };
  const step = roundStep(high - low, count);
  return {
    low: fixed.low ?? Math.floor(low / step + 1e-9) * step,
    high: fixed.high ?? Math.ceil(high / step - 1e-9) * step,
  };
}

/** A linear scale over a range, with about `count` ticks. `nice: false` keeps the range as it is. */
export function linearScale(range, axis, { count, nice }) {
  const degenerate = range.high <= range.low;
  const { low, high } = nice || degenerate ? niceEnds(range, count) : range;
  const ticks = axis.ticks ? axis.ticks.map((tick) => tick.v ?? tick) : linearTicks(low, high, count);
  return {
    low,
    high,
    at: (value) => (value - low) / (high - low),
    valueAt: (fraction) => low + fraction * (high - low),
    ticks: ticks.filter((tick) => tick >= low && tick <= high),
    text: axisText(axis.format),
  };
}

/** A logarithmic scale; values up to 0 lie at its lower end. */
export function logScale(range, axis) {
  const low = range.low > 0 ? range.low : Math.min(1, range.high / 1e6);
  const [first, last] = [Math.log10(low), Math.log10(Math.max(range.high, low * 10))];
  const ticks = axis.ticks ? axis.ticks.map((tick) => tick.v ?? tick) : logTicks(low, 10 ** last);
  return {
    low,
    high: 10 ** last,
    at: (value) => (value > 0 ? (Math.log10(value) - first) / (last - first) : 0),
    valueAt: (fraction) => 10 ** (first + fraction * (last - first)),
    ticks: ticks.filter((tick) => tick >= low && tick <= 10 ** last),
    text: axisText(axis.format),
  };
}

/** A scale of `count` bands with names; `at` gives the middle of a band. */
export function bandScale(count, nameOf) {
  const size = Math.max(1, count);
  return {
    low: 0,
    high: size - 1,
    at: (index) => (index + 0.5) / size,
    valueAt: (fraction) => fraction * size - 0.5,
    ticks: Array.from({ length: count }, (_, index) => index),
    text: nameOf,
  };
}
