// Nothing is lost, and the first seconds: storage, tabs, offline use and loading, in a real browser; .ci/page runs it.
import assert from "node:assert/strict";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { serve } from "./server.mjs";
import {
  GAME, IS_FIREFOX, PAGE, generator, newContext, onPage, openTab, paste, ready, resign, reviewed, scratch, setLevel, text, turn, typeMove, typeRandomMove, waitUntil,
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
  await page.waitForFunction(() => /^Your game: Zoothera plays \S+\.$/.test(document.getElementById("toast").textContent), null, { timeout: 60000 });
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

test("evaluations and marks of a game are there after a reload, and the switch is as before", () => onPage({}, async (page) => {
  await analyse(page, "1. e4 e5 (1... c5) 2. Ke2 Nf6");
  await page.check("#analysing");
  await page.click('[data-do="measure"]');
  await page.waitForFunction(() => /5 of 5/.test(document.getElementById("graph").ariaLabel), null, { timeout: 60000 });
  await page.waitForFunction(() => document.querySelector('[data-do="measure"]').textContent !== "Stop");
  assert.equal(await page.isChecked("#analysing"), true, "the evaluation of every move leaves the switch as it was");
  await page.uncheck("#analysing");
  const list = () => page.$$eval("#analyse-moves button", (all) => all.map((it) => `${it.textContent} ${it.dataset.eval ?? ""}`));
  const before = await list();
  assert.match(before.join(), /Ke2\S+ /, "a mark");
  await reload(page);
  await page.waitForFunction(() => document.querySelectorAll("#analyse-moves button").length === 5);
  assert.deepEqual(await list(), before);
}));

test("analysis that another one replaces can be shown again", () => onPage({}, async (page) => {
  const list = () => page.$$eval("#analyse-moves button", (all) => all.map((it) => it.dataset.san).join(" "));
  await analyse(page, "1. e4 e5 (1... c5 2. Nf3) 2. Nc3");
  await page.click("#analyse-moves button:text-is('c5')");
  await analyse(page, "1. d4 d5");
  await page.evaluate(() => { document.getElementById("load").open = true; });
  await page.click('[data-do="before"]');
  await page.waitForFunction(() => document.querySelectorAll("#analyse-moves button").length === 5);
  assert.equal(await text(page, "#analyse-moves [aria-current]"), "c5");
  await page.click('[data-do="reset"]');
  await page.click('[data-do="before"]');
  await page.waitForFunction(() => document.querySelectorAll("#analyse-moves button").length === 5);
  assert.equal(await list(), "e4 e5 c5 Nf3 Nc3");
}));

test("each tab keeps its own analysis, and a new tab shows the latest", async () => {
  const context = await newContext();
  const faults = [];
  try {
    const shown = (page) => page.$$eval("#analyse-moves button", (all) => all.map((it) => it.dataset.san).join(" "));
    const waitFor = (page, moves) => page.waitForFunction((it) =>
      [...document.querySelectorAll("#analyse-moves button")].map((button) => button.dataset.san).join(" ") === it, moves);
    const [first, second] = [await openTab(context, faults), await openTab(context, faults)];
    for (const [page, moves] of [[first, "1. e4 e5"], [second, "1. d4 d5"]]) {
      await ready(page);
      await analyse(page, moves);
    }
    await waitFor(second, "d4 d5");
    await reload(first);
    await waitFor(first, "e4 e5");
    assert.equal(await shown(second), "d4 d5");
    await reload(second);
    await waitFor(second, "d4 d5");
    assert.deepEqual(faults, []);
  } finally {
    await context.close();
  }
});

test("review goes on when the settings of the engine change in another part of the page", () => onPage({}, async (page) => {
  await page.evaluate(() => { document.getElementById("effort").value = "250000"; });
  await paste(page, GAME);
  await page.waitForFunction(() => / left$/.test(document.getElementById("review-status").textContent), null, { timeout: 60000 });
  await page.evaluate(() => { document.getElementById("effort").value = "20000"; });
  await page.click('nav [data-mode="play"]');
  await page.click("#open-settings");
  await page.fill("#hash", "8");
  await page.press("#hash", "Tab");
  await page.click('#settings [value="close"]');
  await page.click('nav [data-mode="review"]');
  await reviewed(page);
}));

test("review and its text are there after a reload", () => onPage({}, async (page) => {
  await page.evaluate(() => { document.getElementById("effort").value = "20000"; });
  await paste(page, GAME);
  await reviewed(page);
  await waitUntil(page, async () => (await indexedDB.databases()).length > 0);
  await page.keyboard.press("n");
  const move = await page.locator("#review-moves [aria-current]").getAttribute("data-san");
  await page.waitForTimeout(500);
  await reload(page);
  await reviewed(page);
  await page.waitForFunction((san) => document.querySelector("#review-moves [aria-current]")?.dataset.san === san, move);
  assert.equal(await page.inputValue("#pgn"), GAME);
}));

test("review that a reload interrupts says so and keeps its text", () => onPage({}, async (page) => {
  await page.evaluate(() => { document.getElementById("effort").value = "250000"; });
  await paste(page, GAME);
  await page.waitForFunction(() => / left$/.test(document.getElementById("review-status").textContent), null, { timeout: 60000 });
  await page.reload();
  await page.waitForFunction(() => /review was interrupted/.test(document.getElementById("toast").textContent));
  assert.equal(await page.inputValue("#pgn"), GAME);
  await ready(page);
  await page.selectOption("#effort", "20000");
  await page.click('#review-form [type="submit"]');
  await reviewed(page);
  await reload(page);
  await reviewed(page);
  assert.doesNotMatch(await page.textContent("#toast"), /interrupted/);
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
    await waitUntil(page, async () => {
      const name = (await caches.keys()).find((key) => key.startsWith("zoothera-page-"));
      const stored = (await (await caches.open(name)).keys()).map(({ url }) => url.replace(/.*\//, ""));
      const { length } = stored.filter((file) => file.endsWith(".wasm.gz"));
      return stored.includes("zoothera.nnue.gz") && length === parts.filesForNextVisit("large").length - 1;
    });
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

test("page works without a network after an update of the server, too", { skip: PAGE.startsWith("http") }, async () => {
  const folder = join(scratch, "updated");
  cpSync(PAGE, folder, { recursive: true });
  const server = await serve(folder);
  const context = await newContext();
  const faults = [];
  try {
    const loaded = [];
    context.on("response", (response) => loaded.push(response.url()));
    const storedEngine = (page) => page.evaluate(async () => {
      const names = (await caches.keys()).filter((name) => name.startsWith("zoothera-page-")).sort();
      const keys = await Promise.all(names.map(async (name) => (await (await caches.open(name)).keys())
        .filter(({ url }) => url.endsWith(".gz")).length));
      return Object.fromEntries(names.map((name, index) => [name, keys[index]]));
    });
    const first = await openTab(context, faults, server.url);
    await ready(first);
    await waitUntil(first, async () => (await (await caches.open((await caches.keys())
      .find((name) => name.startsWith("zoothera-page-")))).keys()).filter(({ url }) => url.endsWith(".gz")).length === parts.filesForNextVisit("large").length);
    const count = Object.values(await storedEngine(first))[0];
    const script = readFileSync(join(folder, "sw.js"), "utf8");
    writeFileSync(join(folder, "sw.js"), script.replace(/const VERSION = "\w+"/, 'const VERSION = "zz"'));
    loaded.length = 0;
    await first.evaluate(async () => (await navigator.serviceWorker.getRegistration()).update());
    await waitUntil(first, async () => (await navigator.serviceWorker.getRegistration()).waiting !== null);
    assert.equal((await storedEngine(first))["zoothera-page-zz"], count);
    assert.deepEqual(loaded.filter((url) => url.endsWith(".gz")), [], "unchanged parts are copied");
    await first.waitForFunction(() => /new version/.test(document.getElementById("toast").textContent));
    await first.close();
    await new Promise((resolve) => setTimeout(resolve, 500));
    await context.setOffline(true);
    const again = await openTab(context, faults, server.url);
    await ready(again);
    await waitUntil(again, async () => !(await caches.keys()).some((name) => /^zoothera-page-(?!zz)/.test(name)));
    await again.click("#start");
    assert.equal(await turn(again), true);
    assert.deepEqual(faults.filter((fault) => !fault.includes("ERR_INTERNET_DISCONNECTED") && !fault.startsWith("request to")), []);
  } finally {
    await context.close();
    server.close();
  }
});

test("PGN with an illegal move is loaded up to it, and says so", () => onPage({}, async (page) => {
  await analyse(page, "1. e4 e5 2. Nf3 (2. Ke3 Nc6) Nc6 3. Bb5 a6 4. Bxh8 d6");
  await page.waitForSelector("#alert:not([hidden])");
  assert.match(await text(page, "#alert"), /Move 4\. Bxh8 is not legal\. The game was loaded up to this move/);
  assert.equal(await page.locator("#analyse-moves button").count(), 6);
}));

test("moves in other notations are read, and unknown ones are named instead of misread", () => onPage({}, async (page) => {
  const list = () => page.$$eval("#analyse-moves button", (all) => all.map((it) => it.dataset.san).join(" "));
  for (const [pgn, moves, fault] of [
    ["1. e2e4 e7-e5 2. Ng1-f3 nc6 3. bb5 a6 4. 0-0", "e4 e5 Nf3 Nc6 Bb5 a6 O-O", ""],
    ["1.e4 d5 2.♘c3 d4 3...", "e4 d5 Nc3 d4", ""],
    ["1. e4! d5 2. e5?! f5 3. exf6 e.p. +- gxf6 ± 1-0", "e4 d5 e5 f5 exf6 gxf6", ""],
    ["1. e4 e5 2. Sf3 Sc6", "e4 e5", /Move 2\. Sf3 is not a move in English notation\. The game was loaded up to this move/],
    ["1. e4 e5 2. Nf3 (2. -- Nc6) 2... Nc6", "e4 e5 Nf3 Nc6", /Move 2\. -- is a null move, which is not shown here\. The variation/],
    ["[White Anna]\n\n1. e4 { open", "e4", ""],
  ]) {
    await page.evaluate(() => document.getElementById("alert").click());
    await analyse(page, pgn);
    await page.waitForFunction((it) =>
      [...document.querySelectorAll("#analyse-moves button")].map((button) => button.dataset.san).join(" ") === it, moves)
      .catch(async () => assert.equal(await list(), moves, pgn));
    if (fault) assert.match(await text(page, "#alert"), fault);
    else assert.equal(await page.isVisible("#alert"), false, pgn);
  }
  await analyse(page, "This is no game.");
  assert.match(await text(page, "#load-error"), /no game in this text.*This is not a move/);
  assert.equal(await list(), "e4", "the analysis before is kept");
}));

test("commands of comments are read and not shown", () => onPage({}, async (page) => {
  await analyse(page, "1. e4 { [%eval 0.3] [%clk 0:03:00] } e5 { [%clk 1:02:58][%eval #-3] } ({ Or } 1... c5) 2. Nf3 { [%csl Ge4] Developing. [%emt 0:00:04] } *");
  await page.waitForFunction(() => document.querySelectorAll("#analyse-moves button").length === 4);
  assert.deepEqual(await page.locator("#analyse-moves .comment").allInnerTexts(), ["Or", "Developing."]);
  assert.deepEqual(await page.$$eval("#analyse-moves button[data-eval]", (all) => all.map((it) => it.dataset.eval)), ["+0.30", "#-3"]);
  await page.click('[data-step="last"]');
  assert.deepEqual(await page.locator(".player .clock").allInnerTexts(), ["62:58", "3:00"]);
}));

test("file in Windows-1252 keeps its names", () => onPage({}, async (page) => {
  await page.click('nav [data-mode="review"]');
  await page.selectOption("#effort", "20000");
  const pgn = Buffer.from('[White "M\u00fcller"]\n\n1. e4 e5 *\n', "latin1");
  await page.setInputFiles("#pgn-file", { name: "a.pgn", mimeType: "application/x-chess-pgn", buffer: pgn });
  await reviewed(page);
  assert.match(await text(page, "#player-bottom .name"), /^Müller/);
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

test("game goes on when the engine can be loaded after a failure", async () => {
  const context = await newContext({ serviceWorkers: "block" });
  const faults = [];
  try {
    let isBroken = true;
    await context.route(/\.nnue\.gz$/, (route) => (isBroken ? route.abort() : route.continue()));
    const page = await openTab(context, faults);
    // A position without moves of named openings.
    await page.selectOption("#start-from", "board");
    await page.fill("#editor-fen", "4k3/pppppppp/8/8/8/8/PPPPPPPP/4K3 w - - 0 1");
    await page.click('[data-edit="play"]');
    await page.click("#start");
    await typeMove(page, "e4");
    await page.waitForSelector("#alert:not([hidden])", { timeout: 60000 });
    assert.match(await text(page, "#alert"), /zoothera\.nnue\.gz cannot be loaded/);
    isBroken = false;
    assert.equal(await turn(page), true);
    assert.equal(await moveCount(page), 2);
    assert.equal(await page.isVisible("#alert"), false);
    assert.deepEqual(faults.filter((fault) => !fault.includes("ERR_FAILED")), []);
  } finally {
    await context.close();
  }
});

test("network that cannot be loaded leaves the other one in use", () => onPage({ serviceWorkers: "block" }, async (page, context, faults) => {
  await context.route(/zoothera-small\.nnue\.gz$/, (route) => route.abort());
  await page.click("#open-settings");
  await page.selectOption("#network", "small");
  await page.waitForSelector("#settings-error:not(:empty)");
  assert.match(await text(page, "#settings-error"), /zoothera-small\.nnue\.gz cannot be loaded/);
  assert.equal(await page.inputValue("#network"), "large");
  await page.click('#settings [value="close"]');
  await page.click("#start");
  assert.equal(await turn(page), true);
  assert.deepEqual(faults.splice(0).filter((fault) => !fault.includes("ERR_FAILED")), []);
}));

test("small network is used where data are saved, and kept for a visit without a connection", async () => {
  const context = await newContext();
  const faults = [];
  try {
    // The service worker has no such value; it begins with the large network here.
    await context.addInitScript(() => Object.defineProperty(navigator, "connection", { value: { saveData: true } }));
    const page = await openTab(context, faults);
    await ready(page);
    await page.click("#open-settings");
    assert.equal(await page.inputValue("#network"), "small");
    await waitUntil(page, async () => {
      const name = (await caches.keys()).find((key) => key.startsWith("zoothera-page-"));
      const stored = (await (await caches.open(name)).keys()).map(({ url }) => url);
      return parts.filesForNextVisit("small").every((url) => stored.includes(url));
    });
    await context.setOffline(true);
    await reload(page);
    await page.click("#start");
    assert.equal(await turn(page), true);
    await page.click("#open-settings");
    assert.equal(await page.inputValue("#network"), "small");
    assert.deepEqual(faults.filter((fault) => !/ERR_INTERNET_DISCONNECTED|^request to/.test(fault)), []);
  } finally {
    await context.close();
  }
});

test("page works where the browser stores nothing", async () => {
  const context = await newContext();
  const faults = [];
  try {
    await context.addInitScript(() => {
      const get = () => { throw new DOMException("denied", "SecurityError"); };
      for (const name of ["localStorage", "sessionStorage", "indexedDB", "caches"]) Object.defineProperty(window, name, { get });
    });
    const page = await openTab(context, faults);
    await ready(page);
    await page.click("#start");
    await turn(page);
    await typeMove(page, "e4");
    await turn(page);
    await resign(page);
    await page.click("#games summary");
    assert.match(await text(page, "#games"), /0–1 · 1 move\b/);
    assert.deepEqual(faults, []);
  } finally {
    await context.close();
  }
});

test("form of a new game is there after a reload, not an older game", () => onPage({}, async (page) => {
  await page.click("#start");
  await turn(page);
  await typeMove(page, "e4");
  await turn(page);
  await page.click('#play-buttons [data-do="again"]');
  await page.click("#confirm-yes");
  await reload(page);
  assert.equal(await page.isVisible("#setup"), true);
  await page.click("#games summary");
  assert.match(await text(page, "#games"), /not finished · 1 move\b/);
}));

test("board is usable and the download has a bar with megabytes while the engine loads", async () => {
  const context = await newContext({ serviceWorkers: "block" });
  const faults = [];
  try {
    let release;
    const released = new Promise((resolve) => { release = resolve; });
    await context.route(/\.nnue\.gz$/, async (route) => { await released; await route.continue(); });
    const page = await openTab(context, faults);
    await page.click("#start");
    await typeMove(page, "e4");
    await page.waitForSelector("#loading:not([hidden])");
    assert.match(await text(page, "#loading"), /Loading the engine: \d\.\d of \d\.\d MB/);
    // Meanwhile the replies are moves of named openings.
    await turn(page);
    assert.equal(await moveCount(page), 2);
    // No opening has these moves, so the reply waits for the engine.
    for (const move of ["h4", "Rh3", "Rg3"]) {
      await typeMove(page, move);
      await page.waitForTimeout(1000);
      if ((await moveCount(page)) % 2 === 1) break;
    }
    const played = await moveCount(page);
    assert.equal(played % 2, 1);
    assert.match(await text(page, "#status"), /as soon as it is loaded/);
    release();
    await page.waitForFunction((count) => document.querySelectorAll("#play-moves button").length > count, played, { timeout: 60000 });
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

test("game goes on with a processor six times slower", { skip: IS_FIREFOX && "needs Chromium" }, () => onPage({}, async (page, context) => {
  const session = await context.newCDPSession(page);
  await session.send("Emulation.setCPUThrottlingRate", { rate: 6 });
  await page.click("#start");
  await turn(page);
  await typeRandomMove(page, generator(9));
  await page.waitForFunction(() => document.querySelectorAll("#play-moves button").length === 2, null, { timeout: 60000 });
  assert.equal(await turn(page), true);
}));
