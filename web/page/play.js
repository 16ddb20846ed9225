// A game against a level.

import { makeComment } from "./lib/chessops/pgn.js";
import { chess960Fen } from "./chess960.js";
import { Clock } from "./clock.js";
import { Games } from "./games.js";
import { showMoves } from "./moves.js";
import { openingMove } from "./openings.js";
import { INITIAL_FEN, fenOf, moveOfUci, outcome, repetitionKey, spoken } from "./rules.js";
import { moveSound, playSound } from "./sounds.js";
import { showSteps } from "./steps.js";
import { gameOf, liveGames, storeGame, storeLive } from "./store.js";
import { claim, release } from "./tabs.js";
import { bindTime, chosenTime, showTime } from "./timecontrol.js";
import { confirmed } from "./toast.js";
import { Tree, treeOfPgn } from "./tree.js";

const $ = (id) => document.getElementById(id);
/** Minimum milliseconds of a reply: an instant reply is easily overlooked. */
const SHORTEST = 350;
/** Milliseconds after which the page tries again to load an engine. */
const RETRY = 5000;
/** Value of the last step of the slider, which means full strength. */
const FULL = 3300;
const DIFFICULTY = [[800, "Very easy"], [1200, "Easy"], [1600, "Medium"], [2000, "Hard"], [2500, "Very hard"],
  [3299, "Hardly to be beaten"]];
/** Key of the game on the board in the storage of this tab, for a reload of the page. */
const SHOWN = "zoothera-shown";
/** Value of `SHOWN` after a game was put aside: a reload shows the form again. */
const NONE = "none";
/** Plies before which the engine refuses a draw. */
const DRAW_FROM = 30;

const levelText = (level) => (level >= FULL ? "Full strength" : String(level));
const levelHint = (level) => DIFFICULTY.find(([end]) => level <= end)?.[1] ?? "All that this device can do";
const opposite = (side) => (side === "white" ? "black" : "white");

export class Play {
  constructor(app) {
    this.app = app;
    this.tree = new Tree();
    this.node = this.tree.root;
    this.side = "white";
    this.state = "setup";
    this.result = "*";
    this.clock = new Clock("", () => {});
    const { settings } = app;
    $("level").value = settings.get("level");
    showTime(settings.get("time"));
    bindTime();
    /** Position of the next game if it is neither the usual one nor one of Chess960. */
    this.from = null;
    $("start-from").addEventListener("change", ({ target }) => this.chooseStart(target.value));
    $("return").addEventListener("click", () => this.look(this.node));
    document.querySelector(`[name="colour"][value="${settings.get("colour")}"]`).checked = true;
    $("level").addEventListener("input", () => this.showLevel());
    $("setup").addEventListener("submit", (event) => { event.preventDefault(); this.start(); });
    $("panel-play").addEventListener("click", ({ target }) => this.act(target.closest("[data-do]")?.dataset.do));
    $("setup").addEventListener("change", () => this.state === "setup" && this.show());
    this.showLevel();
    this.games = new Games((game) => this.open(game), (id) => this.id === id);
    this.restored = this.restore();
    setInterval(() => this.showClocks(), 100);
    // A reload, or the end of the browser, gives no time back.
    setInterval(() => this.clock.running && this.save(), 1000);
    addEventListener("pagehide", () => this.save());
  }

  get level() { return Number($("level").value); }
  get flipped() { return this.side === "black" ? !this.turned : Boolean(this.turned); }
  get mayMove() { return this.state === "playing" && this.node.position.turn === this.side; }

  showLevel() {
    $("level-text").textContent = levelText(this.level);
    $("level").setAttribute("aria-valuetext", levelText(this.level));
    $("level-hint").textContent = levelHint(this.level);
  }

  act(what) {
    const acts = { takeback: () => this.takeBack(), flip: () => { this.turned = !this.turned; this.show(); },
      resign: () => this.resign(), draw: () => this.offerDraw(), again: () => this.again(), review: () => this.app.review(this.pgn()),
      analyse: () => this.app.analyse(this.pgn(), this.side === "black"),
      copy: () => this.app.copy(this.pgn(), "The game was copied.") };
    acts[what]?.();
  }

