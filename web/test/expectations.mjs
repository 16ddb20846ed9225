// What every scenario must show, wherever it runs.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";

/** The native engine to compare with: ZOOTHERA_ENGINE. */
export const native = process.env.ZOOTHERA_ENGINE;

export function nativeBench() {
  const { stdout } = spawnSync(native, ["bench"], { encoding: "utf8" });
  return Number(/^(\d+) nodes \d+ nps$/m.exec(stdout)[1]);
}

export const expect = {
  handshake: ({ lines }) => {
    assert.match(lines[0], /^id name Zoothera \d/);
    assert.deepEqual(lines.slice(-2), ["uciok", "readyok"]);
    assert.ok(!lines.slice(0, -2).some((line) => /ok$/.test(line)), "the handshake of create is not seen");
  },
  stop: ({ early, best, again, white, multipv }) => {
    assert.equal(early, false, "an infinite search waits for stop");
    assert.match(best, /^bestmove [a-h][1-8][a-h][1-8]/);
    assert.match(again, /^bestmove /);
    assert.match(white, /pppp1ppp\/8\/4p3\/4P3/, "the position is kept");
    assert.ok(multipv, "the option is kept");
  },
  ponder: ({ early, best }) => {
    assert.equal(early, false, "pondering waits for ponderhit");
    assert.match(best, /^bestmove /);
  },
  busy: ({ early, moves }) => {
    assert.equal(early, false, "isready is answered during the search");
    assert.equal(moves, 2);
  },
  review: ({ code, stdout, files, page }) => {
    assert.equal(code, 0);
    assert.deepEqual(files, ["out/page.html"]);
    assert.match(page, /^<!doctype html/i);
    const game = JSON.parse(stdout);
    assert.ok(game && typeof game === "object");
  },
  wrongCommand: ({ code, stderr }) => {
    assert.notEqual(code, 0);
    assert.match(stderr, /absent\.pgn/);
  },
  net: ({ code, line, refusal }) => {
    assert.equal(code, 0);
    assert.match(line, /^bestmove /);
    assert.match(refusal, /^the net cannot be used: .*net\.nnue/);
  },
  quit: ({ ended }) => assert.equal(ended, "no error"),
  worker: ({ lines }) => {
    assert.match(lines[0], /^id name Zoothera \d/);
    assert.match(lines.at(-1), /^bestmove /);
  },
};
