// Reviews games with the engine's `review` command and shows the result on the page's board.

import { showChance, showClockTexts, showNames } from "./board.js";
import { drawGraph, nodeAt } from "./graph.js";
import { keyed, element, setText } from "./keyed.js";
import { bindLines } from "./lines.js";
import { showMoves } from "./moves.js";
import { criticalMoments, gameOf, noteOf, summaryOf } from "./report.js";
import { Retry } from "./retry.js";
import { plainErrors } from "./review-errors.js";
import { spoken } from "./rules.js";
import { moveSound } from "./sounds.js";
import { showSteps } from "./steps.js";
import { Tree, isFen, textOfFile, treeOfText } from "./tree.js";

import { readState, writeState } from "./store.js";

const $ = (id) => document.getElementById(id);
const INPUT = "games.pgn";


export class Review {
  constructor(app) {
    this.app = app;
    this.urls = [];
    this.games = [];
    this.flipped = false;
    this.tree = new Tree();
    this.node = this.tree.root;
    this.retry = null;
    $("effort").value = app.settings.get("effort");
    $("review-form").addEventListener("submit", (event) => { event.preventDefault(); this.run(); });
    $("pgn-file").addEventListener("change", async ({ target }) => {
      if (target.files[0]) this.load(await textOfFile(target.files[0]));
      target.value = "";
    });
    $("pgn").addEventListener("input", () => this.keep());
    $("panel-review").addEventListener("click", ({ target }) => {
      const button = target.closest("[data-do]");
      if (button) this.act(button.dataset.do, button.dataset.ply);
    });
    $("review-game").addEventListener("change", ({ target }) => this.choose(this.games[target.value].tree.root));
    $("review-graph").addEventListener("click", (event) => this.choose(nodeAt($("review-graph"), this.tree.mainLine(), event)));
    bindLines($("review-note"), (moves, line) => this.playLine(moves, line), () => this.flipped);
  }

  /** Puts games into the form and reviews them. */
  load(text) {
    $("pgn").value = text;
    this.run();
  }

  /** Stores the text and the last result. */
  keep(result = this.result) {
    this.result = result;
    return writeState("review", { text: $("pgn").value, result, isRunning: this.isRunning });
  }

  /** Shows the stored text and result, unless something was pasted in the meantime. */
  async restore() {
    const stored = await readState("review");
    if (!stored || $("pgn").value || this.abort) return;
    $("pgn").value = stored.text;
    this.result = stored.result;
    if (stored.isRunning) this.app.toast("The review was interrupted. Its games are still here: start it again.");
    if (!stored.result) return;
    this.present(stored.result.written, stored.result.json, stored.result.nodes);
    const place = await readState("review-place");
    if (place && this.games[place.game]) this.choose(this.games[place.game].tree.mainLine()[place.ply], place.flipped);
  }

  /** Stores which move of which game is shown, a moment after the last change. */
  keepPlace() {
    clearTimeout(this.keeping);
    this.keeping = setTimeout(() => {
      if (this.hasResult) writeState("review-place", { game: this.games.indexOf(this.game), ply: this.mainNode().ply, flipped: this.flipped });
    }, 200);
  }

  act(what, ply) {
    const acts = {
      cancel: () => this.abort.abort(),
      other: () => { this.phase("form"); this.show(); $("pgn").focus({ preventScroll: true }); },
      mistake: () => this.go("mistake"),
      moment: () => this.choose(this.tree.mainLine()[ply]),
      back: () => this.choose(this.left ?? this.mainNode()),
      retry: () => this.startRetry(),
      another: () => this.retry?.ask(),
      answer: () => this.showAnswer(),
      leave: () => this.choose(this.retry.node),
    };
    acts[what]?.();
  }

  phase(name) {
    $("review-form").hidden = name !== "form";
    $("review-busy").hidden = name !== "busy";
    $("review-result").hidden = name !== "result";
  }

  get hasResult() { return !$("review-result").hidden; }

  /** Shows the progress that the command prints. `plies` is the number of moves of a single game, or 0. */
  progress(line, plies) {
    const [, percent, game, games, left] = /(\d+) %, game (\d+) of (\d+), (.*) left/.exec(line) ?? [];
    if (!percent) return;
    $("review-progress").value = Number(percent);
    const part = Number(games) > 1 ? `Game ${game} of ${games}`
      : plies ? `Move ${Math.ceil((plies * percent) / 200)} of ${Math.ceil(plies / 2)}` : `${percent} %`;
    setText($("review-status"), `${part} · ${left} left`);
  }