  setup() {
    this.shelve();
    this.viewed = null;
    this.state = "setup";
    this.tree = new Tree(this.from ?? INITIAL_FEN);
    this.node = this.tree.root;
    this.clock.stop();
    this.clock = new Clock("", () => {});
    this.show();
    $("start").focus();
  }

  /** Starts over. A game that is going on is put aside after a question. */
  async again() { if (await this.mayLeave()) this.setup(); }

  /** Whether the game on the board may be put aside: there is none, it has no move, or the user agrees. */
  async mayLeave() {
    if (this.state !== "playing" || !this.node.parent) return true;
    return confirmed("A game is going on. It stays in the list of your games.", "New game");
  }

  /** Handles the choice of the first position; "A position" opens the editor. */
  async chooseStart(value) {
    if (value === "board") return this.app.edit(this.from ?? INITIAL_FEN, this.flipped);
    this.from = null;
    this.setup();
  }

  /** Prepares a game from a position. */
  async setupFrom(fen) {
    if (!(await this.mayLeave())) return;
    this.from = fen;
    $("start-from").value = "board";
    this.setup();
  }

  async start() {
    this.shelve();
    this.viewed = null;
    const colour = document.querySelector('[name="colour"]:checked').value;
    this.app.settings.put({ level: this.level, time: chosenTime(), colour });
    this.side = colour === "random" ? (Math.random() < 0.5 ? "white" : "black") : colour;
    this.turned = false;
    this.playing = this.level;
    this.started = Date.now();
    this.id = `${this.started}-${Math.random().toString(36).slice(2, 8)}`;
    this.tree = new Tree($("start-from").value === "chess960" ? chess960Fen() : this.from ?? INITIAL_FEN);
    this.node = this.tree.root;
    this.score = null;
    this.keys = [repetitionKey(this.node.position)];
    this.result = "*";
    this.clock = new Clock(chosenTime(), (side) => this.flag(side));
    this.begin();
    // Focus would open the keyboard of a phone.
    if (matchMedia("(pointer: fine)").matches) $("move").focus({ preventScroll: true });
  }

  /** Continues the game. The board can be used while the engine is loading. */
  begin() {
    this.state = "playing";
    claim(this.id, () => this.lose());
    try { sessionStorage.setItem(SHOWN, this.id); } catch { /* Storage is off: a reload shows the newest game. */ }
    this.next();
  }

  /** The game as it is stored. */
  record() {
    const { id, started, side, playing, clock, result, reason } = this;
    return { id, started, side, level: playing, opponent: levelText(playing), control: clock.control, left: clock.now(),
      moves: Math.ceil(this.node.ply / 2), pgn: this.pgn(), result, reason };
  }

  /** Stores the game that is going on. */
  save() { if (this.state === "playing") storeLive(this.record()); }

  /** Puts the game on the board aside. It can be continued from the list, but not by a reload. */
  shelve() {
    if (this.state === "playing") storeLive({ ...this.record(), isAside: true });
    this.clock.stop();
    if (!this.id) return;
    release(this.id);
    this.id = null;
    try { sessionStorage.setItem(SHOWN, NONE); } catch { /* Storage is off. */ }
    this.games.refresh();
    this.halt();
  }

  /** Stops the search of the game on the board. */
  async halt() { if (this.app.isOpen("play")) await (await this.app.engine("play")).stop(); }

  /** Shows the game that this tab had before a reload, or else continues the newest unfinished one. */
  async restore() {
    let shown = null;
    try { shown = sessionStorage.getItem(SHOWN); } catch { /* Storage is off. */ }
    await this.games.refresh();
    if (shown === NONE) return;
    const game = (shown && await gameOf(shown)) ?? liveGames().find(({ isAside }) => !isAside);
    // A first click may have started another game.
    if (game && this.state === "setup") await this.open(game, true);
  }

