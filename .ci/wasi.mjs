// Runs a WASI module with Node: node .ci/wasi.mjs zoothera.wasm [argument...]. The module receives the environment,
// all files under absolute paths, and the files of the working directory under relative paths. WASI's library removes
// the first slash, so a folder of the root hides a folder of the same name in the working directory. Therefore the
// root cannot be passed as a whole.
import { readFile, readdir } from "node:fs/promises";
import { setFlagsFromString } from "node:v8";
import { WASI } from "node:wasi";

// Node 20 crashes in fast API calls to WASI from optimised code, at the end of one in thirty training runs. Normal
// calls cost nothing here, because calls are rare.
setFlagsFromString("--no-turbo-fast-api-calls");

const [module, ...rest] = process.argv.slice(2);
if (!module) {
  console.error("usage: node wasi.mjs module.wasm [argument...]");
  process.exit(2);
}
const top = (await readdir("/", { withFileTypes: true })).filter((entry) => entry.isDirectory());
const folders = top.map(({ name }) => [`/${name}`, `/${name}`]);
const wasi = new WASI({
  version: "preview1",
  args: [module, ...rest],
  env: process.env,
  preopens: { ...Object.fromEntries(folders), ".": process.cwd() },
  returnOnExit: true,
});
const { instance } = await WebAssembly.instantiate(await readFile(module), wasi.getImportObject());
process.exitCode = wasi.start(instance);
