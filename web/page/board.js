// The board: pieces, moves, arrows, promotion, and the evaluation bar.

import { Chessground } from "./lib/chessground.min.js";
import { chessgroundDests } from "./lib/chessops/compat.js";
import { makeSquare, parseSquare } from "./lib/chessops/util.js";
import { boardText, fenOf, moveOfUci } from "./rules.js";

const place = document.getElementById("board-place");
const dialog = document.getElementById("promotion");
const still = matchMedia("(prefers-reduced-motion: reduce)");

/** Opens the promotion dialog. Resolves with the chosen piece, or with `null` if the dialog is closed. */
function askPromotion(colour) {
  for (const button of dialog.querySelectorAll("button")) {
    const piece = document.createElement("piece");
    piece.className = `${button.value} ${colour}`;
    button.replaceChildren(piece);
  }
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue || null), { once: true });
  });
}

export class Board {
  /** `onMove` is called with each legal move that the user makes on the board. */
  constructor(onMove) {
    this.onMove = onMove;
    this.position = null;
    this.ground = Chessground(document.getElementById("board"), {
      animation: { enabled: !still.matches, duration: 180 },
      premovable: { enabled: false },
      draggable: { showGhost: true },
      drawable: { brushes: {
        green: { key: "g", color: "#2f7d63", opacity: 0.9, lineWidth: 10 },
        red: { key: "r", color: "#b4493a", opacity: 0.9, lineWidth: 10 },
        blue: { key: "b", color: "#2f6fb0", opacity: 0.9, lineWidth: 10 },
        yellow: { key: "y", color: "#c9902b", opacity: 0.9, lineWidth: 10 },
        pale: { key: "p", color: "#2f7d63", opacity: 0.4, lineWidth: 7 },
      } },
      movable: { free: false, showDests: true, events: { after: (from, to) => this.moved(from, to) } },
    });
    new ResizeObserver(() => { if (place.clientWidth > 0) this.ground.redrawAll(); }).observe(place);
  }

  async moved(from, to) {
    const position = this.position;
    const origin = parseSquare(from);
    const isPromotion = position.board.getRole(origin) === "pawn" && "18".includes(to[1]);
    const piece = isPromotion ? await askPromotion(position.turn) : null;
    const suffix = { queen: "q", rook: "r", bishop: "b", knight: "n" }[piece] ?? "";
    const move = isPromotion && !piece ? null : moveOfUci(position, from + to + suffix);
    if (move) this.onMove(move);
    else this.show(this.shown);
  }

  /** Shows a node of a tree. `movable` is whether its side may move; `arrows` are moves, the best first. */
  show({ node, movable, flipped, arrows = [] }) {
    this.shown = { node, movable, flipped, arrows };
    const { position, move } = node;
    this.position = position;
    place.setAttribute("aria-label", boardText(position));
    this.ground.set({
      fen: fenOf(position),
      orientation: flipped ? "black" : "white",
      turnColor: position.turn,
      check: position.isCheck(),
      lastMove: move ? [makeSquare(move.from), makeSquare(move.to)] : undefined,
      movable: { color: movable ? position.turn : undefined, dests: movable ? chessgroundDests(position) : new Map() },
    });
    this.arrows(arrows);
  }

  arrows(moves) {
    if (this.shown) this.shown.arrows = moves;
    this.ground.setAutoShapes(moves.map((move, index) => ({
      orig: makeSquare(move.from), dest: makeSquare(move.to), brush: index === 0 ? "green" : "pale",
    })));
  }

  coordinates(shown) {
    if (this.ground.state.coordinates === shown) return;
    this.ground.set({ coordinates: shown });
    this.ground.redrawAll();
  }
}

const bar = document.getElementById("bar");

/** Shows White's winning chances and the score; `null` if they are unknown. */
export function showChance(chance, score, flipped) {
  bar.classList.toggle("unknown", chance === null);
  bar.classList.toggle("flipped", flipped);
  const percent = Math.round(100 * (chance ?? 0.5));
  bar.setAttribute("aria-valuenow", percent);
  bar.setAttribute("aria-valuetext", chance === null ? "unknown" : `${percent} percent, score ${score}`);
  bar.firstElementChild.style.height = `${percent}%`;
  const label = bar.querySelector(".bar-text");
  const isBlack = percent < 50;
  label.classList.toggle("black", isBlack);
  label.classList.toggle("top", isBlack !== flipped);
  label.textContent = score.replace(/^[+−]/, "").replace(/(\.\d)\d$/, "$1");
}