  /** Opens a stored game: continues it, or shows it if it is over. */
  async open(game, isRestored = false) {
    if (game.result === "*" && !(await this.mayContinue(game, isRestored))) return;
    if (game.id !== this.id) this.shelve();
    let tree;
    try { tree = treeOfPgn(game.pgn); } catch { tree = new Tree(); }
    const node = tree.mainLine().at(-1);
    const keys = tree.mainLine().map(({ position }) => repetitionKey(position));
    Object.assign(this, { tree, node, keys, viewed: null, id: game.id, started: game.started, side: game.side,
      playing: game.level, result: game.result, reason: game.reason });
    this.clock = new Clock(game.control, (side) => this.flag(side), game.left);
    if (game.result === "*") this.begin();
    else this.state = "over";
    try { sessionStorage.setItem(SHOWN, this.id); } catch { /* Storage is off. */ }
    this.show();
    this.games.refresh();
  }

  /** Whether this tab may continue a game. If another one has it open, the user can take it over. */
  async mayContinue({ id }, isRestored) {
    if (await claim(id, () => this.lose())) return true;
    if (isRestored) {
      this.notice = "Your game is open in another tab. Continue it there, or choose it in the list of your games to continue it here.";
      if (this.app.mode === this) this.enter();
      return false;
    }
    return (await confirmed("This game is open in another tab.", "Continue it here")) && claim(id, () => this.lose(), true);
  }

  /** Called when another tab has taken the game over. */
  lose() {
    if (this.state !== "playing") return;
    // Not stored: the other tab has the current state.
    this.state = "lost";
    this.id = null;
    this.halt();
    this.setup();
    this.app.alert("Your game is continued in another tab.");
  }

  /** Starts the search of the side to move, or ends the game. */
  next() {
    const over = outcome(this.node.position, this.keys);
    if (over) return this.end(...over);
    this.save();
    this.show();
    if (!this.mayMove) this.reply();
    else {
      this.startClock(this.node);
      if (this.app.mode === this) this.app.board.playPremove();
    }
  }

  /** Starts the clock of the side to move as soon as the engine is loaded. Returns the engine, or `null` if the game went on. */
  async startClock(node) {
    try {
      const session = await this.app.engine("play");
      if (session.game !== this.id) {
        session.game = this.id;
        await session.newGame();
      }
      if (this.state !== "playing" || this.node !== node) return null;
      this.isLoaded = true;
      if (!this.clock.running) this.clock.start(node.position.turn);
      this.show();
      return session;
    } catch (error) {
      this.app.alert(error);
      this.retryLater(node);
      return null;
    }
  }

  /** Tries again to load the engine, so that a game outlives an interrupted connection. */
  retryLater(node) {
    clearTimeout(this.retrying);
    this.retrying = setTimeout(() => {
      if (this.node !== node || this.state !== "playing") return;
      this.app.alert("");
      this.restarted();
    }, RETRY);
  }

  /** Makes the engine move. If the engine ends, it is started once more. */
  async reply(isSecond = false) {
    const node = this.node;
    const begin = performance.now();
    if (!this.isLoaded) this.replyFromTable(node);
    try {
      const session = await this.startClock(node);
      if (!session) return;
      const isFull = this.playing >= FULL;
      const options = { UCI_AnalyseMode: false, UCI_LimitStrength: !isFull, MultiPV: 1 };
      if (!isFull) options.UCI_Elo = this.playing;
      const limits = this.clock.isOn ? this.clock.limits() : "movetime 2000";
      const best = await session.search(node, this.tree.fen, limits, options, ({ score }) => { this.score = score; });
      if (!best || this.state !== "playing" || this.node !== node) return;
      await new Promise((resolve) => setTimeout(resolve, begin + SHORTEST - performance.now()));
      if (this.state !== "playing" || this.node !== node) return;
      this.answer(node, moveOfUci(node.position, best));
    } catch (error) {
      this.app.alert(error);
      if (!isSecond) return this.reply(true);
      this.end("*", "The engine stopped, so the game cannot be continued.");
    }
  }

