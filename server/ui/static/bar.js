/**
 * The share bar in XProf's toolbar: copies the address, and names hosts that can't be shown.
 */

/** How long "Copied" stays, in milliseconds. */
const COPIED_FOR = 2000;

/** Puts text into the clipboard; without a secure context only the old way works. */
async function copyText(text) {
  if (navigator.clipboard) {
    await navigator.clipboard.writeText(text);
    return;
  }
  const field = document.createElement("textarea");
  field.value = text;
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
}

/** Makes the copy button work. */
export function enableCopy() {
  const button = document.getElementById("xh-copy");
  const label = button?.querySelector("span");
  if (!button) return;
  button.addEventListener("click", async () => {
    await copyText(location.href);
    label.textContent = "Copied";
    setTimeout(() => (label.textContent = "Copy link"), COPIED_FOR);
  });
}

/** Shows in the bar which hosts have problems: "3 of 4 hosts", with a sentence for each. */
export function showHosts({ hosts, problems }) {
  const box = document.getElementById("xh-hosts");
  if (!box || !problems.length) return;
  const broken = new Set(problems.map((problem) => problem.host || problem.file));
  const all = new Set([...hosts, ...broken]).size;
  const usable = hosts.filter((host) => !broken.has(host)).length;
  box.querySelector("summary").textContent = `${usable} of ${all} hosts`;
  box.classList.add("xh-warn");
  box.querySelector("ul").replaceChildren(
    ...problems.map(({ host, file, message }) => {
      const item = document.createElement("li");
      const name = document.createElement("b");
      name.textContent = host || file;
      item.append(name, ` ${message}`);
      return item;
    }),
  );
}
