// The list of moves with variations, as buttons.

/** An element with attributes and children. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) if (value !== null) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const number = ({ parent }, isFirst) => {
  const { fullmoves, turn } = parent.position;
  if (turn === "white") return `${fullmoves}.`;
  return isFirst ? `${fullmoves}…` : "";
};

/** Fills a list with a tree; a click calls `choose` with the node. */
export function showMoves(list, tree, current, choose) {
  const button = (node) => {
    const made = element("button", { type: "button", "aria-current": node === current ? "true" : null }, node.san);
    made.addEventListener("click", () => choose(node));
    return made;
  };
  const numbered = (label, node) =>
    element("span", { class: "move" }, ...(label ? [element("span", { class: "number" }, label)] : []), button(node));
  /** Appends the moves after a node. */
  const fill = (place, from, isFirst) => {
    let node = from;
    while (node.children.length > 0) {
      const [main, ...others] = node.children;
      const label = number(main, isFirst);
      place.append(numbered(label, main));
      isFirst = others.length > 0;
      for (const other of others) {
        const variation = element("div", { class: "variation" });
        variation.append(numbered(number(other, true), other));
        fill(variation, other, false);
        place.append(variation);
      }
      node = main;
    }
  };
  list.replaceChildren();
  fill(list, tree.root, true);
  if (tree.root.children.length === 0) list.append(element("p", { class: "hint" }, "No moves yet."));
  const marked = list.querySelector("[aria-current]");
  if (!marked) { list.scrollTop = 0; return; }
  const top = marked.offsetTop;
  if (top < list.scrollTop || top > list.scrollTop + list.clientHeight - 36) list.scrollTop = top - list.clientHeight / 2;
}
