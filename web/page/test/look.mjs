// How the page looks and is handled: layouts, keyboard, pointer, and what the lists show. See harness.mjs.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { AXE, GAME, PHONE, generator, native, onPage, paste, resign, reviewed, scratch, setLevel, text, turn, typeMove } from "./harness.mjs";

const RATED = GAME.replace('[Result "0-1"]', '[WhiteElo "1650"]\n[BlackElo "1701"]\n[Result "0-1"]\n[Termination "Ben won by checkmate"]');

/** Width and height of the window, and the least part of its smaller side that the board fills. */
const SIZES = [
  ["laptop", 1280, 800, 0.85], ["laptop, flat", 1366, 768, 0.84], ["screen", 1920, 1080, 0.88], ["phone", 360, 740, 1],
  ["small phone", 375, 667, 0.86], ["phone lying flat", 740, 360, 0.95], ["tablet", 768, 1024, 0.84], ["tablet lying flat", 1024, 768, 0.82],
  ["laptop at 200 %", 640, 400, 0.85], ["smallest phone", 320, 568, 0.7],
];

const box = (page, selector) => page.locator(selector).boundingBox();
const boxes = (page, ...selectors) => Promise.all(selectors.map((selector) => box(page, selector)));

const analyse = async (page, game = GAME) => {
  await page.click('nav [data-mode="analyse"]');
  await page.evaluate((pgn) => {
    document.getElementById("load-text").value = pgn;
    document.getElementById("load-form").requestSubmit();
  }, game);
};

/** The middle of a square. */
async function square(page, name, flipped = false) {
  const board = await box(page, "#board cg-board");
  const [file, rank] = [name.charCodeAt(0) - 97, Number(name[1]) - 1];
  const [column, row] = flipped ? [7 - file, rank] : [file, 7 - rank];
  return [board.x + ((column + 0.5) * board.width) / 8, board.y + ((row + 0.5) * board.height) / 8];
}

async function drag(page, from, to, flipped = false) {
  await page.mouse.move(...(await square(page, from, flipped)));
  await page.mouse.down();
  await page.mouse.move(...(await square(page, to, flipped)), { steps: 4 });
  await page.mouse.up();
}

async function clickSquares(page, from, to, flipped = false) {
  await page.mouse.click(...(await square(page, from, flipped)));
  await page.mouse.click(...(await square(page, to, flipped)));
}

const focused = (page) => page.evaluate(() => {
  const { activeElement: at } = document;
  return at === document.body ? "" : at.id || at.textContent;
});

/** Asserts that the elements are inside the window, one below or beside the other without overlapping. */
async function assertLayout(page, where, selectors, { width, height }) {
  const all = await boxes(page, ...selectors);
  all.forEach((one, index) => {
    const name = `${where}: ${selectors[index]}`;
    assert.ok(one, `${name} is not shown`);
    assert.ok(one.x >= -0.5 && one.x + one.width <= width + 0.5, `${name} leaves the window: ${JSON.stringify(one)}`);
    assert.ok(one.y >= -0.5 && one.y + one.height <= height + 0.5, `${name} needs scrolling: ${JSON.stringify(one)}`);
    all.slice(0, index).forEach((other, before) => {
      const isApart = one.x >= other.x + other.width - 1 || other.x >= one.x + one.width - 1
        || one.y >= other.y + other.height - 1 || other.y >= one.y + one.height - 1;
      assert.ok(isApart, `${name} overlaps ${selectors[before]}`);
    });
  });
}

