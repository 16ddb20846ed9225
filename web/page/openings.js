// Names of openings: that of the last named position of a line, in any move order. The table is that of the engine
// (src/notation/openings.md).

import { INITIAL_FEN, after, positionOf, repetitionKey } from "./rules.js";
import { parseSan } from "./lib/chessops/san.js";

/** Lines that are played before the page may react again. */
const SLICE = 60;
let loading = null;

/** Names by position; read once, in slices. */
async function load() {
  const packed = (await fetch("openings.dat")).body;
  const text = await new Response(packed.pipeThrough(new DecompressionStream("gzip"))).text();
  const names = new Map();
  const positions = [positionOf(INITIAL_FEN)];
  let words = [];
  for (const [index, line] of text.trim().split("\n").entries()) {
    if (index % SLICE === 0) await new Promise((resolve) => setTimeout(resolve));
    const [eco, name, moves] = line.split("\t");
    const wanted = moves.split(" ").filter((word) => !word.endsWith("."));
    let same = 0;
    while (same < words.length && words[same] === wanted[same]) same += 1;
    positions.length = same + 1;
    for (const san of wanted.slice(same)) positions.push(after(positions.at(-1), parseSan(positions.at(-1), san)));
    words = wanted;
    names.set(repetitionKey(positions.at(-1)), `${eco} ${name}`);
  }
  return names;
}

/** The name of the opening that led to a node, or "". */
export async function openingOf(node) {
  loading ??= load();
  const names = await loading.catch(() => { loading = null; return new Map(); });
  for (let at = node; at; at = at.parent) {
    const name = names.get(repetitionKey(at.position));
    if (name) return name;
  }
  return "";
}
