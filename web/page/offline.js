// Starts the service worker. With it, the page works offline and has threads on any server. This is a script of its own,
// so that the worker can start while the page is still loading.

/** Milliseconds after which the page starts without the worker. */
const PATIENCE = 5000;

/** Whether the tab was reloaded already; also if the browser stores nothing, because it might reload again and again. */
function isTried() {
  try {
    return sessionStorage.getItem("isolated") !== null;
  } catch {
    return true;
  }
}

/** Waits until the page will not be reloaded. It is reloaded once if the worker can isolate it, unless the user has
 * already started something. */
async function startWorker() {
  if (!("serviceWorker" in navigator) || !isSecureContext) return;
  const registered = navigator.serviceWorker.register("sw.js");
  registered.catch((error) => console.warn(`The page is not available offline: ${error.message}`));
  if (crossOriginIsolated || (navigator.serviceWorker.controller && isTried())) return;
  let isUsed = false;
  const use = () => { isUsed = true; };
  for (const event of ["pointerdown", "keydown"]) addEventListener(event, use, { once: true, capture: true });
  const late = new Promise((resolve) => setTimeout(resolve, PATIENCE, "late"));
  const arrived = await Promise.race([registered.then(controlled, () => "failed"), late]);
  if (arrived || isUsed || isTried()) return;
  sessionStorage.setItem("isolated", "tried");
  location.reload();
  await new Promise(() => {});
}

/** Stores files for a visit without a network, if there is a worker. */
export async function storeFiles(urls) {
  const registration = await navigator.serviceWorker?.getRegistration();
  if (registration) (await navigator.serviceWorker.ready).active.postMessage({ store: urls });
}

const controlled = () => new Promise((resolve) => {
  if (navigator.serviceWorker.controller) resolve();
  else navigator.serviceWorker.addEventListener("controllerchange", () => resolve(), { once: true });
});

/** Resolves when the page will not be reloaded any more for its isolation. */
export const settled = startWorker();