for (const [name, width, height, part] of SIZES) {
  test(`board fills the window and the controls are in view: ${name}`, () => onPage({ viewport: { width, height } }, async (page) => {
    const size = { width, height };
    const assertBoard = async (where) => {
      const board = await box(page, "#board-place");
      assert.ok(Math.abs(board.width - board.height) < 1, `${where}: the board is not square`);
      const filled = board.width / Math.min(width, height);
      assert.ok(filled >= part, `${where}: the board fills ${filled.toFixed(3)} of the smaller side`);
      const sideways = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(sideways <= 0, `${where}: ${sideways} pixels of horizontal scroll`);
    };
    await page.selectOption("#time", "");
    await page.click("#start");
    await turn(page);
    await assertBoard("game");
    const players = ["#player-top", "#player-bottom"];
    await assertLayout(page, "game", ["#board-place", ...players, "#status", "#play-moves", "#play-buttons", ".steps"], size);
    await analyse(page);
    await page.click('[data-step="last"]');
    await page.click('[data-step="back"]');
    await page.check("#analysing");
    await page.waitForFunction(() => document.querySelectorAll("#best-lines li").length >= 1, null, { timeout: 60000 });
    await assertBoard("analysis");
    await assertLayout(page, "analysis", ["#board-place", ...players, "#best-lines", "#analyse-moves", ".steps"], size);
    const [header, board, title] = await boxes(page, ".brand", "#board-place", "#player-top .name");
    if (width > height && height > 480) assert.ok(Math.abs(header.x - board.x) < 1 && Math.abs(title.x - board.x) < 1, "one left edge");
    await page.uncheck("#analysing");
    if (await page.isVisible("#show-typed")) await page.click("#show-typed");
    await assertLayout(page, "analysis with the field", ["#board-place", ".steps", "#typed"], size);
    await assertLayout(page, "engine", ["#analysing", "#threat", "#lines"], size);
    await page.click('nav [data-mode="review"]');
    await assertLayout(page, "form of the review", ['#review-form [type="submit"]', 'label:has(#pgn-file)'], size);
    await page.click('nav [data-mode="play"]');
    await resign(page);
    await page.click('#over-buttons [data-do="again"]');
    await assertLayout(page, "form of a game", ["#start"], size);
  }));
}

test("whole game is played by clicks and drags", () => onPage({}, async (page) => {
  await setLevel(page, 500);
  await page.selectOption("#time", "");
  await page.click("#start");
  const random = generator(11);
  let plies = 0;
  while (await turn(page)) {
    const moves = await page.evaluate(async () => {
      const { legalMoves, makeSan, positionOf } = parts;
      const { treeOfPgn } = parts;
      const { makeSquare } = parts;
      const list = [...document.querySelectorAll("#play-moves button")].map((button) => button.textContent);
      const tree = treeOfPgn(`[FEN "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"]\n\n${list.join(" ")} *`);
      const { position } = tree.mainLine().at(-1);
      return [...legalMoves(position)].map((move) => [makeSquare(move.from), makeSquare(move.to), move.promotion, makeSan(position, move)]);
    });
    const [from, to, promotion, san] = moves.find(([, , , it]) => it.endsWith("#"))
      ?? moves.filter(([, , , it]) => it.includes("x"))[Math.floor(random() * 3)] ?? moves[Math.floor(random() * moves.length)];
    const count = await page.locator("#play-moves button").count();
    await (plies % 2 ? drag : clickSquares)(page, from, to);
    if (promotion) await page.click(`#promotion [value="${promotion}"]`);
    await page.waitForFunction((known) => document.querySelectorAll("#play-moves button").length > known, count, { timeout: 10000 })
      .catch(() => assert.fail(`${san} (${from}${to}) was not played`));
    plies += 1;
    assert.ok(plies < 400, "the game does not end");
  }
  assert.match(await text(page, "#status"), /(1–0|0–1|½–½)$/);
}));

test("lines open whole, each move is played by a click, and hovering shows its position", () => onPage({}, async (page) => {
  await analyse(page);
  await page.check("#analysing");
  await page.waitForFunction(() => document.querySelectorAll("#best-lines li").length === 3
    && document.querySelectorAll("#best-lines li:first-child [data-index]").length > 3, null, { timeout: 60000 });
  assert.match(await text(page, "#depth"), /^Depth \d+ · .* nodes/);
  const height = (await box(page, "#best-lines li:first-child")).height;
  await page.hover('#best-lines li:first-child [data-index="1"]');
  assert.equal(await page.isVisible("#preview cg-board"), true, "preview");
  await page.click("#best-lines li:first-child .toggle");
  assert.ok((await box(page, "#best-lines li:first-child")).height >= height);
  assert.equal(await page.getAttribute("#best-lines li:first-child .toggle", "aria-expanded"), "true");
  await page.focus('#best-lines li:first-child [data-index="0"]');
  await page.keyboard.press("ArrowRight");
  await page.waitForTimeout(300);
  assert.equal(await page.evaluate(() => document.activeElement.dataset.index), "1", "new lines keep the focus");
  await page.keyboard.press("Enter");
  const played = await page.evaluate(() => document.querySelectorAll("#analyse-moves .variation button").length
    || document.querySelector("#analyse-moves [aria-current]").textContent);
  assert.ok(played);
  assert.equal(await page.isVisible("#preview"), false, "the preview closes");
}));

