/**
 * Gives XProf the `google.charts` and `google.visualization` that it expects, without loading anything.
 */
import { AxisChart } from "./axischart.js";
import { arrayToDataTable, DataTable } from "./datatable.js";
import { DataView } from "./dataview.js";
import * as events from "./events.js";
import { NumberFormat, PatternFormat } from "./formats.js";
import * as data from "./group.js";
import { Histogram } from "./histogram.js";
import { PieChart } from "./piechart.js";
import { Table } from "./table.js";

const KINDS = ["Area", "Bar", "Bubble", "Candlestick", "Column", "Combo", "Line", "Scatter", "SteppedArea"];

/** One class per kind, as `new google.visualization.AreaChart(element)` needs them. */
const axisCharts = Object.fromEntries(
  KINDS.map((kind) => [
    `${kind}Chart`,
    class extends AxisChart {
      constructor(container) {
        super(container, kind);
      }
    },
  ]),
);

const visualization = {
  DataTable,
  DataView,
  NumberFormat,
  PatternFormat,
  Table,
  PieChart,
  Histogram,
  ...axisCharts,
  arrayToDataTable,
  data,
  events,
};

/** Everything is here already, so "loaded" comes at once, but after the caller's turn as Google's does. */
const charts = {
  safeLoad: () => Promise.resolve(),
  load: () => Promise.resolve(),
  setOnLoadCallback: (callback) => queueMicrotask(callback),
};

globalThis.google = { charts, visualization };
