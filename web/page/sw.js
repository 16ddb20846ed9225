// Service worker: answers from its cache, so that the page works offline. It adds the two headers that give a page
// threads (cross-origin isolation), so that any server of static files is sufficient.

// The build replaces the next two lines: the version, and the files that are stored at once.
const VERSION = "development";
const FILES = ["./"];

const CACHE = `zoothera-page-${VERSION}`;

// A new version waits until all tabs of the old one are closed: an open page loads parts of the engine later, and
// these parts must be from its own version.
addEventListener("install", (event) => {
  event.waitUntil((async () => {
    const cache = await caches.open(CACHE);
    await cache.addAll(FILES.map((file) => new Request(file, { cache: "reload" })));
  })());
});

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

/**
 * The stored file, or the server's file, which is then stored. A module that only some browsers need is stored on
 * first use.
 */
async function answer(request) {
  const cache = await caches.open(CACHE);
  const stored = await cache.match(request, { ignoreSearch: true });
  if (stored) return isolated(stored);
  const response = await fetch(request);
  if (response.status === 200) await cache.put(request, response.clone());
  return isolated(response);
}

addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method === "GET" && new URL(request.url).origin === location.origin) event.respondWith(answer(request));
});
