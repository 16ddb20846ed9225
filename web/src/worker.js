// The worker, in one file. For index.js it is a part of an engine. For a page that posts UCI lines and receives lines,
// as with stockfish.js, it is a complete engine.

import { Zoothera } from "./engine.js";
import { nodeModule } from "./platform.js";
import { isNode } from "./support.js";
import { startRole } from "./roles.js";

/** The receiver of a worker's messages. */
function receiver(post) {
  let receive;
  return (message) => {
    if (receive) receive(message);
    else if (message?.zoothera) receive = startRole(message.zoothera, post);
    else if (typeof message === "string") {
      receive = ownEngine(post);
      receive(message);
    }
  };
}

/** A complete engine that receives UCI lines and posts lines. */
function ownEngine(post) {
  let engine;
  const waiting = [];
  const fail = (error) => post(`info string ERROR: ${error.message.replace(/\s+/g, " ")}`);
  Zoothera.create().then((created) => {
    engine = created;
    engine.onLine = post;
    engine.onExit = (error) => error && fail(error);
    waiting.forEach((line) => engine.send(line));
  }, fail);
  return (line) => {
    if (!engine) waiting.push(line);
    else if (!engine.isOver) engine.send(line);
  };
}

if (isNode) {
  nodeModule("worker_threads").then(({ parentPort }) => {
    parentPort?.on("message", receiver((message) => parentPort.postMessage(message)));
  });
} else if (typeof WorkerGlobalScope !== "undefined") {
  const receive = receiver((message) => globalThis.postMessage(message));
  globalThis.onmessage = ({ data }) => receive(data);
}
