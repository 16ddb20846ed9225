// Analysis: lines, arrows, evaluation bar, threat and graph.

import { showChance, showClockTexts, showNames } from "./board.js";
import { clockText } from "./clock.js";
import { chanceOf, scoreText } from "./engine.js";
import { drawGraph, nodeAt } from "./graph.js";
import { setText } from "./keyed.js";
import { bindLines, showLines } from "./lines.js";
import { markOf, valueText, whiteView, winning } from "./marks.js";
import { showMoves } from "./moves.js";
import { openingOf } from "./openings.js";
import { pickGame } from "./picker.js";
import { hidePreview } from "./preview.js";
import { fenOf, moveOfUci, spoken } from "./rules.js";
import { moveSound } from "./sounds.js";
import { showSteps } from "./steps.js";
import { readState, writeState } from "./store.js";
import { passed } from "./threat.js";
import { Tree, clocksOf, commandOf, gamesOfPgn, isFen, nodesOf, treeOfGame, treeOfPgn } from "./tree.js";
import { isMain, promote, remove } from "./variations.js";

const $ = (id) => document.getElementById(id);
/** Nodes for each move of "Evaluate every move". */
const SURVEY = 60000;

/** A count in short form: "812", "54 k", "1.2 M". */
const short = (count) => (count < 1000 ? String(count) : count < 1e6 ? `${Math.round(count / 1000)} k` : `${(count / 1e6).toFixed(1)} M`);

/** What the engine has found at each node, in the order of `nodesOf`; nodes at the end without anything are left out. */
function foundIn(tree) {
  const found = [...nodesOf(tree)].map(({ chance, score, value, mark }) =>
    (chance === null ? 0 : { chance: Number(chance.toFixed(4)), score, value, ...(mark ? { mark } : {}) }));
  return found.slice(0, found.findLastIndex(Boolean) + 1);
}

/** Shows the evaluations that the comments of a file contain. */
function readValues(tree) {
  for (const node of nodesOf(tree)) {
    const said = commandOf(node, "evaluation");
    if (!said) continue;
    node.value = said.mate === undefined ? { cp: Math.round(100 * said.pawns) } : { mate: said.mate };
    node.chance = winning(node.value) / 100;
    node.score = valueText(node.value);
  }
}

function findAgain(tree, found = []) {
  let index = 0;
  for (const node of nodesOf(tree)) {
    if (index === found.length) return;
    Object.assign(node, found[index] || {});
    index += 1;
  }
}

export class Analyse {
  constructor(app) {
    this.app = app;
    this.tree = new Tree();
    this.node = this.tree.root;
    this.flipped = false;
    this.infos = [];
    this.threat = false;
    $("lines").value = app.settings.get("lines");
    $("analysing").checked = app.settings.get("analysing");
    $("analysing").addEventListener("change", () => {
      app.settings.put({ analysing: this.isOn });
      this.surveying = false;
      this.search();
    });
    addEventListener("pagehide", () => this.keep());
    $("threat").addEventListener("click", () => this.setThreat(!this.threat));
    $("lines").addEventListener("change", () => { app.settings.put({ lines: Number($("lines").value) }); this.search(); });
    $("load-form").addEventListener("submit", (event) => { event.preventDefault(); this.loadText($("load-text").value); });
    $("panel-analyse").addEventListener("click", ({ target }) => this.go(target.closest("[data-do]")?.dataset.do));
    $("graph").addEventListener("click", (event) => this.choose(nodeAt($("graph"), this.tree.mainLine(), event)));
    bindLines($("best-lines"), (moves, _line, byKey) => {
      // The first of the next lines receives the focus.
      if (byKey) $("best-lines").focus({ preventScroll: true });
      this.playLine(moves);
    }, () => this.flipped);
  }

  get isOn() { return $("analysing").checked; }

  /** The position that is searched: that of the board, or the one after a pass. */
  get searched() { return this.threat ? passed(this.node.position) : this.node.position; }

  /** Loads a position or a game; of several games the user chooses one. */
  async loadText(text, flipped = this.flipped) {
    try {
      const games = isFen(text) ? [] : gamesOfPgn(text);
      const game = games.length > 1 ? await pickGame(games) : games[0];
      if (games.length > 0 && !game) return;
      const tree = game ? treeOfGame(game) : new Tree(text);
      this.flipped = flipped;
      this.load(tree);
      this.app.alert(tree.fault ?? "");
      $("load-error").textContent = "";
      $("load").open = false;
    } catch (error) {
      $("load-error").textContent = error.message;
      $("load").open = true;
    }
  }

  load(tree) {
    if (this.tree.root.children.length > 0) writeState("analysis-before", this.record());
    this.isChanged = true;
    this.tree = tree;
    readValues(tree);
    this.surveying = false;
    this.choose(tree.root);
  }

  /** Stores the analysis a moment after the last change, or at once when the page closes. */
  keepSoon() {
    clearTimeout(this.keeping);
    this.keeping = setTimeout(() => this.keep(), 200);
  }

