// Rules of chess and notation, based on chessops.

import { Chess, normalizeMove } from "./lib/chessops/chess.js";
import { INITIAL_FEN, makeFen, parseFen } from "./lib/chessops/fen.js";
import { makeSan, parseSan } from "./lib/chessops/san.js";
import { makeSquare, makeUci, parseUci } from "./lib/chessops/util.js";

export { INITIAL_FEN, makeSan };

/** Reasons by the codes of chessops, in the words of the command line. */
const REASONS = {
  ERR_BOARD: "the board does not have eight ranks of eight squares with the letters PNBRQK and pnbrqk",
  ERR_TURN: "the side to move is not w or b",
  ERR_CASTLING: "the castling rights are not letters such as KQkq, or -",
  ERR_EP_SQUARE: "the en passant square is not a square such as e3, or -",
  ERR_HALFMOVES: "the halfmove clock is not a number",
  ERR_FULLMOVES: "the move number is not a number",
  ERR_FEN: "there is more text after the six fields",
  ERR_EMPTY: "the board is empty",
  ERR_PAWNS_ON_BACKRANK: "a pawn stands on the first or last rank",
};

/** Why a FEN is not a legal position. `setup` is undefined if the FEN cannot be read. */
function reason(code, setup) {
  if (code === "ERR_KINGS") {
    const { king } = setup.board;
    const isMissing = ["white", "black"].some((side) => setup.board[side].intersect(king).isEmpty());
    return isMissing ? "a side has no king" : "a side has more than one king";
  }
  if (code === "ERR_OPPOSITE_CHECK") {
    return setup.turn === "white" ? "Black is in check, but White is to move" : "White is in check, but Black is to move";
  }
  return REASONS[code] ?? "the position cannot occur in a game";
}

/** The error for a position that chessops refuses. */
export const positionError = (error, setup) => new Error(`This is not a legal position: ${reason(error.message, setup)}.`);

/** The position of a FEN. Throws an error with the reason if the FEN is invalid. */
export function positionOf(fen) {
  const setup = parseFen(fen.trim()).unwrap((value) => value, (error) => { throw positionError(error); });
  return Chess.fromSetup(setup).unwrap((position) => position, (error) => { throw positionError(error, setup); });
}

export const fenOf = (position) => makeFen(position.toSetup());

/** Whether castling starts from other squares than in the usual game. Readers of PGN need to be told then. */
export function isChess960(position) {
  return [...position.castles.castlingRights].some((rook) => {
    const king = position.board.kingOf(position.board.getColor(rook));
    return ![0, 7].includes(rook & 7) || (king & 7) !== 4;
  });
}

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
