// The addresses of the package's files, for a script: beside the script itself.

/** The address of a file of this machine. */
function fileUrl(path) {
  const slashes = path.replace(/\\/g, "/");
  return `file://${slashes.startsWith("/") ? "" : "/"}${encodeURI(slashes).replace(/[?#]/g, encodeURIComponent)}`;
}

/** The address of this script: of a worker, or in Node of its file. */
function here() {
  if (typeof __filename === "string") return fileUrl(__filename);
  return globalThis.location?.href ?? fileUrl(process.argv[1]);
}

/** The modules of this package, which build.mjs lists. */
const BUILT = [];

const name = (threads, relaxed) => `zoothera${threads ? "-threads" : ""}${relaxed ? "-relaxed" : ""}.wasm`;

export const assets = {
  has: (threads, relaxed) => BUILT.includes(name(threads, relaxed)),
  worker: () => new URL("./worker.js", here()),
  module: (threads, relaxed) => new URL(name(threads, relaxed), here()),
};
