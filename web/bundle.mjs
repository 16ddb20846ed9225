// Bundles JavaScript with esbuild, for the package and for the page.
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The path of a file of web/. */
export const here = (name) => fileURLToPath(new URL(name, import.meta.url));

const tools = process.env.ZOOTHERA_TOOLS;
if (!tools) {
  console.error('error: ZOOTHERA_TOOLS is not set: run with ZOOTHERA_TOOLS="$(web/tools)"');
  process.exit(2);
}
const esbuild = createRequire(join(tools, "package.json"))("esbuild");

/** Replaces the module of the addresses by one of its variants, and the list of files by `built`. */
const variant = (assets, built) => ({
  name: "zoothera",
  setup(build) {
    build.onResolve({ filter: /^\.{1,2}\/(src\/)?assets\.js$/ }, () => ({ path: here(`src/assets-${assets}.js`) }));
    build.onLoad({ filter: /[\\/]src[\\/]built\.js$/ }, () => ({ contents: `export const BUILT = ${JSON.stringify(built)};` }));
  },
});

/** The names by which the page imports packages: those of files that it had before it was bundled. */
const packages = {
  name: "packages",
  setup(build) {
    const find = (kind, path, { resolveDir }) => build.resolve(path, { kind, resolveDir });
    build.onResolve({ filter: /^\.\/lib\/chessground\.min\.js$/ }, (args) => find(args.kind, "@lichess-org/chessground", args));
    build.onResolve({ filter: /^\.\/lib\/chessops\// }, (args) =>
      find(args.kind, args.path.replace(/^\.\/lib\/(.*)\.js$/, "$1"), args));
  },
};

/** Bundles `entry` into `outfile`. `assets` is the variant of `src/assets-*.js`, `built` the sizes of the package's files. */
export async function bundle({ entry, assets, built, ...options }) {
  await esbuild.build({
    entryPoints: [here(entry)],
    bundle: true,
    // Promise Integration and vectors need newer browsers than this.
    target: "es2022",
    platform: "neutral",
    mainFields: ["module", "main"],
    nodePaths: [join(tools, "node_modules")],
    legalComments: "inline",
    logLevel: "warning",
    plugins: [variant(assets, built), packages],
    ...options,
  });
}
