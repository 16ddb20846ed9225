// Uses the page as a reader would, and collects what it shows in `seen`.
const game = () => [...document.querySelectorAll("article.game")].find((a) => !a.classList.contains("away"));
const part = (selector) => game().querySelector(selector);
const board = () => part(".stage .board");
const current = () => part(".list [aria-current]")?.textContent.trim() ?? "";
const shown = (element) => element !== null && element.getClientRects().length > 0;
const look = (what) => {
  seen[what] = {
    fen: board().dataset.fen.split(" ")[0], pieces: board().querySelectorAll("use").length, move: current(),
    cursor: part(".cursor").getAttribute("x"), arrows: board().querySelectorAll(".best").length,
    note: part(".note").innerText, bar: part(".bar").getAttribute("aria-valuenow"), hash: location.hash,
    step: part(".moment .line [aria-current]")?.textContent ?? "",
  };
};
const key = (name, target = document.body) =>
  target.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true }));
const click = (element) => element.dispatchEvent(new MouseEvent("click", { bubbles: true }));
/** Clicks on a square of the board, seen from White. */
const press = (square) => {
  const box = board().getBoundingClientRect();
  const [column, row] = [square.charCodeAt(0) - 97, 8 - Number(square[1])];
  const at = { clientX: box.left + (column + 0.5) * box.width / 8, clientY: box.top + (row + 0.5) * box.height / 8 };
  board().dispatchEvent(new MouseEvent("click", { bubbles: true, ...at }));
};
const type = (text) => {
  part(".typed input").value = text;
  part(".typed").dispatchEvent(new Event("submit", { bubbles: true, cancelable: true }));
};

/** Contrast of a text with what lies behind it, by the formula of WCAG. */
const contrast = (element) => {
  const numbers = (color) => color.match(/[\d.]+/g).map(Number);
  const light = (color) => numbers(color).slice(0, 3).map((n) => n / 255)
    .map((n) => (n <= 0.04045 ? n / 12.92 : ((n + 0.055) / 1.055) ** 2.4))
    .reduce((sum, n, i) => sum + n * [0.2126, 0.7152, 0.0722][i], 0);
  let behind = element;
  while (numbers(getComputedStyle(behind).backgroundColor)[3] === 0) behind = behind.parentElement;
  const pair = [light(getComputedStyle(element).color), light(getComputedStyle(behind).backgroundColor)];
  return (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
};
/** Adds a move of each mark, and measures colours in the list, with and without the cursor, and in the note. */
const colours = () => {
  const found = {};
  for (const mark of ["blunder", "mistake", "inaccuracy", "only"]) {
    const button = part(".list .move").cloneNode(true);
    button.className = `move mark-${mark}`;
    button.removeAttribute("aria-current");
    part(".list").append(button);
    const word = document.createElement("span");
    word.className = `mark-${mark}`;
    part(".note").append(word);
    const colour = getComputedStyle(button).color;
    const contrasts = [contrast(button), contrast(word)];
    button.setAttribute("aria-current", "true");
    contrasts.push(contrast(button));
    found[mark] = [colour, Math.min(...contrasts)];
    button.remove();
    word.remove();
  }
  const texts = [...document.querySelectorAll(".number, .used, .book, .glyph, .author, .numbers, .about, footer p, kbd, th")];
  found.texts = ["", Math.min(...texts.filter(shown).map(contrast))];
  return found;
};

look("start");
key("ArrowRight"); look("right");
key("End"); look("end");
key("ArrowLeft"); look("left");
key("Home"); look("home");
click(part('.list [data-ply="6"]')); look("move");
click(part('.graph .hit[data-ply="2"]')); look("graph");
const corner = () => board().querySelector("use").getAttribute("y");
seen.corners = [corner()]; key("f"); seen.corners.push(corner()); key("f");
click(part(".moment [data-ply]")); look("moment");
click(part('.moment .line [data-step="1"]')); look("line");
key("ArrowLeft"); look("line back");
key("ArrowLeft"); look("line left");
key("ArrowRight"); key("b"); look("better");
key("Escape"); look("escape");
const better = part('[data-go="better"]');
click(better); look("button"); key("Home"); look("first"); seen.disabled = better.disabled;

key("Home");
seen.marked = getComputedStyle(part('.list [data-ply="6"]')).color;

// Mistakes by keys, and another try at one.
key("n"); look("next"); key("n"); look("no next"); key("p"); look("no previous");
key("ArrowRight"); key("p"); look("previous");
key("t"); look("retry");
seen.hidden = { moments: getComputedStyle(part(".moment .line")).visibility === "visible", field: document.activeElement === part(".typed input") };
key("b", part(".typed input")); look("letter in the field");
press("g7"); seen.targets = board().querySelectorAll(".target").length;
press("g6"); look("good try");
seen.offered = [shown(part('[data-go="next-try"]')), part('[data-go="next-try"]').textContent];
key("Escape"); key("t"); type("a6"); look("bad try");
seen.offered.push(shown(part('[data-go="next-try"]')));
key("t"); type("Ke4"); look("illegal try");
type("g8F6"); look("same try");
key("ArrowRight", part(".typed input")); look("after the try");
// Black's mistakes, with Black at the bottom; White has none.
key("f"); key("m"); look("mine"); key("Escape"); key("f");
const box = (selector) => part(selector).getBoundingClientRect();
seen.under = box(".controls").top - box(".stage").bottom;
const cells = [...part(".list").querySelectorAll("li:not(.remark) .move")].map((e) => Math.round(e.getBoundingClientRect().left));
seen.columns = new Set(cells).size;

// Another game: the arrows step through it although the focus is in the choice.
const choose = document.getElementById("games");
choose.focus();
choose.value = "1";
choose.dispatchEvent(new Event("change", { bubbles: true })); look("second");
key("ArrowRight", choose); look("second, right");
key("t"); press("a7"); press("a8"); look("promotion");
seen.choices = [...part(".choices").children].map((button) => button.textContent);
click(part(".choices button")); look("promoted");

seen.light = colours();
for (const rule of document.styleSheets[0].cssRules) {
  if (rule.media?.mediaText.includes("dark")) rule.media.mediaText = "all";
}
seen.dark = colours();
seen.labels = [...document.querySelectorAll("article button, article a, input, select, [role]")].filter(shown)
  .filter((e) => !(e.getAttribute("aria-label") ?? e.textContent + (e.labels?.[0]?.textContent ?? "")).trim())
  .map((e) => e.outerHTML);
seen.spoken = part(".list .move").getAttribute("aria-label");
seen.board = board().getAttribute("aria-label");
