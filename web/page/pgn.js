// Reads games in PGN. Each word of a game is kept, so that a move in an unknown notation is reported: a reader that skips
// what it does not know would turn "Sf3" into the pawn's move f3.

const GLYPHS = { "!": 1, "?": 2, "!!": 3, "??": 4, "!?": 5, "?!": 6, "□": 7, "=": 10, "∞": 13, "+=": 14, "⩲": 14, "=+": 15, "⩱": 15,
  "±": 16, "+/-": 16, "∓": 17, "-/+": 17, "+-": 18, "-+": 19 };
const RESULTS = { "1-0": "1-0", "1–0": "1-0", "0-1": "0-1", "0–1": "0-1", "1/2-1/2": "1/2-1/2", "1/2": "1/2-1/2", "½-½": "1/2-1/2",
  "½–½": "1/2-1/2", "*": "*" };
/** Words beside the moves that mean nothing. */
const EMPTY_WORDS = new Set(["e.p.", "ep", "D", "N", "ch", "check", "mate"]);
const FIGURINES = { "♔": "K", "♚": "K", "♕": "Q", "♛": "Q", "♖": "R", "♜": "R", "♗": "B", "♝": "B", "♘": "N", "♞": "N", "♙": "", "♟": "" };

/** A comment, a line that is skipped, a tag, a wrong tag, a number of a glyph, a bracket, or a word. */
const TOKEN = /\{([^}]*)\}?|;([^\n]*)|(?<=^|\n)(%[^\n]*)|\[\s*(\w+)\s+"((?:[^"\\\n]|\\.|"(?!\s*\]))*)"\s*\]|\[\s*[A-Za-z][^\]\n]*\](?=\s*(?:\n|$))|\$(\d+)|([()])|([^\s(){};$[]+|\[)/g;

class Reader {
  constructor() {
    this.games = [];
    this.begin();
  }

  begin() {
    this.game = { headers: new Map(), comments: [], moves: { children: [] } };
    this.isBegun = false;
    this.isOver = false;
    /** The open variations, the innermost last: the last move, the node before it, and comments before the first move. */
    this.lines = [{ at: this.game.moves, before: null, comments: this.game.comments }];
  }

  get line() { return this.lines.at(-1); }

  end() {
    if (this.isBegun || this.game.headers.size > 0) this.games.push(this.game);
    this.begin();
  }

  tag(name, value) {
    if (this.isBegun) this.end();
    this.game.headers.set(name, value.replace(/\\(["\\])/g, "$1"));
  }

  comment(text) {
    const { at, comments } = this.line;
    (at.data && !comments ? at.data.comments : comments).push(text.replace(/\s+/g, " ").trim());
  }

  glyph(number) { if (!this.line.comments) this.line.at.data.nags.push(number); }

  bracket(sign) {
    if (sign === ")") {
      if (this.lines.length > 1) this.lines.pop();
      return;
    }
    const { at, before } = this.line;
    this.lines.push({ at: before ?? at, before: null, comments: [] });
  }

  move(san) {
    if (this.isOver) this.end();
    this.isBegun = true;
    const { line } = this;
    const isFirst = line.at === this.game.moves && this.lines.length === 1;
    const child = { children: [], data: { san, startingComments: isFirst ? [] : line.comments ?? [], comments: [], nags: [] } };
    line.at.children.push(child);
    Object.assign(line, { before: line.at, at: child, comments: null });
  }

  word(text) {
    // Some files have games without tags, results and blank lines between them.
    if (/^1\.(?!\.)/.test(text) && this.lines.length === 1 && this.line.before?.data) this.end();
    if (Object.hasOwn(RESULTS, text)) {
      if (this.lines.length > 1) return;
      this.isBegun = this.isOver = true;
      if (!this.game.headers.has("Result")) this.game.headers.set("Result", RESULTS[text]);
      return;
    }
    const plain = text.replace(/^(\d+(\.+|…)|\d+$|\.+|…+)/, "").replace(/[♔-♟]/g, (figurine) => FIGURINES[figurine]);
    if (plain === "" || EMPTY_WORDS.has(plain)) return;
    if (GLYPHS[plain]) return this.glyph(GLYPHS[plain]);
    const [, san, glyph] = /^(.*?)([!?]{0,2})$/s.exec(plain);
    this.move(san);
    if (glyph) this.glyph(GLYPHS[glyph]);
  }

  read(text) {
    for (const [, comment, rest, skipped, name, value, glyph, bracket, word] of text.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n").matchAll(TOKEN)) {
      if (comment !== undefined || rest !== undefined) this.comment(comment ?? rest);
      else if (name) this.tag(name, value);
      else if (glyph) this.glyph(Number(glyph));
      else if (bracket) this.bracket(bracket);
      else if (word && !skipped) this.word(word);
    }
    this.end();
    return this.games;
  }
}

/**
 * The games of a text, in the structure of chessops: `headers`, `comments` before the first move, and `moves`, whose nodes
 * have `children` and `data` with `san`, `startingComments`, `comments` and `nags`.
 */
export const readPgn = (text) => new Reader().read(text);
