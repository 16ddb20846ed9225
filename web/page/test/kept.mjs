// Nothing is lost, and the first seconds: storage, tabs, offline use and loading, in a real Chromium; .ci/page runs it.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  GAME, generator, newContext, onPage, openTab, paste, ready, resign, reviewed, setLevel, text, turn, typeMove, typeRandomMove,
} from "./harness.mjs";

const moveCount = (page) => page.locator("#play-moves button").count();

/** Loads a text in the analysis. */
async function analyse(page, pgn) {
  await page.click('nav [data-mode="analyse"]');
  await page.evaluate(() => { document.getElementById("load").open = true; });
  await page.fill("#load-text", pgn);
  await page.click('#load-form [type="submit"]');
}

/** The text that a button copies. */
const copied = (page, selector) => page.evaluate(async (it) => {
  let content = "";
  navigator.clipboard.writeText = async (written) => { content = written; };
  document.querySelector(it).click();
  return content;
}, selector);

/** Reloads the page and waits for its engine. */
async function reload(page) {
  await page.reload();
  await ready(page);
}

const seconds = (clock) => clock.split(":").reduce((sum, part) => 60 * sum + Number(part), 0);

test("analysis does not disturb the game that is going on", () => onPage({}, async (page) => {
  await setLevel(page, 3300);
  await page.selectOption("#time", "3+2");
  await page.check('[name="colour"][value="black"]', { force: true });
  await page.click("#start");
  await page.click('nav [data-mode="analyse"]');
  await page.check("#analysing");
  await page.waitForSelector("#best-lines button", { timeout: 60000 });
  await page.click('nav [data-mode="play"]');
  assert.equal(await turn(page), true, "the engine has moved");
  assert.equal(await moveCount(page), 1);
}));

test("finished game is shown after a reload, listed and exported", () => onPage({}, async (page) => {
  await page.click("#start");
  await turn(page);
  await typeRandomMove(page, generator(2));
  await page.waitForFunction(() => document.querySelectorAll("#play-moves button").length === 2, null, { timeout: 60000 });
  await turn(page);
  await resign(page);
  const [moves, status] = [await text(page, "#play-moves"), await text(page, "#status")];
  assert.match(status, /You resigned/);
  await reload(page);
  await page.waitForFunction((it) => document.getElementById("status").textContent === it, status);
  assert.equal(await text(page, "#play-moves"), moves);
  await page.click("#over-buttons [data-do=again]");
  await page.click("#start");
  await turn(page);
  await resign(page);
  await page.click("#games summary");
  assert.match(await text(page, "#games"), /Your games \(2\)[^]*White against 1200 · 0–1 · 0 moves[^]*0–1 · 1 move\b/);
  const pgn = await page.evaluate(async () => (await fetch(document.querySelector("#games a").href)).text());
  assert.equal(pgn.match(/^\[White "You"\]/gm).length, 2, pgn);
  await page.click("#games li:nth-child(2) button");
  assert.equal(await text(page, "#play-moves"), moves, "the list opens a game");
}));

test("reload keeps a game without a move, and gives no time back", () => onPage({}, async (page) => {
  await page.selectOption("#time", "3+2");
  await page.click("#start");
  await page.waitForFunction(() => /^2:5[0-6]/.test(document.querySelector("#player-bottom .clock").textContent), null, { timeout: 60000 });
  const before = seconds(await text(page, "#player-bottom .clock"));
  await reload(page);
  assert.equal(await turn(page), true);
  assert.ok(seconds(await text(page, "#player-bottom .clock")) <= before, "time was given back");
  assert.equal(await moveCount(page), 0);
}));

test("second tab does not resume the game of the first, and can take it over", async () => {
  const context = await newContext();
  const faults = [];
  try {
    const first = await openTab(context, faults);
    await ready(first);
    await first.click("#start");
    await turn(first);
    const second = await openTab(context, faults);
    await second.waitForSelector("#alert:not([hidden])", { timeout: 60000 });
    assert.match(await text(second, "#alert"), /open in another tab/);
    assert.equal(await second.isVisible("#setup"), true);
    await second.click("#games summary");
    await second.click("#games li button");
    await second.click("#confirm-yes");
    assert.equal(await turn(second), true);
    await first.waitForSelector("#alert:not([hidden])");
    assert.match(await text(first, "#alert"), /continued in another tab/);
    await typeMove(second, "e4");
    assert.equal(await turn(second), true);
    await second.waitForFunction(() => document.querySelectorAll("#play-moves button").length === 2, null, { timeout: 60000 });
    assert.deepEqual(faults, []);
  } finally {
    await context.close();
  }
});