test("threat is shown for the side that is not to move", () => onPage({}, async (page) => {
  await analyse(page, "6k1/5ppp/8/8/8/8/5PPP/3R2K1 b - - 0 1");
  await page.click("#threat");
  await page.waitForFunction(() => /^Threat · depth/.test(document.getElementById("depth").textContent)
    && document.querySelector("#best-lines li b")?.textContent === "#1", null, { timeout: 60000 });
  assert.equal(await text(page, '#best-lines li:first-child [data-index="0"]'), "Rd8#");
  assert.equal(await page.getAttribute("#threat", "aria-pressed"), "true");
}));

test("list has players, ratings, result and opening, and marks after every move is evaluated", () => onPage({}, async (page) => {
  await analyse(page, RATED);
  assert.equal(await text(page, "#player-bottom .name"), "Anna (1650)");
  assert.equal(await text(page, "#player-top .name"), "Ben (1701)");
  assert.equal(await text(page, "#analyse-moves .result"), "0–1 · Ben won by checkmate");
  await page.click('[data-step="last"]');
  await page.waitForFunction(() => document.getElementById("opening").textContent.startsWith("C50 Italian Game"), null, { timeout: 20000 });
  await page.click('[data-do="measure"]');
  await page.waitForFunction(() => document.querySelector('[data-do="measure"]').textContent !== "Stop", null, { timeout: 120000 });
  const marked = await page.$$eval("#analyse-moves .glyph", (all) => all.map((glyph) => glyph.closest("button").dataset.san + glyph.textContent));
  assert.ok(marked.includes("Nxf7??"), `${marked}`);
  assert.ok((await page.locator("#analyse-moves button[data-eval]").count()) >= 14);
}));

test("evaluation of every move goes on while the game is looked at, and a second click stops it", () => onPage({}, async (page) => {
  await analyse(page);
  await page.click('[data-do="measure"]');
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction(() => document.getElementById("graph").ariaLabel.includes("15 of 15"), null, { timeout: 120000 });
  await page.click('[data-do="measure"]');
  await page.click('[data-do="measure"]');
  await page.waitForFunction(() => /of 14 moves were evaluated/.test(document.getElementById("toast").textContent), null, { timeout: 60000 });
}));

test("variation is promoted and deleted", () => onPage({}, async (page) => {
  await analyse(page, "1. e4 e5 (1... c5 2. Nf3) 2. Nc3");
  await page.click('#analyse-moves .variation button:text-is("c5")');
  await page.click('[data-do="promote"]');
  assert.deepEqual(await page.$$eval("#analyse-moves > button", (all) => all.map((it) => it.dataset.san)), ["e4", "c5", "Nf3"]);
  await page.click('#analyse-moves .variation button:text-is("e5")');
  await page.click('[data-do="delete"]');
  assert.equal(await page.locator("#analyse-moves .variation").count(), 0);
  assert.equal(await page.locator("#analyse-moves [aria-current]").getAttribute("data-san"), "e4");
}));

test("focus stays on the move of the list that was chosen", () => onPage({}, async (page) => {
  await analyse(page);
  await page.click('#analyse-moves button:text-is("Nc6")');
  assert.equal(await focused(page), "Nc6");
  await page.keyboard.press("ArrowRight");
  assert.equal(await page.locator("#analyse-moves [aria-current]").getAttribute("data-san"), "Bc4");
}));

test("move can be typed as soon as a game starts, and arrow keys step from the empty field", () => onPage({}, async (page) => {
  await page.selectOption("#time", "");
  await page.click("#start");
  await turn(page);
  assert.equal(await focused(page), "move");
  await page.keyboard.type("f4");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelectorAll("#play-moves button").length === 2, null, { timeout: 60000 });
  await page.keyboard.press("ArrowLeft");
  assert.equal(await page.isVisible("#return"), true);
  await page.click("#return");
  assert.equal(await page.isVisible("#return"), false);
}));

