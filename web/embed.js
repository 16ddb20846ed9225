#!/usr/bin/env node
// Writes a module that contains its net, for programs that load one file.
// Usage: node embed.js MODULE.wasm NET OUT.wasm; NET may be compressed with gzip.
import { readFileSync, writeFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

/** Name of the custom section, which index.js reads. */
const SECTION = "zoothera.net";

/** Encodes a number in LEB128. */
const leb = (number) => (number < 128 ? [number] : [(number & 127) | 128, ...leb(Math.floor(number / 128))]);

function embed(module, net) {
  if (!WebAssembly.validate(module)) throw new Error("not a WebAssembly module");
  if (WebAssembly.Module.customSections(new WebAssembly.Module(module), SECTION).length > 0) {
    throw new Error("the module contains a net already; use the module of the package");
  }
  const name = Buffer.from(SECTION);
  const head = [...leb(name.length), ...name];
  return Buffer.concat([module, Buffer.from([0, ...leb(head.length + net.length), ...head]), net]);
}

const [modulePath, netPath, outPath] = process.argv.slice(2);
if (!outPath) {
  console.error("usage: node embed.js MODULE.wasm NET OUT.wasm");
  process.exit(2);
}
try {
  const net = readFileSync(netPath);
  const isCompressed = net[0] === 0x1f && net[1] === 0x8b;
  writeFileSync(outPath, embed(readFileSync(modulePath), isCompressed ? gunzipSync(net) : net));
} catch (error) {
  console.error(`error: cannot embed ${netPath} in ${modulePath}: ${error.message}`);
  process.exit(1);
}