test("analysis with variations, and its switch, are there after a reload", () => onPage({}, async (page) => {
  await analyse(page, "1. e4 (1. d4 d5) e5 2. Nf3");
  await page.click("#analyse-moves button:text-is('d5')");
  await page.check("#analysing");
  await reload(page);
  await page.waitForFunction(() => document.querySelectorAll("#analyse-moves button").length === 5);
  assert.equal(await text(page, "#analyse-moves [aria-current]"), "d5");
  assert.equal(await page.isChecked("#analysing"), true);
}));

test("review and its text are there after a reload", () => onPage({}, async (page) => {
  await page.evaluate(() => { document.getElementById("effort").value = "20000"; });
  await paste(page, GAME);
  await reviewed(page);
  await page.waitForFunction(async () => (await indexedDB.databases()).length > 0);
  await reload(page);
  await reviewed(page);
  assert.equal(await page.inputValue("#pgn"), GAME);
}));

test("first visit is enough for a visit without a network, also if the page was not reloaded", async () => {
  const context = await newContext();
  const faults = [];
  try {
    // A click in the first second prevents the reload that isolates the page.
    await context.addInitScript(() => addEventListener("DOMContentLoaded", () =>
      setTimeout(() => document.body.dispatchEvent(new PointerEvent("pointerdown", { bubbles: true })))));
    const page = await openTab(context, faults);
    await ready(page);
    assert.equal(await page.evaluate(() => crossOriginIsolated), false, "the page was reloaded");
    await page.waitForFunction(async () => {
      const name = (await caches.keys()).find((key) => key.startsWith("zoothera-page-"));
      const stored = (await (await caches.open(name)).keys()).map(({ url }) => url.replace(/.*\//, ""));
      const { length } = stored.filter((file) => file.endsWith(".wasm.gz"));
      return stored.includes("zoothera.nnue.gz") && length === parts.filesForNextVisit().length - 1;
    }, null, { timeout: 60000 });
    await page.close();
    await context.setOffline(true);
    const again = await openTab(context, faults);
    await ready(again);
    assert.equal(await again.evaluate(() => crossOriginIsolated), true);
    await again.click("#start");
    await turn(again);
    await typeMove(again, "e4");
    await again.waitForFunction(() => document.querySelectorAll("#play-moves button").length === 2, null, { timeout: 60000 });
    // If the module with threads is missing, the other one is used.
    await again.evaluate(async () => {
      const name = (await caches.keys()).find((key) => key.startsWith("zoothera-page-"));
      const cache = await caches.open(name);
      for (const request of await cache.keys()) if (request.url.includes("-threads")) await cache.delete(request);
    });
    await reload(again);
    assert.equal(await turn(again), true);
  } finally {
    await context.close();
  }
});

test("PGN with an illegal move is loaded up to it, and says so", () => onPage({}, async (page) => {
  await analyse(page, "1. e4 e5 2. Nf3 (2. Ke3 Nc6) Nc6 3. Bb5 a6 4. Bxh8 d6");
  await page.waitForSelector("#alert:not([hidden])");
  assert.match(await text(page, "#alert"), /Move 4\. Bxh8 is not legal\. The game was loaded up to this move/);
  assert.equal(await page.locator("#analyse-moves button").count(), 6);
}));

test("PGN of several games offers the list", () => onPage({}, async (page) => {
  await analyse(page, `${GAME}\n[White "Cora"]\n[Black "Dan"]\n\n1. d4 d5 2. c4 *\n`);
  assert.match(await text(page, "#picker"), /2 games[^]*Anna – Ben · 0–1[^]*2\. Cora – Dan/);
  await page.click("#picker li:nth-child(2) button");
  await page.waitForFunction(() => document.querySelectorAll("#analyse-moves button").length === 3);
}));

test("game of 4,000 plies is loaded, shown and copied", () => onPage({}, async (page) => {
  const shuffle = ["Nf3", "Nf6", "Ng1", "Ng8"];
  const moves = Array.from({ length: 4000 }, (_, ply) => `${ply % 2 ? "" : `${ply / 2 + 1}. `}${shuffle[ply % 4]}`).join(" ");
  await analyse(page, moves);
  await page.waitForFunction(() => document.querySelectorAll("#analyse-moves button").length === 4000, null, { timeout: 120000 });
  await page.keyboard.press("Escape");
  assert.match(await copied(page, '[data-do="copy-pgn"]'), /2000\. Ng1 Ng8/);
}));

test("copied PGN keeps comments, glyphs, clocks and variations", () => onPage({}, async (page) => {
  const pgn = '[White "Anna"]\n\n{ Before the game } 1. e4 $1 { Best by test [%clk 0:03:00] } ( { Instead } 1. d4 $5 { quiet } 1... d5 ) 1... e5 { [%clk 0:02:58] } *';
  await analyse(page, pgn);
  await page.waitForFunction(() => document.querySelectorAll("#analyse-moves button").length === 4);
  const again = (await copied(page, '[data-do="copy-pgn"]')).replace(/\s+/g, " ");
  for (const part of ["{ Before the game }", "1. e4 $1 { Best by test [%clk 0:03:00] }", "{ Instead } 1. d4 $5 { quiet }", "1... e5 { [%clk 0:02:58] }"]) {
    assert.ok(again.includes(part), `${part} is missing in ${again}`);
  }
}));

test("game with a clock has the clocks in its PGN", () => onPage({}, async (page) => {
  await page.selectOption("#time", "3+2");
  await page.click("#start");
  await turn(page);
  await typeMove(page, "e4");
  await page.waitForFunction(() => document.querySelectorAll("#play-moves button").length === 2, null, { timeout: 60000 });
  await turn(page);
  await resign(page);
  assert.match(await copied(page, '#panel-play [data-do="copy"]'), /\[TimeControl "180\+2"\][^]*1\. e4 \{ \[%clk 0:0[23]:/);
}));

test("choice of Black turns the board at once, and stays for the analysis", () => onPage({}, async (page) => {
  await page.check('[name="colour"][value="black"]', { force: true });
  await page.waitForSelector(".cg-wrap.orientation-black");
  await page.click("#start");
  await turn(page);
  await resign(page);
  await page.click('#panel-play [data-do="analyse"]');
  await page.waitForSelector(".cg-wrap.orientation-black");
}));

test("board is usable and the download has a bar with megabytes while the engine loads", async () => {
  const context = await newContext({ serviceWorkers: "block" });
  const faults = [];
  try {
    let release;
    const released = new Promise((resolve) => { release = resolve; });
    await context.route(/zoothera\.nnue\.gz$/, async (route) => { await released; await route.continue(); });
    const page = await openTab(context, faults);
    await page.click("#start");
    await typeMove(page, "e4");
    assert.equal(await moveCount(page), 1);
    await page.waitForSelector("#loading:not([hidden])");
    assert.match(await text(page, "#loading"), /Loading the engine: \d\.\d of \d\.\d MB/);
    assert.match(await text(page, "#status"), /as soon as it is loaded/);
    release();
    await page.waitForFunction(() => document.querySelectorAll("#play-moves button").length === 2, null, { timeout: 60000 });
    assert.equal(await page.isVisible("#loading"), false);
    assert.deepEqual(faults, []);
  } finally {
    await context.close();
  }
});

test("first visit sends few requests", async () => {
  const context = await newContext();
  const faults = [];
  try {
    const sent = [];
    context.on("request", (request) => sent.push(request.url()));
    const page = await openTab(context, faults);
    await ready(page);
    assert.ok(new Set(sent).size <= 20, sent.join("\n"));
  } finally {
    await context.close();
  }
});

test("game goes on with a processor six times slower", () => onPage({}, async (page, context) => {
  const session = await context.newCDPSession(page);
  await session.send("Emulation.setCPUThrottlingRate", { rate: 6 });
  await page.click("#start");
  await turn(page);
  await typeRandomMove(page, generator(9));
  await page.waitForFunction(() => document.querySelectorAll("#play-moves button").length === 2, null, { timeout: 60000 });
  assert.equal(await turn(page), true);
}));
