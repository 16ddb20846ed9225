// What the page stores on this device: games in IndexedDB, and an unfinished game in local storage, which is written at
// once, even while the page closes.

import { openDB } from "idb";

/** Prefix of the keys of unfinished games in local storage. */
const LIVE = "zoothera-game:";
/** Prefix of the keys of state in local and session storage, and the length up to which it is stored there as well. */
const STATE = "zoothera-state:";
const MAX_STATE = 500_000;
/** The storage of this tab, which a reload keeps, and the one of all tabs, which a new tab reads. */
const AREAS = ["sessionStorage", "localStorage"];

// Asynchronous, because a browser that stores nothing throws an exception at once.
const database = (async () => openDB("zoothera", 1, {
  upgrade(db) {
    db.createObjectStore("games", { keyPath: "id" });
    db.createObjectStore("state");
  },
}))();
// Storage can be disabled. Each use handles the failure.
database.catch(() => {});

/** Games and state of a page without storage; they are lost when it closes. */
const memory = { games: new Map(), state: new Map() };

async function attempt(use, otherwise) {
  try {
    return await use(await database);
  } catch (error) {
    console.warn(`Not stored on this device: ${error.message}`);
    return otherwise();
  }
}

/** The stored value of a name, such as the analysis: that of this tab, or else the latest one; `undefined` without one. */
export async function readState(name) {
  for (const area of AREAS) {
    try {
      const text = globalThis[area].getItem(STATE + name);
      if (text) return JSON.parse(text);
    } catch { /* Storage is off: the database has it. */ }
  }
  return attempt((db) => db.get("state", name), () => memory.state.get(name));
}

/** Stores a value at once in local storage, because a page that closes does not wait for the database, and there too. */
export function writeState(name, value) {
  const text = JSON.stringify(value);
  for (const area of AREAS) {
    try {
      globalThis[area].removeItem(STATE + name);
      if (text.length <= MAX_STATE) globalThis[area].setItem(STATE + name, text);
    } catch { /* Storage is off or full: the database keeps it. */ }
  }
  return attempt((db) => db.put("state", value, name), () => memory.state.set(name, value));
}

/** Stores a game that is over. The browser is asked not to delete what is stored when it needs space. */
export async function storeGame(game) {
  navigator.storage?.persist?.().catch(() => {});
  await attempt((db) => db.put("games", game), () => memory.games.set(game.id, game));
  removeLive(game.id);
}

export async function deleteGame(id) {
  removeLive(id);
  await attempt((db) => db.delete("games", id), () => memory.games.delete(id));
}

/** All games, the newest first. */
export async function allGames() {
  const over = await attempt((db) => db.getAll("games"), () => [...memory.games.values()]);
  const live = liveGames();
  const isLive = new Set(live.map(({ id }) => id));
  return [...live, ...over.filter(({ id }) => !isLive.has(id))].sort((a, b) => b.started - a.started);
}

export const gameOf = async (id) => (await allGames()).find((game) => game.id === id);

/** Stores an unfinished game at once. */
export function storeLive(game) {
  memory.games.set(game.id, game);
  try { localStorage.setItem(LIVE + game.id, JSON.stringify(game)); } catch { /* Storage is off: kept until the page closes. */ }
}

function removeLive(id) {
  try { localStorage.removeItem(LIVE + id); } catch { /* Storage is off. */ }
}

/** The unfinished games, the newest first. A damaged record is skipped. */
export function liveGames() {
  try {
    const keys = Array.from({ length: localStorage.length }, (_, i) => localStorage.key(i)).filter((key) => key.startsWith(LIVE));
    return keys.flatMap((key) => {
      try { return [JSON.parse(localStorage.getItem(key))]; } catch { return []; }
    }).sort((a, b) => b.started - a.started);
  } catch {
    return [];
  }
}

/** Calls `change` when another tab of the page has stored or removed an unfinished game. */
export const onOtherTab = (change) => addEventListener("storage", ({ key }) => key?.startsWith(LIVE) && change());
