// The engine as used by the page: one session that plays or analyses, and single commands.

import { assets } from "../src/assets.js";
import { Zoothera } from "../src/engine.js";

/** The numbers of a line `info ...`, or `null` if the line has no score or no variation. */
export function parseInfo(line) {
  const words = line.split(/\s+/);
  if (words[0] !== "info" || !words.includes("score") || !words.includes("pv")) return null;
  const number = (key) => Number(words[words.indexOf(key) + 1]);
  const has = (key) => words.includes(key);
  const at = words.indexOf("score");
  const wdl = words.indexOf("wdl");
  return {
    depth: number("depth"),
    line: has("multipv") ? number("multipv") : 1,
    nodes: has("nodes") ? number("nodes") : 0,
    nps: has("nps") ? number("nps") : 0,
    score: { kind: words[at + 1], value: Number(words[at + 2]) },
    isBound: has("lowerbound") || has("upperbound"),
    wdl: wdl < 0 ? null : words.slice(wdl + 1, wdl + 4).map(Number),
    moves: words.slice(words.indexOf("pv") + 1),
  };
}

/** White's winning chances from 0 to 1. */
export function chanceOf(info, turn) {
  const own = info.wdl ? (info.wdl[0] + info.wdl[1] / 2) / 1000
    : info.score.kind === "mate" ? (info.score.value > 0 ? 1 : 0)
      : 1 / (1 + Math.exp(-info.score.value / 250));
  return turn === "white" ? own : 1 - own;
}

/** A score from White's side: "+0.35", "#-3". */
export function scoreText({ kind, value }, turn) {
  const white = turn === "white" ? value : -value;
  if (kind === "mate") return `#${white}`;
  return `${white > 0 ? "+" : white < 0 ? "−" : ""}${(Math.abs(white) / 100).toFixed(2)}`;
}

/** The address of a built-in net: "small" or "large". */
export const builtInNet = (size) => (size === "large" ? assets.net() : assets.smallNet());

/** Addresses of a built-in net and of the modules with and without threads: a page gets threads only after its first
 * visit. */
export function filesForNextVisit(size) {
  const { relaxedSimd } = Zoothera.support();
  const modules = [false, true].filter((threads) => assets.has(threads, false) || assets.has(threads, true))
    .map((threads) => assets.module(threads, relaxedSimd && assets.has(threads, true)));
  return [builtInNet(size), ...modules].map(String);
}

/** Starts an engine. Without a network, another module than the usual one may be stored. */
async function start(setup) {
  try {
    return await Zoothera.create(setup);
  } catch (error) {
    if (!/^the module .* cannot be loaded/.test(error.message)) throw error;
    return Zoothera.create({ ...setup, features: { threads: false } }).catch(() => { throw error; });
  }
}

export class Session {
  /** Starts an engine. `setup` has threads, hash, and net (bytes or an address). */
  static async open(setup) {
    const session = new Session(await start(setup));
    await session.ask("uci", "uciok");
    // Castling is king takes rook everywhere, so that Chess960 needs no special case.
    session.set({ UCI_Chess960: true, UCI_ShowWDL: true });
    return session;
  }

  constructor(engine) {
    this.engine = engine;
    this.name = "";
    this.options = new Map();
    this.waiting = [];
    this.searching = null;
    engine.onLine = (line) => this.heard(line);
    engine.onExit = (error) => this.ended(error ?? new Error("the engine ended"));
  }

  heard(line) {
    if (line.startsWith("id name ")) this.name = line.slice(8);
    const info = this.searching && parseInfo(line);
    if (info) this.searching.onInfo(info);
    this.waiting = this.waiting.filter(({ prefix, resolve }) => {
      if (!line.startsWith(prefix)) return true;
      resolve(line);
      return false;
    });
  }

  /** Rejects all pending requests. */
  ended(error) {
    this.onEnd?.(error);
    this.waiting.splice(0).forEach(({ reject }) => reject(error));
  }

  /** Sends a line and waits for a reply that begins with a word. */
  ask(line, prefix) {
    return new Promise((resolve, reject) => {
      this.waiting.push({ prefix, resolve, reject });
      this.engine.send(line);
    });
  }

  /** Sets the options that changed. No search may be running. */
  set(options) {
    for (const [name, value] of Object.entries(options)) {
      if (this.options.get(name) === value) continue;
      this.options.set(name, value);
      this.engine.send(`setoption name ${name} value ${value}`);
    }
  }

  async newGame() {
    await this.stop();
    this.engine.send("ucinewgame");
    await this.ask("isready", "readyok");
  }

  /** Searches a node of a tree after the running search has stopped. Returns the best move in UCI notation, or `null` if
   * another search or `stop` came first. */
  async search(node, fen, limits, options = {}, onInfo = () => {}) {
    const search = { onInfo };
    this.latest = search;
    await this.halt();
    if (this.latest !== search) return null;
    this.set(options);
    this.searching = search;
    const moves = node.moves;
    this.engine.send(`position fen ${fen}${moves.length ? ` moves ${moves.join(" ")}` : ""}`);
    search.done = this.ask(`go ${limits}`, "bestmove");
    const best = (await search.done).split(/\s+/)[1];
    if (this.searching === search) this.searching = null;
    return this.latest === search ? best : null;
  }

  /** Stops the search; its result is dropped. */
  async stop() {
    this.latest = null;
    await this.halt();
  }

  async halt() {
    const search = this.searching;
    if (!search) return;
    search.onInfo = () => {};
    this.engine.stop();
    await search.done;
  }

  /** Runs a command, such as `review`, in a separate instance. Resolves with exit code, output and files. */
  run(args, files, options) { return this.engine.run(args, files, options); }

  /** Ends the engine. A running search returns `null`. */
  close() {
    this.latest = null;
    this.engine.onExit = null;
    this.engine.terminate();
    this.waiting.splice(0).forEach(({ resolve }) => resolve(""));
  }
}
