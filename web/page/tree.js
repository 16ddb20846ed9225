// A game with variations.

import { parseComment, startingPosition, makePgn, defaultGame, ChildNode } from "./lib/chessops/pgn.js";
import { parseSan } from "./lib/chessops/san.js";
import { readPgn } from "./pgn.js";
import { INITIAL_FEN, after, fenOf, isChess960, makeSan, moveOfText, positionOf, uciOf } from "./rules.js";

/** A position of the tree and the move that led to it. Games of thousands of moves are possible, so nothing is recursive. */
class Node {
  constructor(position, parent = null, move = null, san = "") {
    Object.assign(this, { position, parent, move, san, children: [] });
    this.ply = parent ? parent.ply + 1 : 0;
    this.root = parent ? parent.root : this;
    /** White's winning chances from 0 to 1, and the score as text, once the engine has searched the position. */
    this.chance = null;
    this.score = "";
    /** Comments before and after the move, and its glyphs, as the PGN has them. */
    this.startingComments = [];
    this.comments = [];
    this.nags = [];
  }

  /** The moves from the root in UCI notation. */
  get moves() {
    const moves = [];
    for (let node = this; node.parent; node = node.parent) moves.push(uciOf(node.move));
    return moves.reverse();
  }
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
    if (this.root.comments.length > 0) game.comments = this.root.comments;
    const waiting = [[this.root, game.moves]];
    while (waiting.length > 0) {
      const [from, to] = waiting.pop();
      for (const child of from.children) {
        const { san, startingComments, comments, nags } = child;
        const made = new ChildNode({ san, startingComments, comments, nags });
        to.children.push(made);
        waiting.push([child, made]);
      }
    }
    return makePgn(game);
  }

  /** The indices of the children on the way to a node. */
  static pathOf(node) {
    const path = [];
    for (let at = node; at.parent; at = at.parent) path.push(at.parent.children.indexOf(at));
    return path.reverse();
  }

  /** The node at the end of a path, or the last one that exists. */
  at(path) {
    let node = this.root;
    for (const index of path) node = node.children[index] ?? node;
    return node;
  }
}

/** A command of a comment, such as `[%clk 0:03:00]`. */
const COMMAND = /\s*\[%\w+[^\]]*\]\s*/g;

/** The texts of comments without their commands. */
export const textsOf = (comments) => comments.map((comment) => comment.replace(COMMAND, " ").trim()).filter(Boolean);

/** The value of a command in a node's comments, by chessops' name of it ("clock", "evaluation"), or `undefined`. */
export function commandOf(node, name) {
  for (const comment of node.comments) {
    const value = comment.includes("[%") ? parseComment(comment)[name] : undefined;
    if (value !== undefined) return value;
  }
  return undefined;
}

/** Seconds left to both sides at a node, as the comments say; `undefined` if they do not. */
export function clocksOf(node) {
  const clocks = {};
  for (let at = node; at.parent && (clocks.white === undefined || clocks.black === undefined); at = at.parent) {
    clocks[at.parent.position.turn] ??= commandOf(at, "clock");
  }
  return clocks;
}

/** All nodes: a node before those that follow it. The order is the same for a tree that was written as PGN and read. */
export function* nodesOf(tree) {
  const waiting = [tree.root];
  while (waiting.length > 0) {
    const node = waiting.pop();
    yield node;
    waiting.push(...node.children);
  }
}

const NO_GAME = "There is no game in this text. A game is a list of moves such as 1. e4 e5 2. Nf3.";

/** The games of a PGN text. Throws an error if there is none. */
export function gamesOfPgn(text) {
  const games = readPgn(text).filter(({ moves, headers }) => moves.children.length > 0 || headers.has("FEN"));
  if (games.length === 0) throw new Error(NO_GAME);
  return games;
}

/**
 * A game of a PGN text as a tree, up to the first illegal move of each line. `fault` of the tree describes what was left
 * out, or is empty.
 */
export function treeOfGame(game) {
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
  tree.root.comments = game.comments ?? [];
  const faults = [];
  const waiting = [[game.moves, tree.root, true]];
  while (waiting.length > 0) {
    const [from, to, isMain] = waiting.pop();
    from.children.forEach((child, index) => {
      const { san, startingComments = [], comments = [], nags = [] } = child.data;
      const isMainChild = isMain && index === 0;
      const move = parseSan(to.position, san) ?? moveOfText(to.position, san);
      if (!move) return faults.push({ isMain: isMainChild, text: faultText(to, san) });
      const node = tree.play(to, move);
      for (const [own, read] of [[node.startingComments, startingComments], [node.comments, comments], [node.nags, nags]]) {
        own.push(...read.filter((item) => !own.includes(item)));
      }
      return waiting.push([child, node, isMainChild]);
    });
  }
  if (tree.root.children.length === 0 && faults.length > 0 && !game.headers.has("FEN")) throw new Error(`${NO_GAME} ${faults[0].text}`);
  const worst = faults.find(({ isMain }) => isMain) ?? faults[0];
  tree.fault = !worst ? "" : worst.isMain ? `${worst.text} The game was loaded up to this move.`
    : `${worst.text} ${faults.length > 1 ? `${faults.length} variations were` : "The variation was"} loaded up to the illegal move.`;
  return tree;
}

/** Words that look like moves, in notations that are read. */
const MOVE = /^([NBRQKP]?[a-h]?[1-8]?[-x:]?[a-h][1-8](=?\(?[NBRQ]\)?)?|O-O(-O)?|0-0(-0)?)[+#]*$/i;

const faultText = ({ position }, san) => {
  const fault = /^(--|Z0|0000|null)$/i.test(san) ? "a null move, which is not shown here" : MOVE.test(san) ? "not legal" : "not a move in English notation";
  return `Move ${position.fullmoves}${position.turn === "white" ? "." : "…"} ${san} is ${fault}.`;
};

/** The first game of a PGN text as a tree. */
export const treeOfPgn = (text) => treeOfGame(gamesOfPgn(text)[0]);

/** Whether a text looks like a FEN: its first word has several ranks. Wrong ranks and pieces are named later. */
export const isFen = (text) => /^\s*\w+(\/\w+){4,}(\s|$)/.test(text);

/** The text of a file: UTF-8, UTF-16 with a byte order mark, or else Windows-1252, as the command line reads it. */
export async function textOfFile(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const isWide = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
  if (isWide) return new TextDecoder(bytes[0] === 0xff ? "utf-16le" : "utf-16be").decode(bytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

/** A tree of a FEN or of a PGN text. */
export const treeOfText = (text) => (isFen(text) ? new Tree(text) : treeOfPgn(text));
