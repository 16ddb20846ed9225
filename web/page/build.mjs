// Bundles the page's scripts and the engine's worker. Usage: node build.mjs OUT; `build` calls it.
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";

import { bundle } from "../bundle.mjs";

const [out] = process.argv.slice(2);
const engine = join(out, "engine");
const names = (await readdir(engine)).filter((name) => name.endsWith(".gz")).sort();
const built = Object.fromEntries(await Promise.all(names.map(async (name) => [name, (await stat(join(engine, name))).size])));
const common = { assets: "page", built, minify: true };
// Both use the same instance of offline.js.
await bundle({ ...common, entry: "page/offline.js", format: "esm", outfile: join(out, "offline.js") });
await bundle({ ...common, entry: "page/main.js", format: "esm", external: ["./offline.js"], outfile: join(out, "main.js") });
await bundle({ ...common, entry: "src/worker.js", format: "iife", outfile: join(engine, "worker.js") });
