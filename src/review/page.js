// The board that moves. Everything else on the page can be read without this.

/** A game on the page. */
class Game {
  constructor(article) {
    this.article = article;
    this.number = Number(article.dataset.number);
    this.positions = JSON.parse(article.querySelector("script").textContent);
    this.svg = article.querySelector(".stage .board");
    this.notes = new Map([...article.querySelectorAll("[data-note]")].map((note) => [Number(note.dataset.note), note]));
    this.flipped = article.dataset.side === "black";
    this.mine = false;
    this.painted = null;
    article.addEventListener("click", (event) => this.clicked(event));
    this.svg.addEventListener("click", ({ clientX, clientY }) =>
      this.retry?.press(squareAt(this.svg, clientX, clientY, this.flipped)));
    article.querySelector(".typed").addEventListener("submit", (event) => {
      event.preventDefault();
      this.retry?.type(event.target.elements.move.value.trim());
    });
    this.show(0);
  }

  part(selector) { return this.article.querySelector(selector); }

  clicked({ target }) {
    const button = target.closest("[data-go]");
    const link = target.closest("[data-ply]");
    if (button?.dataset.ply) this.show(Number(button.dataset.ply));
    if (button) this.go(button.dataset.go);
    else if (link) this.follow(link.dataset);
    if (target.closest(".moment, .other, .graph-place") && (link || button)) this.reveal();
  }

  /** Scrolls the page unless board, mark and reason are in sight. On a phone they fit into the window together. */
  reveal() {
    const ends = [".stage", ".note .verdict:not([hidden] *), .note .task"].map((part) => this.part(part).getBoundingClientRect());
    const inSight = ends[0].top >= 0 && Math.max(ends[0].bottom, ends[1].bottom + 80) <= innerHeight;
    if (!inSight) this.part(".view").scrollIntoView({ block: "start" });
  }

  /** Shows the position of a move of the game, or of a better line. */
  follow({ ply, line, step }) {
    if (line === undefined) this.show(Number(ply));
    else this.play(Number(ply), Number(line), Number(step));
  }

  go(where) {
    if (where === "flip") return this.flip();
    if (where === "better" || where === "answer") return this.alternate();
    if (where === "retry") return this.tryAgain();
    if (where === "mine") return this.tryAll();
    if (where === "next-try") return this.tryNext();
    if (where === "next" || where === "previous") return this.seek(where === "next" ? 1 : -1);
    if (this.line !== null) return this.goInLine(where);
    const last = this.positions.length - 1;
    this.show({ first: 0, back: this.ply - 1, on: this.ply + 1, last }[where] ?? this.ply);
  }

  flip() {
    this.flipped = !this.flipped;
    this.paint(...this.painted);
  }

  /** The next mistake in a direction, or none. */
  mistakeFrom(ply, direction) {
    for (let at = ply + direction; at >= 0 && at < this.positions.length; at += direction) {
      if (this.positions[at].mistake) return at;
    }
    return null;
  }

  seek(direction) {
    const found = this.mistakeFrom(this.ply, direction);
    if (found !== null) this.show(found);
  }

  /** The first better line, the next one, or after the last the game again. */
  alternate() {
    const next = this.line === null ? 0 : this.line + 1;
    if (next < this.positions[this.ply].lines.length) this.play(this.ply, next, 0);
    else this.show(this.ply);
  }

  /** Within a line. Before its first move comes the game. */
  goInLine(where) {
    const last = this.positions[this.ply].lines[this.line].steps.length - 1;
    const step = { back: this.step - 1, on: Math.min(this.step + 1, last), last }[where];
    if (where === "first") this.show(0);
    else if (where === "leave") this.show(this.ply);
    else if (step < 0) this.show(this.ply - 1);
    else this.play(this.ply, this.line, step);
  }

  /** Hides the better line and waits for a move in place of the mistake. */
  tryAgain() {
    if (this.retry) return this.retry.ask();
    if (this.positions[this.ply].tries.length === 0) return;
    this.enter("retry");
    this.retry = new Retry(this, this.positions[this.ply - 1], this.positions[this.ply]);
    this.mark();
  }

  /** The next mistake that can be tried again: of the side at the bottom, if only its mistakes are wanted. */
  tryFrom(ply) {
    const side = this.flipped ? "b" : "w";
    const wanted = ({ tries }, at) => tries.length > 0 && (!this.mine || this.positions[at - 1].fen.split(" ")[1] === side);
    const found = this.positions.findIndex((position, at) => at > ply && wanted(position, at));
    return found < 0 ? null : found;
  }

  /** Begins with the first mistake of the side at the bottom. */
  tryAll() {
    this.mine = true;
    const first = this.tryFrom(0);
    if (first === null) { this.mine = false; return; }
    this.show(first);
    this.tryAgain();
  }

  tryNext() {
    const next = this.tryFrom(this.ply);
    if (next === null) { this.mine = false; return this.show(this.ply); }
    this.show(next);
    this.tryAgain();
  }

  /** Changes what is shown beside the board: a `note`, a `line`, or the place to `retry`. */
  enter(mode) {
    this.retry = null;
    this.line = null;
    this.article.classList.toggle("retrying", mode === "retry");
    this.part(".retry").hidden = mode !== "retry";
    this.part(".status").hidden = mode !== "line";
    this.notes.forEach((note, ply) => { note.hidden = mode === "retry" || ply !== this.ply; });
  }

