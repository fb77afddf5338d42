/**
 * Watches this page's own data requests: which are under way, and which failed, with the server's sentence.
 *
 * XProf shows an empty page, or waits for ever, when an answer is an error. The server's errors are
 * `{"error": {"message", "details": [{"reason", "file"}]}}`.
 */
import { basePath, isInside } from "./paths.js";

const LINK_ENDED =
  "This link no longer works: it has expired, or the person who shared it has withdrawn it. Ask them for a new one.";
const UNREACHABLE = "The server did not answer. Check the connection and try again.";

/** Tells the requests of this page from those of its frames. */
const PAGE = Math.random().toString(36).slice(2);
let count = 0;

/**
 * A request for data: `id`, the tool (empty for the session's own lists), and its address below the link in two
 * parts, `name` and `query`.
 */
function requestOf(url) {
  count += 1;
  const name = url.pathname.slice(basePath.length);
  return { id: `${PAGE}-${count}`, tool: url.searchParams.get("tag") ?? "", name, query: url.search };
}

/**
 * The failure that an answer tells of. `retryAfter` is in seconds, 0 when asking again is not suggested; `ahead` is how
 * many go first, 0 when there is no line; by `requestId` whoever runs the server finds it in the log.
 */
export function readFailure({ tool }, status, text, retryAfter) {
  const seconds = Number(retryAfter) || 0;
  const failure = { tool, status, message: "", file: "", reason: "", ahead: 0, requestId: "", retryAfter: seconds };
  if (status === 0) return { ...failure, message: UNREACHABLE };
  if (status === 410) return { ...failure, message: LINK_ENDED };
  failure.message = `The server answered with error ${status}.`;
  try {
    const { error } = JSON.parse(text);
    const find = (name) => error.details?.find((detail) => detail[name])?.[name] ?? "";
    const told = {
      file: find("file"),
      reason: find("reason"),
      ahead: Number(find("ahead")) || 0,
      requestId: find("requestId"),
    };
    return { ...failure, ...told, message: error.message || failure.message };
  } catch {
    // Not our JSON: a proxy in between answered, and its page would say nothing to a reader.
    return failure;
  }
}

/** What nobody needs to be told of when it fails: `status` has its own care, and nothing hangs on `version`. */
const SILENT = new Set(["status", "version"]);

/** The URL if it is one of this link's data, else null. */
function dataUrl(address) {
  const url = new URL(address, document.baseURI);
  const name = url.pathname.slice(basePath.length);
  return isInside(url.pathname) && /^\w+$/.test(name) && !SILENT.has(name) ? url : null;
}

/**
 * Calls `began(request)` when data is asked for, `ended(request)` when the answer is there or given up, and
 * `failed(failure)` when it is an error. `answered(request, text)`, if given, sees each good answer of the page's own
 * requests before the page does, and gives the text that the page is to read.
 */
export function watchRequests(report) {
  watchXhr(report);
  watchFetch(report);
}

const isText = ({ responseType }) => responseType === "" || responseType === "text";

/** Lets the page read another text than the server sent. */
function replaceText(xhr, text) {
  for (const name of ["response", "responseText"]) Object.defineProperty(xhr, name, { value: text });
}

function watchXhr({ began, ended, failed, answered }) {
  const { open } = XMLHttpRequest.prototype;
  XMLHttpRequest.prototype.open = function watchedOpen(method, address, ...rest) {
    const url = dataUrl(address);
    if (url) {
      const request = requestOf(url);
      const once = { once: true };
      let aborted = false;
      this.addEventListener("loadstart", () => began(request), once);
      this.addEventListener("abort", () => (aborted = true), once);
      this.addEventListener("load", () => {
        if (!answered || this.status !== 200 || !isText(this)) return;
        const text = this.responseText;
        const read = answered(request, text);
        if (read !== text) replaceText(this, read);
      }, once);
      this.addEventListener("loadend", () => {
        ended(request);
        const ok = this.status >= 200 && this.status < 400;
        const text = isText(this) ? this.responseText : "";
        if (!ok && !aborted) failed(readFailure(request, this.status, text, this.getResponseHeader("Retry-After")));
      }, once);
    }
    return open.call(this, method, address, ...rest);
  };
}

function watchFetch({ began, ended, failed }) {
  const original = window.fetch;
  window.fetch = async (resource, ...rest) => {
    const url = dataUrl(resource instanceof Request ? resource.url : String(resource));
    if (!url) return original(resource, ...rest);
    const request = requestOf(url);
    began(request);
    try {
      const response = await original(resource, ...rest);
      const retryAfter = response.headers.get("Retry-After");
      if (!response.ok) failed(readFailure(request, response.status, await response.clone().text(), retryAfter));
      return response;
    } finally {
      ended(request);
    }
  };
}
