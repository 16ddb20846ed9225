// Lines of the engine: each move is a button; hovering or focusing a move shows its position.

import { element, keyed, setAttribute, setText } from "./keyed.js";
import { hidePreview, showPreview } from "./preview.js";
import { after, makeSan, moveOfUci } from "./rules.js";

/** Moves of a line that are shown. */
const LONGEST = 24;

/** The moves of a line with numbers, up to the first illegal one: `{ label, san, move, position }`. */
export function steps(position, ucis) {
  const made = [];
  let at = position;
  for (const uci of ucis.slice(0, LONGEST)) {
    const move = moveOfUci(at, uci);
    if (!move) break;
    const label = at.turn === "white" ? `${at.fullmoves}.` : made.length === 0 ? `${at.fullmoves}…` : "";
    const san = makeSan(at, move);
    at = after(at, move);
    made.push({ label, san, move, position: at });
  }
  return made;
}

const ARROW = '<svg viewBox="0 0 20 20" aria-hidden="true"><path d="M3 6l7 8 7-8z"/></svg>';

/** The moves of each line element, for the handlers. */
const shown = new WeakMap();

function makeLine() {
  const toggle = element("button", { type: "button", class: "toggle", "aria-expanded": "false", "aria-label": "Show the whole line" });
  toggle.innerHTML = ARROW;
  return element("li", {}, element("b"), " ", element("span", { class: "line" }), toggle);
}

function moveItems(made) {
  return made.flatMap(({ label, san }, index) => [
    ...(label ? [{ key: `n${index}`, make: () => element("span", { class: "number" }), update: (it) => setText(it, `${label} `) }] : []),
    {
      key: index,
      make: () => element("button", { type: "button", "data-step": "", tabindex: index === 0 ? "0" : "-1" }),
      update: (it) => { it.dataset.index = index; setText(it, san); },
    },
    { key: `s${index}`, make: () => element("span"), update: (it) => setText(it, " ") },
  ]);
}

/** Shows lines; each has `key`, `score` (text), `position` and `ucis`. */
export function showLines(list, lines) {
  keyed(list, lines.map(({ key, score, position, ucis }) => ({
    key,
    make: makeLine,
    update: (li) => {
      const text = li.querySelector("b");
      setText(text, score);
      const made = steps(position, ucis);
      shown.set(li, made);
      keyed(li.querySelector(".line"), moveItems(made));
    },
  })));
}

/**
 * Handles clicks, hovering and keys. `play` is called with the moves up to the chosen one, the line, and whether a key has
 * chosen it.
 */
export function bindLines(list, play, flipped) {
  const stepOf = (target) => {
    const button = target.closest?.("[data-index]");
    return button ? { button, made: shown.get(button.closest("li")), index: Number(button.dataset.index) } : null;
  };
  list.addEventListener("click", ({ target, detail }) => {
    const toggle = target.closest(".toggle");
    if (toggle) {
      const isOpen = toggle.closest("li").classList.toggle("open");
      setAttribute(toggle, "aria-expanded", String(isOpen));
    }
    const step = stepOf(target);
    if (!step) return;
    hidePreview();
    play(step.made.slice(0, step.index + 1).map(({ move }) => move), step.button.closest("li"), detail === 0);
  });
  const show = ({ target }) => {
    const step = stepOf(target);
    if (step) showPreview(step.made[step.index], step.button, flipped());
    else hidePreview();
  };
  list.addEventListener("pointerover", (event) => { if (event.pointerType === "mouse") show(event); });
  list.addEventListener("pointerleave", hidePreview);
  list.addEventListener("focusin", (event) => { if (event.target.matches(":focus-visible")) show(event); });
  list.addEventListener("focusout", hidePreview);
  // The arrow keys walk along the line; Tab goes to the next line.
  list.addEventListener("keydown", (event) => {
    const step = stepOf(event.target);
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step || !by) return;
    event.preventDefault();
    event.stopPropagation();
    step.button.closest(".line").querySelector(`[data-index="${step.index + by}"]`)?.focus();
  });
}
