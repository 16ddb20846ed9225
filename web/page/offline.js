// Starts the service worker. With it, the page works offline and has threads on any server.

/** Milliseconds after which the page starts without the worker. */
const PATIENCE = 5000;

/** Resolves when the worker answers the page's requests, or at once without a worker. Reloads the page once if the
 * worker can isolate it, unless the user has already started something. */
export async function startWorker() {
  if (!("serviceWorker" in navigator) || !isSecureContext) return;
  let isUsed = false;
  const use = () => { isUsed = true; };
  for (const event of ["pointerdown", "keydown"]) addEventListener(event, use, { once: true, capture: true });
  try {
    const late = new Promise((resolve) => setTimeout(resolve, PATIENCE));
    await Promise.race([navigator.serviceWorker.register("sw.js").then(controlled), late]);
    if (!navigator.serviceWorker.controller) return;
    if (crossOriginIsolated || isUsed || sessionStorage.getItem("isolated")) return;
    sessionStorage.setItem("isolated", "tried");
    location.reload();
    await new Promise(() => {});
  } catch (error) {
    console.warn(`The page is not available offline: ${error.message}`);
  }
}

const controlled = () => new Promise((resolve) => {
  if (navigator.serviceWorker.controller) resolve();
  else navigator.serviceWorker.addEventListener("controllerchange", resolve, { once: true });
});
