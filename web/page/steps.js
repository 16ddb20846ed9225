// The buttons under the panel: steps through the game, flip, and the field for typed moves.

const controls = document.getElementById("controls");
const typed = document.getElementById("show-typed");

/** Calls `go` with the name of a step, as the keys do. */
export function bindSteps(go) {
  controls.addEventListener("click", ({ target }) => {
    const button = target.closest("[data-step]");
    if (button) go(button.dataset.step);
  });
  typed.addEventListener("click", () => {
    const isOpen = typed.getAttribute("aria-expanded") !== "true";
    typed.setAttribute("aria-expanded", String(isOpen));
    if (isOpen) document.getElementById("move").focus({ preventScroll: true });
  });
}

/** Disables the steps that lead nowhere. A focused button stays usable for the keyboard. */
export function showSteps(isFirst, isLast) {
  for (const [name, isOff] of [["first", isFirst], ["back", isFirst], ["on", isLast], ["last", isLast]]) {
    controls.querySelector(`[data-step="${name}"]`).setAttribute("aria-disabled", String(isOff));
  }
}
