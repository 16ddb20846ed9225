// Errors of the command `review` in the words of the page: without progress, file names and counts.

/** Lines for the command line only: progress, the time taken, and the count of games with mistakes. */
const COUNTS = [/^\[[#.]*\] /, /^\d+ games? in /, /^(error: )?\d+ games? (was|were) cut or skipped/];
/** `skipped: game 2: move 3. (ply 5) 'Qh9' is not a move (line 1)`; the game, the move and the line may be missing. */
const MISTAKE = /^(cut|skipped): (?:game (\d+): )?(?:move (\d+)\.+ \(ply (\d+)\) )?(.*?)(?: \(line \d+\))?$/;
const ENDS = { cut: "The game is reviewed up to this move.", skipped: "The game was skipped." };

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

function plainLine(line, file) {
  const text = line.replace(/^(error|warning): /, "").replaceAll(`${file}: `, "").replaceAll(file, "the text");
  const [, what, game, move, ply, reason] = MISTAKE.exec(text) ?? [];
  if (!what) return capital(text);
  const side = ply % 2 ? "White" : "Black";
  const where = [game && `game ${game}`, move && `move ${move} of ${side}`].filter(Boolean).join(", ");
  return `${where ? `${capital(where)}: ` : ""}${where ? reason : capital(reason)}. ${ENDS[what]}`;
}

/** The errors in the standard error output of a review of `file`. */
export function plainErrors(output, file) {
  const lines = output.split(/[\r\n]+/).filter((line) => line.trim() && !COUNTS.some((pattern) => pattern.test(line)));
  return lines.map((line) => plainLine(line.trim(), file)).join("\n");
}
