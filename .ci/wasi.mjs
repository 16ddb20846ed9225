// Runs a WASI module with Node: node .ci/wasi.mjs zoothera.wasm [argument...]. The module sees all files by their own
// paths, relative ones too, and the environment.
import { readFile } from "node:fs/promises";
import { WASI } from "node:wasi";

const [module, ...rest] = process.argv.slice(2);
if (!module) {
  console.error("usage: node wasi.mjs module.wasm [argument...]");
  process.exit(2);
}
const wasi = new WASI({
  version: "preview1",
  args: [module, ...rest],
  env: process.env,
  preopens: { "/": "/", ".": process.cwd() },
  returnOnExit: true,
});
const { instance } = await WebAssembly.instantiate(await readFile(module), wasi.getImportObject());
process.exitCode = wasi.start(instance);
