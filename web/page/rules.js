// Rules of chess and notation, based on chessops.

import { Chess, normalizeMove } from "./lib/chessops/chess.js";
import { INITIAL_FEN, makeFen, parseFen } from "./lib/chessops/fen.js";
import { makeSan, parseSan } from "./lib/chessops/san.js";
import { makeSquare, makeUci, parseUci } from "./lib/chessops/util.js";

export { INITIAL_FEN, makeSan };

/** The position of a FEN. Throws an error with the reason if the FEN is invalid. */
export function positionOf(fen) {
  return parseFen(fen.trim()).chain((setup) => Chess.fromSetup(setup)).unwrap(
    (position) => position,
    (error) => { throw new Error(`This is not a legal position: ${error.message}`); },
  );
}

export const fenOf = (position) => makeFen(position.toSetup());

/** The position after a move, as a new object. */
export function after(position, move) {
  const next = position.clone();
  next.play(move);
  return next;
}

/** A move in UCI notation; castling may be written as a king move or as king takes rook. `null` if it is illegal. */
export function moveOfUci(position, uci) {
  const move = parseUci(uci);
  if (!move) return null;
  const normal = normalizeMove(position, move);
  return position.isLegal(normal) ? normal : null;
}

/** Converts a move to UCI notation with castling as king takes rook, which the engine reads with UCI_Chess960. */
export const uciOf = (move) => makeUci(move);

const PROMOTIONS = ["queen", "rook", "bishop", "knight"];

/** Every legal move. */
export function* legalMoves(position) {
  for (const [from, targets] of position.allDests()) {
    const isPawn = position.board.getRole(from) === "pawn";
    for (const to of targets) {
      if (isPawn && (to < 8 || to > 55)) for (const promotion of PROMOTIONS) yield { from, to, promotion };
      else yield { from, to };
    }
  }
}

/** SAN without the characters that people omit or write differently. */
const plain = (text) => text.replace(/[\s+#x=:!?.-]/g, "").replaceAll("0", "O");

/** The move that the user typed: SAN or coordinates, capture signs optional. `null` if none or several match. */
export function moveOfText(position, text) {
  const typed = text.trim().replaceAll("0-0", "O-O").replaceAll("O-0", "O-O");
  const exact = parseSan(position, typed) ?? moveOfUci(position, typed.toLowerCase().replace(/[\s-]/g, ""));
  if (exact) return exact;
  const moves = [...legalMoves(position)].map((move) => [plain(makeSan(position, move)), move]);
  const wanted = plain(typed);
  for (const form of [(name) => name, (name) => name.toLowerCase()]) {
    const found = moves.filter(([name]) => form(name) === form(wanted));
    if (found.length === 1) return found[0][1];
  }
  return null;
}

/** The moves of an engine's line as SAN with numbers, up to the first illegal move. */
export function lineText(position, ucis) {
  let at = position;
  const words = [];
  for (const uci of ucis) {
    const move = moveOfUci(at, uci);
    if (!move) break;
    if (at.turn === "white") words.push(`${at.fullmoves}.`);
    else if (words.length === 0) words.push(`${at.fullmoves}…`);
    words.push(makeSan(at, move));
    at = after(at, move);
  }
  return words.join(" ");
}

/** Key of a position for the repetition rule. */
export const repetitionKey = (position) => fenOf(position).split(" ").slice(0, 4).join(" ");

/** The result and the reason if the game is over, given the keys of all positions so far; otherwise `null`. */
export function outcome(position, keys) {
  if (position.isCheckmate()) {
    return position.turn === "white" ? ["0-1", "Checkmate: Black wins."] : ["1-0", "Checkmate: White wins."];
  }
  if (position.isStalemate()) return ["1/2-1/2", "Stalemate: a draw."];
  if (position.isInsufficientMaterial()) return ["1/2-1/2", "Neither side can mate: a draw."];
  if (position.halfmoves >= 100) return ["1/2-1/2", "Fifty moves without capture or pawn move: a draw."];
  const key = repetitionKey(position);
  if (keys.filter((other) => other === key).length >= 3) return ["1/2-1/2", "The position occurred three times: a draw."];
  return null;
}

const NAMES = { K: "king", Q: "queen", R: "rook", B: "bishop", N: "knight" };

/** A move for a screen reader: "knight takes f6, check". */
export function spoken(san) {
  const end = san.endsWith("#") ? ", checkmate" : san.endsWith("+") ? ", check" : "";
  const move = san.replace(/[+#]$/, "");
  if (move === "O-O") return `castles king's side${end}`;
  if (move === "O-O-O") return `castles queen's side${end}`;
  const parts = /^([KQRBN]?)([a-h]?[1-8]?)(x?)([a-h][1-8])=?([QRBN]?)$/;
  const [, piece, origin, capture, target, promotion] = move.match(parts) ?? [];
  if (!target) return san;
  const words = [NAMES[piece] ?? "pawn", origin, capture && "takes", target, promotion && `becomes ${NAMES[promotion]}`];
  return words.filter(Boolean).join(" ") + end;
}

/** Squares of the pieces, for a screen reader. */
export function boardText(position) {
  const sides = ["white", "black"].map((colour) => {
    const pieces = ["king", "queen", "rook", "bishop", "knight", "pawn"].flatMap((role) => {
      const squares = [...position.board.pieces(colour, role)].map(makeSquare);
      return squares.length ? [`${role} ${squares.join(" ")}`] : [];
    });
    return `${colour === "white" ? "White" : "Black"}: ${pieces.join(", ")}`;
  });
  return `${sides.join(". ")}. ${position.turn === "white" ? "White" : "Black"} to move.`;
}
