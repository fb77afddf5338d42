/**
 * Histograms: the last column's values counted in buckets of equal width, drawn as columns.
 */
import { AxisChart } from "./axischart.js";
import { DataTable } from "./datatable.js";
import { defaultText } from "./readable.js";

/** The counts of numbers in buckets: `{from, to, count}`; the last one includes its end. */
export function buckets(values, size) {
  if (!values.length) return [];
  const low = values.reduce((least, value) => Math.min(least, value));
  const high = values.reduce((most, value) => Math.max(most, value));
  const wanted = Math.max(1, Math.ceil(Math.sqrt(values.length)));
  const width = size ?? ((high - low) / wanted || 1);
  const count = Math.max(1, Math.ceil((high - low) / width - 1e-9));
  const found = Array.from({ length: count }, (_, index) => ({
    from: low + index * width,
    to: low + (index + 1) * width,
    count: 0,
  }));
  for (const value of values) found[Math.min(count - 1, Math.floor((value - low) / width))].count += 1;
  return found;
}

export class Histogram extends AxisChart {
  constructor(container) {
    super(container, "Column");
  }

  draw(table, options = {}) {
    const column = table.getNumberOfColumns() - 1;
    const values = table
      .rowIndexes()
      .map((row) => table.getValue(row, column))
      .filter((value) => typeof value === "number");
    const counts = new DataTable();
    counts.addColumn("string", "Range");
    counts.addColumn("number", table.getColumnLabel(column) || "Count");
    for (const { from, to, count } of buckets(values, options?.histogram?.bucketSize)) {
      counts.addRow([`${defaultText(from)} – ${defaultText(to)}`, count]);
    }
    super.draw(counts, { bar: { groupWidth: "95%" }, ...options });
  }
}
