#!/usr/bin/env node
// The engine in a terminal: `npx zoothera` speaks UCI, `npx zoothera review game.pgn` runs a command.
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { createInterface } from "node:readline";

import { Zoothera } from "./index.js";

/** Speaks UCI on standard input and output. Ends at `quit`, or when the commands before the end of the input are done. */
async function serve() {
  const engine = await Zoothera.create();
  let isClosed = false;
  const finish = () => isClosed && !engine.isOver && engine.searches === 0 && engine.send("quit");
  engine.onLine = (line) => {
    const isOwn = isClosed && line === "readyok";
    if (!isOwn) console.log(line);
    if (isOwn || line.startsWith("bestmove")) finish();
  };
  const ended = new Promise((done) => {
    engine.onExit = (error) => {
      if (error) console.error(`error: ${error.message}`);
      done(error ? 1 : 0);
    };
  });
  const input = createInterface({ input: process.stdin });
  input.on("line", (line) => engine.isOver || engine.send(line));
  input.on("close", () => {
    isClosed = true;
    if (!engine.isOver) engine.send("isready");
  });
  return ended;
}

const isFile = (path) => existsSync(path) && statSync(path).isFile();
const isFolder = (path) => existsSync(path) && statSync(path).isDirectory();

/** The path that an argument names, such as that of `--json=a.json`. */
const pathOf = (argument) => argument.replace(/^--?[\w-]+=/, "");

/**
 * The files of a command. The module sees the files that the arguments name, and the folders into which it may write.
 * A path that leaves the working directory becomes absolute, because the module has no folder above its root.
 */
function filesOf(args) {
  const files = {};
  const seen = args.map((argument) => {
    const path = pathOf(argument);
    if (path === "" || (path === argument && argument.startsWith("-"))) return argument;
    const inside = /^\.\.?([\\/]|$)/.test(path) ? resolve(path) : path;
    if (isFile(path)) files[inside] = readFileSync(path);
    else if (isFolder(dirname(path))) files[`${dirname(inside)}/.folder`] = "";
    else return argument;
    return argument.slice(0, argument.length - path.length) + inside;
  });
  return { seen, files };
}

/** Writes what the command wrote. The module reports paths without the first slash. */
function save(written, args) {
  const absolute = args.map(pathOf).filter((path) => resolve(path) === path);
  for (const [path, bytes] of Object.entries(written)) {
    const isAbsolute = absolute.some((known) => known.slice(1) === path || dirname(known).slice(1) === dirname(path));
    const target = isAbsolute ? `/${path}` : path;
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, bytes);
  }
}

async function run(args) {
  const engine = await Zoothera.create();
  const { seen, files } = filesOf(args);
  const { code, files: written } = await engine.run(seen, files, {
    stdin: process.stdin.isTTY && !["play", "-"].some((word) => args.includes(word)) ? "" : process.stdin,
    onStdout: (text) => process.stdout.write(text),
    onStderr: (text) => process.stderr.write(text),
  });
  engine.terminate();
  save(written, seen);
  return code;
}

// A reader such as `head` may close the output early.
process.stdout.on("error", (error) => {
  if (error.code !== "EPIPE") throw error;
  process.exit(0);
});

const args = process.argv.slice(2);
try {
  process.exitCode = await (args.length === 0 ? serve() : run(args));
  // A terminal would keep the process alive.
  process.stdin.unref?.();
} catch (error) {
  console.error(`error: ${error.message}`);
  process.exitCode = 1;
}
