// Bundles parts.js for the tests. Usage: node build.mjs PAGE OUT; PAGE is the page's folder or address.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { bundle } from "../../bundle.mjs";

const [page, outfile] = process.argv.slice(2);
const engine = join(page, "engine");
const built = Object.fromEntries((existsSync(engine) ? readdirSync(engine) : []).map((name) => [name, 0]));
await bundle({ entry: "page/test/parts.js", assets: "page", built, format: "iife", globalName: "parts", outfile });