  async run() {
    const games = $("pgn").value;
    if (isFen(games)) return this.app.analyse(games);
    if (!games.trim()) return this.app.alert("Paste a game first, or choose a file.");
    this.abort?.abort();
    const abort = new AbortController();
    this.abort = abort;
    const nodes = $("effort").value;
    this.app.settings.put({ effort: Number(nodes) });
    this.isRunning = true;
    this.keep(null);
    this.phase("busy");
    this.app.alert("");
    this.app.pause();
    $("review-progress").removeAttribute("value");
    setText($("review-status"), "Reviewing…");
    let plies = 0;
    try { plies = treeOfText(games).mainLine().length - 1; } catch { /* The command names the error. */ }
    try {
      const outputs = ["--json", "--html", "review.html", "--pgn", "annotated.pgn"];
      const args = ["review", INPUT, "--nodes", nodes, "--detail", "full", ...outputs];
      const files = { [INPUT]: games };
      if ($("side").value) args.push("--side", $("side").value);
      const net = this.app.settings.netBytes;
      if (net) { files["net.nnue"] = net; args.push("--net", "net.nnue"); }
      const session = await this.app.session();
      const onStderr = (text) => text.split("\n").forEach((line) => this.progress(line, plies));
      const { code, stdout, stderr, files: written } = await session.run(args, files, { signal: abort.signal, onStderr });
      if (!written["review.html"]) throw new Error(plainErrors(stderr, INPUT) || `The review ended with code ${code}.`);
      if (code !== 0) this.app.alert(plainErrors(stderr, INPUT));
      this.present(written, stdout, Number(nodes));
      this.isRunning = false;
      this.keep({ written, json: stdout, nodes: Number(nodes) });
    } catch (error) {
      if (this.abort !== abort) return;
      this.isRunning = false;
      this.keep();
      this.phase("form");
      if (!abort.signal.aborted) this.app.alert(error);
    }
  }

  /** Shows the result of the command. */
  present(written, json, nodes) {
    this.urls.forEach((url) => URL.revokeObjectURL(url));
    this.urls = [];
    const save = (id, content, type) => {
      $(id).href = URL.createObjectURL(new Blob([content], { type }));
      this.urls.push($(id).href);
    };
    save("save-page", written["review.html"], "text/html;charset=utf-8");
    save("save-pgn", written["annotated.pgn"], "application/x-chess-pgn;charset=utf-8");
    save("save-json", json, "application/json;charset=utf-8");
    this.nodes = nodes;
    this.games = json.trim().split("\n").map((line) => gameOf(JSON.parse(line)));
    this.phase("result");
    $("review-games").hidden = this.games.length < 2;
    keyed($("review-game"), this.games.map((game, index) => ({
      key: index, make: () => element("option", { value: index }), update: (option) => setText(option, game.title),
    })));
    this.flipped = this.games[0].report.tags.Black === "You";
    this.choose(this.games[0].tree.root);
    this.app.say("The review is ready.");
    if (this.app.mode === this) $("review-note").focus({ preventScroll: true });
  }

  get game() { return this.games.find(({ tree }) => tree === this.tree); }

  choose(node, flipped = this.flipped) {
    if (!node) return;
    this.flipped = flipped;
    this.keepPlace();
    this.tree = this.games.find(({ tree }) => tree.root === node.root)?.tree ?? this.tree;
    this.retry = null;
    // The position of the game from which a line was opened.
    if (this.tree.mainLine().includes(node)) this.left = null;
    else this.left ??= this.node;
    this.node = node;
    this.show();
  }

  /** The last position of the game on the way to the displayed one. */
  mainNode() {
    let { node } = this;
    const line = this.tree.mainLine();
    while (!line.includes(node)) node = node.parent;
    return node;
  }

  /** Plays moves of a line; they become a variation. Lines of the notes replace the move that led to the position. */
  playLine(moves, li) {
    const base = li?.dataset.from === "before" ? this.node.parent : this.node;
    this.choose(moves.reduce((at, move) => this.tree.play(at, move), base));
  }

