// One tab for each game: a lock of the browser, so that two tabs do not overwrite one game.

/** Attempts to lock a game: a tab that is being reloaded holds its lock a moment longer. */
const ATTEMPTS = 5;
const PAUSE = 100;

/** Functions that release the locks of this tab, by game. */
const held = new Map();

/** Requests a lock once. Resolves with whether this tab has it. `onLost` is called when another tab takes it over. */
function request(id, options, onLost) {
  return new Promise((resolve) => {
    const hold = (lock) => {
      resolve(lock !== null);
      return lock && new Promise((release) => held.set(id, release));
    };
    navigator.locks.request(`zoothera-game:${id}`, options, hold).catch(() => {
      held.delete(id);
      onLost();
    });
  });
}

/**
 * Locks a game. Resolves with false if it is open in another tab. `takeOver` takes it from that tab. Without locks (a
 * page that is not served over HTTPS) each game counts as free.
 */
export async function claim(id, onLost, takeOver = false) {
  if (!navigator.locks || held.has(id)) return true;
  if (takeOver) return request(id, { steal: true }, onLost);
  for (let i = 0; i < ATTEMPTS; i += 1) {
    if (i > 0) await new Promise((resolve) => setTimeout(resolve, PAUSE));
    if (await request(id, { ifAvailable: true }, onLost)) return true;
  }
  return false;
}

/** Unlocks a game. */
export function release(id) {
  held.get(id)?.();
  held.delete(id);
}
