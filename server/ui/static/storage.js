/**
 * A memory for a page that may keep nothing: in the frame of another site many browsers refuse a page its
 * storage, and reading it throws. XProf's scripts and the trace viewer's would end there.
 */

/** As much of the Web Storage interface as is called here and in XProf; lives as long as the page. */
class Memory {
  #values = new Map();

  get length() {
    return this.#values.size;
  }

  key(index) {
    return [...this.#values.keys()][index] ?? null;
  }

  getItem(name) {
    return this.#values.get(String(name)) ?? null;
  }

  setItem(name, value) {
    this.#values.set(String(name), String(value));
  }

  removeItem(name) {
    this.#values.delete(String(name));
  }

  clear() {
    this.#values.clear();
  }
}

/** Puts a memory in the place of each storage that this page is refused. */
export function replaceRefusedStorage() {
  for (const name of ["sessionStorage", "localStorage"]) {
    try {
      globalThis[name].length;
    } catch {
      Object.defineProperty(globalThis, name, { value: new Memory(), configurable: true });
    }
  }
}
