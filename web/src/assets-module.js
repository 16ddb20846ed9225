// Addresses of the package's files, for an ES module. Bundlers recognise only exactly this form.

import { BUILT } from "./built.js";

export const assets = {
  has: (threads, relaxed) => `zoothera${threads ? "-threads" : ""}${relaxed ? "-relaxed" : ""}.wasm` in BUILT,
  size: (url) => BUILT[url.replace(/[?#].*/, "").replace(/.*\//, "")] ?? 0,
  worker: () => new URL("./worker.js", import.meta.url),
  net: () => new URL("./zoothera.nnue.gz", import.meta.url),
  smallNet: () => new URL("./zoothera-small.nnue.gz", import.meta.url),
  module: (threads, relaxed) => {
    if (threads) {
      return relaxed
        ? new URL("./zoothera-threads-relaxed.wasm", import.meta.url)
        : new URL("./zoothera-threads.wasm", import.meta.url);
    }
    return relaxed ? new URL("./zoothera-relaxed.wasm", import.meta.url) : new URL("./zoothera.wasm", import.meta.url);
  },
};
