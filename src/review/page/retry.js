// Try again: the position before a mistake, in which a move on the board or as text is judged.
class Retry {
  /** `before` is the position before the mistake, `mistake` the one after it. */
  constructor(game, before, mistake) {
    Object.assign(this, { game, before, mistake });
    this.element = game.article.querySelector(".retry");
    this.choices = this.element.querySelector(".choices");
    this.input = this.element.querySelector("input");
    this.ask();
  }

  /** Waits for a move. */
  ask() {
    this.from = null;
    this.tried = null;
    this.input.value = "";
    this.choices.hidden = true;
    const side = this.before.fen.split(" ")[1] === "w" ? "White" : "Black";
    this.say(`${side} to move: find a better move than ${this.mistake.text}.`, "");
    this.draw();
  }

  say(task, answer) {
    this.element.querySelector(".task").textContent = task;
    this.element.querySelector(".answer").textContent = answer;
    this.element.querySelector(".answer").className = "answer " + (this.tried?.class ?? "");
    this.element.querySelector(".retry-buttons [data-go=retry]").hidden = !this.tried;
    // A try without a bad mark is right: on to the next mistake.
    const right = this.tried && ["", "mark-only"].includes(this.tried.class);
    const next = this.element.querySelector(".retry-buttons [data-go=next-try]");
    next.hidden = !right && !this.game.mine;
    next.textContent = this.game.tryFrom(this.game.ply) === null ? "That was the last mistake" : "Next mistake";
  }

  draw() {
    const { tried, from, before } = this;
    const fen = tried ? tried.fen : before.fen;
    const targets = from ? this.starting(from).flatMap((move) => move.to) : [];
    const played = tried ? [tried.from, tried.to[0]] : from ? [from] : [];
    this.game.paint({ fen, played, targets }, tried ? tried.chance : before.chance);
  }

  starting(from) { return this.mistake.tries.filter((move) => move.from === from); }

  /** A square of the board was clicked. */
  press(square) {
    if (this.tried) return;
    const moves = this.from ? this.starting(this.from).filter((move) => move.to.includes(square)) : [];
    if (moves.length > 1) return this.promote(moves);
    if (moves.length === 1) return this.judge(moves[0]);
    this.from = square !== this.from && this.starting(square).length > 0 ? square : null;
    this.choices.hidden = true;
    this.draw();
  }

  /** Asks for the piece that a pawn becomes. */
  promote(moves) {
    const names = { Q: "Queen", R: "Rook", B: "Bishop", N: "Knight" };
    this.choices.replaceChildren(...moves.map((move) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = names[move.promotion] ?? move.san;
      button.addEventListener("click", () => this.judge(move));
      return button;
    }));
    this.choices.hidden = false;
  }

  /** A move as text: SAN with or without its signs, or coordinates. */
  type(text) {
    const bare = (move) => move.replace(/[x+#=?!.\s-]/g, "").replace(/0/g, "O");
    const [wanted, { tries }] = [bare(text), this.mistake];
    const names = ({ san, from, to, promotion }) => [san, ...to.map((square) => from + square + (promotion ?? ""))];
    const same = (fold) => tries.filter((move) => names(move).some((name) => fold(bare(name)) === fold(wanted)));
    const exact = same((name) => name);
    const found = exact.length ? exact : same((name) => name.toLowerCase());
    if (found.length === 1) return this.judge(found[0]);
    const wrong = found.length ? "can be several moves: add its square or piece." : "is not a legal move here.";
    this.say(this.element.querySelector(".task").textContent, `${text} ${wrong}`);
  }

  judge(move) {
    this.from = null;
    this.tried = move;
    this.choices.hidden = true;
    this.say("", move.text);
    this.draw();
  }
}
