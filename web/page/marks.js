// Marks of moves by the winning chance that they lose, as `zoothera review` gives them (src/review/mark.rs).
// CITE: lichess.org/page/accuracy and lila's Advice, as facts: the curve and the thresholds.

/** Centipawns at which the curve is capped; a mate counts as much. */
const CEILING = 1000;
/** At this advantage in centipawns, a mate that appears or disappears has no mark. */
const DECIDED = 700;
const THRESHOLDS = [[15, "??"], [10, "?"], [5, "?!"]];
const NAMES = { "??": "blunder", "?": "mistake", "?!": "inaccuracy", "!": "only good move", "!!": "brilliant move", "!?": "interesting move" };
const CLASSES = { "??": "bad3", "?": "bad2", "?!": "bad1" };
/** Glyphs of PGN's numbers. */
const NAGS = { 1: "!", 2: "?", 3: "!!", 4: "??", 5: "!?", 6: "?!" };

/** White's winning chance in percent; `value` is `{ cp }` or `{ mate }` from White's view, as in the review's JSON. */
export function winning(value) {
  const cp = value.mate === undefined ? Math.max(-CEILING, Math.min(CEILING, value.cp)) : value.mate > 0 ? CEILING : -CEILING;
  return 100 / (1 + Math.exp(-0.00368208 * cp));
}

/** An engine's score as `{ cp }` or `{ mate }` from White's view. */
export function whiteView({ kind, value }, turn) {
  const white = turn === "white" ? value : -value;
  return kind === "mate" ? { mate: white } : { cp: white };
}

/** The text of a score from White's view: "+0.35", "#-3". */
export function valueText({ cp, mate }) {
  if (mate !== undefined) return `#${mate}`;
  return `${cp > 0 ? "+" : cp < 0 ? "−" : ""}${(Math.abs(cp) / 100).toFixed(2)}`;
}

/** The mark of a move of `side` that leads from `before` to `after`, both from White's view; "" without one. */
export function markOf(before, after, side) {
  const sign = side === "white" ? 1 : -1;
  const mates = (value) => value.mate !== undefined && value.mate * sign > 0;
  const mated = (value) => value.mate !== undefined && value.mate * sign < 0;
  const byDecision = (ahead) => (ahead < DECIDED ? "??" : "");
  if (before.mate === undefined && mated(after)) return byDecision(-before.cp * sign);
  if (mates(before) && after.mate === undefined) return byDecision(after.cp * sign);
  if (mates(before) && mated(after)) return "??";
  if (before.mate !== undefined && after.mate !== undefined) return "";
  const lost = sign * (winning(before) - winning(after));
  return THRESHOLDS.find(([points]) => lost >= points)?.[1] ?? "";
}

/** The glyph of a node: its own mark, or else the one of the file. */
export const glyphOf = (node) => node.mark || (node.nags ?? []).map((nag) => NAGS[nag]).find(Boolean) || "";
export const glyphName = (glyph) => NAMES[glyph] ?? "";
export const glyphClass = (glyph) => CLASSES[glyph] ?? "good";
