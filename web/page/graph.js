// The graph of White's chances over the moves of a game.

const name = "http://www.w3.org/2000/svg";

const shape = (kind, attributes) => {
  const made = document.createElementNS(name, kind);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
};

/** Draws the graph through the nodes with known chances, and marks the current node. */
export function drawGraph(svg, line, current) {
  const width = 300, height = 60;
  const x = (index) => (line.length < 2 ? 0 : (index * width) / (line.length - 1));
  const y = (chance) => height - chance * height;
  const known = line.flatMap((node, index) => (node.chance === null ? [] : [[x(index), y(node.chance)]]));
  svg.toggleAttribute("hidden", known.length < 2);
  svg.replaceChildren(shape("rect", { class: "graph-black", width, height }));
  if (known.length > 1) {
    const path = known.map((point) => point.map((value) => value.toFixed(1)).join(" ")).join(" L ");
    const area = `M ${known[0][0]} ${height} L ${path} L ${known.at(-1)[0]} ${height} Z`;
    svg.append(shape("path", { class: "graph-white", d: area }));
    svg.append(shape("path", { class: "graph-line", d: `M ${path}` }));
  }
  svg.append(shape("line", { class: "graph-middle", x1: 0, x2: width, y1: height / 2, y2: height / 2 }));
  const index = line.indexOf(current);
  if (index >= 0) svg.append(shape("line", { class: "graph-cursor", x1: x(index), x2: x(index), y1: 0, y2: height }));
  svg.setAttribute("aria-label", `Winning chances by move: ${known.length} of ${line.length} positions are evaluated`);
}
