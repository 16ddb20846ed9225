// Workers and files, in a browser and in Node.

import { isNode } from "./support.js";

/** A module of Node. Its name is not a constant, because bundlers for browsers would reject it. */
export function nodeModule(name) {
  return import(/* webpackIgnore: true */ /* @vite-ignore */ `node:${name}`);
}

/** A worker with `post`, `terminate`, and the callbacks `onMessage` and `onError`. */
export async function newWorker(url, onMessage, onError) {
  if (isNode) {
    const { Worker } = await nodeModule("worker_threads");
    // The worker needs none of the program's options, and some would be errors there.
    const worker = new Worker(new URL(url), { execArgv: [] });
    worker.on("message", onMessage);
    worker.on("error", onError);
    return { post: (message) => worker.postMessage(message), terminate: () => worker.terminate() };
  }
  const worker = new Worker(sameOrigin(url));
  worker.onmessage = ({ data }) => onMessage(data);
  worker.onerror = (event) => {
    event.preventDefault?.();
    onError(new Error(`the worker ${url} failed: ${event.message ?? "it could not be loaded"}`));
  };
  return { post: (message) => worker.postMessage(message), terminate: () => worker.terminate() };
}

/** An address from which a worker may be started: a browser rejects addresses of other origins. */
function sameOrigin(url) {
  const here = globalThis.location;
  const other = here && /^https?:/.test(String(url)) && new URL(url).origin !== here.origin;
  if (!other) return url;
  const text = `importScripts(${JSON.stringify(String(url))});`;
  return URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
}

/** A local file in Node, or a response. */
async function open(url, what) {
  if (isNode && (url.protocol === "file:" || !url.protocol)) {
    const { readFile } = await nodeModule("fs/promises");
    try {
      return new Response(await readFile(url));
    } catch (error) {
      throw new Error(`${what} ${url} cannot be read: ${error.message}`);
    }
  }
  let response;
  try {
    response = await fetch(url);
  } catch (error) {
    throw new Error(`${what} ${url} cannot be loaded: ${error.message}`);
  }
  if (!response.ok) throw new Error(`${what} ${url} cannot be loaded: the server answers ${response.status} ${response.statusText}`);
  return response;
}

/** Whether bytes begin a file compressed with gzip. */
const isGzip = (bytes) => bytes?.[0] === 0x1f && bytes[1] === 0x8b;

/** The body of a response, without gzip. `onBytes` is called with the size of each part that arrives. */
async function content(response, onBytes) {
  const reader = (response.body ?? new Blob().stream()).getReader();
  const first = await reader.read();
  let next = Promise.resolve(first);
  const body = new ReadableStream({
    async pull(controller) {
      const { done, value } = await next;
      if (done) return controller.close();
      onBytes?.(value.length);
      controller.enqueue(value);
      next = reader.read();
      // The next pull reports the failure.
      next.catch(() => {});
      return undefined;
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return isGzip(first.value) ? body.pipeThrough(new DecompressionStream("gzip")) : body;
}

/** All bytes of a response, without gzip. `name` follows `what` in the error, after a space. */
async function bytesOf(response, name, what, onBytes) {
  try {
    return new Uint8Array(await new Response(await content(response, onBytes)).arrayBuffer());
  } catch (error) {
    throw new Error(`${what}${name} cannot be loaded: the connection or the file ends early (${error.message})`);
  }
}

/** The bytes of a file, address or response, without gzip. `onBytes` is called with the size of each part that arrives. */
export async function readBytes(source, what, onBytes) {
  if (source instanceof Response) return bytesOf(source, "", what, onBytes);
  return bytesOf(await open(source, what), ` ${source}`, what, onBytes);
}

/** Compiles a module, which may be compressed with gzip. If the file is not a module, the error describes its content. */
export async function compile(url, onBytes) {
  const response = await open(url, "the module");
  const type = response.headers.get("content-type");
  if (type === "application/wasm" && WebAssembly.compileStreaming) {
    // The browser caches the code of an unchanged response only.
    if (!onBytes) return WebAssembly.compileStreaming(response);
    const headers = { "content-type": type };
    return WebAssembly.compileStreaming(new Response(await content(response, onBytes), { headers }));
  }
  const bytes = await bytesOf(response, ` ${url}`, "the module", onBytes);
  const isModule = bytes.length > 8 && [0, 0x61, 0x73, 0x6d].every((byte, i) => bytes[i] === byte);
  if (!isModule) {
    const begin = new TextDecoder().decode(bytes.subarray(0, 40)).replace(/\s+/g, " ");
    throw new Error(
      `${url} is not a WebAssembly module: ${bytes.length} bytes of ${type ?? "no type"}, beginning with ${JSON.stringify(begin)}. ` +
        "The server or bundler sends another file in its place; copy the .wasm files of the package beside its " +
        "index.js, or name the module's address: Zoothera.create({ module: new URL(...) })",
    );
  }
  return WebAssembly.compile(bytes);
}
