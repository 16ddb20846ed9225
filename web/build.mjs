// Writes the package's files, except the modules, which FOLDER contains already.
// Usage: node build.mjs FOLDER NET SMALL. ZOOTHERA_TOOLS is the folder that `web/tools` prints.
import { chmod, copyFile, readFile, readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

import { bundle, here } from "./bundle.mjs";

const BANNER = "// Zoothera, GPL-3.0-or-later. Built from web/src; see README.md.";

/** A net, compressed. The modules of the package read it. */
async function writeNet(net, path) {
  await writeFile(path, gzipSync(await readFile(net), { level: 9 }));
}

/** Sizes of the files that the package loads, by name. */
async function sizes(folder) {
  const names = (await readdir(folder)).filter((name) => /\.(wasm|gz)$/.test(name)).sort();
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, (await stat(join(folder, name))).size])));
}

async function writeScripts(folder, built) {
  const write = (entry, assets, format, outfile) =>
    bundle({ entry: `src/${entry}.js`, assets, built, format, outfile: join(folder, outfile), banner: { js: BANNER } });
  await write("index", "module", "esm", "index.js");
  await write("index", "script", "cjs", "index.cjs");
  await write("worker", "script", "iife", "worker.js");
}

async function writeManifest(folder) {
  const manifest = JSON.parse(await readFile(here("package.json"), "utf8"));
  const cargo = await readFile(here("../Cargo.toml"), "utf8");
  manifest.version = /^version = "(.*)"$/m.exec(cargo)[1];
  delete manifest.private;
  delete manifest.devDependencies;
  await writeFile(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
}

const [folder, net, small] = process.argv.slice(2);
if (!small) {
  console.error("usage: node build.mjs FOLDER NET SMALL");
  process.exit(2);
}
await writeNet(net, join(folder, "zoothera.nnue.gz"));
await writeNet(small, join(folder, "zoothera-small.nnue.gz"));
await writeScripts(folder, await sizes(folder));
await writeManifest(folder);
for (const name of ["index.d.ts", "README.md", "cli.js", "embed.js"]) await copyFile(here(name), join(folder, name));
// The same types, for `require` in TypeScript.
await copyFile(here("index.d.ts"), join(folder, "index.d.cts"));
await copyFile(fileURLToPath(new URL("../LICENSE", import.meta.url)), join(folder, "LICENSE"));
await chmod(join(folder, "cli.js"), 0o755);
