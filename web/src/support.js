// What this browser (or Node) offers.

const HEADER = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0];
/** `i8x16.splat` of zero. */
const ZEROS = [0x41, 0, 0xfd, 0x0f];

/** Whether a function of these instructions is valid. */
function isValid(instructions) {
  const body = [0, ...instructions, 0x1a, 0x0b];
  const code = [0x0a, body.length + 2, 1, body.length, ...body];
  return WebAssembly.validate(new Uint8Array([...HEADER, ...code]));
}

/** Whether this is Node rather than a browser, Deno, or a page of Electron. */
export const isNode = typeof process === "object" && !!process.versions?.node && typeof Worker === "undefined";

/** Features by name; see `Support` in index.d.ts. */
export function support() {
  const exists = typeof WebAssembly === "object";
  const scope = globalThis;
  return {
    simd: exists && isValid([...ZEROS, 0xfd, 0x62]),
    relaxedSimd: exists && isValid([...ZEROS, ...ZEROS, ...ZEROS, 0xfd, 0x93, 0x02]),
    threads: exists && typeof SharedArrayBuffer === "function" && (isNode || scope.crossOriginIsolated === true),
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
