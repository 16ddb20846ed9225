// Try again: the position before a mistake, in which a move is asked for and judged.

import { button, glyph, markOf, numbered } from "./report.js";
import { element } from "./keyed.js";
import { glyphName, valueText, whiteView } from "./marks.js";
import { fenOf, uciOf } from "./rules.js";
import { moveSound } from "./sounds.js";
import { Tree } from "./tree.js";

export class Retry {
  /** `review` is the review that shows it; `node` is the position after the mistake. */
  constructor(review, node) {
    this.review = review;
    this.node = node;
    this.verdict = null;
  }

  /** Waits for a move. Answers can be repeated. */
  ask() {
    const { node } = this;
    this.verdict = null;
    this.shown = { node: node.parent, movable: true };
    this.review.show();
  }

  /** The value of a move if the review has it, so that both give the same figures; otherwise it is searched. */
  async valueOf(scratch, tried) {
    const { report } = this.node;
    const uci = uciOf(tried.move);
    const isSame = (other) => this.review.game.movesOf(this.node.parent, [other]).some((move) => uciOf(move) === uci);
    if (isSame(report.uci)) return this.node.value;
    const line = report.better.find((better) => isSame(better.uci[0]));
    if (line) return line.eval;
    const { position } = tried;
    if (position.isCheckmate()) return { mate: position.turn === "white" ? -1 : 1 };
    if (position.isEnd()) return { cp: 0 };
    const session = await this.review.app.session();
    let last = null;
    const options = { UCI_AnalyseMode: true, UCI_LimitStrength: false, MultiPV: 1 };
    await session.search(tried, scratch.fen, `nodes ${this.review.nodes}`, options, (info) => { last = info; });
    return last && whiteView(last.score, position.turn);
  }

  /** Judges a move and shows the verdict. */
  async judge(move) {
    const { report, parent } = this.node;
    const scratch = new Tree(fenOf(parent.position));
    const tried = scratch.play(scratch.root, move);
    moveSound(tried.san);
    this.shown = { node: tried, movable: false };
    this.verdict = [element("p", { class: "verdict" }, `${tried.san}: searching…`)];
    this.review.show();
    const value = await this.valueOf(scratch, tried);
    if (this.review.retry !== this || this.shown.node !== tried || !value) return;
    const best = report.better[0].eval;
    const mark = markOf(best, value, report.side);
    const isBest = this.review.game.movesOf(parent, report.better[0].uci.slice(0, 1)).some((other) => uciOf(other) === uciOf(move));
    const judgement = isBest ? " is the best move." : mark ? ` is ${mark === "?!" ? "an" : "a"} ${glyphName(mark)}.` : " is a good move.";
    const again = uciOf(move) === uciOf(this.node.move) ? " It is the move of the game." : "";
    const text = element("p", { class: "verdict" }, `${tried.san} `, ...(mark ? [glyph(mark)] : []), judgement, again);
    this.verdict = [text, element("p", { class: "hint" }, `${valueText(value)} after ${tried.san}, ${valueText(best)} with the best move.`)];
    this.review.app.say(text.textContent);
    this.review.show();
  }

  /** Fills the note. */
  show(place) {
    const side = this.node.report.side === "white" ? "White" : "Black";
    const task = element("p", { class: "verdict" }, `${side} to move: find a better move than ${numbered(this.node.report)}.`);
    const acts = [...(this.verdict ? [button("another", "Another move")] : []), button("answer", "Show the better line"), button("leave", "Back to the game")];
    place.replaceChildren(...(this.verdict ?? [task]), element("div", { class: "buttons" }, ...acts));
    if (document.activeElement === document.body) place.focus({ preventScroll: true });
  }
}
