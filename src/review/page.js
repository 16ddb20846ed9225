// The board that moves: everything else on the page can be read without this.
"use strict";
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const SIDE = 45;

  /** A child of an SVG element. */
  const add = (parent, name, attributes) => {
    const child = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) child.setAttribute(key, value);
    return parent.appendChild(child);
  };

  /** The column and row of a square, as e4, on the screen. */
  const place = (square, flipped) => {
    const file = square.charCodeAt(0) - 97;
    const rank = square.charCodeAt(1) - 49;
    return flipped ? [7 - file, rank] : [file, 7 - rank];
  };

  /** The squares and their coordinates. */
  const drawSquares = (svg, flipped) => {
    for (let row = 0; row < 8; row++) {
      for (let column = 0; column < 8; column++) {
        const shade = (row + column) % 2 ? "dark" : "light";
        add(svg, "rect", { class: shade, x: column * SIDE, y: row * SIDE, width: SIDE, height: SIDE });
        const text = { class: "on-" + shade, "font-size": 9, "font-family": "sans-serif" };
        if (column === 0) add(svg, "text", { ...text, x: 2, y: row * SIDE + 9 }).textContent = flipped ? row + 1 : 8 - row;
        if (row === 7) add(svg, "text", { ...text, x: column * SIDE + SIDE - 7, y: 8 * SIDE - 3 }).textContent =
          "abcdefgh"[flipped ? 7 - column : column];
      }
    }
  };

  const drawPieces = (svg, fen, flipped) => {
    fen.split(" ")[0].split("/").forEach((line, top) => {
      let file = 0;
      for (const letter of line) {
        if (letter >= "1" && letter <= "8") { file += Number(letter); continue; }
        const [column, row] = flipped ? [7 - file, 7 - top] : [file, top];
        const color = letter === letter.toUpperCase() ? "w" : "b";
        add(svg, "use", { href: "#" + color + letter.toUpperCase(), x: column * SIDE, y: row * SIDE });
        file += 1;
      }
    });
  };

  const drawArrow = (svg, [from, to], flipped) => {
    const middle = (square) => place(square, flipped).map((n) => n * SIDE + SIDE / 2);
    const [[x1, y1], [x2, y2]] = [middle(from), middle(to)];
    const length = Math.hypot(x2 - x1, y2 - y1) || 1;
    const [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length];
    const [bx, by] = [x2 - 14 * ux, y2 - 14 * uy];
    const group = add(svg, "g", { class: "best", opacity: 0.75, "stroke-width": 0 });
    add(group, "path", { "stroke-width": 5, d: `M${x1 + 8 * ux} ${y1 + 8 * uy}L${bx} ${by}` });
    add(group, "path", { d: `M${x2 - 2 * ux} ${y2 - 2 * uy}L${bx - 8 * uy} ${by + 8 * ux}L${bx + 8 * uy} ${by - 8 * ux}Z` });
  };

  /** A game on the page. */
  class Game {
    constructor(article) {
      this.article = article;
      this.positions = JSON.parse(article.querySelector("script").textContent);
      this.svg = article.querySelector(".stage .board");
      this.ply = 0;
      // The better line that is on the board, and the place in it; none while the game itself is.
      this.line = null;
      this.step = 0;
      this.flipped = false;
      article.addEventListener("click", (event) => this.clicked(event));
      this.show(0);
    }

    clicked(event) {
      const button = event.target.closest("[data-go]");
      if (button) this.go(button.dataset.go);
      const link = event.target.closest("[data-ply]");
      if (link) this.follow(link.dataset);
      if (event.target.closest(".moment")) this.svg.scrollIntoView({ block: "nearest" });
    }

    /** What a move of the game, or of a better line, was clicked for. */
    follow({ ply, line, step }) {
      if (line === undefined) this.show(Number(ply));
      else this.play(Number(ply), Number(line), Number(step));
    }

    go(where) {
      if (where === "flip") this.flipped = !this.flipped;
      if (where === "better") return this.alternate();
      if (this.line !== null) return this.goInLine(where);
      const last = this.positions.length - 1;
      this.show({ first: 0, back: this.ply - 1, on: this.ply + 1, last }[where] ?? this.ply);
    }

    /** The first better line, the next one, or after the last the game again. */
    alternate() {
      const next = this.line === null ? 0 : this.line + 1;
      if (next < this.positions[this.ply].lines.length) this.play(this.ply, next, 0);
      else this.show(this.ply);
    }

    /** Within a line; before its first move the game goes on where the line left it. */
    goInLine(where) {
      const last = this.positions[this.ply].lines[this.line].steps.length - 1;
      const step = { back: this.step - 1, on: Math.min(this.step + 1, last), last, flip: this.step }[where];
      if (where === "first") this.show(0);
      else if (where === "leave") this.show(this.ply);
      else if (step < 0) this.show(this.ply - 1);
      else this.play(this.ply, this.line, step);
    }

    /** Shows a position of the game. */
    show(ply) {
      this.line = null;
      this.ply = Math.min(Math.max(ply, 0), this.positions.length - 1);
      const position = this.positions[this.ply];
      this.draw(position, position.text);
    }

    /** Shows a position of a better line. */
    play(ply, line, step) {
      Object.assign(this, { ply, line, step });
      const { eval: score, steps } = this.positions[ply].lines[line];
      const moves = steps.slice(0, step + 1).map((move) => move.text).join(" ");
      this.draw(steps[step], `Better (${score}): ${moves}${step + 1 < steps.length ? " …" : ""}`);
    }

    draw(position, text) {
      this.svg.replaceChildren();
      this.svg.setAttribute("aria-label", position.fen);
      drawSquares(this.svg, this.flipped);
      for (const square of position.played || []) {
        const [column, row] = place(square, this.flipped);
        add(this.svg, "rect", { class: "seen", x: column * SIDE, y: row * SIDE, width: SIDE, height: SIDE });
      }
      drawPieces(this.svg, position.fen, this.flipped);
      if (position.better) drawArrow(this.svg, position.better, this.flipped);
      this.article.querySelector(".status").textContent = text;
      const better = this.article.querySelector(".controls .better");
      better.disabled = this.positions[this.ply].lines.length === 0;
      better.setAttribute("aria-pressed", String(this.line !== null));
      this.mark();
    }

    /** Marks the move in the list and in the graph. */
    mark() {
      this.article.querySelectorAll("[aria-current]").forEach((move) => move.removeAttribute("aria-current"));
      const move = this.article.querySelector(`.list [data-ply="${this.ply}"]`);
      const list = this.article.querySelector(".moves");
      const step = `.line [data-ply="${this.ply}"][data-line="${this.line}"][data-step="${this.step}"]`;
      this.article.querySelector(step)?.setAttribute("aria-current", "true");
      if (move) {
        move.setAttribute("aria-current", "true");
        // The list is what offsets are counted from: it is positioned.
        const top = move.offsetTop;
        const seen = top >= list.scrollTop && top <= list.scrollTop + list.clientHeight - 40;
        if (!seen) list.scrollTop = top - 60;
      } else {
        list.scrollTop = 0;
      }
      this.article.querySelector(".cursor").setAttribute("x", 10 * this.ply);
    }
  }

  const games = [...document.querySelectorAll("article.game")].map((article) => new Game(article));
  let current = games[0];
  const choose = document.getElementById("games");
  const select = (index) => {
    current = games[index];
    games.forEach((game) => game.article.classList.toggle("away", game !== current));
  };
  if (choose) {
    choose.addEventListener("change", () => select(Number(choose.value)));
    select(0);
  }

  const KEYS = { ArrowLeft: "back", ArrowRight: "on", Home: "first", End: "last", f: "flip", F: "flip",
    b: "better", B: "better", Escape: "leave" };
  document.addEventListener("keydown", (event) => {
    const where = KEYS[event.key];
    if (!where || !current || event.ctrlKey || event.altKey || event.metaKey || event.target === choose) return;
    event.preventDefault();
    current.go(where);
  });
})();
