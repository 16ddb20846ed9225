// Captured pieces and material difference, beside the players' names.

import { element } from "./keyed.js";

const ROLES = ["queen", "rook", "bishop", "knight", "pawn"];
const VALUES = { queen: 9, rook: 5, bishop: 3, knight: 3, pawn: 1 };
const WORDS = { queen: "queen", rook: "rook", bishop: "bishop", knight: "knight", pawn: "pawn" };

/** Pieces of the opponent that `side` is ahead by, and its lead in points. */
export function lead(position, side) {
  const other = side === "white" ? "black" : "white";
  const ahead = ROLES.flatMap((role) => {
    const difference = position.board.pieces(side, role).size() - position.board.pieces(other, role).size();
    return Array(Math.max(0, difference)).fill(role);
  });
  const points = ROLES.reduce((sum, role) => sum + VALUES[role]
    * (position.board.pieces(side, role).size() - position.board.pieces(other, role).size()), 0);
  return { ahead, points };
}

/** Shows the material lead of both sides in the strips above and below the board. */
export function showMaterial(position, flipped) {
  for (const [strip, side] of [["top", flipped ? "white" : "black"], ["bottom", flipped ? "black" : "white"]]) {
    const place = document.querySelector(`#player-${strip} .captured`);
    const { ahead, points } = lead(position, side);
    const key = `${side} ${ahead} ${points}`;
    if (place.dataset.key === key) continue;
    place.dataset.key = key;
    const colour = side === "white" ? "black" : "white";
    place.replaceChildren(...ahead.map((role, index) =>
      element("piece", { class: `${role} ${colour}${index > 0 && ahead[index - 1] !== role ? " other" : ""}`, "aria-hidden": "true" })));
    if (ahead.length) place.append(element("span", { class: "unseen" }, `ahead by: ${ahead.map((role) => WORDS[role]).join(", ")}`));
    if (points > 0) place.append(element("span", {}, `+${points}`));
  }
}