  /** Plays a move of a named opening while the engine is loading. */
  async replyFromTable(node) {
    const [move] = await Promise.all([openingMove(node.position), new Promise((resolve) => setTimeout(resolve, SHORTEST))]);
    if (move && !this.isLoaded && this.state === "playing" && this.node === node) this.answer(node, move);
  }

  answer(node, move) {
    this.append(move);
    this.app.say(`${node.position.turn === "white" ? "White" : "Black"} plays ${spoken(this.node.san)}.`);
    if (this.app.mode !== this) this.app.toast(`Your game: Zoothera plays ${this.node.san}.`);
    this.next();
  }

  /** Called when the engine has new settings; its search is lost. */
  restarted() {
    if (this.state !== "playing") return;
    if (this.mayMove) this.startClock(this.node);
    else this.reply();
  }

  append(move) {
    this.clock.press();
    const side = this.node.position.turn;
    this.node = this.tree.play(this.node, move);
    if (this.clock.isOn) this.node.comments = [makeComment({ clock: Math.max(0, this.clock.of(side)) / 1000 })];
    this.viewed = null;
    this.keys.push(repetitionKey(this.node.position));
    moveSound(this.node.san);
  }

  /** Handles a legal move of the user on the board. */
  move(move) {
    if (!this.mayMove) return;
    this.append(move);
    this.next();
  }

  /** Takes back the user's last move and the reply. */
  async takeBack() {
    if (this.state !== "playing") return;
    const node = this.node.position.turn === this.side ? this.node.parent?.parent : this.node.parent;
    if (!node) return;
    this.node = node;
    this.viewed = null;
    this.tree.cut(node);
    this.keys.length = node.ply + 1;
    this.app.say("The last move was taken back.");
    const hadFocus = document.activeElement === document.querySelector('[data-do="takeback"]');
    this.show();
    if (hadFocus && document.querySelector('[data-do="takeback"]').disabled) $("play-moves").focus({ preventScroll: true });
    this.clock.stop();
    await this.halt();
    if (this.node !== node) return;
    await this.startClock(node);
    this.save();
  }

  /** Offers a draw. The engine accepts unless it is ahead or the game has just begun. */
  offerDraw() {
    if (!this.mayMove) return this.app.toast("Offer a draw when it is your turn.");
    const isAhead = !this.score || (this.score.kind === "mate" ? this.score.value > 0 : this.score.value > 0);
    if (isAhead || this.node.ply < DRAW_FROM) return this.app.toast("Zoothera declines the draw.");
    return this.end("1/2-1/2", "Draw by agreement.");
  }

  async resign() {
    if (this.state !== "playing") return;
    const { tree } = this;
    if (!(await confirmed("Resign this game?", "Resign")) || this.tree !== tree) return;
    if (this.state !== "playing") return;
    this.end(this.side === "white" ? "0-1" : "1-0", "You resigned.");
  }

  flag(side) {
    const canMate = !this.node.position.hasInsufficientMaterial(opposite(side));
    const name = side === this.side ? "Your" : "Zoothera's";
    if (!canMate) this.end("1/2-1/2", `${name} time is over, but there is nothing to mate with: a draw.`);
    else this.end(side === "white" ? "0-1" : "1-0", `${name} time is over.`);
  }

  async end(result, reason) {
    this.clock.stop();
    this.state = "over";
    this.result = result;
    this.reason = reason;
    const game = this.record();
    // The store of finished games answers later, and the page may close before.
    storeLive(game);
    this.show();
    if (this.app.mode !== this) this.app.toast(`Your game: ${this.statusText()}`);
    this.keepFocus();
    playSound("end");
    await storeGame(game);
    this.games.refresh();
    await this.halt();
  }

  /** Moves the focus from a control that the end of the game has hidden. */
  keepFocus() {
    const { activeElement: at } = document;
    if (this.app.mode === this && !at.checkVisibility()) $("over-buttons").querySelector("button").focus({ preventScroll: true });
  }

