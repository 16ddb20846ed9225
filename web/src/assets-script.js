// The addresses of the package's files, for a script: next to the script itself.

import { BUILT } from "./built.js";

/** The address of a local file. */
function fileUrl(path) {
  const slashes = path.replace(/\\/g, "/");
  return `file://${slashes.startsWith("/") ? "" : "/"}${encodeURI(slashes).replace(/[?#]/g, encodeURIComponent)}`;
}

/** The address of this script: the worker's, or in Node its file's. */
function here() {
  if (typeof __filename === "string") return fileUrl(__filename);
  return globalThis.location?.href ?? fileUrl(process.argv[1]);
}

const name = (threads, relaxed) => `zoothera${threads ? "-threads" : ""}${relaxed ? "-relaxed" : ""}.wasm`;

export const assets = {
  has: (threads, relaxed) => name(threads, relaxed) in BUILT,
  size: (url) => BUILT[url.replace(/[?#].*/, "").replace(/.*\//, "")] ?? 0,
  worker: () => new URL("./worker.js", here()),
  net: () => new URL("./zoothera.nnue.gz", here()),
  smallNet: () => new URL("./zoothera-small.nnue.gz", here()),
  module: (threads, relaxed) => new URL(name(threads, relaxed), here()),
};
