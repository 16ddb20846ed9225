// The package in Node. `make web` must have built it; ZOOTHERA_ENGINE names a native engine to compare with.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { gunzipSync } from "node:zlib";

import { expect, native, nativeBench } from "./expectations.mjs";
import { scenarios } from "./scenarios.js";

const folder = new URL("../../dist/web/", import.meta.url);
const { Zoothera } = await import(new URL("index.js", folder));

const MODES = {
  "with threads": { features: { relaxedSimd: false } },
  "with two threads": { features: { relaxedSimd: false, cores: 2 }, threads: 2 },
  "without threads": { features: { threads: false, relaxedSimd: false } },
};

/** Reason to skip a mode: Node 20 gets no threads, because its V8 compiles them incorrectly. */
const skipMode = (mode) =>
  mode !== "without threads" && !Zoothera.support().threads ? `SKIPPED: threads need Node 22, this is ${process.version}` : false;

test("threads are used from Node 22 on", async () => {
  const engine = await Zoothera.create({ threads: 2, features: { cores: 2 } });
  const { mode, threads } = engine;
  engine.terminate();
  const hasThreads = parseInt(process.versions.node) >= 22;
  assert.deepEqual([mode === "threads", threads], [hasThreads, hasThreads ? 2 : 1]);
});

for (const [mode, options] of Object.entries(MODES)) {
  for (const name of ["handshake", "stop", "ponder", "busy", "review", "wrongCommand", "net", "quit"]) {
    test(`${name} ${mode}`, { skip: skipMode(mode) }, async () => {
      const facts = await scenarios[name](Zoothera, options);
      expect[name](facts);
      if (name !== "quit") assert.equal(facts.threads, options.threads ?? 1);
      if (facts.milliseconds) console.log(`# stop ${mode}: ${facts.milliseconds.toFixed(1)} ms`);
    });
  }
}

for (const mode of ["with threads", "without threads"]) {
  const skip = native ? skipMode(mode) : "SKIPPED: ZOOTHERA_ENGINE names no engine";
  test(`bench ${mode} searches as many nodes as the native engine`, { skip }, async () => {
    const { nodes, line } = await scenarios.bench(Zoothera, MODES[mode]);
    console.log(`# ${mode}: ${line}`);
    assert.equal(nodes, nativeBench());
  });
}

test("relaxed vectors are used only where their dot products are exact", { skip: native ? false : "SKIPPED: ZOOTHERA_ENGINE names no engine" }, async () => {
  // Node 20 has them behind this flag, with a fault.
  const flag = "--experimental-wasm-relaxed-simd";
  const known = spawnSync(process.execPath, [flag, "-e", "0"]).status === 0;
  const script = `
    const { Zoothera } = await import(${JSON.stringify(String(new URL("index.js", folder)))});
    const { scenarios } = await import(${JSON.stringify(String(new URL("scenarios.js", import.meta.url)))});
    console.log((await scenarios.bench(Zoothera, { features: { threads: false } })).nodes, Zoothera.support().relaxedSimd);`;
  const args = [...(known ? [flag] : []), "--input-type=module", "-e", script];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  console.log(`# nodes, relaxed vectors: ${stdout.trim()}`);
  assert.equal(Number(stdout.split(" ")[0]), nativeBench(), stderr);
});

test("review gives the JSON of the native engine", { skip: native ? false : "SKIPPED: ZOOTHERA_ENGINE names no engine" }, async () => {
  const { stdout } = await scenarios.review(Zoothera, MODES["without threads"]);
  const games = "1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7# 1-0\n";
  const own = spawnSync(native, ["review", "--nodes", "2000", "--json", "-"], { input: games, encoding: "utf8" });
  assert.deepEqual(JSON.parse(stdout), JSON.parse(own.stdout));
});

test("phone gets one thread without shared memory, and a small hash table", async () => {
  const engine = await Zoothera.create({ features: { phone: true, relaxedSimd: false }, hash: 512 });
  assert.deepEqual([engine.threads, engine.mode, engine.hash], [1, "replacing", 32]);
  engine.terminate();
});

