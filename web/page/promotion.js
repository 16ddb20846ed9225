// The choice of a promotion, on the board beside the pawn's square.

const place = document.getElementById("promotion");
const buttons = [...place.querySelectorAll("button")];
let answer = null;

function close(piece) {
  if (!answer) return;
  const resolve = answer;
  answer = null;
  place.hidden = true;
  resolve(piece);
}

place.addEventListener("click", ({ target }) => close(target.closest("button")?.value ?? null));
place.addEventListener("keydown", (event) => {
  const by = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1, Tab: event.shiftKey ? -1 : 1 }[event.key];
  if (event.key === "Escape") close(null);
  else if (by) buttons[(buttons.indexOf(document.activeElement) + by + 4) % 4].focus();
  else return;
  event.preventDefault();
  event.stopPropagation();
});
// A press anywhere else closes the choice too.
document.addEventListener("pointerdown", ({ target }) => { if (!place.contains(target)) close(null); }, true);

/** Asks for the piece. Resolves with its name, or with `null` if the choice is closed. `square` is the target, such as "a8". */
export function askPromotion(colour, square, flipped) {
  close(null);
  const file = square.charCodeAt(0) - 97;
  const column = flipped ? 7 - file : file;
  const isTop = (square[1] === "8") !== flipped;
  buttons.forEach((button, index) => {
    const piece = document.createElement("piece");
    piece.className = `${button.value} ${colour}`;
    button.replaceChildren(piece);
    button.style.left = `${column * 12.5}%`;
    button.style.top = `${(isTop ? index : 7 - index) * 12.5}%`;
  });
  const before = document.activeElement;
  place.hidden = false;
  buttons[0].focus({ preventScroll: true });
  return new Promise((resolve) => {
    answer = (piece) => { before?.focus?.({ preventScroll: true }); resolve(piece); };
  });
}

/** Closes the choice, if it is open. */
export const cancelPromotion = () => close(null);
