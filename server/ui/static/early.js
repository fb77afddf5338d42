/**
 * Runs before anything is drawn or any other script runs: a wrong colour would flash, and a refused storage end XProf.
 */
import { keepFirstTraceViewer } from "./firstviewer.js";
import { replaceRefusedStorage } from "./storage.js";
import { applyTheme, followTheme } from "./theme.js";

replaceRefusedStorage();
keepFirstTraceViewer();
applyTheme();
followTheme();
