// A game with variations.

import { parsePgn, startingPosition, makePgn, defaultGame, ChildNode } from "./lib/chessops/pgn.js";
import { parseSan } from "./lib/chessops/san.js";
import { INITIAL_FEN, after, fenOf, isChess960, makeSan, positionOf, uciOf } from "./rules.js";

/** A position of the tree and the move that led to it. */
class Node {
  constructor(position, parent = null, move = null, san = "") {
    Object.assign(this, { position, parent, move, san, children: [] });
    /** White's winning chances from 0 to 1, and the score as text, once the engine has searched the position. */
    this.chance = null;
    this.score = "";
  }

  get ply() { return this.parent ? this.parent.ply + 1 : 0; }

  /** The moves from the root in UCI notation. */
  get moves() { return this.parent ? [...this.parent.moves, uciOf(this.move)] : []; }

  get root() { return this.parent ? this.parent.root : this; }
}

export class Tree {
  constructor(fen = INITIAL_FEN) {
    this.root = new Node(positionOf(fen));
    this.headers = new Map();
  }

  get fen() { return fenOf(this.root.position); }

  /** The child for a move, which is added if it is new. The first child is the main line. */
  play(node, move) {
    const uci = uciOf(move);
    const known = node.children.find((child) => uciOf(child.move) === uci);
    if (known) return known;
    const child = new Node(after(node.position, move), node, move, makeSan(node.position, move));
    node.children.push(child);
    return child;
  }

  /** The nodes of the main line from the root. */
  mainLine() {
    const nodes = [this.root];
    while (nodes.at(-1).children.length > 0) nodes.push(nodes.at(-1).children[0]);
    return nodes;
  }

  /** Removes all moves after a node. */
  cut(node) { node.children = []; }

  /** The PGN text, with variations. */
  pgn(headers = this.headers) {
    const game = defaultGame(() => new Map([["Event", "?"], ["Site", "?"], ["Date", "????.??.??"], ["Round", "?"],
      ["White", "?"], ["Black", "?"], ["Result", "*"], ...headers]));
    if (this.fen !== INITIAL_FEN) {
      game.headers.set("SetUp", "1");
      game.headers.set("FEN", this.fen);
      if (isChess960(this.root.position)) game.headers.set("Variant", "Chess960");
    }
    const copy = (from, to) => from.children.forEach((child) => {
      const made = new ChildNode({ san: child.san });
      to.children.push(made);
      copy(child, made);
    });
    copy(this.root, game.moves);
    return makePgn(game);
  }
}

/** The first game of a PGN text as a tree. Throws an error that names the first illegal move. */
export function treeOfPgn(text) {
  const [game] = parsePgn(text);
  if (!game || (game.moves.children.length === 0 && !game.headers.has("FEN"))) {
    throw new Error("There is no game in this text. A game is a list of moves such as 1. e4 e5 2. Nf3.");
  }
  const start = startingPosition(game.headers).unwrap(
    (position) => position,
    () => {
      if (game.headers.has("FEN")) positionOf(game.headers.get("FEN"));
      throw new Error(`The variant ${game.headers.get("Variant")} is not played here.`);
    },
  );
  if (start.rules !== "chess") throw new Error(`The variant ${game.headers.get("Variant")} is not played here.`);
  const tree = new Tree(fenOf(start));
  tree.headers = game.headers;
  const copy = (from, to) => from.children.forEach((child) => {
    const move = parseSan(to.position, child.data.san);
    const number = `${to.position.fullmoves}${to.position.turn === "white" ? "." : "…"}`;
    if (!move) throw new Error(`Move ${number} ${child.data.san} is not legal.`);
    copy(child, tree.play(to, move));
  });
  copy(game.moves, tree.root);
  return tree;
}

/** Whether a text looks like a FEN. */
export const isFen = (text) => /^\s*([pnbrqkPNBRQK1-8]+\/){7}[pnbrqkPNBRQK1-8]+\s/.test(`${text} `);

/** A tree of a FEN or of a PGN text. */
export const treeOfText = (text) => (isFen(text) ? new Tree(text) : treeOfPgn(text));
