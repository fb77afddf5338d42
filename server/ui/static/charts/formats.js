/**
 * Number and pattern formats: what a cell or an axis shows of a number.
 *
 * Patterns are ICU's, as far as XProf uses them: `#`, `0`, `,`, `.`, `%` and literal text, with quotes.
 */

/** Names that Google accepts in place of a pattern. */
const NAMED = { decimal: "#,##0.###", percent: "#,##0%", scientific: "0.##E0", none: "0.##########" };

/** Most digits that a pattern may ask for after the point; Intl refuses more. */
const MOST_DIGITS = 20;

/** Splits a pattern into literal prefix, digits and literal suffix; a quoted character is literal. */
function parsePattern(pattern) {
  const parts = { prefix: "", digits: "", suffix: "", percent: false };
  let quoted = false;
  for (const character of pattern) {
    if (character === "'") {
      quoted = !quoted;
    } else if (!quoted && /[#0,.E]/.test(character) && parts.suffix === "") {
      parts.digits += character;
    } else {
      if (!quoted && character === "%") parts.percent = true;
      parts[parts.digits ? "suffix" : "prefix"] += character;
    }
  }
  return parts;
}

/** A function from numbers to text for an ICU pattern or one of Google's names. */
export function patternFormatter(pattern) {
  const { prefix, digits, suffix, percent } = parsePattern(NAMED[pattern] ?? pattern);
  const [mantissa, exponent] = digits.split("E");
  const [whole, fraction = ""] = mantissa.split(".");
  const format = new Intl.NumberFormat("en-US", {
    minimumFractionDigits: Math.min(MOST_DIGITS, (fraction.match(/0/g) ?? []).length),
    maximumFractionDigits: Math.min(MOST_DIGITS, fraction.length),
    minimumIntegerDigits: Math.max(1, (whole.match(/0/g) ?? []).length),
    useGrouping: whole.includes(","),
    notation: exponent === undefined ? "standard" : "scientific",
  });
  return (value) => `${prefix}${format.format(percent ? value * 100 : value)}${suffix}`;
}

/** A function from numbers to text for the options of `NumberFormat` without a pattern. */
function digitsFormatter({ fractionDigits = 2, groupingSymbol = ",", negativeParens = false }) {
  const format = new Intl.NumberFormat("en-US", {
    minimumFractionDigits: fractionDigits,
    maximumFractionDigits: fractionDigits,
    useGrouping: groupingSymbol !== "",
  });
  return (value) => {
    const text = format.format(Math.abs(value));
    if (value >= 0) return text;
    return negativeParens ? `(${text})` : `-${text}`;
  };
}

export class NumberFormat {
  #text;

  /** @param {object} [options] `pattern`, or `fractionDigits`, `groupingSymbol`, `negativeParens`; `prefix`, `suffix`. */
  constructor(options = {}) {
    const { pattern, prefix = "", suffix = "" } = options;
    const text = pattern === undefined ? digitsFormatter(options) : patternFormatter(pattern);
    this.#text = (value) => `${prefix}${text(value)}${suffix}`;
  }

  formatValue(value) {
    return value === null || value === undefined ? "" : this.#text(Number(value));
  }

  /** Sets the format of every number in a column of a DataTable. */
  format(table, column) {
    if (column < 0) return;
    for (const row of table.rowIndexes()) {
      const value = table.getValue(row, column);
      if (typeof value === "number") table.setFormattedValue(row, column, this.#text(value));
    }
  }
}

/** Text for the inside of an element or of a quoted attribute. */
function escapeHtml(text) {
  const entities = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
  return text.replace(/[&<>"']/g, (character) => entities[character]);
}

export class PatternFormat {
  #pattern;

  /** @param {string} pattern text in which `{0}` stands for the first source column, and so on. */
  constructor(pattern) {
    this.#pattern = pattern;
  }

  /** Formats a column from several; in a pattern with markup the values are escaped, so they stay text. */
  format(table, sources, target = sources[0]) {
    const markup = this.#pattern.includes("<");
    for (const row of table.rowIndexes()) {
      const text = this.#pattern.replace(/\{(\d+)\}/g, (_, index) => {
        const value = table.getFormattedValue(row, sources[Number(index)]);
        return markup ? escapeHtml(value) : value;
      });
      table.setFormattedValue(row, target, text);
    }
  }
}
