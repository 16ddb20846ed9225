// Initial positions of Chess960.

// CITE: the numbering of Reinhard Scharnagl, as facts.
/** The pieces of a position of Chess960 by its number from 0 to 959; 518 is the usual position. */
export function backRank(number) {
  const squares = Array(8).fill("");
  const free = () => squares.flatMap((piece, index) => (piece ? [] : [index]));
  squares[2 * (number % 4) + 1] = "B";
  squares[2 * (Math.floor(number / 4) % 4)] = "B";
  squares[free()[Math.floor(number / 16) % 6]] = "Q";
  const pairs = [[0, 1], [0, 2], [0, 3], [0, 4], [1, 2], [1, 3], [1, 4], [2, 3], [2, 4], [3, 4]];
  const empty = free();
  for (const index of pairs[Math.floor(number / 96)]) squares[empty[index]] = "N";
  free().forEach((index, order) => { squares[index] = "RKR"[order]; });
  return squares.join("");
}

/** The FEN of a numbered position, or of a random one. Rights are named by the rooks' files. */
export function chess960Fen(number = Math.floor(Math.random() * 960)) {
  const rank = backRank(number);
  const files = ["a", "b", "c", "d", "e", "f", "g", "h"].filter((_, index) => rank[index] === "R").reverse().join("");
  return `${rank.toLowerCase()}/pppppppp/8/8/8/8/PPPPPPPP/${rank} w ${files.toUpperCase()}${files} - 0 1`;
}
