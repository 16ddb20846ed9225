// The list of the games that were played on this device.

import { allGames, deleteGame, onOtherTab } from "./store.js";
import { confirmed } from "./toast.js";

const FIELD_PGN = "application/x-chess-pgn;charset=utf-8";

const made = (name, attributes = {}, ...children) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
};

/** One line for a game: "2026-11-28 · White against level 1200 · 1–0 · 34 moves". */
function label({ started, side, opponent, result, moves }) {
  const date = new Date(started).toISOString().slice(0, 10);
  const colour = side === "white" ? "White" : "Black";
  const outcome = result === "*" ? "not finished" : result.replace("1/2-1/2", "½–½").replace("-", "–");
  return `${date} · ${colour} against ${opponent} · ${outcome} · ${moves} ${moves === 1 ? "move" : "moves"}`;
}

export class Games {
  /** `open` is called with the chosen game, `isOpen` returns whether a game is on the board. */
  constructor(open, isOpen) {
    this.open = open;
    this.isOpen = isOpen;
    this.rows = new Map();
    this.list = made("ul");
    this.summary = made("summary", {}, "Your games");
    this.export = made("a", { class: "button-like", download: "zoothera-games.pgn", href: "#" }, "Save all as PGN");
    this.place = made("details", { class: "card games", id: "games" }, this.summary, this.list, this.export);
    this.place.hidden = true;
    document.getElementById("panel-play").append(this.place);
    this.list.addEventListener("click", (event) => this.click(event));
    onOtherTab(() => this.refresh());
  }

  async click({ target }) {
    const id = target.closest("li")?.dataset.id;
    const game = this.games.find((other) => other.id === id);
    if (!game || !target.closest("button")) return;
    if (!target.closest("[data-delete]")) return this.open(game);
    if (!(await confirmed(`Delete this game? ${label(game)}`, "Delete"))) return;
    await deleteGame(id);
    await this.refresh();
    (this.list.querySelector("button") ?? this.summary).focus();
  }

  /** Updates the rows by game, so that the focus stays where it is. */
  async refresh() {
    this.games = await allGames();
    const ids = new Set(this.games.map(({ id }) => id));
    for (const [id, row] of this.rows) {
      if (ids.has(id)) continue;
      row.remove();
      this.rows.delete(id);
    }
    this.games.forEach((game, index) => {
      const row = this.rows.get(game.id) ?? this.newRow(game.id);
      const text = label(game);
      const [open, remove] = row.children;
      if (open.textContent !== text) open.textContent = text;
      remove.setAttribute("aria-label", `Delete: ${text}`);
      remove.disabled = this.isOpen(game.id);
      if (this.list.children[index] !== row) this.list.insertBefore(row, this.list.children[index] ?? null);
    });
    this.summary.textContent = `Your games (${this.games.length})`;
    this.place.hidden = this.games.length === 0;
    this.offerExport();
  }

  newRow(id) {
    const row = made("li", { "data-id": id }, made("button", { type: "button", class: "quiet" }),
      made("button", { type: "button", class: "quiet", "data-delete": "" }, "Delete"));
    this.rows.set(id, row);
    return row;
  }

  offerExport() {
    if (this.url) URL.revokeObjectURL(this.url);
    this.url = URL.createObjectURL(new Blob([this.games.map(({ pgn }) => pgn).join("\n")], { type: FIELD_PGN }));
    this.export.href = this.url;
  }
}
