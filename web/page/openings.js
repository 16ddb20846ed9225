// Names of openings: that of the last named position of a line, in any move order, and moves that lead to them. The table
// is that of the engine (src/notation/openings.md).

import { INITIAL_FEN, after, positionOf, repetitionKey } from "./rules.js";
import { parseSan } from "./lib/chessops/san.js";

/** Lines that are played before the page may react again. */
const SLICE = 60;
let loading = null;

/** Names by position, and by position the moves with the number of named lines that they begin; read once, in slices. */
async function load() {
  const packed = (await fetch("openings.dat")).body;
  const table = await new Response(packed.pipeThrough(new DecompressionStream("gzip"))).text();
  const [names, moves] = [new Map(), new Map()];
  const positions = [positionOf(INITIAL_FEN)];
  const keys = [repetitionKey(positions[0])];
  let words = [];
  for (const [index, line] of table.trim().split("\n").entries()) {
    if (index % SLICE === 0) await new Promise((resolve) => setTimeout(resolve));
    const [eco, name, text] = line.split("\t");
    const wanted = text.split(" ").filter((word) => !word.endsWith("."));
    let same = 0;
    while (same < words.length && words[same] === wanted[same]) same += 1;
    positions.length = same + 1;
    keys.length = same + 1;
    for (const san of wanted.slice(same)) {
      positions.push(after(positions.at(-1), parseSan(positions.at(-1), san)));
      keys.push(repetitionKey(positions.at(-1)));
    }
    words = wanted;
    names.set(keys.at(-1), `${eco} ${name}`);
    wanted.forEach((san, ply) => count(moves, keys[ply], san));
  }
  return { names, moves };
}

function count(moves, key, san) {
  if (!moves.has(key)) moves.set(key, new Map());
  const counts = moves.get(key);
  counts.set(san, (counts.get(san) ?? 0) + 1);
}

/** The table, or empty ones if it cannot be loaded. */
async function table() {
  loading ??= load();
  return loading.catch(() => { loading = null; return { names: new Map(), moves: new Map() }; });
}

/**
 * A move of a named opening, chosen at random by the square of the number of openings that it begins, so that odd ones
 * are rare; `null` if there is none.
 */
export async function openingMove(position) {
  const counts = (await table()).moves.get(repetitionKey(position));
  if (!counts) return null;
  let left = Math.random() * [...counts.values()].reduce((sum, value) => sum + value * value, 0);
  for (const [san, value] of counts) {
    left -= value * value;
    if (left < 0) return parseSan(position, san) ?? null;
  }
  return null;
}

/** The name of the opening that led to a node, or "". */
export async function openingOf(node) {
  const { names } = await table();
  for (let at = node; at; at = at.parent) {
    const name = names.get(repetitionKey(at.position));
    if (name) return name;
  }
  return "";
}
