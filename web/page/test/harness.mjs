// What the tests of the page share. Usage: node --test page.mjs kept.mjs look.mjs with BROWSER (the path of Chromium or of
// Firefox), PAGE (the page's folder), PARTS (parts.js, bundled) and ENGINE (the native engine, for comparison) in the
// environment; .ci/page sets them. PAGE may also be an address that serves the page.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, before } from "node:test";
import { chromium, firefox } from "playwright-core";
import { serve } from "./server.mjs";

export const { BROWSER, PAGE, ENGINE } = process.env;
export const IS_FIREFOX = basename(BROWSER).startsWith("firefox");
const PARTS = readFileSync(process.env.PARTS, "utf8");
export const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
export const PHONE = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };
export const GAME = `[White "Anna"]
[Black "Ben"]
[Result "0-1"]

1. e4 e5 2. Nf3 Nc6 3. Bc4 Nd4 4. Nxe5 Qg5 5. Nxf7 Qxg2 6. Rf1 Qxe4+ 7. Be2 Nf3# 0-1
`;

/** A folder for files of the tests. */
export const scratch = mkdtempSync(join(tmpdir(), "zoothera-page-"));
let browser, server;

before(async () => {
  server = PAGE.startsWith("http") ? { url: PAGE, close() {} } : await serve(PAGE);
  browser = await launch();
});

after(async () => {
  await browser?.close();
  server?.close();
  rmSync(scratch, { recursive: true, force: true });
});

/** An installed Firefox is driven by WebDriver BiDi. Without a screen it has no mouse, unless it is told so. */
function launch() {
  if (!IS_FIREFOX) return chromium.launch({ executablePath: BROWSER, args: ["--no-sandbox"] });
  const mouse = { "ui.primaryPointerCapabilities": 6, "ui.allPointerCapabilities": 6 };
  return firefox.launch({ channel: "moz-firefox", executablePath: BROWSER, firefoxUserPrefs: mouse });
}

export const native = (...args) => execFileSync(ENGINE, args, { encoding: "utf8", maxBuffer: 1 << 28 });

/** Opens the page's address in a tab whose failures are added to `faults`. */
export async function openTab(context, faults, address = server.url) {
  const page = await context.newPage();
  page.on("pageerror", (error) => faults.push(error.stack ?? String(error)));
  page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
  page.on("request", (request) => {
    const isOwn = request.url().startsWith(server.url) || /^(blob|data):/.test(request.url());
    if (!isOwn) faults.push(`request to ${request.url()}`);
  });
  await page.goto(address);
  return page;
}

/** A fresh profile of the browser, with the parts that the tests call. */
export async function newContext(options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...options });
  await context.addInitScript(`${PARTS}\nglobalThis.parts = parts;`);
  return context;
}

/** Runs `body` on the page. No script may fail, and no request may go elsewhere. */
export async function onPage(options, body) {
  const context = await newContext(options);
  const faults = [];
  try {
    const page = await openTab(context, faults);
    const broken = page.waitForEvent("pageerror", { timeout: 0 }).catch(() => null);
    await Promise.race([ready(page), broken.then((error) => error && assert.fail(error.stack))]);
    await body(page, context, faults);
    assert.deepEqual(faults, []);
  } finally {
    await context.close();
  }
}

/** Waits until the engine has told its name, after the reload that isolates the page. */
export const ready = (page) => page.waitForFunction(
  () => document.getElementById("about")?.textContent.startsWith("Zoothera"), null, { timeout: 120000 });

/** Waits until an asynchronous function, evaluated in the page, returns true. `waitForFunction` would accept any promise. */
export async function waitUntil(page, body, argument) {
  for (const end = Date.now() + 60000; !(await page.evaluate(body, argument));) {
    assert.ok(Date.now() < end, `timeout: ${body}`);
    await page.waitForTimeout(100);
  }
}

export const text = (page, selector) => page.locator(selector).innerText();

/** Waits until the game is over or the person is to move; says whether the game goes on. */
export async function turn(page) {
  await page.waitForFunction(() => /Your move|–/.test(document.getElementById("status").textContent), null, { timeout: 60000 });
  return (await text(page, "#status")).includes("Your move");
}

/** Types a move; on a small screen the field is behind a button. */
export async function typeMove(page, move) {
  if (!(await page.isVisible("#move"))) await page.click("#show-typed");
  await page.fill("#move", move);
  await page.press("#move", "Enter");
}

/** Resigns and confirms it. */
export async function resign(page) {
  await page.click('[data-do="resign"]');
  await page.click("#confirm-yes");
  await page.waitForFunction(() => document.getElementById("status").textContent.includes("You resigned"));
}

/** Types a legal move, chosen by a generator of random numbers. */
export async function typeRandomMove(page, random) {
  const moves = await page.evaluate(async () => {
    const { legalMoves, makeSan, positionOf, treeOfPgn } = parts;
    const list = [...document.querySelectorAll("#play-moves button")].map((button) => button.textContent);
    const tree = treeOfPgn(`[FEN "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"]\n\n${list.join(" ")} *`);
    const { position } = tree.mainLine().at(-1);
    return [...legalMoves(position)].map((move) => makeSan(position, move));
  });
  await typeMove(page, moves[Math.floor(random() * moves.length)]);
}

/** The same numbers in each run. */
export function generator(seed) {
  return () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed / 2 ** 32;
  };
}

export const setLevel = (page, level) => page.locator("#level").evaluate((slider, value) => {
  slider.value = value;
  slider.dispatchEvent(new Event("input"));
}, level);

export const link = (page, selector) => page.evaluate(async (it) => (await fetch(document.querySelector(it).href)).text(), selector);

/** Pastes a text outside of any field. */
/** Pastes a text. The event is made by hand, with data that Firefox would hide from a script. */
export const paste = (page, pasted) => page.evaluate((it) => {
  const event = new ClipboardEvent("paste", { bubbles: true, cancelable: true });
  Object.defineProperty(event, "clipboardData", { value: { getData: () => it } });
  document.body.dispatchEvent(event);
}, pasted);

export const reviewed = (page) => page.waitForSelector("#review-result:not([hidden])", { timeout: 120000 });

export const overflow = (page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