test("move can be typed after a click on the board, and a main line is deleted from a move on", () => onPage({}, async (page) => {
  await analyse(page, "1. e4 e5 2. Nf3 Nc6");
  await page.click('[data-step="last"]');
  await page.click("#board-place");
  await page.keyboard.type("Bb5");
  await page.keyboard.press("Enter");
  assert.equal(await page.locator("#analyse-moves [aria-current]").getAttribute("data-san"), "Bb5");
  await page.click('#analyse-moves button:text-is("Nf3")');
  await page.click("#load summary");
  await page.click("#delete-from-here");
  assert.deepEqual(await page.$$eval("#analyse-moves > button", (all) => all.map((it) => it.dataset.san)), ["e4", "e5"]);
}));

test("keyboard keeps the focus when moves are taken back and lines are played", () => onPage({}, async (page) => {
  await page.click("#start");
  await turn(page);
  await typeMove(page, "e4");
  await turn(page);
  await page.focus('[data-do="takeback"]');
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelectorAll("#play-moves button").length === 0);
  assert.equal(await focused(page), "play-moves");
  await analyse(page, "1. e4 e5");
  await page.check("#analysing");
  for (const plies of [1, 2]) {
    await page.waitForSelector("#best-lines [data-index]", { timeout: 60000 });
    if (plies === 1) await page.focus("#best-lines [data-index]");
    await page.waitForFunction(() => document.activeElement.dataset.index === "0", null, { timeout: 60000 });
    await page.keyboard.press("Enter");
  }
  await page.waitForFunction(() => document.activeElement.dataset.index === "0", null, { timeout: 60000 });
  await page.uncheck("#analysing");
  await page.evaluate(() => { document.getElementById("effort").value = "20000"; });
  await page.click('nav [data-mode="review"]');
  await page.fill("#pgn", GAME);
  await page.click('#review-form [type="submit"]');
  await reviewed(page);
  await page.keyboard.press("n");
  await page.focus("#review-note [data-index]");
  await page.keyboard.press("Enter");
  await page.waitForSelector('#review-note [data-do="back"]');
  assert.equal(await focused(page), "review-note");
}));

test("resigning asks, and the focus goes to the next game", () => onPage({}, async (page) => {
  await page.selectOption("#time", "");
  await page.click("#start");
  await turn(page);
  await page.click('[data-do="resign"]');
  await page.keyboard.press("Escape");
  assert.match(await text(page, "#status"), /Your move/);
  await resign(page);
  assert.match(await text(page, "#status"), /You resigned/);
  assert.equal(await focused(page), "New game");
}));

test("current move stays in view when the window changes, and a message covers no control of the panel", () => onPage({}, async (page) => {
  const moves = Array.from({ length: 30 }, (_, index) => `${2 * index + 1}. Nf3 Nf6 ${2 * index + 2}. Ng1 Ng8`).join(" ");
  await analyse(page, `${moves} 61. Ke4`);
  await page.waitForSelector("#alert:not([hidden])");
  const [alert, analysing] = await boxes(page, "#alert", ".engine");
  assert.ok(alert.y + alert.height <= analysing.y || alert.x + alert.width <= analysing.x, "the message covers the switch");
  await page.click("#alert");
  await page.click('[data-step="last"]');
  for (const [width, height] of [[390, 844], [844, 390], [1280, 860]]) {
    await page.setViewportSize({ width, height });
    await page.waitForFunction(() => {
      const [list, move] = ["#analyse-moves", "#analyse-moves [aria-current]"].map((it) => document.querySelector(it).getBoundingClientRect());
      return move.top >= list.top - 1 && move.bottom <= list.bottom + 1;
    });
  }
}));

for (const [width, height] of [[390, 844], [768, 1024], [844, 390]]) {
  test(`review has board, moves, note and steps without scrolling: ${width} x ${height}`, () => onPage({ viewport: { width, height } }, async (page) => {
    await page.evaluate(() => { document.getElementById("effort").value = "20000"; });
    await paste(page, GAME);
    await reviewed(page);
    await page.keyboard.press("n");
    await assertLayout(page, "review", ["#board-place", "#player-top", "#player-bottom", "#review-moves", ".steps", "#review-note .verdict",
      '#review-note [data-do="retry"]', "#review-note .head + p"], { width, height });
  }));
}