test("lines sent during a search follow it in order where the worker must be replaced", async () => {
  const engine = await Zoothera.create(MODES["without threads"]);
  const moves = [];
  engine.onLine = (line) => {
    if (!line.startsWith("bestmove")) return;
    moves.push(line.split(" ")[1]);
    // The answer to a move must not overtake what waits.
    if (moves.length === 1) engine.send("position fen 7k/8/5K2/6Q1/8/8/8/8 w - - 0 1\ngo depth 3");
  };
  engine.send("go depth 3\nposition fen 6k1/5ppp/8/8/8/8/8/4R2K w - - 0 1\ngo depth 3");
  while (moves.length < 3) await new Promise((done) => setTimeout(done, 20));
  assert.deepEqual(moves.slice(1), ["e1e8", "g5g7"]);
  engine.terminate();
});

test("worker.js alone speaks UCI", async () => {
  const newWorker = (url, onMessage) => {
    const worker = new Worker(url);
    worker.on("message", onMessage);
    return worker;
  };
  expect.worker(await scenarios.worker(Zoothera, { worker: new URL("worker.js", folder), newWorker }));
});

test("package loads by require and by import from an empty project", async () => {
  const project = await mkdtemp(join(tmpdir(), "zoothera-"));
  const modules = join(project, "node_modules");
  spawnSync("mkdir", ["-p", modules]);
  await symlink(fileURLToPath(folder), join(modules, "zoothera"));
  const use = "Zoothera.create().then(async (e) => { e.send('go depth 3'); e.onLine = (l) => l.startsWith('bestmove') && (console.log(l), e.terminate()); })";
  await writeFile(join(project, "a.cjs"), `const { Zoothera } = require("zoothera"); ${use};`);
  await writeFile(join(project, "b.mjs"), `import { Zoothera } from "zoothera"; ${use};`);
  for (const file of ["a.cjs", "b.mjs"]) {
    const { stdout, stderr } = spawnSync(process.execPath, [join(project, file)], { encoding: "utf8", timeout: 60000 });
    assert.match(stdout, /^bestmove /, stderr);
  }
  await rm(project, { recursive: true });
});

test("error of a file that is no module names the address and the content", async () => {
  const page = "data:text/html,<!doctype html><title>Start page</title>";
  const { message } = await scenarios.wrongModule(Zoothera, { ...MODES["without threads"], module: page });
  assert.match(message, /text\/html/);
  assert.match(message, /is not a WebAssembly module/);
  assert.match(message, /<!doctype html>/);
  const absent = new URL("absent.wasm", folder);
  const missing = await scenarios.wrongModule(Zoothera, { module: absent });
  assert.match(missing.message, /absent\.wasm/);
});

test("package's types name what the class has", () => {
  const require = createRequire(import.meta.url);
  const { Zoothera: Script } = require(fileURLToPath(new URL("index.cjs", folder)));
  for (const name of ["create", "support"]) assert.equal(typeof Script[name], "function");
  for (const name of ["send", "stop", "terminate", "run", "on", "off"]) assert.equal(typeof Script.prototype[name], "function");
});

/** Runs a script of the package in a folder of its own, which `body` receives. */
async function inFolder(body) {
  const place = await mkdtemp(join(tmpdir(), "zoothera-cli-"));
  const script = (name) => (args, input = "") =>
    spawnSync(process.execPath, [fileURLToPath(new URL(name, folder)), ...args], { cwd: place, input, encoding: "utf8" });
  await body(place, script).finally(() => rm(place, { recursive: true }));
}

test("command zoothera speaks UCI until its input ends", () => inFolder(async (_place, script) => {
  const { status, stdout } = script("cli.js")([], "uci\ngo depth 3\n");
  assert.equal(status, 0);
  assert.match(stdout, /^id name Zoothera \d[^]*uciok[^]*bestmove \S+/);
}));

