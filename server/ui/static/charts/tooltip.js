/**
 * The one tooltip of the page, and the voice that reads it to those who move by keyboard. Both hold text only.
 */

/** Pixels between the pointer and the tooltip, and between the tooltip and the edge of the window. */
const AWAY = 14;
const EDGE = 8;

let tooltip = null;
let voice = null;

/** An element of ours in the page, made again when something has taken it away. */
function placed(known, name, role) {
  if (known?.isConnected) return known;
  const made = document.createElement("div");
  made.className = name;
  for (const [key, value] of Object.entries(role)) made.setAttribute(key, value);
  document.body.append(made);
  return made;
}

/**
 * Shows a text near a point of the window.
 *
 * @param {{clientX: number, clientY: number}} at
 * @param {string} [color] of what is meant.
 */
export function showTooltip(at, text, color) {
  tooltip = placed(tooltip, "xh-tooltip", { role: "tooltip" });
  tooltip.textContent = text;
  tooltip.style.borderLeftColor = color ?? "transparent";
  tooltip.hidden = false;
  const { offsetWidth, offsetHeight } = tooltip;
  const right = at.clientX + AWAY + offsetWidth < innerWidth - EDGE;
  const left = right ? at.clientX + AWAY : Math.max(EDGE, at.clientX - AWAY - offsetWidth);
  const below = at.clientY + AWAY + offsetHeight < innerHeight - EDGE;
  const top = below ? at.clientY + AWAY : Math.max(EDGE, at.clientY - offsetHeight - AWAY);
  tooltip.style.left = `${left}px`;
  tooltip.style.top = `${top}px`;
}

export function hideTooltip() {
  if (tooltip) tooltip.hidden = true;
}

/** Has a screen reader say a text. */
export function say(text) {
  voice = placed(voice, "xh-voice", { role: "status", "aria-live": "polite" });
  voice.textContent = text;
}
