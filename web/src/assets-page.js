// Addresses of the engine's files on the page, relative to the page. The modules are compressed, because few servers of
// static files compress them.

import { BUILT } from "./built.js";

const here = (name) => new URL(`engine/${name}`, globalThis.document?.baseURI ?? globalThis.location.href);
const name = (threads, relaxed) => `zoothera${threads ? "-threads" : ""}${relaxed ? "-relaxed" : ""}.wasm.gz`;

export const assets = {
  has: (threads, relaxed) => name(threads, relaxed) in BUILT,
  size: (url) => BUILT[url.replace(/.*\//, "")] ?? 0,
  worker: () => here("worker.js"),
  net: () => here("zoothera.nnue.gz"),
  smallNet: () => here("zoothera-small.nnue.gz"),
  module: (threads, relaxed) => here(name(threads, relaxed)),
};
