// The JavaScript interface of the engine.

import { assets } from "./assets.js";
import { Instance } from "./instance.js";
import { Replacing } from "./replacing.js";
import { compile, readBytes } from "./platform.js";
import { support } from "./support.js";

const NET = "net.nnue";
const PAGE = 65536;
const MIB = 1 << 20;
/** The same limits as in the module, see `.ci/web`. */
const INITIAL_MEMORY = 64 * MIB;
const MAXIMUM_MEMORY = 2048 * MIB;

/** Compiled modules by address. */
const modules = new Map();

function compiled(url) {
  const key = String(url);
  if (!modules.has(key)) {
    const module = compile(url);
    modules.set(key, module);
    // A failure may be temporary.
    module.catch(() => modules.delete(key));
  }
  return modules.get(key);
}

/** Shared memory for this number of threads and MiB of hash table, or `undefined` if the browser refuses. */
function sharedMemory(threads, hash, net, phone) {
  const needed = INITIAL_MEMORY + (hash + 2 * net + threads * 48) * MIB;
  // A phone rejects memory that it might not have; elsewhere, reserved memory costs nothing.
  for (let maximum = phone ? needed : Math.max(needed, 1024 * MIB); maximum >= needed; maximum /= 2) {
    try {
      const pages = Math.min(Math.ceil(maximum / PAGE), MAXIMUM_MEMORY / PAGE);
      return new WebAssembly.Memory({ initial: INITIAL_MEMORY / PAGE, maximum: pages, shared: true });
    } catch {
      // Tries a smaller maximum.
    }
  }
  return undefined;
}

/** Splits a text that arrives in parts into lines. */
class Lines {
  constructor(onLine) {
    this.onLine = onLine;
    this.rest = "";
  }

  add(text) {
    const lines = (this.rest + text).split("\n");
    this.rest = lines.pop();
    lines.forEach((line) => this.onLine(line.replace(/\r$/, "")));
  }
}

function absolute(url) {
  if (url instanceof URL) return url;
  return new URL(url, globalThis.document?.baseURI ?? globalThis.location?.href ?? `file://${process.cwd()}/`);
}

/** A running engine. */
export class Zoothera {
  /** The features that the browser supports. */
  static support() {
    return support();
  }

  /** Starts an engine; resolves once it is ready. See index.d.ts. */
  static async create(options = {}) {
    const engine = new Zoothera();
    try {
      await engine.begin(options);
    } catch (error) {
      engine.terminate();
      throw error;
    }
    return engine;
  }

  constructor() {
    /** Receives each line of output. */
    this.onLine = undefined;
    /** Called once when the engine ends: with an error, or without one after `quit`. */
    this.onExit = undefined;
    this.listeners = { line: new Set(), exit: new Set() };
    this.searches = 0;
    this.waiters = [];
    this.runs = new Set();
    this.isOver = false;
  }

  async begin({ threads = 1, hash = 16, net, module, worker, features }) {
    this.features = { ...support(), ...features };
    if (!this.features.simd) throw new Error("Zoothera needs WebAssembly with SIMD: a browser of 2023 or later");
    const { phone, cores } = this.features;
    this.hash = Math.max(1, Math.min(Math.floor(hash), phone ? 32 : 1024));
    const wanted = Math.max(1, Math.min(Math.floor(threads), cores));
    const netBytes = net === undefined ? undefined : await loadNet(net);
    this.files = netBytes ? { [NET]: netBytes } : {};
    this.workerUrl = worker === undefined ? assets.worker() : absolute(worker);
    this.override = module === undefined ? undefined : absolute(module);
    this.netSize = netBytes ? Math.ceil(netBytes.length / MIB) : 0;
    // On a phone, threads are used only if they are requested.
    const built = this.override !== undefined || assets.has(true, false);
    const shared = this.features.threads && built && !(phone && wanted === 1);
    this.setUp = (await this.prepare(shared, wanted)) ?? (await this.prepare(false, 1));
    this.threads = this.setUp.memory ? wanted : 1;
    this.mode = this.setUp.memory ? "threads" : this.features.suspending ? "suspending" : "replacing";
    const settings = [`setoption name Hash value ${this.hash}`];
    if (this.threads > 1) settings.push(`setoption name Threads value ${this.threads}`);
    if (netBytes) settings.push(`setoption name EvalFile value ${NET}`);
    if (this.mode === "replacing") {
      this.host = new Replacing(() => this.newInstance(), settings, (line) => this.emit(line));
    } else {
      this.host = { send: (line) => this.instance.write(encode(line)), received: (line) => this.emit(line) };
      this.instance = this.newInstance();
    }
    await this.handshake(settings);
  }

  /** The module and its memory; `undefined` if shared memory cannot be allocated. */
  async prepare(shared, threads) {
    const memory = shared ? sharedMemory(threads, this.hash, this.netSize, this.features.phone) : undefined;
    if (shared && !memory) return undefined;
    const url = this.override ?? assets.module(shared, this.features.relaxedSimd && assets.has(shared, true));
    const module = await compiled(url);
    const isShared = WebAssembly.Module.imports(module).some(({ kind }) => kind === "memory");
    if (isShared && !shared) {
      throw new Error(`the module ${url} needs shared memory, which this page does not have: see the headers in README.md`);
    }
    return { module, memory: isShared ? memory : undefined };
  }