  keep() {
    clearTimeout(this.keeping);
    if (!this.isChanged) return;
    this.isChanged = false;
    writeState("analysis", this.record());
  }

  /** The analysis as it is stored. */
  record() {
    return { pgn: this.tree.pgn(), path: Tree.pathOf(this.node), flipped: this.flipped, found: foundIn(this.tree) };
  }

  /** Shows the stored analysis, unless something was loaded in the meantime. */
  async restore() {
    const stored = await readState("analysis");
    if (!stored || this.isChanged || this.tree.root.children.length > 0) return;
    try {
      this.tree = treeOfPgn(stored.pgn);
    } catch {
      return;
    }
    findAgain(this.tree, stored.found);
    this.node = this.tree.at(stored.path);
    this.flipped = stored.flipped;
    if (this.app.mode === this) this.enter();
  }

  /** Shows the analysis that the present one has replaced, which takes its place. */
  async goBack() {
    const stored = await readState("analysis-before");
    if (!stored) return this.app.toast("There is no analysis before this one.");
    const tree = treeOfPgn(stored.pgn);
    this.load(tree);
    findAgain(tree, stored.found);
    this.flipped = stored.flipped;
    this.choose(tree.at(stored.path));
  }

  move(move) { this.playLine([move]); }

  /** Plays moves from the position on the board. Moves of a threat begin with the other side, so they are not played. */
  playLine(moves) {
    if (this.threat && moves.length && !this.node.position.isLegal(moves[0])) return;
    const node = moves.reduce((at, move) => this.tree.play(at, move), this.node);
    this.choose(node);
    if (!node.move) return;
    moveSound(node.san);
    this.app.say(`${spoken(node.san)}.`);
  }

  choose(node) {
    if (!node) return;
    this.node = node;
    this.isChanged = true;
    this.keepSoon();
    this.infos = [];
    this.threat = false;
    this.show();
    if (!this.surveying) this.search();
  }

  setThreat(on) {
    this.threat = on && passed(this.node.position) !== null;
    this.infos = [];
    if (this.threat && !this.isOn) $("analysing").checked = true;
    this.surveying = false;
    this.showLines();
    this.search();
  }

  go(where) {
    const { node } = this;
    const steps = { first: this.tree.root, back: node.parent, on: node.children[0], last: this.end() };
    if (where in steps) return this.choose(steps[where]);
    const { app } = this;
    const acts = { flip: () => { this.flipped = !this.flipped; this.show(); }, measure: () => this.survey(),
      reset: () => this.load(new Tree()), before: () => this.goBack(), editor: () => app.edit(fenOf(node.position), this.flipped),
      promote: () => { promote(node); this.show(); $("analyse-moves").focus(); },
      delete: () => { if (node.parent) { this.choose(remove(node)); $("analyse-moves").focus(); } },
      "copy-fen": () => app.copy(fenOf(node.position), "The position was copied."),
      "copy-pgn": () => app.copy(this.tree.pgn(), "The game was copied.") };
    acts[where]?.();
  }

  /** The last position of the displayed line. */
  end() {
    let node = this.node;
    while (node.children.length > 0) node = node.children[0];
    return node;
  }

  options() {
    return { UCI_AnalyseMode: true, UCI_LimitStrength: false, MultiPV: Number($("lines").value) };
  }

  /** Searches the displayed position, if the analysis is on. */
  async search() {
    const { node, threat } = this;
    const isCurrent = () => this.node === node && this.threat === threat;
    try {
      if (!this.isOn || node.position.isEnd()) {
        if (this.app.hasSession) await (await this.app.session()).stop();
        return this.showLines();
      }
      const session = await this.app.session();
      if (!isCurrent() || this.app.mode !== this || !this.isOn) return;
      const [from, fen] = threat ? [{ moves: [] }, fenOf(this.searched)] : [node, this.tree.fen];
      await session.search(from, fen, "infinite", this.options(), (info) => {
        if (info.isBound || !isCurrent()) return;
        this.infos[info.line - 1] = info;
        this.infos.length = Math.min(this.infos.length, Number($("lines").value));
        if (info.line === 1 && !threat) this.note(node, info);
        this.schedule();
      });
    } catch (error) {
      $("analysing").checked = false;
      this.app.alert(error);
    }
  }

  note(node, info) {
    const { turn } = node.position;
    node.chance = chanceOf(info, turn);
    node.score = scoreText(info.score, turn);
    node.value = whiteView(info.score, turn);
  }

