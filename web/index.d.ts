/** Features of a browser, or of Node. */
export interface Support {
  /** WebAssembly with 128-bit vectors, which the engine requires. */
  simd: boolean;
  /** Relaxed vector instructions with exact byte dot products, which make the engine faster. */
  relaxedSimd: boolean;
  /** Shared memory on a cross-origin isolated page or in Node. Chromium must be version 120 or later, Node 22 or later. */
  threads: boolean;
  /** JavaScript Promise Integration: `stop` works during a search without threads. */
  suspending: boolean;
  /** Number of processors. */
  cores: number;
  /** Whether this looks like a phone. */
  phone: boolean;
}

export interface Options {
  /** Search threads; 1 if absent, or if the page is not cross-origin isolated. */
  threads?: number;
  /** Hash table in MiB; 16 if absent, at most 32 on a phone. */
  hash?: number;
  /**
   * Another network than the package's zoothera.nnue.gz: its address, such as `Zoothera.smallNet`, or its bytes. It may be
   * compressed with gzip.
   */
  net?: string | URL | Uint8Array | ArrayBuffer | Blob;
  /** Called while module and net are loaded, with the bytes that have arrived and the expected total. */
  onProgress?: (progress: { loaded: number; total: number }) => void;
  /** The address of the module, if it is not in the folder of the package's index.js. */
  module?: string | URL;
  /** The address of worker.js, if it is not in the folder of the package's index.js. */
  worker?: string | URL;
  /** Replaces the result of `Zoothera.support()`, for tests. */
  features?: Partial<Support>;
}

export interface RunOptions {
  /** Standard input. A stream is read while the command runs if the module has threads, and before the command otherwise. */
  stdin?: string | Uint8Array | AsyncIterable<string | Uint8Array>;
  /** Called with each part of the output. */
  onStdout?: (text: string) => void;
  /** Called with each message, such as the progress of a review. */
  onStderr?: (text: string) => void;
  /** Aborts the command. */
  signal?: AbortSignal;
}

export interface RunResult {
  /** The exit code: 0 for success. */
  code: number;
  stdout: string;
  stderr: string;
  /** The files that the command wrote, by path. */
  files: Record<string, Uint8Array>;
}

/** A running engine. Its workers keep a process of Node alive until `terminate()` or the command `quit`. */
export class Zoothera {
  /** Features of this browser. */
  static support(): Support;
  /** The address of the package's small network, zoothera-small.nnue.gz: a shorter download, a weaker engine. */
  static readonly smallNet: URL;
  /** Starts an engine. Resolves once it is ready. */
  static create(options?: Options): Promise<Zoothera>;

  /** Number of search threads. */
  readonly threads: number;
  /** Mechanism by which `stop` ends a search: a thread, suspending the module, or replacing the worker. */
  readonly mode: "threads" | "suspending" | "replacing";
  /** Called with each line of output, those of `bench` and other commands included. */
  onLine?: (line: string) => void;
  /** Called once when the engine ends: with an error, or without one after `quit`. */
  onExit?: (error?: Error) => void;

  on(event: "line", listener: (line: string) => void): this;
  on(event: "exit", listener: (error?: Error) => void): this;
  off(event: "line" | "exit", listener: (...args: never[]) => void): this;
  /** Sends a UCI command, or several lines. */
  send(line: string): void;
  /** Stops the search. Resolves with its `bestmove` line, or with `undefined` if none was running. */
  stop(): Promise<string | undefined>;
  /** Ends the engine and its workers at once. */
  terminate(): void;
  /** Runs a command of the command line, such as `["review", "--json", "game.pgn"]`, with these files. */
  run(args: string[], files?: Record<string, Uint8Array | string>, options?: RunOptions): Promise<RunResult>;
}

/**
 * A worker that runs worker.js, with the messages that it accepts and posts:
 * `const engine: ZootheraWorker = new Worker(new URL("zoothera/worker.js", import.meta.url));`
 */
export interface ZootheraWorker {
  /** Sends one UCI line. */
  postMessage(line: string): void;
  /** Called with each line of output. */
  onmessage: ((event: { data: string }) => void) | null;
  /** Ends the engine. */
  terminate(): void;
}

export default Zoothera;
