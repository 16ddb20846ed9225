// The page: its three parts, the settings, the keyboard, and the engine that they share.

import { Analyse } from "./analyse.js";
import { Board } from "./board.js";
import { openEditor } from "./editor.js";
import { Session, builtInNet, filesForNextVisit } from "./engine.js";
import { Loading } from "./loading.js";
import { Play } from "./play.js";
import { Review } from "./review.js";
import { moveOfText } from "./rules.js";
import { Settings, mostThreads } from "./settings.js";
import { bindSteps } from "./steps.js";
import { switchSounds } from "./sounds.js";
import { showToast } from "./toast.js";
import { isFen, textOfFile } from "./tree.js";
import { settled, storeFiles } from "./offline.js";
import { watchVersion } from "./version.js";

const $ = (id) => document.getElementById(id);

class App {
  constructor(settings) {
    this.settings = settings;
    /** The engines by use: the game on the board, and analysis and review. None disturbs the other. */
    this.engines = new Map();
    this.loading = new Loading();
    this.board = new Board((move) => this.mode.move(move));
    this.modes = { play: new Play(this), analyse: new Analyse(this), review: new Review(this) };
  }

  isOpen(use) { return this.engines.has(use); }

  get hasSession() { return this.isOpen("analysis"); }

  /** The engine of analysis and review. */
  session() { return this.engine("analysis"); }

  /** The engine of a use, which starts on first use. */
  engine(use) {
    if (this.engines.has(use)) return this.engines.get(use);
    const opened = this.open();
    this.engines.set(use, opened);
    const forget = () => { if (this.engines.get(use) === opened) this.engines.delete(use); };
    opened.then((session) => {
      $("about").textContent = session.name;
      session.onEnd = forget;
      storeFiles(filesForNextVisit(this.settings.network));
    }, forget);
    return opened;
  }

  async open() {
    const { settings } = this;
    await settled;
    const setup = {
      threads: settings.threads,
      hash: settings.get("hash"),
      net: settings.netBytes ?? builtInNet(settings.network),
      onProgress: (progress) => this.loading.show(progress),
    };
    return Session.open(setup).finally(() => this.loading.hide());
  }

  /** Restarts the engines after their settings changed. */
  async restart() {
    const old = [...this.engines.values()];
    this.engines.clear();
    for (const opened of old) (await opened.catch(() => null))?.close();
    this.modes.play.restarted();
    this.modes.review.restarted();
    if (this.mode === this.modes.analyse) this.mode.restarted();
  }

  /** Stops an analysis whose result is not shown. */
  async pause() { if (this.hasSession) await (await this.session()).stop(); }

  say(text) { $("live").textContent = text; }

  /** Shows a short message, which is announced too. */
  toast(text) {
    showToast(text);
    this.say(text);
  }

  /** Opens the board editor, and analyses or plays the position that it returns. */
  async edit(fen, flipped) {
    const result = await openEditor(fen, flipped);
    if (result?.act === "analyse") this.analyse(result.fen);
    if (result?.act === "play") this.playFrom(result.fen);
  }

  /** Prepares a game from a position. */
  playFrom(fen) {
    location.hash = "#play";
    this.enter("play");
    this.modes.play.setupFrom(fen);
  }

  /** Shows an error; an empty text removes it. */
  alert(error) {
    const text = error?.message ?? String(error);
    $("alert").textContent = text;
    $("alert").hidden = text === "";
  }

  async copy(text, done) {
    try {
      await navigator.clipboard.writeText(text);
      this.toast(done);
    } catch {
      this.alert("The browser does not allow copying.");
    }
  }

  review(pgn) {
    location.hash = "#review";
    this.enter("review");
    this.modes.review.load(pgn);
  }

  /** Analyses a game or a position, with Black at the bottom if `flipped`. */
  analyse(text, flipped = false) {
    location.hash = "#analyse";
    this.enter("analyse");
    $("load-text").value = text;
    this.modes.analyse.loadText(text, flipped);
  }

  /** Handles pasted or dropped text: a position is analysed, games are reviewed, but a game stays in the analysis. */
  receive(text) {
    if (isFen(text) || this.mode === this.modes.analyse) this.analyse(text);
    else this.review(text);
  }

  enter(name) {
    if (this.mode === this.modes[name]) return;
    this.alert("");
    $("move").value = $("typed-error").textContent = "";
    this.mode?.leave();
    if (this.mode === this.modes.analyse) this.pause().catch(() => {});
    this.mode = this.modes[name];
    document.body.dataset.mode = name;
    document.querySelectorAll("nav a").forEach((link) => {
      if (link.dataset.mode === name) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    });
    for (const mode of Object.keys(this.modes)) $(`panel-${mode}`).hidden = mode !== name;
    this.mode.enter();
  }
}

const settings = new Settings();
await settings.restoreNet();
const app = new App(settings);
app.board.coordinates(settings.get("coordinates"));
switchSounds(settings.get("sounds"));
bindSteps((where) => app.mode.go(where));
watchVersion((text) => app.toast(text));
$("alert").addEventListener("click", () => app.alert(""));

const route = () => app.enter(["play", "analyse", "review"].find((name) => location.hash.startsWith(`#${name}`)) ?? "play");
addEventListener("hashchange", route);
route();
app.modes.analyse.restore();
app.modes.review.restore();

