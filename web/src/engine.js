// The JavaScript interface of the engine.

import { assets } from "./assets.js";
import { Instance } from "./instance.js";
import { Replacing } from "./replacing.js";
import { compile, readBytes } from "./platform.js";
import { support } from "./support.js";

/** The net's file in the module's working directory: `src/nnue/network.rs` reads it. */
const NET = "net.nnue";
/** Name of the custom section with the net of a one-file module, see embed.js. */
const NET_SECTION = "zoothera.net";
const PAGE = 65536;
const MIB = 1 << 20;
/** The same limits as in the module, see `.ci/web`. */
const INITIAL_MEMORY = 64 * MIB;
const MAXIMUM_MEMORY = 2048 * MIB;

/** Compiled modules and nets by address: each is loaded once. */
const loaded = new Map();

function once(url, load) {
  const key = String(url);
  if (!loaded.has(key)) {
    const result = load(url);
    loaded.set(key, result);
    // A failure may be temporary.
    result.catch(() => loaded.delete(key));
  }
  return loaded.get(key);
}

/** Sums the bytes of several downloads for `onProgress`. `sizes` has the expected bytes of each download. */
class Progress {
  constructor(onProgress, sizes) {
    this.onProgress = onProgress;
    this.sizes = sizes;
    this.parts = new Map();
  }

  /** The listener of one download. */
  of(url) {
    if (!this.onProgress) return undefined;
    const key = String(url);
    this.parts.set(key, 0);
    return (bytes) => {
      this.parts.set(key, this.parts.get(key) + bytes);
      const sum = (values) => values.reduce((total, value) => total + value, 0);
      const arrived = sum([...this.parts.values()]);
      this.onProgress({ loaded: arrived, total: Math.max(arrived, sum([...this.parts.keys()].map((one) => this.sizes(one)))) });
    };
  }
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

  /** The address of the package's small net, for the option `net` of `create`. */
  static get smallNet() {
    return assets.smallNet();
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

  async begin({ threads = 1, hash = 16, net, module, worker, features, onProgress }) {
    this.features = { ...support(), ...features };
    if (!this.features.simd) throw new Error("Zoothera needs WebAssembly with SIMD: a browser of 2023 or later");
    const { phone, cores } = this.features;
    this.hash = Math.max(1, Math.min(Math.floor(hash), phone ? 32 : 1024));
    const wanted = Math.max(1, Math.min(Math.floor(threads), cores));
    this.progress = new Progress(onProgress, (url) => assets.size(url));
    this.workerUrl = worker === undefined ? assets.worker() : absolute(worker);
    this.override = module === undefined ? undefined : absolute(module);
    // Net and module are loaded at the same time. A module given without a net may contain one.
    const source = net ?? (this.override ? undefined : assets.net());
    const early = source === undefined ? undefined : this.loadNet(source);
    early?.catch(() => {});
    const isForeign = net !== undefined && (isData(net) || assets.size(String(net)) === 0);
    this.netSize = isForeign ? Math.ceil((await early).length / MIB) : 8;
    // On a phone, threads are used only if they are requested.
    const built = this.override !== undefined || assets.has(true, false);
    const shared = this.features.threads && built && !(phone && wanted === 1);
    this.setUp = (await this.prepare(shared, wanted)) ?? (await this.prepare(false, 1));
    this.net = (await early) ?? embeddedNet(this.setUp.module) ?? (await this.loadNet(assets.net()));
    this.threads = this.setUp.memory ? wanted : 1;
    this.mode = this.setUp.memory ? "threads" : this.features.suspending ? "suspending" : "replacing";
    const settings = [`setoption name Hash value ${this.hash}`];
    if (this.threads > 1) settings.push(`setoption name Threads value ${this.threads}`);
    if (this.mode === "replacing") {
      this.host = new Replacing(() => this.newInstance(), settings, (line) => this.emit(line));
    } else {
      this.host = { send: (line) => this.instance.write(encode(line)), received: (line) => this.emit(line) };
      this.instance = this.newInstance();
    }
    await this.handshake(settings);
  }

  /** The bytes of a net, given directly or by its address. */
  async loadNet(net) {
    if (isData(net)) return readBytes(new Response(net), "the given net");
    return once(absolute(net), (url) => readBytes(url, "the net", this.progress.of(url)));
  }

  /** The module and its memory; `undefined` if shared memory cannot be allocated. */
  async prepare(shared, threads) {
    const memory = shared ? sharedMemory(threads, this.hash, this.netSize, this.features.phone) : undefined;
    if (shared && !memory) return undefined;
    const address = this.override ?? assets.module(shared, this.features.relaxedSimd && assets.has(shared, true));
    const module = await once(address, (url) => compile(url, this.progress.of(url)));
    const isShared = WebAssembly.Module.imports(module).some(({ kind }) => kind === "memory");
    if (isShared && !shared) {
      throw new Error(`the module ${address} needs shared memory, which this page does not have: see the headers in README.md`);
    }
    return { module, memory: isShared ? memory : undefined };
  }

  newInstance() {
    const { module, memory } = this.setUp;
    const role = memory ? "run" : "serve";
    const start = { role, module, memory, files: { [NET]: this.net }, suspends: this.mode === "suspending" };
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
      this.hidden = (line) => {
        if (line !== "readyok") return;
        this.hidden = undefined;
        this.failStart = undefined;
        resolve();
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
    const failure = error && new Error(failureText(error, this.messages), { cause: error });
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
    // Only a module with threads can wait for input.
    const streams = memory !== undefined && isStream(stdin);
    const input = streams ? undefined : await allBytes(stdin);
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
      const start = { role: "run", module, memory, files: { [NET]: this.net, ...files }, input, args: ["zoothera", ...args] };
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
      if (streams) instance.pipe(stdin).catch((error) => instance.fail(error));
    });
  }
}

const isStream = (input) => typeof input?.[Symbol.asyncIterator] === "function";
const toBytes = (part) => (typeof part === "string" ? new TextEncoder().encode(part) : part);

/** Whether a net is given as bytes. */
const isData = (net) => net instanceof Uint8Array || net instanceof ArrayBuffer || typeof net?.arrayBuffer === "function";

/** The bytes of a text, an array, or a stream of either. */
async function allBytes(input) {
  if (!isStream(input)) return toBytes(input);
  const parts = [];
  for await (const part of input) parts.push(toBytes(part));
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

function encode(line) {
  return new TextEncoder().encode(`${line}\n`);
}

/** The net of a one-file module, or `undefined`. */
function embeddedNet(module) {
  const [section] = WebAssembly.Module.customSections(module, NET_SECTION);
  return section && new Uint8Array(section);
}

/** The message of an engine's end: the reason why its net was refused, or the error and the output on stderr. */
function failureText(error, messages = "") {
  const refusal = /^error: (the net cannot be used: .*)$/m.exec(messages);
  if (refusal) return refusal[1];
  return messages ? `${error.message}; ${messages.trim()}` : error.message;
}
