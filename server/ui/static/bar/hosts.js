/**
 * Hosts in the bar: how many can be shown, and in a list why the others can't and what is odd about these.
 */
import { element } from "../notice.js";
import { closeDetailsFromOutside } from "./panel.js";

/** One entry of the list: a host's name, if it is about one, and sentences. */
function line(name, ...messages) {
  const label = name ? [element("b", {}, name)] : [];
  return element("li", {}, ...label, ...messages.map((message) => element("p", {}, message)));
}

/** Entries of sentences about hosts, one for each host. */
function hostLines(sentences) {
  const byHost = new Map();
  for (const { host, file, message } of sentences) {
    const name = host || file;
    byHost.set(name, [...(byHost.get(name) ?? []), message]);
  }
  return [...byHost].map(([name, messages]) => line(name, ...messages));
}

/** A line that offers to open the page again, for hosts that it does not show yet. */
function reloadLine() {
  const item = line("", "More of this session is here now.");
  const button = element("button", { type: "button", class: "xh-action" }, "Show it");
  button.addEventListener("click", () => location.reload());
  item.append(button);
  return item;
}

/** “3 of 4 hosts” when some are missing, else “4 hosts”. */
function countText(usable, all) {
  if (usable < all) return `${usable} of ${all} hosts`;
  return all === 1 ? "1 host" : `${all} hosts`;
}

/** How many hosts can be shown. */
export function usableHosts({ hosts, problems }) {
  const broken = new Set(problems.map(({ host }) => host));
  return hosts.filter((host) => !broken.has(host)).length;
}

/**
 * Shows in the bar how many hosts can be shown, and in a list why the others can't and what is odd about these.
 *
 * `hasMore` says that a host can be shown now which could not when the page was opened.
 */
export function showHosts({ hosts, problems, warnings, expectedHosts, notes }, hasMore) {
  const box = document.getElementById("xh-hosts");
  if (!box) return;
  const all = Math.max(new Set([...hosts, ...problems.map(({ host, file }) => host || file)]).size, expectedHosts ?? 0);
  const usable = usableHosts({ hosts, problems });
  const lines = [
    ...(hasMore ? [reloadLine()] : []),
    ...notes.map((note) => line("", note)),
    ...hostLines(problems),
    ...hostLines(warnings),
  ];
  const isWhole = usable >= all;
  const oddities = isWhole && lines.length ? ` · ${lines.length} ${lines.length === 1 ? "note" : "notes"}` : "";
  const summary = box.querySelector("summary");
  summary.textContent = countText(usable, all) + oddities;
  // Without a list there is nothing to open, by key as little as by mouse.
  summary.tabIndex = lines.length ? 0 : -1;
  box.classList.toggle("xh-warn", !isWhole);
  box.classList.toggle("xh-listed", lines.length > 0);
  if (!lines.length) box.open = false;
  box.querySelector("ul").replaceChildren(...lines);
}

/** Lets the list of hosts close as other panels do. */
export function enableHosts() {
  const box = document.getElementById("xh-hosts");
  if (box) closeDetailsFromOutside(box);
}
