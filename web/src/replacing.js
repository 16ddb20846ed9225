// UCI on a module that receives no input while it searches: a browser without shared memory and without JavaScript
// Promise Integration. `stop` ends the worker. The best move is then the first move of the last reported line. A new
// worker with the same settings and position replaces the old one; only the hash table is lost.

const encode = (line) => new TextEncoder().encode(`${line}\n`);

export class Replacing {
  /** `start` starts an instance; `settings` are the first lines sent to each instance; `emit` gets the output. */
  constructor(start, settings, emit) {
    this.start = start;
    this.emit = emit;
    /** Lines that set an option, by the option's name. */
    this.options = new Map();
    settings.forEach((line) => this.remember(line));
    this.position = undefined;
    this.queue = [];
    /** The running search. */
    this.search = undefined;
    this.instance = start();
  }

  remember(line) {
    const name = /^\s*setoption\s+name\s+(.*?)\s+value\b/i.exec(line)?.[1];
    if (name) this.options.set(name.toLowerCase(), line);
    if (/^\s*position\b/.test(line)) this.position = line;
  }

  send(line) {
    const verb = line.trim().split(/\s+/)[0];
    if (!this.search) {
      // Queued lines come first, even if the page answers a `bestmove` at once.
      if (this.queue.length === 0) return this.execute(line);
      return this.queue.push(line);
    }
    if (verb === "isready") return this.emit("readyok");
    if (verb === "stop") return this.stop();
    if (verb === "ponderhit") return this.ponderHit();
    if (verb === "quit") return this.replace(() => this.execute(line));
    this.queue.push(line);
    if (verb === "go") this.stop();
    return undefined;
  }

  execute(line) {
    const words = line.trim().split(/\s+/);
    if (words[0] === "go" && !words.includes("perft")) {
      const holds = words.includes("infinite") || words.includes("ponder");
      this.search = { line, holds, best: undefined, pv: undefined, stops: false };
    }
    this.remember(line);
    this.instance.write(encode(line));
  }

  received(line) {
    const { search } = this;
    if (!search) return this.emit(line);
    const pv = /^info .*\bpv (.*)$/.exec(line);
    if (pv && !/\bmultipv (?!1\b)/.test(line)) search.pv = pv[1].split(" ");
    if (!line.startsWith("bestmove")) this.emit(line);
    else if (search.holds) search.best = line;
    else return this.finish(line);
    if (search.stops) this.stop();
    return undefined;
  }

  /** Whether the engine plays at a level. Its search then ends soon, and its move need not be the first of its line. */
  get hasLevel() {
    const value = (name) => / value (.*)$/.exec(this.options.get(name) ?? "")?.[1].trim();
    const skill = value("skill level");
    return value("uci_limitstrength") === "true" || (skill !== undefined && Number(skill) < 20);
  }

  stop() {
    const { search } = this;
    search.stops = true;
    if (search.best) this.finish(search.best);
    else if (this.hasLevel) search.holds = false;
    else if (search.pv) {
      const [best, ponder] = search.pv;
      this.replace(() => this.finish(ponder ? `bestmove ${best} ponder ${ponder}` : `bestmove ${best}`));
    }
  }

  /** Restarts the search from its beginning with the clock, because it cannot receive the `ponderhit`. */
  ponderHit() {
    const { search } = this;
    if (search.best) return this.finish(search.best);
    return this.replace(() => this.execute(search.line.replace(/\bponder\b/, "")));
  }

  finish(best) {
    this.search = undefined;
    this.emit(best);
    while (this.queue.length > 0 && !this.search) this.execute(this.queue.shift());
  }

  /** Ends the worker, starts another with the same state, and continues with `then`. */
  replace(then) {
    this.instance.terminate();
    this.search = undefined;
    this.instance = this.start();
    const state = [...this.options.values(), ...(this.position ? [this.position] : [])];
    state.forEach((line) => this.instance.write(encode(line)));
    then();
  }
}