  /** Evaluates every position of the main line for the graph and the marks. A second click ends it. */
  async survey() {
    if (this.surveying) { this.surveying = false; return; }
    const { tree } = this;
    const survey = {};
    const isCurrent = () => this.surveying === survey && this.tree === tree && this.app.mode === this;
    this.surveying = survey;
    this.threat = false;
    this.infos = [];
    const wasOn = this.isOn;
    $("analysing").checked = false;
    const line = tree.mainLine();
    let done = 0;
    this.show();
    try {
      const session = await this.app.session();
      for (const [index, node] of line.entries()) {
        if (!isCurrent()) break;
        setText($("depth"), `Evaluating move ${index} of ${line.length - 1}…`);
        await this.evaluate(session, node);
        if (!isCurrent()) break;
        if (index > 0) node.mark = markOf(line[index - 1].value, node.value, line[index - 1].position.turn);
        done = index;
        this.show();
      }
    } catch (error) {
      this.app.alert(error);
    }
    // The switch of the analysis may start another one meanwhile.
    if (this.surveying && this.surveying !== survey) return;
    this.surveying = false;
    $("analysing").checked = wasOn || this.isOn;
    if (this.tree !== tree) return this.search();
    this.isChanged = true;
    this.keepSoon();
    if (done < line.length - 1) this.app.toast(`${done} of ${line.length - 1} moves were evaluated.`);
    this.show();
    if (this.isOn && this.app.mode === this) this.search();
  }

  async evaluate(session, node) {
    if (node.position.isEnd()) return this.noteEnd(node);
    const options = { ...this.options(), MultiPV: 1 };
    let last = null;
    await session.search(node, this.tree.fen, `nodes ${SURVEY}`, options, (info) => { last = info; });
    if (last) this.note(node, last);
  }

  noteEnd(node) {
    const { position } = node;
    const isMate = position.isCheckmate();
    const isLost = position.turn === "white";
    node.chance = isMate ? (isLost ? 0 : 1) : 0.5;
    node.score = isMate ? "#" : "0.00";
    node.value = isMate ? { mate: isLost ? -1 : 1 } : { cp: 0 };
  }

  /** Draws at most once for each animation frame. */
  schedule() {
    if (this.scheduled) return;
    this.scheduled = true;
    requestAnimationFrame(() => { this.scheduled = false; this.showLines(); });
  }

  depthText(first) {
    const { position } = this.node;
    if (position.isEnd()) return position.isCheckmate() ? "Checkmate." : "The game is a draw.";
    if (this.surveying) return $("depth").textContent;
    if (!this.isOn) return "Switch the analysis on to see the best lines.";
    if (!first) return "Starting…";
    const speed = first.nps ? ` · ${short(first.nps)} a second` : "";
    return `${this.threat ? "Threat · d" : "D"}epth ${first.depth} · ${short(first.nodes)} nodes${speed}`;
  }

  showLines() {
    if (this.app.mode !== this) return;
    const { node } = this;
    const position = this.searched ?? node.position;
    const infos = this.infos.filter(Boolean);
    if (node.position.isEnd()) this.noteEnd(node);
    setText($("depth"), this.depthText(infos[0]));
    $("threat").setAttribute("aria-pressed", String(this.threat));
    showLines($("best-lines"), infos.map((info) => ({
      key: info.line, score: scoreText(info.score, position.turn), position, ucis: info.moves,
    })));
    if (infos.length && document.activeElement === $("best-lines")) {
      $("best-lines").querySelector("[data-index]")?.focus({ preventScroll: true });
      hidePreview();
    }
    const arrows = infos.map((info) => moveOfUci(position, info.moves[0])).filter(Boolean);
    this.app.board.arrows(arrows, this.threat ? ["red", "red"] : undefined);
    showChance(node.chance, node.score, this.flipped);
    drawGraph($("graph"), this.tree.mainLine(), node);
  }

  /** Names with ratings, the result and the name of the opening. */
  async showGame() {
    const { tree, node } = this;
    const { headers } = tree;
    const known = (name) => headers.get(name)?.replace(/^\?$/, "") ?? "";
    const players = ["White", "Black"].map((side) =>
      `${known(side) || side}${known(`${side}Elo`) ? ` (${known(`${side}Elo`)})` : ""}`);
    showNames(...players, this.flipped);
    const { white, black } = clocksOf(node);
    showClockTexts(clockText(white), clockText(black), this.flipped);
    const name = await openingOf(node);
    if (this.node !== node) return;
    $("opening").hidden = !name;
    setText($("opening"), name);
  }

  resultText() {
    const { headers } = this.tree;
    const result = headers.get("Result");
    if (!result || result === "*") return "";
    const why = headers.get("Termination");
    return `${result.replace("1/2-1/2", "½–½").replace("-", "–")}${why && why !== "normal" ? ` · ${why}` : ""}`;
  }

  show() {
    if (this.app.mode !== this) return;
    const { node } = this;
    $("typed").hidden = false;
    showSteps(!node.parent, node.children.length === 0);
    $("graph-card").hidden = this.tree.root.children.length === 0;
    setText(document.querySelector('[data-do="measure"]'), this.surveying ? "Stop" : "Evaluate every move");
    $("variation-buttons").hidden = !node.parent || isMain(node);
    $("delete-from-here").disabled = !node.parent;
    $("threat").disabled = passed(node.position) === null;
    showMoves($("analyse-moves"), this.tree, node, (chosen) => this.choose(chosen), this.resultText());
    this.app.board.show({ node, movable: true, flipped: this.flipped });
    this.showGame();
    this.showLines();
  }

  enter() {
    this.show();
    this.search();
  }

  restarted() { this.search(); }

  leave() { this.surveying = false; }
}
