// The roles of a worker for one instance of the module: serve UCI, run a command, or be a thread.

import { RingReader } from "./ring.js";
import { Exit, Wasi } from "./wasi.js";

/**
 * Starts the role that `start` describes; `post` sends a message to the side that started the worker. Returns the
 * receiver of later messages.
 *
 * `start` has: `role` ("serve", "run" or "thread"), `module`, `args`, `env`, `files`, `input` (the bytes of standard
 * input, unless they are sent later), `suspends` (whether the module may be suspended during a search), and with
 * threads `memory`, `ring`, `thread` and `argument`.
 */
export function startRole(start, post) {
  const worker = new Role(start, post);
  worker.begin().catch((error) => worker.fail(error));
  return (message) => worker.receive(message);
}

class Role {
  constructor(start, post) {
    this.start = start;
    this.post = post;
    this.input = start.input ? [start.input] : [];
    this.ring = start.ring ? new RingReader(start.ring) : undefined;
    this.serving = false;
    this.decoders = [1, 2].map(() => new TextDecoder());
    this.wasi = new Wasi({
      args: start.args ?? ["zoothera"],
      env: start.env ?? {},
      files: start.files,
      now: () => performance.timeOrigin + performance.now(),
      read: (length) => this.read(length),
      write: (descriptor, bytes) => this.write(descriptor, bytes),
      sleep: (milliseconds) => this.sleep(milliseconds),
      pause: start.suspends ? () => nextTurn() : undefined,
    });
  }

  async begin() {
    const { module, role, memory, suspends } = this.start;
    const wasi = this.wasi.imports();
    const suspending = (name) => new WebAssembly.Suspending(async (...args) => (await wasi[name](...args)) ?? 0);
    const imports = suspends
      ? new Proxy(wasi, { get: (all, name) => (["sched_yield", "poll_oneoff"].includes(name) ? suspending(name) : all[name]) })
      : wasi;
    const instance = await WebAssembly.instantiate(module, {
      wasi_snapshot_preview1: imports,
      wasi: { "thread-spawn": (argument) => this.spawn(argument) },
      env: { memory },
    });
    this.exports = instance.exports;
    this.wasi.memory = memory ?? instance.exports.memory;
    if (role === "thread") {
      this.exports.wasi_thread_start(this.start.thread, this.start.argument);
      return this.post({ threadEnded: this.start.thread });
    }
    this.exports._initialize();
    if (role === "run") return this.exit(this.exports.zoothera_run());
    const serve = suspends ? WebAssembly.promising(this.exports.zoothera_serve) : this.exports.zoothera_serve;
    this.serve = async () => (await serve(suspends ? 1 : 0)) !== 0;
    this.post({ ready: true });
    await this.work();
  }

  /** Executes the commands that have arrived. */
  async work() {
    if (!this.serve || this.serving) return;
    this.serving = true;
    while (this.input.length > 0) {
      if (!(await this.serve())) return this.exit(0);
    }
    this.serving = false;
  }

  receive(message) {
    if (message.input) {
      this.input.push(message.input);
      this.work().catch((error) => this.fail(error));
    }
  }

  /** Reads standard input. */
  read(length) {
    if (this.ring) return this.ring.read(length);
    const first = this.input[0];
    if (!first) return this.start.role === "serve" ? undefined : new Uint8Array();
    const part = first.subarray(0, length);
    if (part.length === first.length) this.input.shift();
    else this.input[0] = first.subarray(part.length);
    return part;
  }

  write(descriptor, bytes) {
    const text = this.decoders[descriptor - 1].decode(bytes, { stream: true });
    if (text !== "") this.post(descriptor === 1 ? { out: text } : { err: text });
  }

  sleep(milliseconds) {
    if (this.ring) return this.ring.sleep(milliseconds);
    if (this.start.suspends) return new Promise((done) => setTimeout(done, milliseconds));
    const end = performance.now() + milliseconds;
    while (performance.now() < end);
    return undefined;
  }

  spawn(argument) {
    if (!this.ring) return -1;
    const thread = this.ring.nextThread();
    this.post({ spawn: { thread, argument } });
    return thread;
  }

  exit(code) {
    this.post({ exit: code, files: this.wasi.files.changed() });
  }

  fail(error) {
    if (error instanceof Exit) this.exit(error.code);
    else this.post({ failed: String(error?.stack ?? error) });
  }
}

/** Yields, so that messages can arrive. */
function nextTurn() {
  return new Promise((done) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      done(0);
    };
    port2.postMessage(0);
  });
}
