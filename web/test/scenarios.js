// Scenarios that the tests run with an engine, in Node and in a browser. Each returns facts for the test to check.

const SCHOLARS_MATE = "1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7# 1-0\n";

/** The first line that matches, after sending `text`. */
function answer(engine, text, pattern) {
  return new Promise((resolve, reject) => {
    const listen = (line) => {
      if (!pattern.test(line)) return;
      engine.off("line", listen);
      resolve(line);
    };
    engine.on("line", listen);
    engine.on("exit", (error) => reject(error ?? new Error("the engine ended")));
    engine.send(text);
  });
}

/** Collects lines from now on. */
function recorded(engine) {
  const lines = [];
  engine.on("line", (line) => lines.push(line));
  return lines;
}

const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

async function withEngine(Zoothera, options, work) {
  const engine = await Zoothera.create(options);
  try {
    return { mode: engine.mode, threads: engine.threads, ...(await work(engine)) };
  } finally {
    engine.terminate();
  }
}

export const scenarios = {
  handshake: (Zoothera, options) =>
    withEngine(Zoothera, options, async (engine) => {
      const lines = recorded(engine);
      await answer(engine, "uci", /^uciok$/);
      await answer(engine, "isready", /^readyok$/);
      return { lines, support: Zoothera.support() };
    }),

  bench: (Zoothera, options) =>
    withEngine(Zoothera, options, async (engine) => {
      const line = await answer(engine, "bench", /^\d+ nodes \d+ nps$/);
      return { nodes: Number(line.split(" ")[0]), line };
    }),

  stop: (Zoothera, options) =>
    withEngine(Zoothera, options, async (engine) => {
      const lines = recorded(engine);
      engine.send("setoption name MultiPV value 2\nposition startpos moves e2e4 e7e5");
      await answer(engine, "go infinite", /^info depth 8 .* multipv 2 /);
      await pause(300);
      const early = lines.some((line) => line.startsWith("bestmove"));
      const start = performance.now();
      const best = await engine.stop();
      const milliseconds = performance.now() - start;
      // Option and position are as before.
      const next = lines.length;
      const again = await answer(engine, "go depth 4", /^bestmove/);
      const white = await answer(engine, "d", /^Fen: |^FEN/i);
      return { early, best, milliseconds, again, white, multipv: lines.slice(next).some((line) => / multipv 2 /.test(line)) };
    }),

  ponder: (Zoothera, options) =>
    withEngine(Zoothera, options, async (engine) => {
      const lines = recorded(engine);
      await answer(engine, "position startpos moves e2e4\ngo ponder depth 3", /^info depth 3 /);
      await pause(300);
      const early = lines.some((line) => line.startsWith("bestmove"));
      const best = await answer(engine, "ponderhit", /^bestmove/);
      return { early, best };
    }),

  busy: (Zoothera, options) =>
    withEngine(Zoothera, options, async (engine) => {
      const lines = recorded(engine);
      await answer(engine, "go infinite", /^info depth 6 /);
      await answer(engine, "isready", /^readyok$/);
      const early = lines.some((line) => line.startsWith("bestmove"));
      // Another search ends the first one.
      engine.send("position startpos moves d2d4\ngo depth 3");
      await engine.stop();
      await answer(engine, "isready", /^readyok$/);
      return { early, moves: lines.filter((line) => line.startsWith("bestmove")).length };
    }),

  review: (Zoothera, options) =>
    withEngine(Zoothera, options, async (engine) => {
      const args = ["review", "--nodes", "2000", "--json", "--html", "out/page.html", "games/a.pgn"];
      const result = await engine.run(args, { "games/a.pgn": SCHOLARS_MATE, "out/here": "" });
      const page = new TextDecoder().decode(result.files["out/page.html"] ?? new Uint8Array());
      return { code: result.code, stdout: result.stdout, files: Object.keys(result.files), page: page.slice(0, 15) };
    }),

  wrongCommand: (Zoothera, options) =>
    withEngine(Zoothera, options, async (engine) => {
      const { code, stderr } = await engine.run(["review", "absent.pgn"]);
      return { code, stderr };
    }),

  net: (Zoothera, options) =>
    withEngine(Zoothera, options, async (engine) => {
      const { code, files } = await engine.run(["net", "export", "own.nnue"]);
      const net = files["own.nnue"];
      const used = await Zoothera.create({ ...options, net });
      const line = await answer(used, "go depth 3", /^bestmove/);
      used.terminate();
      const broken = net.slice(0, 5000);
      const refusal = await Zoothera.create({ ...options, net: broken }).then(() => "", (error) => error.message);
      return { code, line, refusal };
    }),

  quit: async (Zoothera, options) => {
    const engine = await Zoothera.create(options);
    const ended = new Promise((done) => engine.on("exit", (error) => done(error?.message ?? "no error")));
    engine.send("go infinite\nquit");
    return { ended: await ended };
  },

  wrongModule: async (Zoothera, options) => ({
    message: await Zoothera.create(options).then(() => "", (error) => error.message),
  }),

  /** The interface of stockfish.js. */
  worker: (_Zoothera, { worker, newWorker }) =>
    new Promise((resolve) => {
      const lines = [];
      const own = newWorker(worker, (line) => {
        lines.push(line);
        if (line === "uciok") own.postMessage("go depth 5");
        if (line.startsWith("bestmove")) {
          own.terminate();
          resolve({ lines });
        }
      });
      own.postMessage("uci");
    }),
};