test("promotion closes at a click outside, at Escape, and at a click elsewhere", () => onPage({}, async (page) => {
  await analyse(page, "8/P1k5/8/8/8/8/8/7K w - - 0 1");
  const board = await box(page, "#board-place");
  const closes = [() => page.keyboard.press("Escape"), () => page.mouse.click(board.x + board.width * 0.6, board.y + board.height * 0.6),
    () => page.click("#player-bottom")];
  for (const close of closes) {
    await clickSquares(page, "a7", "a8");
    await page.waitForSelector("#promotion");
    const buttons = await page.$$eval("#promotion button", (all) => all.map((it) => it.getBoundingClientRect().top));
    const gaps = buttons.slice(1).map((top, index) => top - buttons[index]);
    assert.ok(Math.max(...gaps) - Math.min(...gaps) < 1, `gaps ${gaps}`);
    await close();
    await page.waitForSelector("#promotion", { state: "hidden" });
    assert.equal(await page.locator("#analyse-moves button").count(), 0);
  }
  await clickSquares(page, "a7", "a8");
  await page.waitForSelector("#promotion");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  assert.equal(await page.locator("#analyse-moves [aria-current]").getAttribute("data-san"), "a8=R");
}));

test("errors of positions are sentences", () => onPage({}, async (page) => {
  for (const [fen, reason] of [
    ["8/8/8/8/8/8/8/8 w - - 0 1", /the board is empty\.$/],
    ["8/8/8/8/8/8/8/4K3 w - - 0 1", /a side has no king\.$/],
    ["4k3/8/8/8/8/8/8/3KK3 w - - 0 1", /a side has more than one king\.$/],
    ["4k3/8/8/8/8/8/8/P3K3 w - - 0 1", /a pawn stands on the first or last rank\.$/],
    ["4k3/4R3/8/8/8/8/8/4K3 w - - 0 1", /Black is in check, but White is to move\.$/],
    ["4k3/8/8/8/8/8/8/4K3 x - - 0 1", /the side to move is not w or b\.$/],
    ["4k3/8/8/8/8/8/8/4K4 w - - 0 1", /eight ranks of eight squares/],
    ['[FEN "8/8/8/8/8/8/8/4K3 w - - 0 1"]\n\n1. Ke2', /a side has no king/],
  ]) {
    await analyse(page, fen);
    assert.match(await text(page, "#load-error"), reason);
    assert.doesNotMatch(await text(page, "#load-error"), /ERR_/);
  }
}));

test("board editor sets up a position for analysis and play", () => onPage({}, async (page) => {
  await page.click('nav [data-mode="analyse"]');
  await page.click("#load summary");
  await page.click('[data-do="editor"]');
  await page.click('[data-edit="empty"]');
  assert.match(await text(page, "#editor-error"), /the board is empty/);
  const place = async (piece, file, rank) => {
    const board = await box(page, "#editor-ground cg-board");
    await page.click(`[aria-label="${piece}"]`);
    await page.mouse.click(board.x + ((file + 0.5) * board.width) / 8, board.y + ((8.5 - rank) * board.height) / 8);
  };
  await place("white king", 4, 1);
  await place("black king", 4, 8);
  await place("white queen", 3, 1);
  assert.equal(await page.inputValue("#editor-fen"), "4k3/8/8/8/8/8/8/3QK3 w - - 0 1");
  assert.equal(await text(page, "#editor-error"), "");
  await page.click('[data-edit="play"]');
  assert.equal(await page.getAttribute("body", "data-mode"), "play");
  await page.selectOption("#time", "");
  await page.click("#start");
  await turn(page);
  await typeMove(page, "Qd7");
  assert.equal(await page.locator("#play-moves button").first().getAttribute("data-san"), "Qd7+");
}));

