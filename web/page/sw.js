// Service worker: answers from its cache, so that the page works offline. It adds the two headers that give a page
// threads (cross-origin isolation), so that any server of static files is sufficient.

// The build replaces the next three lines: the version, the files that are stored at once, and the first characters of
// the SHA-256 of the engine's files.
const VERSION = "development";
const FILES = ["./"];
const ENGINE = {};

const CACHE = `zoothera-page-${VERSION}`;
/** The largest file of the first visit. At that visit its download begins before the page asks for it. */
const NET = `engine/zoothera${navigator.connection?.saveData ? "-small" : ""}.nnue.gz`;
let early = null;

/** A request that is answered by the browser's cache only if the server confirms it. */
const confirmed = (url) => new Request(url, { cache: "no-cache" });

// A new version waits until all tabs of the old one are closed: an open page loads parts of the engine later, and
// these parts must be from its own version.
addEventListener("install", (event) => {
  event.waitUntil((async () => {
    const cache = await caches.open(CACHE);
    await cache.addAll(FILES.map(confirmed));
    // Not before: the page needs the line for its own files.
    if (!registration.active) early = download(NET);
    await keepEngine(cache);
  })());
});

/** Downloads a file of the engine and stores it meanwhile. */
function download(path) {
  const response = fetch(confirmed(path));
  const stored = (async () => {
    const copy = (await response).clone();
    if (copy.status === 200) await (await caches.open(CACHE)).put(path, copy);
  })();
  stored.catch(() => {});
  return { response, stored };
}

/**
 * Stores the parts of the engine that the version before has stored, so that the page works offline after an update too.
 * Unchanged ones are copied.
 */
async function keepEngine(cache) {
  for (const name of await pageCaches()) {
    const old = await caches.open(name);
    for (const [path, hash] of Object.entries(ENGINE)) {
      const known = await old.match(path);
      if (!known || await cache.match(path)) continue;
      if (await hashOf(known.clone()) === hash) await cache.put(path, known);
      else await cache.add(confirmed(path));
    }
  }
}

async function hashOf(response) {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", await response.arrayBuffer()));
  return [...digest.subarray(0, 8)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Names of the caches of other versions. */
const pageCaches = async () => (await caches.keys()).filter((name) => name.startsWith("zoothera-page-") && name !== CACHE);

// The page names the parts of the engine that its next visit will need.
addEventListener("message", (event) => {
  const { store } = event.data ?? {};
  if (Array.isArray(store)) event.waitUntil(storeAll(store));
});

/** Stores files that are not stored yet, one after the other. A failure leaves the rest to the next visit. */
async function storeAll(urls) {
  const cache = await caches.open(CACHE);
  for (const url of urls) {
    if (new URL(url).origin === location.origin && !(await cache.match(url))) await cache.add(confirmed(url)).catch(() => {});
  }
}

addEventListener("activate", (event) => {
  event.waitUntil((async () => {
    await Promise.all((await pageCaches()).map((name) => caches.delete(name)));
    await clients.claim();
  })());
});

const isolated = (response) => {
  if (response.status === 0) return response;
  const headers = new Headers(response.headers);
  headers.set("Cross-Origin-Opener-Policy", "same-origin");
  headers.set("Cross-Origin-Embedder-Policy", "require-corp");
  headers.set("Cross-Origin-Resource-Policy", "same-origin");
  return new Response(response.body, { status: response.status, statusText: response.statusText, headers });
};

/** The stored file, or the server's file, which is stored while it arrives. */
async function answer(event) {
  const { request } = event;
  const cache = await caches.open(CACHE);
  const stored = await cache.match(request, { ignoreSearch: true });
  if (stored) return isolated(stored);
  if (early && request.url.endsWith(`/${NET}`)) {
    const { response, stored: whole } = early;
    early = null;
    const begun = await response.catch(() => null);
    if (begun?.status === 200) {
      event.waitUntil(whole.catch(() => {}));
      return isolated(begun);
    }
  }
  // Parts of the engine must be from the version of the page.
  const response = await fetch(request.url.endsWith(".gz") ? confirmed(request.url) : request);
  if (response.status === 200) event.waitUntil(cache.put(request, response.clone()).catch(() => {}));
  return isolated(response);
}

addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method === "GET" && new URL(request.url).origin === location.origin) event.respondWith(answer(event));
});
