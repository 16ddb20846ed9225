// Joins the sources of src/ into the package's files. Usage: node build.mjs FOLDER. Each source becomes a function,
// so that its names stay local. This is too little work to require a bundler.
import { readFile, readdir, writeFile, copyFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const IMPORT = /^import \{ ([^}]*) \} from "\.\/(.*)\.js";$/gm;
const EXPORT = /^export (async function|function|class|const|let) (\w+)/gm;

/** The sources that `name` imports, each after its own imports. `replaced` maps sources to others. */
async function sources(name, replaced, found = new Map()) {
  const text = await readFile(here(`src/${replaced[name] ?? name}.js`), "utf8");
  for (const [, , needed] of text.matchAll(IMPORT)) {
    if (!found.has(needed)) await sources(needed, replaced, found);
  }
  return found.set(name, text);
}

function variable(name) {
  return `source_${name.replace(/\W/g, "_")}`;
}

async function bundle(entry, replaced, end) {
  const parts = [];
  for (const [name, text] of await sources(entry, replaced)) {
    const exported = [...text.matchAll(EXPORT)].map(([, , word]) => word);
    const body = text
      .replace(IMPORT, (_, words, from) => `const { ${words} } = ${variable(from)};`)
      .replace(EXPORT, "$1 $2")
      .replace("const BUILT = [];", `const BUILT = ${JSON.stringify(built)};`);
    parts.push(`const ${variable(name)} = (() => {\n${body}return { ${exported.join(", ")} };\n})();\n`);
  }
  return `// Zoothera, GPL-3.0-or-later. Built from web/src; see README.md.\n${parts.join("")}${end}`;
}

const [folder] = process.argv.slice(2);
if (!folder) {
  console.error("usage: node build.mjs FOLDER");
  process.exit(2);
}
const built = (await readdir(folder)).filter((name) => name.endsWith(".wasm")).sort();
const module = { assets: "assets-module" };
const script = { assets: "assets-script" };
const engine = variable("engine");
await writeFile(
  `${folder}/index.js`,
  await bundle("engine", module, `export const Zoothera = ${engine}.Zoothera;\nexport default Zoothera;\n`),
);
await writeFile(`${folder}/index.cjs`, `"use strict";\n${await bundle("engine", script, `exports.Zoothera = ${engine}.Zoothera;\n`)}`);
await writeFile(`${folder}/worker.js`, await bundle("worker", script, ""));
const manifest = JSON.parse(await readFile(here("package.json"), "utf8"));
const cargo = await readFile(here("../Cargo.toml"), "utf8");
manifest.version = /^version = "(.*)"$/m.exec(cargo)[1];
delete manifest.private;
delete manifest.scripts;
await writeFile(`${folder}/package.json`, `${JSON.stringify(manifest, null, 2)}\n`);
await copyFile(here("index.d.ts"), `${folder}/index.d.ts`);
await copyFile(here("README.md"), `${folder}/README.md`);
await copyFile(here("../LICENSE"), `${folder}/LICENSE`);
