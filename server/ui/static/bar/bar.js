/**
 * The share bar in XProf's toolbar.
 */
import { enableAbout } from "./about.js";
import { enableCopy } from "./copy.js";
import { enableHosts } from "./hosts.js";
import { enableSessions } from "./sessions.js";
import { enableShare } from "./share.js";

/** Makes the bar's parts work. */
export function enableBar() {
  enableAbout();
  enableSessions();
  enableHosts();
  enableCopy();
  enableShare();
}