test("game of Chess960 is played, with a clock of one's own", () => onPage({}, async (page) => {
  await page.selectOption("#start-from", "chess960");
  await page.selectOption("#time", "custom");
  await page.fill("#minutes", "7");
  await page.fill("#increment", "1");
  await page.click("#start");
  await turn(page);
  assert.match(await text(page, "#player-bottom .clock"), /^[67]:\d\d$/);
  await typeMove(page, "e4");
  await turn(page);
  assert.equal(await page.locator("#play-moves button").count(), 2);
  const numbers = await page.evaluate(async () => {
    const { backRank } = parts;
    return [backRank(518), backRank(0), backRank(959), new Set([...Array(960).keys()].map(backRank)).size];
  });
  assert.deepEqual(numbers, ["RNBQKBNR", "BBQNNRKR", "RKRNNQBB", 960]);
}));

test("copied game of Chess960 is read by the command line, castling included", () => onPage({}, async (page) => {
  const start = "brnqkbnr/pppppppp/8/8/8/8/PPPPPPPP/BRNQKBNR w KQkq - 0 1";
  await analyse(page, `[FEN "${start}"]\n\n1. Nf3 Nf6 2. g3 g6 3. Bg2 Bg7 4. O-O`);
  const pgn = await page.evaluate(async () => {
    let copied = "";
    navigator.clipboard.writeText = async (it) => { copied = it; };
    document.querySelector('[data-do="copy-pgn"]').click();
    return copied;
  });
  const file = join(scratch, "chess960.pgn");
  writeFileSync(file, pgn);
  const game = JSON.parse(native("review", file, "--nodes", "1", "--json"));
  assert.deepEqual([game.chess960, game.moves.length, game.moves.at(-1).san], [true, 7, "O-O"]);
}));

test("premove is played after the reply", () => onPage({}, async (page) => {
  // Full strength with a long clock thinks for many seconds.
  await setLevel(page, 3300);
  await page.selectOption("#time", "30+20");
  await page.click("#start");
  await turn(page);
  await typeMove(page, "a3");
  await drag(page, "h2", "h3");
  await page.waitForSelector("#board square.current-premove", { timeout: 5000, state: "attached" });
  await page.waitForFunction(() => document.querySelectorAll("#play-moves button").length >= 3, null, { timeout: 120000 });
  assert.equal(await page.locator("#play-moves button").nth(2).getAttribute("data-san"), "h3");
}));

test("pasted game stays in the analysis, and copying says so", () => onPage({}, async (page) => {
  await page.click('nav [data-mode="analyse"]');
  await paste(page, GAME);
  assert.equal(await page.getAttribute("body", "data-mode"), "analyse");
  assert.equal(await page.locator("#analyse-moves button").count(), 14);
  await page.evaluate(() => { navigator.clipboard.writeText = async () => {}; document.querySelector('[data-do="copy-pgn"]').click(); });
  await page.waitForFunction(() => document.getElementById("toast").textContent === "The game was copied.");
}));

test("arrows of a hidden board have coordinates", () => onPage(PHONE, async (page) => {
  await analyse(page);
  await page.evaluate(() => { document.getElementById("table").hidden = true; });
  await page.check("#analysing");
  await page.waitForSelector("#best-lines li", { state: "attached", timeout: 60000 });
  await page.waitForTimeout(300);
  await page.evaluate(() => { document.getElementById("table").hidden = false; });
  await page.waitForSelector("#board .cg-shapes line", { state: "attached" });
  assert.equal(await page.evaluate(() => /NaN/.test(document.querySelector("#board .cg-shapes").outerHTML)), false);
}));

test("errors of a review name game and move, without file names and counts", () => onPage({}, async (page) => {
  await page.click('nav [data-mode="review"]');
  await page.selectOption("#effort", "20000");
  for (const [pgn, expected] of [
    ["This is no game.", /^Game 1, move 1 of White: 'This' is not a move .*\. The game was skipped\.\nThe text has no game/],
    ["1. e4 e5 2. Ke3 Nf6", /^Game 1, move 2 of White: 'Ke3' is not legal: .* The game is reviewed up to this move\.$/],
    ["1. e4 *\n\n1. d4 d5 2. c4 Zz9 *", /^Game 2, move 2 of Black: 'Zz9' is not a move/],
  ]) {
    if (await page.isHidden("#pgn")) await page.click('[data-do="other"]');
    await page.fill("#pgn", pgn);
    await page.click('#review-form [type="submit"]');
    await page.waitForSelector("#alert:not([hidden])", { timeout: 60000 });
    const shown = await page.textContent("#alert");
    assert.match(shown, expected);
    assert.doesNotMatch(shown, /games\.pgn|cut or skipped/);
  }
}));

