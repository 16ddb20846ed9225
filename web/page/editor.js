// The board editor: pieces are dragged or placed by clicks, and the FEN follows.

import { Chessground } from "./lib/chessground.min.js";
import { element } from "./keyed.js";
import { INITIAL_FEN, positionOf } from "./rules.js";
import { chess960Fen } from "./chess960.js";

const $ = (id) => document.getElementById(id);
const ROLES = ["king", "queen", "rook", "bishop", "knight", "pawn"];
const EMPTY = "8/8/8/8/8/8/8/8";
const dialog = $("editor");

let ground = null;
/** The piece that clicks place: `{ role, color }`, "trash", or `null`. */
let brush = null;
let answer = null;

const castling = () => [...$("editor-castling").querySelectorAll("input")];

/** The FEN of the board and the form. */
function currentFen() {
  const rights = castling().filter((box) => box.checked).map((box) => box.value).join("");
  return `${ground.getFen()} ${$("editor-turn").value} ${rights || "-"} - 0 1`;
}

/** Shows the FEN, or why it is not a legal position. */
function follow(writes = true) {
  const fen = currentFen();
  if (writes) $("editor-fen").value = fen;
  try {
    positionOf(fen);
    $("editor-error").textContent = "";
  } catch (error) {
    $("editor-error").textContent = error.message;
  }
}

/** Puts a FEN on the board and into the form. */
function load(fen) {
  const [board, turn = "w", rights = "-"] = fen.trim().split(/\s+/);
  ground.set({ fen: board });
  $("editor-turn").value = turn === "b" ? "b" : "w";
  // Chess960 names rooks by file, so any capital or small letter of a side may be either right.
  const isSet = (letter) => rights.includes(letter) || (rights !== "-" && !/[KQkq]/.test(rights)
    && new RegExp(letter === letter.toUpperCase() ? "[A-H]" : "[a-h]").test(rights));
  for (const box of castling()) box.checked = isSet(box.value);
}

function choose(button, chosen) {
  brush = button.getAttribute("aria-pressed") === "true" ? null : chosen;
  dialog.querySelectorAll(".spares button").forEach((other) => other.setAttribute("aria-pressed", String(other === button && brush !== null)));
}

function spares(colour) {
  const buttons = ROLES.map((role) => {
    const piece = { role, color: colour };
    const button = element("button", { type: "button", "aria-pressed": "false", "aria-label": `${colour} ${role}` },
      element("piece", { class: `${role} ${colour}` }));
    button.addEventListener("click", () => choose(button, piece));
    const drag = (event) => { if (event.button !== 2) ground.dragNewPiece(piece, event, true); };
    button.addEventListener("mousedown", drag);
    button.addEventListener("touchstart", drag, { passive: true });
    return button;
  });
  const trash = element("button", { type: "button", "aria-pressed": "false", "aria-label": "Remove pieces", title: "Remove pieces" }, "×");
  trash.addEventListener("click", () => choose(trash, "trash"));
  $(`spares-${colour}`).replaceChildren(...buttons, trash);
}

/** Places or removes a piece at a click while a brush is chosen. */
function paint(event) {
  if (!brush) return;
  const key = ground.getKeyAtDomPos([event.clientX, event.clientY]);
  if (!key) return;
  event.stopPropagation();
  event.preventDefault();
  const old = ground.state.pieces.get(key);
  const isSame = brush !== "trash" && old?.role === brush.role && old?.color === brush.color;
  ground.setPieces(new Map([[key, brush === "trash" || isSame ? undefined : brush]]));
  follow();
}

function close(act) {
  const fen = $("editor-fen").value;
  if (act !== "close") {
    try {
      positionOf(fen);
    } catch (error) {
      $("editor-error").textContent = error.message;
      return;
    }
  }
  const resolve = answer;
  answer = null;
  dialog.close();
  resolve?.(act === "close" ? null : { act, fen });
}

function begin() {
  ground = Chessground($("editor-ground"), {
    fen: EMPTY, coordinates: true, animation: { enabled: false }, highlight: { lastMove: false, check: false },
    movable: { free: true, color: "both" }, premovable: { enabled: false }, drawable: { enabled: false },
    draggable: { deleteOnDropOff: true, showGhost: true }, selectable: { enabled: true },
    events: { change: () => follow() },
  });
  spares("white");
  spares("black");
  $("editor-place").addEventListener("mousedown", paint, true);
  $("editor-place").addEventListener("touchstart", (event) => { if (brush) event.stopPropagation(); }, true);
  new ResizeObserver(() => { if ($("editor-place").clientWidth > 0) ground.redrawAll(); }).observe($("editor-place"));
  $("editor-turn").addEventListener("change", () => follow());
  $("editor-castling").addEventListener("change", () => follow());
  $("editor-fen").addEventListener("input", ({ target }) => {
    try {
      positionOf(target.value);
      load(target.value);
      $("editor-error").textContent = "";
    } catch (error) {
      $("editor-error").textContent = error.message;
    }
  });
  $("editor-form").addEventListener("submit", (event) => { event.preventDefault(); close("analyse"); });
  dialog.addEventListener("cancel", (event) => { event.preventDefault(); close("close"); });
  const acts = { start: () => { load(INITIAL_FEN); follow(); }, empty: () => { load(`${EMPTY} w - - 0 1`); follow(); },
    chess960: () => { const fen = chess960Fen(); load(fen); follow(); $("editor-fen").value = fen; },
    flip: () => ground.toggleOrientation() };
  dialog.addEventListener("click", ({ target }) => {
    const act = target.closest("[data-edit]")?.dataset.edit;
    if (!act) return;
    if (acts[act]) acts[act]();
    else close(act);
  });
}

/** Opens the editor with a position. Resolves with `{ act: "analyse" or "play", fen }`, or with `null`. */
export function openEditor(fen, flipped = false) {
  dialog.showModal();
  if (!ground) begin();
  brush = null;
  dialog.querySelectorAll(".spares button").forEach((button) => button.setAttribute("aria-pressed", "false"));
  ground.set({ orientation: flipped ? "black" : "white" });
  load(fen);
  follow();
  $("editor-fen").value = fen;
  ground.redrawAll();
  return new Promise((resolve) => { answer = resolve; });
}
