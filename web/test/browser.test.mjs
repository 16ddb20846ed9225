// The package in a real Chromium: a page runs a scenario and posts what it saw.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join, extname } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import { expect, native, nativeBench } from "./expectations.mjs";

const dist = fileURLToPath(new URL("../../dist/web/", import.meta.url));
const here = fileURLToPath(new URL(".", import.meta.url));
const browser = ["chromium", "chromium-browser", "google-chrome"].find((name) => spawnSync(name, ["--version"]).status === 0);
const skip = browser ? false : "SKIPPED: no Chromium";

const TYPES = { ".js": "text/javascript", ".wasm": "application/wasm", ".html": "text/html" };
const PAGE = `<!doctype html><meta charset="utf-8"><title>Zoothera</title><script type="module">
const say = (facts) => fetch("/facts", { method: "POST", body: JSON.stringify(facts) });
try {
  const { Zoothera } = await import("/index.js");
  const { scenarios } = await import("/scenarios.js");
  const { name, options } = JSON.parse(decodeURIComponent(location.hash.slice(1)));
  const newWorker = (url, onMessage) => {
    const worker = new Worker(url);
    worker.onmessage = ({ data }) => onMessage(data);
    return worker;
  };
  await say({ isolated: crossOriginIsolated, ...(await scenarios[name](Zoothera, { ...options, newWorker })) });
} catch (error) {
  await say({ failed: String(error.stack) });
}
</script>`;

/** The page of README.md, and a user who moves. */
async function readmePage() {
  const readme = await readFile(join(here, "../README.md"), "utf8");
  const user = `<script>
const wait = setInterval(() => {
  const moves = [...document.querySelectorAll("#moves li")].map((item) => item.textContent);
  const input = document.querySelector("#move");
  if (moves.length === 0 && input.onchange) {
    input.value = "e2e4";
    input.dispatchEvent(new Event("change"));
  } else if (moves.length > 1) {
    clearInterval(wait);
    fetch("/facts", { method: "POST", body: JSON.stringify({ moves }) });
  }
}, 50);
</script>`;
  return /```html\n([^]*?)```/.exec(readme)[1] + user;
}

let server;
let isolated = false;
let receive = () => {};

async function serve(request, response) {
  const path = new URL(request.url, "http://localhost").pathname;
  if (isolated) {
    response.setHeader("Cross-Origin-Opener-Policy", "same-origin");
    response.setHeader("Cross-Origin-Embedder-Policy", "require-corp");
  }
  if (path === "/facts") {
    let text = "";
    for await (const part of request) text += part;
    response.end();
    return receive(JSON.parse(text));
  }
  if (path === "/readme.html") {
    response.setHeader("Content-Type", "text/html");
    return response.end(await readmePage());
  }
  const file = path === "/scenarios.js" ? join(here, "scenarios.js") : join(dist, path);
  // As servers of single pages do, an unknown path gets the page.
  const content = path === "/" || path.startsWith("/absent") ? undefined : await readFile(file).catch(() => undefined);
  response.setHeader("Content-Type", content ? (TYPES[extname(path)] ?? "application/octet-stream") : "text/html");
  return response.end(content ?? PAGE);
}

before(async () => {
  server = createServer((request, response) => serve(request, response).catch((error) => response.destroy(error)));
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
});

after(() => server.close());

/** What a page saw that ran the scenario. */
async function facts(name, options, withHeaders, page = "") {
  isolated = withHeaders;
  const profile = await mkdtemp(join(tmpdir(), "zoothera-profile-"));
  const what = encodeURIComponent(JSON.stringify({ name, options }));
  const address = `http://127.0.0.1:${server.address().port}/${page}#${what}`;
  const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", `--user-data-dir=${profile}`];
  const process_ = spawn(browser, [...flags, address], { detached: true, stdio: "ignore" });
  try {
    return await new Promise((resolve, reject) => {
      receive = (seen) => (seen.failed ? reject(new Error(seen.failed)) : resolve(seen));
      process_.on("exit", (code) => reject(new Error(`the browser ended with ${code}`)));
    });
  } finally {
    process.kill(-process_.pid);
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

const MODES = {
  "under isolation headers": { options: { threads: 2 }, isolated: true, mode: "threads", threads: 2 },
  "without headers": { options: { threads: 2 }, isolated: false, mode: "suspending", threads: 1 },
  "without headers or Promise Integration": {
    options: { threads: 2, features: { suspending: false, relaxedSimd: false } },
    isolated: false,
    mode: "replacing",
    threads: 1,
  },
};

for (const [where, { options, isolated, mode, threads }] of Object.entries(MODES)) {
  for (const name of ["handshake", "stop", "ponder", "busy", "review"]) {
    test(`${name} in Chromium ${where}`, { skip }, async () => {
      const seen = await facts(name, options, isolated);
      assert.equal(seen.isolated, isolated);
      assert.deepEqual([seen.mode, seen.threads], [mode, threads]);
      expect[name](seen);
      if (seen.support) console.log(`# Chromium: ${JSON.stringify(seen.support)}`);
      if (seen.milliseconds) console.log(`# stop ${where}: ${seen.milliseconds.toFixed(1)} ms`);
    });
  }
  const skipBench = skip || (native ? false : "SKIPPED: ZOOTHERA_ENGINE names no engine");
  test(`bench in Chromium ${where} searches as many nodes as the native engine`, { skip: skipBench }, async () => {
    const { nodes, line } = await facts("bench", options, isolated);
    console.log(`# ${where}: ${line}`);
    assert.equal(nodes, nativeBench());
  });
}

test("worker.js alone speaks UCI in Chromium", { skip }, async () => {
  expect.worker(await facts("worker", { worker: "/worker.js" }, false));
});

test("error in Chromium names the address and what came in place of the module", { skip }, async () => {
  const { message } = await facts("wrongModule", { module: "/absent.wasm" }, false);
  assert.match(message, /http:\/\/127\.0\.0\.1:\d+\/absent\.wasm is not a WebAssembly module/);
  assert.match(message, /text\/html, beginning with "<!doctype html>/);
});

test("error in Chromium names a worker that is no script", { skip }, async () => {
  const { message } = await facts("wrongModule", { worker: "/absent.js" }, false);
  assert.match(message, /the worker http:\/\/127\.0\.0\.1:\d+\/absent\.js failed/);
});

test("page of the README plays", { skip }, async () => {
  const { moves } = await facts("", {}, false, "readme.html");
  assert.equal(moves[0], "e2e4");
  assert.match(moves[1], /^[a-h][1-8][a-h][1-8]$/);
});