  newInstance() {
    const { module, memory } = this.setUp;
    const role = memory ? "run" : "serve";
    const start = { role, module, memory, files: this.files, suspends: this.mode === "suspending" };
    this.lines = new Lines((line) => this.host.received(line));
    const instance = new Instance(this.workerUrl, start, {
      out: (text) => instance === this.current && this.lines.add(text),
      err: (text) => (this.messages = ((this.messages ?? "") + text).slice(-2000)),
      exit: (code) => instance === this.current && this.end(code === 0 ? undefined : new Error(`the engine ended with code ${code}`)),
      failed: (error) => instance === this.current && this.end(error),
    });
    this.current = instance;
    return instance;
  }

  /** Sends the settings, and waits until they are in effect. The page does not receive the output. */
  handshake(settings) {
    return new Promise((resolve, reject) => {
      let isRefused = false;
      this.hidden = (line) => {
        if (line === "readyok") {
          this.hidden = undefined;
          this.failStart = undefined;
          resolve();
        } else if (line.startsWith("info string ERROR: EvalFile")) {
          isRefused = true;
        } else if (isRefused && line.startsWith("info string EvalFile: ")) {
          reject(new Error(`the net cannot be used: ${line.slice("info string EvalFile: ".length)}`));
        }
      };
      this.failStart = reject;
      ["uci", ...settings, "isready"].forEach((line) => this.host.send(line));
    });
  }

  emit(line) {
    if (this.hidden) return this.hidden(line);
    if (line.startsWith("bestmove")) {
      this.searches = Math.max(0, this.searches - 1);
      if (this.searches === 0) this.waiters.splice(0).forEach(({ resolve }) => resolve(line));
    }
    this.onLine?.(line);
    this.listeners.line.forEach((listener) => listener(line));
    return undefined;
  }

  /** Calls `listener` for each "line", or at the "exit". */
  on(event, listener) {
    if (!this.listeners[event]) throw new Error(`no event '${event}': use "line" or "exit"`);
    this.listeners[event].add(listener);
    return this;
  }

  /** Removes a listener. */
  off(event, listener) {
    this.listeners[event]?.delete(listener);
    return this;
  }

  /** Sends one UCI command, or several lines. */
  send(text) {
    if (this.isOver) throw new Error("the engine has ended");
    for (const line of String(text).split(/\r?\n/).filter((line) => line.trim() !== "")) {
      const [verb, ...words] = line.trim().split(/\s+/);
      if (verb === "go" && !words.includes("perft")) this.searches += 1;
      this.host.send(line);
    }
  }

  /** Stops the search. Resolves with its `bestmove` line, or with `undefined` if there is none. */
  stop() {
    if (this.searches === 0 || this.isOver) return Promise.resolve(undefined);
    const best = new Promise((resolve, reject) => this.waiters.push({ resolve, reject }));
    this.host.send("stop");
    return best;
  }

  /** Ends the engine and its workers at once. */
  terminate() {
    this.isOver = true;
    this.current?.terminate();
    this.runs.forEach((instance) => instance.terminate());
    this.waiters.splice(0).forEach(({ resolve }) => resolve(undefined));
  }

  end(error) {
    const text = this.messages ? `${error?.message}; ${this.messages.trim()}` : error?.message;
    const failure = error && new Error(text, { cause: error });
    this.terminate();
    this.failStart?.(failure ?? new Error("the engine ended during its start"));
    if (this.hidden) return;
    this.onExit?.(failure);
    this.listeners.exit.forEach((listener) => listener(failure));
  }

  /**
   * Runs a command of the command line, such as `["review", "--json", "game.pgn"]`, with these files, in a separate
   * instance. Resolves with exit code, output, and the files that the command wrote.
   */
  async run(args, files = {}, { stdin = "", onStdout, onStderr, signal } = {}) {
    const { module, memory } = (await this.prepare(this.setUp.memory !== undefined, this.threads)) ?? (await this.prepare(false, 1));
    signal?.throwIfAborted();
    const input = typeof stdin === "string" ? new TextEncoder().encode(stdin) : stdin;
    const output = { stdout: "", stderr: "" };
    return new Promise((resolve, reject) => {
      const collect = (name, listener) => (text) => {
        output[name] += text;
        listener?.(text);
      };
      const done = () => {
        this.runs.delete(instance);
        signal?.removeEventListener("abort", abort);
      };
      const start = { role: "run", module, memory, files, input, args: ["zoothera", ...args] };
      const instance = new Instance(this.workerUrl, start, {
        out: collect("stdout", onStdout),
        err: collect("stderr", onStderr),
        exit: (code, written) => {
          done();
          resolve({ code, ...output, files: written });
        },
        failed: (error) => {
          done();
          reject(new Error(`${args[0]} failed: ${error.message}${output.stderr ? `; ${output.stderr.trim()}` : ""}`));
        },
      });
      const abort = () => {
        done();
        instance.terminate();
        reject(signal.reason);
      };
      signal?.addEventListener("abort", abort);
      this.runs.add(instance);
    });
  }
}

function encode(line) {
  return new TextEncoder().encode(`${line}\n`);
}

/** The bytes of a net, given directly or fetched from an address. */
async function loadNet(net) {
  if (net instanceof Uint8Array) return net;
  if (net instanceof ArrayBuffer) return new Uint8Array(net);
  if (typeof net?.arrayBuffer === "function") return new Uint8Array(await net.arrayBuffer());
  return (await readBytes(absolute(net), "the net")).bytes;
}
