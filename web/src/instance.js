// One instance of the module and its workers.

import { newRing, RingWriter } from "./ring.js";
import { newWorker } from "./platform.js";

/** Runs the module in a worker, and each of its threads in another worker. */
export class Instance {
  /**
   * `handlers` has `out(text)`, `err(text)`, `exit(code, files)` and `failed(error)`. `start` is sent to the worker,
   * see roles.js; it has `memory` if the module has threads.
   */
  constructor(workerUrl, start, handlers) {
    this.workerUrl = workerUrl;
    this.handlers = handlers;
    this.workers = new Set();
    this.ended = false;
    if (start.memory) {
      const shared = newRing();
      this.ring = new RingWriter(shared);
      start = { ...start, ring: shared };
      if (start.input) {
        this.ring.write(start.input);
        this.ring.close();
      }
    }
    this.start = start;
    this.waiting = [];
    this.addWorker(start).then((worker) => {
      this.main = worker;
      this.waiting.splice(0).forEach((bytes) => worker?.post({ input: bytes }));
    });
  }

  async addWorker(start) {
    let worker;
    const thread = start.thread;
    try {
      worker = await newWorker(
        this.workerUrl,
        (message) => this.receive(message, worker),
        (error) => this.fail(error),
      );
    } catch (error) {
      return this.fail(error);
    }
    if (this.ended) {
      worker.terminate();
      return undefined;
    }
    worker.thread = thread;
    this.workers.add(worker);
    worker.post({ zoothera: start });
    return worker;
  }

  receive(message, worker) {
    if (this.ended) return;
    if (message.out !== undefined) this.handlers.out?.(message.out);
    else if (message.err !== undefined) this.handlers.err?.(message.err);
    else if (message.spawn) {
      const { module, memory, ring, env } = this.start;
      this.addWorker({ role: "thread", module, memory, ring, env, ...message.spawn });
    } else if (message.threadEnded !== undefined) {
      this.workers.delete(worker);
      worker.terminate();
    } else if (message.exit !== undefined) {
      this.terminate();
      this.handlers.exit?.(message.exit, message.files ?? {});
    } else if (message.failed !== undefined) this.fail(new Error(message.failed));
  }

  fail(error) {
    if (this.ended) return;
    this.terminate();
    this.handlers.failed?.(error);
  }

  /** Adds bytes to standard input. */
  write(bytes) {
    if (this.ring) this.ring.write(bytes);
    else if (this.main) this.main.post({ input: bytes });
    else this.waiting.push(bytes);
  }

  /** Adds the parts of a stream to standard input, and closes it at the end. */
  async pipe(stream) {
    for await (const part of stream) {
      if (this.ended) return;
      this.write(typeof part === "string" ? new TextEncoder().encode(part) : part);
    }
    this.ring.close();
  }

  terminate() {
    this.ended = true;
    this.ring?.end();
    this.workers.forEach((worker) => worker.terminate());
    this.workers.clear();
  }
}
