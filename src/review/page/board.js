// Draws boards.
const SVG = "http://www.w3.org/2000/svg";
const SIDE = 45;

/** A child of an SVG element. */
const add = (parent, name, attributes) => {
  const child = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) child.setAttribute(key, value);
  return parent.appendChild(child);
};

/** Column and row on the screen of a square such as e4. */
const place = (square, flipped) => {
  const file = square.charCodeAt(0) - 97;
  const rank = square.charCodeAt(1) - 49;
  return flipped ? [7 - file, rank] : [file, 7 - rank];
};

/** The square at a point of the screen. */
const squareAt = (svg, x, y, flipped) => {
  const box = svg.getBoundingClientRect();
  const index = (n) => Math.min(7, Math.max(0, Math.floor(n * 8)));
  const [column, row] = [index((x - box.left) / box.width), index((y - box.top) / box.height)];
  return "abcdefgh"[flipped ? 7 - column : column] + (flipped ? row + 1 : 8 - row);
};

/** The squares and their coordinates. */
const drawSquares = (svg, flipped) => {
  for (let row = 0; row < 8; row++) {
    for (let column = 0; column < 8; column++) {
      const shade = (row + column) % 2 ? "dark" : "light";
      add(svg, "rect", { class: shade, x: column * SIDE, y: row * SIDE, width: SIDE, height: SIDE });
      const text = { class: "on-" + shade, "font-size": 9, "font-family": "sans-serif" };
      if (column === 0) add(svg, "text", { ...text, x: 2, y: row * SIDE + 9 }).textContent = flipped ? row + 1 : 8 - row;
      if (row === 7) add(svg, "text", { ...text, x: column * SIDE + SIDE - 7, y: 8 * SIDE - 3 }).textContent =
        "abcdefgh"[flipped ? 7 - column : column];
    }
  }
};

/** The pieces of a FEN as [letter, square]. */
const piecesOf = (fen) => {
  const pieces = [];
  fen.split(" ")[0].split("/").forEach((line, top) => {
    let file = 0;
    for (const letter of line) {
      if (letter >= "1" && letter <= "8") { file += Number(letter); continue; }
      pieces.push([letter, "abcdefgh"[file] + (8 - top)]);
      file += 1;
    }
  });
  return pieces;
};

const drawPieces = (svg, fen, flipped) => {
  for (const [letter, square] of piecesOf(fen)) {
    const [column, row] = place(square, flipped);
    const color = letter === letter.toUpperCase() ? "w" : "b";
    add(svg, "use", { href: "#" + color + letter.toUpperCase(), x: column * SIDE, y: row * SIDE });
  }
};

const drawArrow = (svg, [from, to], flipped) => {
  const middle = (square) => place(square, flipped).map((n) => n * SIDE + SIDE / 2);
  const [[x1, y1], [x2, y2]] = [middle(from), middle(to)];
  const length = Math.hypot(x2 - x1, y2 - y1) || 1;
  const [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length];
  const [bx, by] = [x2 - 14 * ux, y2 - 14 * uy];
  const group = add(svg, "g", { class: "best", opacity: 0.75, "stroke-width": 0 });
  add(group, "path", { "stroke-width": 5, d: `M${x1 + 8 * ux} ${y1 + 8 * uy}L${bx} ${by}` });
  add(group, "path", { d: `M${x2 - 2 * ux} ${y2 - 2 * uy}L${bx - 8 * uy} ${by + 8 * ux}L${bx + 8 * uy} ${by - 8 * ux}Z` });
};

/** A board in words: "White: king e1, pawns a2 b2. Black: king e8. White to move." */
const boardInWords = (fen) => {
  const names = { k: "king", q: "queen", r: "rook", b: "bishop", n: "knight", p: "pawn" };
  const side = (isWhite) => Object.entries(names).map(([letter, name]) => {
    const wanted = isWhite ? letter.toUpperCase() : letter;
    const squares = piecesOf(fen).filter(([piece]) => piece === wanted).map(([, square]) => square).sort();
    return squares.length ? `${name}${squares.length > 1 ? "s" : ""} ${squares.join(" ")}` : "";
  }).filter(Boolean).join(", ");
  return `White: ${side(true)}. Black: ${side(false)}. ${fen.split(" ")[1] === "w" ? "White" : "Black"} to move.`;
};

/** A whole board: `played` are squares to highlight, `better` the ends of an arrow, `targets` squares with a dot. */
const drawBoard = (svg, { fen, played, better, targets }, flipped) => {
  svg.replaceChildren();
  svg.setAttribute("aria-label", boardInWords(fen));
  svg.dataset.fen = fen;
  drawSquares(svg, flipped);
  for (const square of played || []) {
    const [column, row] = place(square, flipped);
    add(svg, "rect", { class: "seen", x: column * SIDE, y: row * SIDE, width: SIDE, height: SIDE });
  }
  drawPieces(svg, fen, flipped);
  for (const square of targets || []) {
    const [cx, cy] = place(square, flipped).map((n) => n * SIDE + SIDE / 2);
    add(svg, "circle", { class: "target", cx, cy, r: 7 });
  }
  if (better) drawArrow(svg, better, flipped);
};