  /** Handles a move on the board: an answer while a better move is asked for, a variation otherwise. */
  move(move) {
    if (this.retry) { this.retry.judge(move); return; }
    if (!this.hasResult) return;
    this.choose(this.tree.play(this.node, move));
    moveSound(this.node.san);
  }

  startRetry() {
    const node = this.retry?.node ?? this.node;
    if (!node.report?.better.length) return;
    this.retry = new Retry(this, node);
    this.retry.ask();
    $("review-note").focus({ preventScroll: true });
  }

  showAnswer() {
    const { node } = this.retry;
    const [line] = node.report.better;
    this.retry = null;
    this.node = node;
    const moves = this.game.movesOf(node.parent, line.uci);
    this.choose(moves.reduce((at, move) => this.tree.play(at, move), node.parent));
    this.app.say(`Better was ${line.san[0]}.`);
  }

  go(where) {
    if (where === "flip") { this.flipped = !this.flipped; this.keepPlace(); return this.show(); }
    if (!this.hasResult) return;
    if (where === "retry") return this.startRetry();
    const at = this.retry?.node ?? this.node;
    const line = this.tree.mainLine();
    const index = line.indexOf(this.mainNode());
    const isBad = (node) => ["?!", "?", "??"].includes(node.mark);
    const steps = { first: () => this.tree.root, back: () => at.parent, on: () => at.children[0],
      last: () => line.at(-1), mistake: () => line.slice(index + 1).find(isBad) ?? line.find(isBad),
      earlier: () => line.slice(0, index).findLast(isBad) };
    const node = steps[where]?.();
    if (!node) { if (where === "mistake") this.app.toast("The review found no mistake."); return; }
    this.choose(node);
    if (node.move) this.app.say(`${spoken(node.san)}.`);
  }

  clocks() {
    const last = { white: null, black: null };
    for (let node = this.mainNode(); node; node = node.parent) {
      if (node.report?.clock) last[node.report.side] ??= node.report.clock.replace(/^0:0?(?=\d+:)/, "");
    }
    return last;
  }

  show() {
    if (this.app.mode !== this) return;
    $("typed").hidden = !this.hasResult;
    if (!this.hasResult) {
      showNames("", "", false);
      showClockTexts(null, null, false);
      showSteps(true, true);
      showChance(null, "", this.flipped);
      return this.app.board.show({ node: new Tree().root, movable: false, flipped: this.flipped });
    }
    const { node, game, flipped } = this;
    showNames(game.strips.white, game.strips.black, flipped);
    const clocks = this.clocks();
    showClockTexts(clocks.white, clocks.black, flipped);
    showSteps(!node.parent, node.children.length === 0);
    $("review-game").value = this.games.indexOf(game);
    if ($("review-summary").game !== game) {
      $("review-summary").game = game;
      $("review-summary").replaceChildren(...summaryOf(game, criticalMoments(game)));
    }
    // The accuracy stands beside the names, so that away from the start the moments are enough.
    $("review-summary").classList.toggle("compact", Boolean(node.parent) && $("review-summary").querySelector(".moments") !== null);
    showMoves($("review-moves"), this.tree, node, (chosen) => this.choose(chosen), game.resultText);
    const shown = this.retry?.shown ?? { node, movable: true };
    this.app.board.show({ ...shown, flipped });
    this.app.board.arrows(this.retry ? [] : this.arrows());
    const known = this.retry ? { chance: this.retry.node.parent.chance, score: "" } : this.mainNode();
    showChance(known.chance, known.score, flipped);
    drawGraph($("review-graph"), this.tree.mainLine(), this.mainNode());
    const hadFocus = $("review-note").contains(document.activeElement);
    if (this.retry) this.retry.show($("review-note"));
    else $("review-note").replaceChildren(...noteOf(game, node, this.mainNode()));
    if (hadFocus) $("review-note").focus({ preventScroll: true });
  }

  /** The better move, while the position before it is not shown. */
  arrows() {
    const { report, parent } = this.node;
    if (!report?.mark || !report.better.length) return [];
    return this.game.movesOf(parent, report.better[0].uci.slice(0, 1));
  }

  restarted() { if (!$("review-busy").hidden) this.run(); }
  enter() { this.show(); }
  leave() {}
}
