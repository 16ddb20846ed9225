// Service worker: answers from its cache, so that the page works offline. It adds the two headers that give a page
// threads (cross-origin isolation), so that any server of static files is sufficient.

// The build replaces the next two lines: the version, and the files that are stored at once.
const VERSION = "development";
const FILES = ["./"];

const CACHE = `zoothera-page-${VERSION}`;

/** A request that is answered by the browser's cache only if the server confirms it. */
const confirmed = (url) => new Request(url, { cache: "no-cache" });

// A new version waits until all tabs of the old one are closed: an open page loads parts of the engine later, and
// these parts must be from its own version.
addEventListener("install", (event) => {
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(FILES.map(confirmed))));
});

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
    const old = (await caches.keys()).filter((name) => name.startsWith("zoothera-page-") && name !== CACHE);
    await Promise.all(old.map((name) => caches.delete(name)));
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
  // Parts of the engine must be from the version of the page.
  const response = await fetch(request.url.endsWith(".gz") ? confirmed(request.url) : request);
  if (response.status === 200) event.waitUntil(cache.put(request, response.clone()).catch(() => {}));
  return isolated(response);
}

addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method === "GET" && new URL(request.url).origin === location.origin) event.respondWith(answer(event));
});