$("typed").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = $("move").value;
  const move = moveOfText(app.board.position, text);
  const isTurn = !app.mode.state || app.mode.mayMove;
  const error = !isTurn ? "Please wait for your turn." : move ? "" : `“${text}” is not a legal move here.`;
  $("typed-error").textContent = text.trim() ? error : "";
  if (!move || !isTurn) return;
  $("move").value = "";
  app.mode.move(move);
});

// In an empty field for moves the arrow keys step through the game.
$("move").addEventListener("keydown", (event) => {
  const where = event.target.value === "" && event.key.length > 1 && KEYS[event.key];
  if (!where || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  app.mode.go(where);
});

const KEYS = { ArrowLeft: "back", ArrowRight: "on", Home: "first", End: "last", f: "flip", n: "mistake", p: "earlier", t: "retry" };
/** Elements in which the keys have another meaning. */
const OWN_KEYS = "input:not([type=checkbox]), textarea, select, dialog, [role=dialog]";
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest(OWN_KEYS)) return;
  const where = KEYS[event.key];
  if (!where) return typeInField(event.key);
  event.preventDefault();
  app.mode.go(where);
});

/** A letter or digit with which a move can begin goes into the field for moves, wherever the focus is. */
function typeInField(key) {
  if (/^[a-h1-8KQRBNO]$/.test(key) && $("move").checkVisibility()) $("move").focus({ preventScroll: true });
}

// What opens in the panel comes into view.
document.addEventListener("toggle", ({ target }) => {
  if (target.open && target.closest(".panel")) target.scrollIntoView({ block: "nearest" });
}, true);

// Text or files pasted or dropped anywhere: games, a position, a network file.
const isField = (target) => target.closest?.("input, textarea");
document.addEventListener("paste", (event) => {
  const text = event.clipboardData.getData("text");
  if (isField(event.target) || !(isFen(text) || /\b1\.\s*\S/.test(text))) return;
  event.preventDefault();
  app.receive(text);
});
document.addEventListener("dragover", (event) => { event.preventDefault(); document.body.classList.add("dropping"); });
document.addEventListener("dragleave", () => document.body.classList.remove("dropping"));
document.addEventListener("drop", async (event) => {
  event.preventDefault();
  document.body.classList.remove("dropping");
  const [file] = event.dataTransfer.files;
  if (/\.nnue(\.gz)?$/.test(file?.name)) {
    openSettings();
    return useNet(file.name, new Uint8Array(await file.arrayBuffer()));
  }
  const text = file ? await textOfFile(file) : event.dataTransfer.getData("text");
  if (text.trim()) app.receive(text);
});

const showSettings = () => {
  const most = mostThreads();
  $("threads").max = most;
  $("threads").value = settings.threads;
  $("threads").disabled = most === 1;
  $("threads-hint").textContent = most > 1 ? `This device has ${most}.`
    : "This page has one thread. More need a server that isolates it, or the page's own service worker: reload once.";
  $("hash").value = settings.get("hash");
  $("coordinates").checked = settings.get("coordinates");
  $("sounds").checked = settings.get("sounds");
  $("network").value = settings.network;
  $("net-name").textContent = settings.netName || "A built-in network is used.";
  $("net-default").hidden = !settings.netName;
};
const openSettings = () => {
  showSettings();
  if (!$("settings").open) $("settings").showModal();
};
$("open-settings").addEventListener("click", openSettings);
$("settings").addEventListener("click", (event) => { if (event.target === $("settings")) $("settings").close(); });
$("coordinates").addEventListener("change", ({ target }) => {
  settings.put({ coordinates: target.checked });
  app.board.coordinates(target.checked);
});
$("sounds").addEventListener("change", ({ target }) => {
  settings.put({ sounds: target.checked });
  switchSounds(target.checked);
});
for (const id of ["threads", "hash"]) {
  $(id).addEventListener("change", ({ target }) => {
    const value = Math.min(Math.max(Math.round(target.valueAsNumber) || 1, 1), Number(target.max));
    target.value = value;
    settings.put({ [id]: value });
    app.restart();
  });
}
/** Uses a network file, or without bytes a built-in network. If the engine rejects it, the one before is used again. */
const useNet = async (name, bytes, network = settings.network) => {
  const [oldName, oldBytes, oldNetwork] = [settings.netName, settings.netBytes, settings.network];
  $("settings-error").textContent = "";
  if (network !== oldNetwork) settings.put({ network });
  await settings.putNet(name, bytes);
  await app.restart();
  try {
    await app.engine(app.mode === app.modes.play ? "play" : "analysis");
  } catch (error) {
    $("settings-error").textContent = error.message;
    if (network !== oldNetwork) settings.put({ network: oldNetwork });
    await settings.putNet(oldName, oldBytes);
    await app.restart();
  }
  showSettings();
};
$("net").addEventListener("change", async ({ target }) => {
  const [file] = target.files;
  if (file) await useNet(file.name, new Uint8Array(await file.arrayBuffer()));
  target.value = "";
});
$("network").addEventListener("change", ({ target }) => useNet("", null, target.value));
$("net-default").addEventListener("click", () => useNet("", null));

// The engine starts at once, so that the first move is fast and its files are stored for offline use.
app.engine(app.mode === app.modes.play ? "play" : "analysis").catch((error) => app.alert(error));
