/**
 * Watches this page's own data requests and reports those that fail, with the server's sentence.
 *
 * XProf shows an empty page, or waits for ever, when an answer is an error. The server's errors are
 * `{"error": {"message", "details": [{"reason", "file"}]}}`.
 */
import { basePath, isInside } from "./paths.js";

const UNREACHABLE = "The server did not answer. Check the connection and try again.";

/** The failure that an answer tells of. */
function readFailure(url, status, text) {
  const failure = { tool: url.searchParams.get("tag") ?? "", status, message: "", file: "" };
  if (status === 0) return { ...failure, message: UNREACHABLE };
  failure.message = `The server answered with error ${status}.`;
  try {
    const { error } = JSON.parse(text);
    const file = error.details?.find((detail) => detail.file)?.file ?? "";
    return { ...failure, message: error.message || failure.message, file };
  } catch {
    // Not our JSON: a proxy in between answered, and its page would say nothing to a reader.
    return failure;
  }
}

/** The URL if it is one of this link's data, else null. Files and `status` have their own care. */
function dataUrl(address) {
  const url = new URL(address, document.baseURI);
  const name = url.pathname.slice(basePath.length);
  return isInside(url.pathname) && /^\w+$/.test(name) && name !== "status" ? url : null;
}

/** Calls `started(tool)` when data of a tool is asked for, and `failed(failure)` when an answer is an error. */
export function watchRequests({ started, failed }) {
  watchXhr({ started, failed });
  watchFetch({ started, failed });
}

function watchXhr({ started, failed }) {
  const { open } = XMLHttpRequest.prototype;
  XMLHttpRequest.prototype.open = function watchedOpen(method, address, ...rest) {
    const url = dataUrl(address);
    if (url) {
      started(url.searchParams.get("tag") ?? "");
      let aborted = false;
      this.addEventListener("abort", () => (aborted = true), { once: true });
      this.addEventListener(
        "loadend",
        () => {
          const ok = this.status >= 200 && this.status < 400;
          const readable = this.responseType === "" || this.responseType === "text";
          if (!ok && !aborted) failed(readFailure(url, this.status, readable ? this.responseText : ""));
        },
        { once: true },
      );
    }
    return open.call(this, method, address, ...rest);
  };
}

function watchFetch({ started, failed }) {
  const original = window.fetch;
  window.fetch = async (resource, ...rest) => {
    const url = dataUrl(resource instanceof Request ? resource.url : String(resource));
    if (!url) return original(resource, ...rest);
    started(url.searchParams.get("tag") ?? "");
    const response = await original(resource, ...rest);
    if (!response.ok) failed(readFailure(url, response.status, await response.clone().text()));
    return response;
  };
}