test("command zoothera reads and writes files, above the working directory too", () => inFolder(async (place, script) => {
  await writeFile(join(place, "a.pgn"), "1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7# 1-0\n");
  const up = join("..", basename(place));
  const { status, stderr } = script("cli.js")(["review", join(up, "a.pgn"), "--nodes", "500", "--html", join(place, "out.html"), "--pgn=./out.pgn"]);
  assert.equal(status, 0, stderr);
  assert.match(await readFile(join(place, "out.html"), "utf8"), /^<!doctype html/i);
  assert.match(await readFile(join(place, "out.pgn"), "utf8"), /Qxf7#/);
  const missing = script("cli.js")(["review", "absent.pgn"]);
  assert.equal(missing.status, 1);
  assert.match(missing.stderr, /absent\.pgn/);
}));

test("module with an embedded net needs no other file", () => inFolder(async (place, script) => {
  const one = join(place, "one.wasm");
  const { status, stderr } = script("embed.js")([fileURLToPath(new URL("zoothera.wasm", folder)), fileURLToPath(new URL("zoothera.nnue.gz", folder)), one]);
  assert.equal(status, 0, stderr);
  const answerOf = async (options) => {
    const engine = await Zoothera.create({ features: { threads: false, relaxedSimd: false }, ...options });
    const moved = new Promise((done) => engine.on("line", (line) => line.startsWith("bestmove") && done(line)));
    engine.send("go depth 4");
    return moved.finally(() => engine.terminate());
  };
  assert.equal(await answerOf({ module: pathToFileURL(one) }), await answerOf({}));
  const again = script("embed.js")([one, one, join(place, "two.wasm")]);
  assert.equal(again.status, 1);
  assert.match(again.stderr, /contains a net already/);
}));

for (const name of ["zoothera.nnue.gz", "zoothera-small.nnue.gz"]) {
  test(`${name} is loaded, and its progress ends at the size of module and net`, async () => {
    const seen = [];
    const { Zoothera } = await import(new URL(`index.js?${name}`, folder));
    const net = name.includes("small") ? Zoothera.smallNet : undefined;
    const engine = await Zoothera.create({ ...MODES["without threads"], net, onProgress: (progress) => seen.push(progress) });
    const { files } = await engine.run(["net", "export", "own.nnue"]);
    engine.terminate();
    const [module, packed] = await Promise.all(["zoothera.wasm", name].map((file) => readFile(new URL(file, folder))));
    assert.ok(gunzipSync(packed).equals(files["own.nnue"]));
    const size = module.length + packed.length;
    assert.deepEqual(seen.at(-1), { loaded: size, total: size });
  });
}

test("net given as bytes may be compressed", async () => {
  const packed = await readFile(new URL("zoothera.nnue.gz", folder));
  const answers = [];
  for (const net of [undefined, packed, new Blob([packed]), new Uint8Array(gunzipSync(packed)).buffer]) {
    const engine = await Zoothera.create({ ...MODES["without threads"], net });
    const moved = new Promise((done) => engine.on("line", (line) => line.startsWith("bestmove") && done(line)));
    engine.send("go depth 4");
    answers.push(await moved.finally(() => engine.terminate()));
  }
  assert.equal(new Set(answers).size, 1, answers.join());
  const cut = await scenarios.wrongModule(Zoothera, { ...MODES["without threads"], net: packed.subarray(0, 1000) });
  assert.match(cut.message, /^the given net cannot be loaded: the connection or the file ends early/);
});

test("command zoothera ends quietly if its output is closed early", () => inFolder(async (place) => {
  const cli = fileURLToPath(new URL("cli.js", folder));
  const { stdout, stderr } = spawnSync("sh", ["-c", '"$0" "$1" analyse "1. e4 e5" --nodes 2000 | head -n 2', process.execPath, cli],
    { cwd: place, encoding: "utf8" });
  assert.match(stdout, /\+---\+/);
  assert.equal(stderr.includes("EPIPE"), false, stderr);
}));

test("net that is cut off names the fault", async () => {
  const net = (await readFile(new URL("zoothera.nnue.gz", folder))).subarray(0, 100000);
  const place = await mkdtemp(join(tmpdir(), "zoothera-net-"));
  await writeFile(join(place, "cut.nnue.gz"), net);
  const address = pathToFileURL(join(place, "cut.nnue.gz"));
  const { message } = await scenarios.wrongModule(Zoothera, { ...MODES["without threads"], net: address });
  assert.match(message, /the net file:.*cut\.nnue\.gz cannot be loaded: the connection or the file ends early/);
  await rm(place, { recursive: true });
});
