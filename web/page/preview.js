// A small board beside the pointer: the position after a move of a line.

import { Chessground } from "./lib/chessground.min.js";
import { makeSquare } from "./lib/chessops/util.js";
import { fenOf } from "./rules.js";

const place = document.getElementById("preview");
let ground;

/** Shows the position of a step (see lines.js) near an element. */
export function showPreview({ position, move }, near, flipped) {
  place.hidden = false;
  const box = near.getBoundingClientRect();
  const { width, height } = place.getBoundingClientRect();
  const isBelow = box.bottom + 8 + height < innerHeight;
  place.style.left = `${Math.max(4, Math.min(box.left, innerWidth - width - 4))}px`;
  place.style.top = `${Math.max(4, isBelow ? box.bottom + 8 : box.top - height - 8)}px`;
  if (!ground) {
    const inner = place.appendChild(document.createElement("div"));
    ground = Chessground(inner, { viewOnly: true, coordinates: false, animation: { enabled: false }, drawable: { enabled: false, visible: false } });
  }
  ground.set({
    fen: fenOf(position), orientation: flipped ? "black" : "white", check: position.isCheck() ? position.turn : false,
    lastMove: [makeSquare(move.from), makeSquare(move.to)],
  });
  ground.redrawAll();
}

export function hidePreview() { place.hidden = true; }
