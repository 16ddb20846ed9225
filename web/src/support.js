// The features of this browser (or Node).

/** `() -> ()`, and a function of this type. */
const HEADER = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0];
/** `() -> i32`, a function of this type, and its export `f`. */
const NUMBER_HEADER = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 5, 1, 0x60, 0, 1, 0x7f, 3, 2, 1, 0, 7, 5, 1, 1, 0x66, 0, 0];
/** `i8x16.splat` of zero. */
const ZEROS = [0x41, 0, 0xfd, 0x0f];
/** `i32x4.relaxed_dot_i8x16_i7x16_add_s`. */
const DOT = [0xfd, 0x93, 0x02];

/** Encodes a number in LEB128. */
const leb = (number) => (number < 128 ? [number] : [(number & 127) | 128, ...leb(number >> 7)]);

/** Whether a function with these instructions is valid. */
function isValid(instructions) {
  const body = [0, ...instructions, 0x1a, 0x0b];
  const code = [0x0a, body.length + 2, 1, body.length, ...body];
  return WebAssembly.validate(new Uint8Array([...HEADER, ...code]));
}

/** The result of a function with these instructions and three local vectors. */
function compute(instructions) {
  const body = [1, 3, 0x7b, ...instructions, 0x0b];
  const section = [1, ...leb(body.length), ...body];
  const module = new WebAssembly.Module(new Uint8Array([...NUMBER_HEADER, 0x0a, ...leb(section.length), ...section]));
  return new WebAssembly.Instance(module).exports.f();
}

/**
 * Whether byte dot products are exact for inputs in the range of the net. The first compiler of V8 11.3 (Node 20,
 * behind a flag) overwrites an operand, depending on which of them are used later, so every combination is tested.
 */
function hasExactDots() {
  const weights = [-128, 127, -1, 5, -128, -128, -128, -128, 127, 127, 127, 127, 3, -7, 100, -100];
  const inputs = [127, 127, 1, 0, 127, 127, 127, 127, 127, 127, 127, 127, 2, 9, 120, 11];
  const sums = [1, -2, 3, 1000];
  const dot = (lane) => [0, 1, 2, 3].reduce((sum, i) => sum + weights[4 * lane + i] * inputs[4 * lane + i], 0);
  const vector = (array) => [0xfd, 0x0c, ...new Uint8Array(array.buffer)];
  const operands = [Int8Array.from(weights), Uint8Array.from(inputs), Int32Array.from(sums)].map(vector);
  const expected = vector(Int32Array.from(sums, (sum, lane) => sum + dot(lane)));
  const store = operands.flatMap((operand, i) => [...operand, 0x21, i]);
  return [0, 1, 2, 3, 4, 5, 6, 7].every((kept) => {
    const load = operands.flatMap((operand, i) => (kept & (1 << i) ? [0x20, i] : operand));
    // i32x4.eq, i8x16.all_true
    return compute([...store, ...load, ...DOT, ...expected, 0xfd, 0x37, 0xfd, 0xa3, 0x01]) === 1;
  });
}

/** Whether this is Node rather than a browser, Deno, or a page of Electron. */
export const isNode = typeof process === "object" && !!process.versions?.node && typeof Worker === "undefined";

/**
 * Whether the first compiler of this V8 compiles modules with threads correctly. That of V8 11.3 (Node 20) does not:
 * `bench` counted wrong nodes or ended with an error. That of V8 12.4 (Node 22) does; versions between were not tested.
 */
function compilesThreads() {
  if (isNode) return parseInt(process.versions.v8) >= 12;
  // Version 120 of Chromium has V8 12.0.
  const chromium = globalThis.navigator?.userAgentData?.brands?.find(({ brand }) => brand === "Chromium");
  return chromium === undefined || parseInt(chromium.version) >= 120;
}

/** Features by name; see `Support` in index.d.ts. */
export function support() {
  const exists = typeof WebAssembly === "object";
  const scope = globalThis;
  return {
    simd: exists && isValid([...ZEROS, 0xfd, 0x62]),
    relaxedSimd: exists && isValid([...ZEROS, ...ZEROS, ...ZEROS, ...DOT]) && hasExactDots(),
    threads:
      exists &&
      typeof SharedArrayBuffer === "function" &&
      (isNode || scope.crossOriginIsolated === true) &&
      compilesThreads(),
    suspending: exists && typeof WebAssembly.Suspending === "function" && typeof WebAssembly.promising === "function",
    cores: scope.navigator?.hardwareConcurrency ?? nodeCores() ?? 1,
    phone: isPhone(scope.navigator),
  };
}

function nodeCores() {
  return isNode ? process.getBuiltinModule?.("node:os").availableParallelism() : undefined;
}

function isPhone(navigator) {
  if (!navigator || isNode) return false;
  if (navigator.userAgentData?.mobile !== undefined) return navigator.userAgentData.mobile;
  return /Android|iPhone|iPod|Mobile/.test(navigator.userAgent ?? "");
}
