/**
 * The colours of charts: one series palette for light and dark, and XProf's own colours led to it.
 *
 * A colour is a custom property of charts.css, so that a drawn chart follows the theme without being drawn again.
 * Hues stay: what XProf calls red is still red.
 */

const SERIES = 12;

/** Series colours in the order in which they are handed out; neighbours differ in lightness as well as in hue. */
export const PALETTE = Array.from({ length: SERIES }, (_, index) => `var(--xh-series-${index})`);

/** What stands for the joined rest of a pie. */
export const REST = "var(--xh-rest)";

const [BLUE, ORANGE, TEAL, MAGENTA, GOLD, VIOLET, GREEN, RED, SKY, BROWN, SLATE, ROSE] = PALETTE;
const INK = "var(--xh-text, #202124)";

/** The colours that XProf 2.24.2 gives its series, by what they are of ours. */
const KNOWN = new Map(
  Object.entries({
    // Google's own order of series, which XProf repeats in its pies.
    "#3366cc": BLUE, "#dc3912": RED, "#ff9900": ORANGE, "#109618": TEAL, "#990099": MAGENTA, "#3b3eac": VIOLET,
    "#0099c6": SKY, "#dd4477": ROSE, "#66aa00": GREEN, "#b82e2e": BROWN, "#316395": SLATE,
    // Names.
    red: RED, crimson: RED, blue: BLUE, orange: ORANGE, green: GREEN, purple: VIOLET, pink: ROSE, black: INK,
    // Parts of a step, on TPU.
    "#00aa55": GREEN, "#e65722": ORANGE, "#dc2a2a": RED, "#b8860b": GOLD, "#b381b3": VIOLET, "#009fd4": SKY,
    "#545454": SLATE,
    // Parts of a step, on GPU.
    "#9ccc65": GREEN, "#ffeb3b": GOLD, "#64b5f6": SKY, "#ff9800": ORANGE, "#b71c1c": RED, "#00695c": TEAL,
    "#5e35b1": VIOLET, "#4b7b4b": GREEN, "#8d6708": GOLD, "#d252b2": MAGENTA, "#2a7ab0": BLUE, "#8b0000": RED,
    "#005555": TEAL, "#483d8b": VIOLET,
    // What would vanish on a dark page, and the glaring mark of the memory peak.
    "#000000": INK, "#000": INK, "#222222": INK, "#00ff00": GREEN,
  }),
);

/** Colours that an option or a style column may name; `url(…)` would load something. */
const COLOR = /^(?:#[0-9a-f]{3,8}|[a-z]{3,20}|rgba?\([\d\s.,%]+\))$/i;

/** Google takes hexadecimal digits without their mark, and XProf has a list of such. */
const BARE = /^[0-9a-f]{6}$/i;

/** The colour to draw with: ours for one of XProf's, the given one if it is a colour, else the fallback. */
export function safeColor(color, fallback) {
  if (typeof color !== "string") return fallback;
  const named = (BARE.test(color) ? `#${color}` : color).toLowerCase();
  return KNOWN.get(named) ?? (COLOR.test(named) ? named : fallback);
}
