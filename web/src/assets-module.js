// Addresses of the package's files, for an ES module. Bundlers recognise only exactly this form.

/** The package's modules, as listed by build.mjs. */
const BUILT = [];

export const assets = {
  has: (threads, relaxed) => BUILT.includes(`zoothera${threads ? "-threads" : ""}${relaxed ? "-relaxed" : ""}.wasm`),
  worker: () => new URL("./worker.js", import.meta.url),
  module: (threads, relaxed) => {
    if (threads) {
      return relaxed
        ? new URL("./zoothera-threads-relaxed.wasm", import.meta.url)
        : new URL("./zoothera-threads.wasm", import.meta.url);
    }
    return relaxed ? new URL("./zoothera-relaxed.wasm", import.meta.url) : new URL("./zoothera.wasm", import.meta.url);
  },
};