test("review shows its progress in moves with the time left", () => onPage({}, async (page) => {
  await page.click('nav [data-mode="review"]');
  await page.fill("#pgn", GAME);
  await page.selectOption("#effort", "250000");
  await page.click('#review-form [type="submit"]');
  await page.waitForFunction(() => /^Move \d of 7 · .* left$/.test(document.getElementById("review-status").textContent), null, { timeout: 120000 });
  assert.ok(await page.getAttribute("#review-progress", "value"));
  await page.click('[data-do="cancel"]');
}));

test("review shows summary, moments and lines, and an answer can be repeated with the review's figures", () => onPage({}, async (page) => {
  await page.evaluate(() => { document.getElementById("effort").value = "20000"; });
  await paste(page, RATED);
  await reviewed(page);
  assert.match(await text(page, "#review-summary .facts"), /^0–1 · Ben won by checkmate · C50 Italian Game/);
  assert.equal(await page.locator("iframe").count(), 0);
  await page.click('#review-summary .moments button:has-text("Nxf7")');
  const note = await text(page, "#review-note");
  assert.match(note, /^5\. Nxf7 \?\? blunder/);
  await page.keyboard.press("t");
  await drag(page, "e5", "f7");
  await page.waitForFunction(() => /of the game/.test(document.getElementById("review-note").textContent), null, { timeout: 60000 });
  const figures = await text(page, "#review-note .hint");
  const score = await page.locator("#review-moves [aria-current]").getAttribute("data-eval");
  assert.ok(figures.startsWith(`${score} after Nxf7`), `${figures} instead of ${score}`);
  await page.click('[data-do="another"]');
  await drag(page, "e1", "g1");
  await page.waitForFunction(() => /after O-O/.test(document.getElementById("review-note").textContent), null, { timeout: 60000 });
  await page.click('[data-do="answer"]');
  assert.equal(await page.locator("#review-moves .variation [aria-current]").count(), 1);
  await page.click('[data-do="back"]');
  assert.equal(await page.locator("#review-moves [aria-current]").getAttribute("data-san"), "Nxf7");
}));

for (const [name, options] of [["wide", {}], ["dark", { colorScheme: "dark" }], ["phone", PHONE]]) {
  test(`dialogs, lines, marks and notes have no finding of axe: ${name}`, () => onPage(options, async (page) => {
    const check = async (where) => {
      await page.evaluate(AXE);
      const found = await page.evaluate(async () => (await axe.run(document)).violations
        .map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target).join(", ")}`));
      assert.deepEqual(found, [], where);
    };
    await analyse(page, RATED);
    await page.evaluate(() => document.querySelector('[data-do="measure"]').click());
    await page.waitForFunction(() => document.getElementById("graph").ariaLabel.includes("15 of 15"), null, { timeout: 120000 });
    await check("marks");
    await page.evaluate(() => document.querySelector('[data-do="editor"]').click());
    await check("editor");
    await page.keyboard.press("Escape");
    await analyse(page, "8/P1k5/8/8/8/8/8/7K w - - 0 1");
    await clickSquares(page, "a7", "a8");
    await page.waitForSelector("#promotion");
    await check("promotion");
    await page.keyboard.press("Escape");
    await page.click('nav [data-mode="play"]');
    await page.selectOption("#time", "custom");
    await check("custom clock");
    await page.click("#start");
    await turn(page);
    await page.click('[data-do="resign"]');
    await check("question");
    await page.keyboard.press("Escape");
    await page.click('nav [data-mode="review"]');
    await page.fill("#pgn", RATED);
    await page.selectOption("#effort", "20000");
    await page.click('#review-form [type="submit"]');
    await reviewed(page);
    await page.keyboard.press("n");
    await check("note");
    await page.keyboard.press("t");
    await check("try again");
  }));
}
