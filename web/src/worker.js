// The worker, in one file. It is a part of an engine for index.js, or a complete engine for a page that posts UCI
// commands and receives output lines, like stockfish.js.

import { Zoothera } from "./engine.js";
import { nodeModule } from "./platform.js";
import { isNode } from "./support.js";
import { startRole } from "./roles.js";

/** The handler of a worker's messages. */
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

/** A complete engine that receives UCI commands and posts output lines. */
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