  /** Shows a position of the game. */
  show(ply) {
    this.ply = Math.min(Math.max(ply, 0), this.positions.length - 1);
    this.enter("note");
    const position = this.positions[this.ply];
    this.paint(position, position.chance);
    this.mark();
    this.linked();
  }

  /** Shows a position of a better line. */
  play(ply, line, step) {
    this.ply = ply;
    this.enter("line");
    Object.assign(this, { line, step });
    const position = this.positions[ply];
    const { eval: score, steps } = position.lines[line];
    const moves = steps.slice(0, step + 1).map((move) => move.text).join(" ");
    this.part(".status").textContent = `${position.title} (${score}): ${moves}${step + 1 < steps.length ? " …" : ""}`;
    this.paint(steps[step], position.line_chances[line]);
    this.mark();
    this.linked();
  }

  /** Draws a board and White's chance in percent; `null` if it is unknown. */
  paint(position, chance) {
    this.painted = [position, chance];
    drawBoard(this.svg, position, this.flipped);
    this.part(".stage").classList.toggle("flipped", this.flipped);
    const bar = this.part(".bar");
    bar.classList.toggle("unknown", chance === null);
    bar.setAttribute("aria-valuenow", Math.round(chance ?? 50));
    bar.title = chance === null ? "" : `White's winning chances: ${Math.round(chance)} %`;
    this.part(".bar-white").style.height = `${chance ?? 50}%`;
  }

  /** Marks the move in lists and graphs, and enables buttons. */
  mark() {
    const position = this.positions[this.ply];
    const set = (go, enabled) => { this.part(`.controls [data-go="${go}"]`).disabled = !enabled; };
    set("better", position.lines.length > 0);
    set("retry", position.tries.length > 0);
    set("mine", this.positions.some(({ mistake, tries }) => mistake && tries.length > 0));
    set("next", this.mistakeFrom(this.ply, 1) !== null);
    set("previous", this.mistakeFrom(this.ply, -1) !== null);
    this.part('.controls [data-go="better"]').setAttribute("aria-pressed", String(this.line !== null));
    this.part('.controls [data-go="retry"]').setAttribute("aria-pressed", String(this.retry !== null));
    this.part(".cursor").setAttribute("x", 10 * this.ply);
    ["white", "black"].forEach((side, i) => {
      const clock = this.part(`.player.${side} .clock`);
      if (clock) clock.textContent = position.clocks[i] ?? "";
    });
    this.article.querySelectorAll("[aria-current]").forEach((move) => move.removeAttribute("aria-current"));
    const step = `.line [data-ply="${this.ply}"][data-line="${this.line}"][data-step="${this.step}"]`;
    this.article.querySelectorAll(step).forEach((move) => move.setAttribute("aria-current", "true"));
    this.scrollTo(this.part(`.list [data-ply="${this.ply}"]`));
  }

  /** Marks a move of the list and scrolls the list, but not the page. */
  scrollTo(move) {
    const list = this.part(".moves");
    if (!move) { list.scrollTop = 0; return; }
    move.setAttribute("aria-current", "true");
    // Offsets are counted from the list, because it is positioned.
    const top = move.offsetTop;
    const seen = top >= list.scrollTop && top <= list.scrollTop + list.clientHeight - 40;
    if (!seen) list.scrollTop = top - 60;
  }

  /** Puts the position into its link and, if this game is shown, into the address. */
  linked() {
    const fragment = `#game=${this.number}&ply=${this.ply}`;
    this.part(".permalink").href = fragment;
    if (this !== current) return;
    try { history.replaceState(null, "", fragment); } catch { /* Some hosts allow no addresses. */ }
  }
}

let current = null;
document.documentElement.classList.add("live");
const games = [...document.querySelectorAll("article.game")].map((article) => new Game(article));
const choose = document.getElementById("games");

/** Shows one of the games. */
const select = (index) => {
  current = games[index];
  games.forEach((game) => game.article.classList.toggle("away", game !== current));
  if (choose) choose.value = String(index);
};

/** Shows the game and ply of the address, such as #game=2&ply=14. */
const restore = () => {
  const wanted = new URLSearchParams(location.hash.slice(1));
  const index = games.findIndex((game) => game.number === Number(wanted.get("game")));
  if (index < 0) return;
  select(index);
  const ply = Number(wanted.get("ply")) || 0;
  current.show(ply);
  // A link to a position leads to the board, below the text about the whole game.
  if (ply > 0) current.part(".view").scrollIntoView({ block: "start" });
};

select(0);
restore();
addEventListener("hashchange", restore);
choose?.addEventListener("change", () => { select(Number(choose.value)); current.linked(); });

const STEPS = { ArrowLeft: "back", ArrowRight: "on", Home: "first", End: "last", Escape: "leave" };
const LETTERS = { f: "flip", b: "better", n: "next", p: "previous", t: "retry", m: "mine" };
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  // Steps work wherever the focus is; letters are text in a field.
  const isField = event.target.matches?.("input");
  const where = STEPS[event.key] ?? (isField ? undefined : LETTERS[event.key.toLowerCase()]);
  if (!where) return;
  event.preventDefault();
  current.go(where);
  if (where === "retry" && current.retry) current.retry.input.focus();
});
