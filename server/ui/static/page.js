/**
 * What the server says about this page beside XProf: names, who shared it, until when, whether the
 * profile's names are pseudonyms, and the run's other sessions.
 *
 * All of it is text that others chose; whoever shows it sets it as text.
 */

const NOTHING = { run: "", session: "", hosts: 0, sharedBy: "", expires: null, note: "", sessions: [], moreSessions: false, redacted: false, pages: null };

function read() {
  const block = document.getElementById("xh-page");
  return block ? { ...NOTHING, ...JSON.parse(block.textContent) } : NOTHING;
}

/** The data block `xh-page` of the index; `expires` is a moment in ISO 8601 or null. */
export const pageData = Object.freeze(read());
