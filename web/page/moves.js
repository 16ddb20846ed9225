// The list of moves with variations, marks and comments. Rows are kept, see keyed.js.

import { element, keyed, setAttribute, setText } from "./keyed.js";
import { glyphClass, glyphName, glyphOf } from "./marks.js";
import { textsOf } from "./tree.js";

/** Numbers that identify nodes. */
const ids = new WeakMap();
let count = 0;

const idOf = (node) => {
  if (!ids.has(node)) ids.set(node, count += 1);
  return ids.get(node);
};

/** The node of each button, and the handler of each list. */
const nodes = new WeakMap();
const handlers = new WeakMap();

function update(button, node, current) {
  nodes.set(button, node);
  const glyph = glyphOf(node);
  if (button.dataset.glyph !== glyph || button.dataset.san !== node.san) {
    Object.assign(button.dataset, { glyph, san: node.san });
    button.replaceChildren(node.san);
    if (glyph) button.append(element("span", { class: `glyph ${glyphClass(glyph)}`, title: glyphName(glyph) }, glyph));
  }
  setAttribute(button, "data-eval", node.score || null);
  setAttribute(button, "aria-current", node === current ? "true" : null);
}

const moveItem = (node, current) => ({
  key: `m${idOf(node)}`,
  make: () => element("button", { type: "button" }),
  update: (button) => update(button, node, current),
});

const textItem = (key, name, className, text) => ({
  key, make: () => element(name, { class: className }), update: (made) => setText(made, text),
});

/** A move in a variation, with its number if it has one. */
const inlineItem = (node, current, label) => ({
  key: `i${idOf(node)}`,
  make: () => element("span", { class: "move" }),
  update: (span) => keyed(span, [...(label ? [textItem("n", "span", "number", label)] : []), moveItem(node, current)]),
});

const commentItems = (node, comments = node.comments, place = "c") => textsOf(comments).map((text, index) =>
  textItem(`${place}${idOf(node)}-${index}`, "p", "comment", text));

const variationItem = (node, current) => ({
  key: `v${idOf(node)}`,
  make: () => element("div", { class: "variation" }),
  update: (made) => keyed(made, variation(node, current)),
});

const numberText = ({ parent }, isForced) => {
  const { fullmoves, turn } = parent.position;
  if (turn === "white") return `${fullmoves}.`;
  return isForced ? `${fullmoves}…` : "";
};

/** The moves of a variation from its first one, as one paragraph with the variations inside it. */
function variation(first, current) {
  const items = commentItems(first, first.startingComments, "b");
  let isForced = true;
  for (let node = first; node; node = node.children[0]) {
    items.push(inlineItem(node, current, numberText(node, isForced)), ...commentItems(node));
    // The siblings of the first move are variations of the line outside.
    const others = node === first ? [] : node.parent.children.slice(1);
    items.push(...others.map((other) => variationItem(other, current)));
    isForced = others.length > 0 || textsOf(node.comments).length > 0;
  }
  return items;
}

/** The main line in three columns: number, White's move, Black's move. */
function mainLine(root, current) {
  const items = [...commentItems(root)];
  let isForced = true;
  for (let node = root.children[0]; node; node = node.children[0]) {
    const { fullmoves, turn } = node.parent.position;
    const isWhite = turn === "white";
    const id = idOf(node);
    if (isWhite || isForced) items.push(textItem(`n${id}`, "span", "number", String(fullmoves)));
    if (!isWhite && isForced) items.push(textItem(`g${id}`, "span", "gap lead", "…"));
    items.push(moveItem(node, current));
    const others = node.parent.children.slice(1);
    const after = [...commentItems(node), ...others.map((other) => variationItem(other, current))];
    isForced = after.length > 0;
    if (isWhite && isForced) items.push(textItem(`t${id}`, "span", "gap tail", "…"));
    items.push(...after);
  }
  return items;
}

function scrollTo(list, marked) {
  if (!marked) { list.scrollTop = 0; return; }
  const top = marked.offsetTop;
  if (top < list.scrollTop || top + marked.offsetHeight > list.scrollTop + list.clientHeight) {
    list.scrollTop = top - (list.clientHeight - marked.offsetHeight) / 2;
  }
}

/** Shows a tree; a click on a move calls `choose` with its node. `result` is the last row, if there is one. */
export function showMoves(list, tree, current, choose, result = "") {
  if (!handlers.has(list)) {
    new ResizeObserver(() => scrollTo(list, list.querySelector("[aria-current]"))).observe(list);
    list.addEventListener("click", ({ target }) => {
      const node = nodes.get(target.closest("button"));
      if (node) handlers.get(list)(node);
    });
  }
  handlers.set(list, choose);
  const items = mainLine(tree.root, current);
  if (!tree.root.children.length) items.push(textItem("none", "p", "hint", "No moves yet."));
  if (result) items.push(textItem("result", "p", "result", result));
  keyed(list, items);
  scrollTo(list, list.querySelector("[aria-current]"));
}
