/**
 * Runs in the frame of the trace viewer, before XProf's script.
 */
import { reportRequests } from "./report.js";

reportRequests({ failures: true });