  pgn() {
    const engine = `Zoothera ${levelText(this.playing)}`;
    const names = this.side === "white" ? ["You", engine] : [engine, "You"];
    const date = new Date(this.started).toISOString().slice(0, 10).replaceAll("-", ".");
    const headers = { Event: "Game on this device", Date: date, White: names[0], Black: names[1], Result: this.result };
    if (this.clock.isOn) headers.TimeControl = `${this.clock.minutes * 60}+${this.clock.increment / 1000}`;
    return this.tree.pgn(new Map(Object.entries(headers)));
  }

  /** Shows an earlier position; the game continues from its last one. */
  go(where) {
    if (where === "flip") return this.act("flip");
    const at = this.viewed ?? this.node;
    this.look({ first: this.tree.root, back: at.parent, on: at.children[0], last: this.node }[where] ?? at);
  }

  look(node) {
    this.viewed = node === this.node ? null : node;
    this.show();
  }

  showClocks() {
    for (const [place, side] of [["top", this.flipped ? "white" : "black"], ["bottom", this.flipped ? "black" : "white"]]) {
      const clock = document.querySelector(`#player-${place} .clock`);
      if (this.app.mode !== this) continue;
      clock.hidden = !this.clock.isOn;
      const text = this.clock.isOn ? this.clock.text(side) : "";
      if (clock.textContent !== text) clock.textContent = text;
      clock.classList.toggle("running", this.clock.running === side);
      clock.classList.toggle("short", this.clock.isOn && this.clock.of(side) < 20000);
    }
  }

  statusText() {
    const result = this.result.replace("1/2-1/2", "½–½").replace("-", "–").replace("*", "");
    if (this.state === "over") return `${this.reason} ${result}`;
    if (!this.mayMove && !this.isLoaded) return "Zoothera replies as soon as it is loaded.";
    return this.mayMove ? (this.node.position.isCheck() ? "Check. Your move." : "Your move.") : "Zoothera is thinking…";
  }

  show() {
    if (this.app.mode !== this) return;
    const isSetup = this.state === "setup";
    if (isSetup) this.side = document.querySelector('[name="colour"]:checked').value === "black" ? "black" : "white";
    $("setup").hidden = !isSetup;
    $("playing").hidden = isSetup;
    $("play-buttons").hidden = $("typed").hidden = this.state !== "playing";
    $("over-buttons").hidden = this.state !== "over";
    const engine = isSetup ? "Zoothera" : `Zoothera · ${levelText(this.playing)}`;
    const names = this.flipped === (this.side === "black") ? [engine, "You"] : ["You", engine];
    ["top", "bottom"].forEach((place, i) => { document.querySelector(`#player-${place} .name`).textContent = names[i]; });
    const status = this.statusText();
    if ($("status").textContent !== status) $("status").textContent = status;
    $("status").classList.toggle("over", this.state === "over");
    const takeBack = document.querySelector('[data-do="takeback"]');
    takeBack.disabled = this.state !== "playing" || this.node.ply < (this.side === "white" ? 1 : 2);
    const node = this.viewed ?? this.node;
    $("return").hidden = !this.viewed;
    if (this.viewed) $("return").textContent = `This is an earlier position. Back to move ${this.node.parent.position.fullmoves}`;
    showSteps(!node.parent, node === this.node);
    const result = this.state === "over" ? this.result.replace("1/2-1/2", "½–½").replace("-", "–").replace("*", "") : "";
    showMoves($("play-moves"), this.tree, node, (chosen) => this.look(chosen), result);
    const premover = this.state === "playing" && !this.viewed ? this.side : null;
    this.app.board.show({ node, movable: this.mayMove && !this.viewed, flipped: this.flipped, premover });
    this.showClocks();
  }

  enter() {
    this.show();
    if (this.notice) this.app.alert(this.notice);
    this.notice = "";
  }

  leave() {}
}
