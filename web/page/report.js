// The review's JSON (src/review/review.schema.json) as a tree of moves, notes and a summary.

import { element } from "./keyed.js";
import { showLines } from "./lines.js";
import { glyphClass, glyphName, markOf, valueText } from "./marks.js";
import { moveOfUci } from "./rules.js";
import { Tree } from "./tree.js";

/** Critical moments that are listed. */
const MOST = 5;
const PHASES = [["opening", "Opening"], ["middlegame", "Middlegame"], ["endgame", "Endgame"]];
const MARKS = [["inaccuracies", "?!"], ["mistakes", "?"], ["blunders", "??"], ["only_moves", "!"], ["sacrifices", "!!"]];

/** The moves of a line in UCI notation, up to the first illegal one. */
function movesOf(node, ucis) {
  const moves = [];
  let { position } = node;
  for (const uci of ucis) {
    const move = moveOfUci(position, uci);
    if (!move) break;
    moves.push(move);
    position = position.clone();
    position.play(move);
  }
  return moves;
}

const numbered = (report) => `${report.number}${report.side === "white" ? "." : "…"} ${report.san}`;

function note(node, evaluation) {
  if (!evaluation) return;
  node.value = evaluation.eval;
  node.chance = evaluation.chance / 100;
  node.score = evaluation.depth > 0 || evaluation.eval.mate !== 0 ? valueText(evaluation.eval) : "#";
}

/** A reviewed game: its report, tree, names and title. */
export function gameOf(report) {
  const tree = new Tree(report.start);
  tree.headers = new Map(Object.entries(report.tags));
  let node = tree.root;
  note(node, report.evaluation);
  for (const move of report.moves) {
    node = tree.play(node, moveOfUci(node.position, move.uci));
    node.report = move;
    node.mark = move.mark ?? "";
    note(node, move.evaluation);
  }
  const name = (side) => {
    const [tag, rating] = [report.tags[side], report.tags[`${side}Elo`]];
    return `${!tag || tag === "?" ? side : tag}${rating && rating !== "?" ? ` (${rating})` : ""}`;
  };
  const accurate = (side) => (side.accuracy === null ? "" : ` · ${side.accuracy.toFixed(1)} %`);
  const players = { white: name("White"), black: name("Black") };
  const strips = { white: players.white + accurate(report.white), black: players.black + accurate(report.black) };
  const result = report.result.replace("1/2-1/2", "½–½").replace("-", "–").replace("*", "");
  const { Termination: why } = report.tags;
  const resultText = [result, why && why.toLowerCase() !== "normal" ? why : ""].filter(Boolean).join(" · ");
  return { report, tree, players, strips, resultText, title: `${report.number}: ${players.white} – ${players.black}`, movesOf };
}

/** The few moves that decided the game: the greatest losses of winning chance, in the order of the game. */
export function criticalMoments({ report }) {
  const bad = report.moves.filter(({ mark }) => mark === "?" || mark === "??");
  return bad.sort((a, b) => b.loss - a.loss).slice(0, MOST).sort((a, b) => a.ply - b.ply);
}

const glyph = (mark) => element("span", { class: `glyph ${glyphClass(mark)}`, title: glyphName(mark) }, mark);

const cell = (value) => element("td", {}, value);
const percent = (value) => (value === null ? "–" : `${value.toFixed(1)} %`);

function row(label, values, className = null) {
  return element("tr", { class: className }, element("th", { scope: "row" }, label), ...values.map(cell));
}

/** Result, opening, accuracy and marks of both sides, by phase, and the critical moments. */
export function summaryOf({ report, players, resultText }, moments) {
  const opening = report.opening ? `${report.opening.eco} ${report.opening.name}` : "";
  const facts = [resultText, opening].filter(Boolean).join(" · ");
  const head = element("thead", {}, element("tr", {}, element("td"), element("th", { scope: "col" }, "Accuracy"),
    ...MARKS.map(([, mark]) => element("th", { scope: "col" }, glyph(mark), element("span", { class: "unseen" }, ` ${glyphName(mark)}`)))));
  const line = (label, part, className) => row(label, [percent(part.accuracy), ...MARKS.map(([key]) => String(part[key]))], className);
  const sides = [["White", report.white, players.white], ["Black", report.black, players.black]];
  const whole = element("table", {}, element("caption", { class: "unseen" }, "Accuracy and marks"), head,
    element("tbody", {}, ...sides.map(([, side, name]) => line(name, side, "whole"))));
  const phases = element("details", {}, element("summary", {}, "By phase"), element("table", {},
    element("caption", { class: "unseen" }, "Accuracy and marks by phase"), head.cloneNode(true),
    element("tbody", {}, ...PHASES.flatMap(([key, label]) => sides.map(([colour, side]) => line(`${label}, ${colour}`, side[key]))))));
  const buttons = moments.map((move) => element("button", { type: "button", class: "small", "data-do": "moment", "data-ply": move.ply },
    `${numbered(move)} `, glyph(move.mark)));
  return [
    ...(facts ? [element("p", { class: "facts" }, facts)] : []), whole,
    ...(buttons.length ? [element("div", { class: "moments", role: "group", "aria-label": "Moments that decided the game" }, ...buttons)] : []),
    phases,
  ];
}

const button = (act, text) => element("button", { type: "button", class: "small", "data-do": act }, text);

/** The better lines and the refutation of a move, as lines with buttons. */
function linesOf(node) {
  const { report, parent } = node;
  const list = element("ol", { class: "lines", "aria-label": "Lines" });
  showLines(list, [
    ...report.better.map((line, index) => ({ key: `b${index}`, score: valueText(line.eval), position: parent.position, ucis: line.uci })),
    ...(report.refutation ? [{ key: "r", score: valueText(report.refutation.eval), position: node.position, ucis: report.refutation.uci }] : []),
  ]);
  [...list.children].forEach((li, index) => { li.dataset.from = index < report.better.length ? "before" : "after"; });
  return list;
}

/** The texts about a position: mark, reasons, better lines and numbers of the move that led to it. */
export function noteOf(game, node, main) {
  if (node !== main) {
    return [element("p", { class: "verdict" }, `A line from ${main.report ? numbered(main.report) : "the start"}.`),
      element("div", { class: "buttons" }, button("back", "Back to the game"))];
  }
  const { report } = node;
  const numbers = node.value ? [element("p", { class: "hint" }, `${node.score} · White's chances ${Math.round(100 * node.chance)} %`)] : [];
  if (!report) return [element("p", { class: "verdict" }, "Start of the game. Step through it, or choose a moment above."), ...numbers];
  const verdict = element("p", { class: "verdict" }, numbered(report));
  if (report.mark) verdict.append(" ", glyph(report.mark), ` ${glyphName(report.mark)}`);
  const reasons = report.reasons.map(({ text }) => element("p", {}, text));
  const isBad = report.mark && report.mark !== "!" && report.better.length > 0;
  const head = element("div", { class: "head" }, verdict, ...(isBad ? [button("retry", "Try again")] : []));
  const lines = report.better.length || report.refutation ? [linesOf(node)] : [];
  const { opening } = game.report;
  const book = opening?.ply === report.ply ? [element("p", { class: "hint" }, `Last book move: ${opening.eco} ${opening.name}`)] : [];
  return [head, ...reasons, ...lines, ...numbers, ...book];
}

export { button, glyph, markOf, numbered };
