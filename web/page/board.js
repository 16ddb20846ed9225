// The board: pieces, moves, premoves, arrows, and the evaluation bar.

import { Chessground } from "./lib/chessground.min.js";
import { chessgroundDests } from "./lib/chessops/compat.js";
import { makeSquare, parseSquare } from "./lib/chessops/util.js";
import { showMaterial } from "./material.js";
import { askPromotion, cancelPromotion } from "./promotion.js";
import { boardText, fenOf, moveOfUci } from "./rules.js";

const place = document.getElementById("board-place");
const still = matchMedia("(prefers-reduced-motion: reduce)");

export class Board {
  /** `onMove` is called with each legal move that the user makes on the board. */
  constructor(onMove) {
    this.onMove = onMove;
    this.position = null;
    this.shapes = [];
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
    new ResizeObserver(() => {
      if (place.clientWidth === 0) return;
      this.ground.redrawAll();
      this.drawShapes();
    }).observe(place);
  }

  async moved(from, to) {
    const { position, shown } = this;
    const origin = parseSquare(from);
    const isPromotion = position.board.getRole(origin) === "pawn" && "18".includes(to[1]);
    const piece = isPromotion ? await askPromotion(position.turn, to, shown.flipped) : null;
    if (this.position !== position) return;
    const suffix = { queen: "q", rook: "r", bishop: "b", knight: "n" }[piece] ?? "";
    const move = isPromotion && !piece ? null : moveOfUci(position, from + to + suffix);
    if (move) this.onMove(move);
    else this.show(this.shown);
  }

  /**
   * Shows a node of a tree. `movable` is whether its side may move; `premover` is a side that may choose a premove;
   * `arrows` are moves, the best first.
   */
  show({ node, movable, flipped, premover = null, arrows = [] }) {
    if (this.position !== node.position) cancelPromotion();
    this.shown = { node, movable, flipped, premover, arrows };
    const { position, move } = node;
    this.position = position;
    place.setAttribute("aria-label", boardText(position));
    const canPremove = premover !== null && premover !== position.turn;
    if (!premover) this.ground.cancelPremove();
    if (place.clientWidth === 0) this.hideShapes();
    this.ground.set({
      fen: fenOf(position),
      orientation: flipped ? "black" : "white",
      turnColor: position.turn,
      check: position.isCheck() ? position.turn : false,
      lastMove: move ? [makeSquare(move.from), makeSquare(move.to)] : undefined,
      movable: {
        color: movable ? position.turn : canPremove ? premover : undefined,
        dests: movable ? chessgroundDests(position) : new Map(),
      },
      premovable: { enabled: canPremove },
    });
    showMaterial(position, flipped);
    this.arrows(arrows);
  }

  /** Plays the premove, if there is one and it is legal. */
  playPremove() { return this.ground.playPremove(); }

  arrows(moves, brushes = ["green", "pale"]) {
    if (this.shown) this.shown.arrows = moves;
    this.shapes = moves.map((move, index) => ({
      orig: makeSquare(move.from), dest: makeSquare(move.to), brush: brushes[Math.min(index, brushes.length - 1)],
    }));
    this.drawShapes();
  }

  drawShapes() {
    if (place.clientWidth > 0) this.ground.setAutoShapes(this.shapes);
    else this.hideShapes();
  }

  /** A hidden board has no size, so that its arrows would have no coordinates. */
  hideShapes() {
    this.ground.set({ drawable: { shapes: [], autoShapes: [] } });
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
  bar.firstElementChild.style.setProperty("--part", `${percent}%`);
  const label = bar.querySelector(".bar-text");
  const isBlack = percent < 50;
  label.classList.toggle("black", isBlack);
  label.classList.toggle("top", isBlack !== flipped);
  label.textContent = score.replace(/^[+−]/, "").replace(/(\.\d)\d$/, "$1");
}

/** Shows the names above and below the board. */
export function showNames(white, black, flipped) {
  const names = flipped ? [white, black] : [black, white];
  ["top", "bottom"].forEach((strip, index) => {
    const place = document.querySelector(`#player-${strip} .name`);
    if (place.textContent !== names[index]) place.textContent = names[index];
  });
}

/** Shows texts as clocks; `null` hides a clock. Only a game that is going on has running clocks. */
export function showClockTexts(white, black, flipped) {
  const texts = flipped ? [white, black] : [black, white];
  ["top", "bottom"].forEach((strip, index) => {
    const clock = document.querySelector(`#player-${strip} .clock`);
    clock.hidden = !texts[index];
    clock.textContent = texts[index] ?? "";
    clock.classList.remove("running", "short");
  });
}
