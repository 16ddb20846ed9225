// The graph of White's chances over the moves of a game.

const NAMESPACE = "http://www.w3.org/2000/svg";
const WIDTH = 300, HEIGHT = 60;
/** Colours of the dots of bad moves, as classes. */
const DOTS = { "?": "dot2", "??": "dot3" };

const shape = (kind, attributes) => {
  const made = document.createElementNS(NAMESPACE, kind);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
};

/** The node of a line under the pointer. */
export function nodeAt(svg, line, { clientX }) {
  const { left, width } = svg.getBoundingClientRect();
  const index = Math.round(((clientX - left) / width) * (line.length - 1));
  return line[Math.max(0, Math.min(line.length - 1, index))];
}

/** Draws the graph through the nodes with known chances, and marks the current node and the mistakes. */
export function drawGraph(svg, line, current) {
  const x = (index) => (line.length < 2 ? 0 : (index * WIDTH) / (line.length - 1));
  const y = (chance) => HEIGHT - chance * HEIGHT;
  const known = line.flatMap((node, index) => (node.chance === null ? [] : [[x(index), y(node.chance)]]));
  svg.toggleAttribute("hidden", known.length < 2);
  svg.replaceChildren(shape("rect", { class: "graph-black", width: WIDTH, height: HEIGHT }));
  if (known.length > 1) {
    const path = known.map((point) => point.map((value) => value.toFixed(1)).join(" ")).join(" L ");
    const area = `M ${known[0][0]} ${HEIGHT} L ${path} L ${known.at(-1)[0]} ${HEIGHT} Z`;
    svg.append(shape("path", { class: "graph-white", d: area }));
    svg.append(shape("path", { class: "graph-line", d: `M ${path}` }));
  }
  svg.append(shape("line", { class: "graph-middle", x1: 0, x2: WIDTH, y1: HEIGHT / 2, y2: HEIGHT / 2 }));
  line.forEach((node, index) => {
    if (!DOTS[node.mark] || node.chance === null) return;
    const [at, height] = [x(index), y(node.chance)];
    svg.append(shape("path", { class: `graph-dot ${DOTS[node.mark]}`, d: `M ${at} ${height} l 0 0` }));
  });
  const index = line.indexOf(current);
  if (index >= 0) svg.append(shape("line", { class: "graph-cursor", x1: x(index), x2: x(index), y1: 0, y2: HEIGHT }));
  svg.setAttribute("aria-label", `Winning chances by move: ${known.length} of ${line.length} positions are evaluated`);
}
