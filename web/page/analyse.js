// Analysis: lines, arrows, evaluation bar and graph.

import { showChance } from "./board.js";
import { chanceOf, scoreText } from "./engine.js";
import { drawGraph } from "./graph.js";
import { element, showMoves } from "./moves.js";
import { fenOf, lineText, moveOfUci, spoken } from "./rules.js";
import { pickGame } from "./picker.js";
import { readState, writeState } from "./store.js";
import { Tree, gamesOfPgn, isFen, treeOfGame, treeOfPgn } from "./tree.js";

const $ = (id) => document.getElementById(id);
/** Nodes for each move of "Evaluate every move". */
const SURVEY = 60000;

export class Analyse {
  constructor(app) {
    this.app = app;
    this.tree = new Tree();
    this.node = this.tree.root;
    this.flipped = false;
    this.infos = [];
    $("lines").value = app.settings.get("lines");
    $("analysing").checked = app.settings.get("analysing");
    $("analysing").addEventListener("change", () => { app.settings.put({ analysing: this.isOn }); this.search(); });
    addEventListener("pagehide", () => this.keep());
    $("lines").addEventListener("change", () => { app.settings.put({ lines: Number($("lines").value) }); this.search(); });
    $("load-form").addEventListener("submit", (event) => { event.preventDefault(); this.loadText($("load-text").value); });
    $("panel-analyse").addEventListener("click", ({ target }) => this.go(target.closest("[data-do]")?.dataset.do));
    $("graph").addEventListener("click", ({ clientX }) => {
      const { left, width } = $("graph").getBoundingClientRect();
      const line = this.tree.mainLine();
      this.choose(line[Math.round(((clientX - left) / width) * (line.length - 1))]);
    });
  }

  get isOn() { return $("analysing").checked; }

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
    this.isChanged = true;
    this.tree = tree;
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
    writeState("analysis", { pgn: this.tree.pgn(), path: Tree.pathOf(this.node), flipped: this.flipped });
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
    this.node = this.tree.at(stored.path);
    this.flipped = stored.flipped;
    if (this.app.mode === this) this.enter();
  }

  move(move) {
    this.choose(this.tree.play(this.node, move));
    this.app.say(`${spoken(this.node.san)}.`);
  }

  choose(node) {
    this.surveying = false;
    this.node = node;
    this.isChanged = true;
    this.keepSoon();
    this.infos = [];
    this.show();
    this.search();
  }

  go(where) {
    const { node } = this;
    const steps = { first: this.tree.root, back: node.parent, on: node.children[0], last: this.end() };
    if (where in steps) return steps[where] && this.choose(steps[where]);
    const acts = { flip: () => { this.flipped = !this.flipped; this.show(); }, measure: () => this.survey(),
      reset: () => this.load(new Tree()), "copy-fen": () => this.app.copy(fenOf(node.position), "The position was copied."),
      "copy-pgn": () => this.app.copy(this.tree.pgn(), "The game was copied.") };
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
    const { node } = this;
    try {
      if (!this.isOn || node.position.isEnd()) {
        if (this.app.hasSession) await (await this.app.session()).stop();
        return this.showLines();
      }
      const session = await this.app.session();
      if (this.node !== node || this.app.mode !== this || !this.isOn) return;
      await session.search(node, this.tree.fen, "infinite", this.options(), (info) => {
        if (info.isBound || this.node !== node) return;
        this.infos[info.line - 1] = info;
        this.infos.length = Math.min(this.infos.length, Number($("lines").value));
        if (info.line === 1) this.note(node, info);
        this.schedule();
      });
    } catch (error) {
      $("analysing").checked = false;
      this.app.alert(error);
    }
  }

  note(node, info) {
    node.chance = chanceOf(info, node.position.turn);
    node.score = scoreText(info.score, node.position.turn);
  }

  /** Evaluates every position of the main line for the graph. */
  async survey() {
    this.surveying = true;
    $("analysing").checked = false;
    const line = this.tree.mainLine();
    try {
      const session = await this.app.session();
      for (const [index, node] of line.entries()) {
        if (!this.surveying) return;
        $("depth").textContent = `Evaluating move ${index} of ${line.length - 1}…`;
        if (node.position.isEnd()) this.noteEnd(node);
        else {
          const options = { ...this.options(), MultiPV: 1 };
          await session.search(node, this.tree.fen, `nodes ${SURVEY}`, options, (info) => this.note(node, info));
        }
        drawGraph($("graph"), line, this.node);
      }
      this.surveying = false;
      this.show();
    } catch (error) {
      this.app.alert(error);
    }
  }

  noteEnd(node) {
    const { position } = node;
    node.chance = position.isCheckmate() ? (position.turn === "white" ? 0 : 1) : 0.5;
    node.score = position.isCheckmate() ? "#" : "0.00";
  }

  /** Draws at most once for each animation frame. */
  schedule() {
    if (this.scheduled) return;
    this.scheduled = true;
    requestAnimationFrame(() => { this.scheduled = false; this.showLines(); });
  }

  showLines() {
    if (this.app.mode !== this) return;
    const { node } = this;
    const { position } = node;
    const infos = this.infos.filter(Boolean);
    const [first] = infos;
    if (position.isEnd()) {
      this.noteEnd(node);
      $("depth").textContent = position.isCheckmate() ? "Checkmate." : "The game is a draw.";
    } else if (first) {
      const speed = first.nps ? ` · ${Math.round(first.nps / 1000)} k positions a second` : "";
      $("depth").textContent = `Depth ${first.depth}${speed}`;
    } else if (!this.surveying) {
      $("depth").textContent = this.isOn ? "Starting…" : "Switch the analysis on to see the best lines.";
    }
    $("best-lines").replaceChildren(...infos.map((info) => {
      const made = element("button", { type: "button" }, element("b", {}, scoreText(info.score, position.turn)), " ",
        element("span", {}, lineText(position, info.moves.slice(0, 14))));
      made.addEventListener("click", () => this.move(moveOfUci(position, info.moves[0])));
      return element("li", {}, made);
    }));
    this.app.board.arrows(infos.map((info) => moveOfUci(position, info.moves[0])).filter(Boolean));
    showChance(node.chance, node.score, this.flipped);
    drawGraph($("graph"), this.tree.mainLine(), node);
  }

  show() {
    if (this.app.mode !== this) return;
    const names = ["White", "Black"].map((side) => this.tree.headers.get(side)?.replace(/^\?$/, "") || side);
    if (!this.flipped) names.reverse();
    ["top", "bottom"].forEach((place, i) => {
      document.querySelector(`#player-${place} .name`).textContent = names[i];
      document.querySelector(`#player-${place} .clock`).hidden = true;
    });
    $("typed").hidden = false;
    const isFirst = !this.node.parent;
    const isLast = this.node === this.end();
    for (const [what, isOff] of Object.entries({ first: isFirst, back: isFirst, on: isLast, last: isLast })) {
      document.querySelector(`#panel-analyse [data-do="${what}"]`).disabled = isOff;
    }
    $("graph-card").hidden = this.tree.root.children.length === 0;
    showMoves($("analyse-moves"), this.tree, this.node, (node) => this.choose(node));
    this.app.board.show({ node: this.node, movable: true, flipped: this.flipped });
    this.showLines();
  }

  enter() {
    this.show();
    this.search();
  }

  restarted() { this.search(); }

  leave() { this.surveying = false; }
}
