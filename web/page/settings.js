// Settings, stored in local storage. The network file is stored in the cache storage, because it is large.

const KEY = "zoothera";
const NET_CACHE = "zoothera-net";
const DEFAULTS = {
  level: 1200, colour: "white", time: "", analysing: false, lines: 3, effort: 60000, hash: 32, coordinates: true,
  sounds: true,
};

/** Maximum number of threads on this page: one without cross-origin isolation. */
export const mostThreads = () => (globalThis.crossOriginIsolated ? Math.min(navigator.hardwareConcurrency || 1, 32) : 1);

/** The built-in network of a device: the small one if its user saves data. sw.js has the same rule. */
const usualNetwork = () => (navigator.connection?.saveData ? "small" : "large");

/** One core is left to the page; phones get at most two threads, because they overheat. */
const usualThreads = () => {
  const isPhone = matchMedia("(pointer: coarse)").matches;
  return Math.max(1, Math.min(mostThreads() - 1, isPhone ? 2 : 4));
};

export class Settings {
  constructor() {
    this.values = { ...DEFAULTS };
    this.netBytes = null;
    this.netName = "";
    try {
      Object.assign(this.values, JSON.parse(localStorage.getItem(KEY) ?? "{}"));
    } catch { /* Storage is off or damaged: the defaults hold. */ }
  }

  get(name) { return this.values[name]; }

  get threads() { return Math.min(this.values.threads ?? usualThreads(), mostThreads()); }

  /** The chosen built-in network: "small" or "large". */
  get network() { return this.values.network ?? usualNetwork(); }

  put(values) {
    Object.assign(this.values, values);
    try { localStorage.setItem(KEY, JSON.stringify(this.values)); } catch { /* Storage is off: kept until the page closes. */ }
  }

  /** Reads the network that the user chose before. */
  async restoreNet() {
    try {
      const stored = await (await caches.open(NET_CACHE)).match("net");
      if (!stored) return;
      this.netBytes = new Uint8Array(await stored.arrayBuffer());
      this.netName = decodeURIComponent(stored.headers.get("x-name") ?? "network");
    } catch { /* Without cache storage the built-in network is used. */ }
  }

  /** Stores a network file; `null` restores the built-in one. */
  async putNet(name, bytes) {
    this.netBytes = bytes;
    this.netName = name;
    try {
      const cache = await caches.open(NET_CACHE);
      if (bytes) await cache.put("net", new Response(bytes, { headers: { "x-name": encodeURIComponent(name) } }));
      else await cache.delete("net");
    } catch { /* It is kept until the page closes. */ }
  }
}
