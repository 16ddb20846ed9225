// Standard input in shared memory: one side writes, the other side waits for bytes without an event loop.

const WRITTEN = 0;
const READ = 1;
const CLOSED = 2;
const THREADS = 3;
const HEADER = 64;
const CAPACITY = 1 << 18;

/** Memory of the ring, which is passed to the workers. */
export function newRing() {
  return new SharedArrayBuffer(HEADER + CAPACITY);
}

/** The page's side. Never waits: bytes that do not fit are written later. */
export class RingWriter {
  constructor(shared) {
    this.state = new Int32Array(shared, 0, HEADER / 4);
    this.data = new Uint8Array(shared, HEADER);
    this.waiting = [];
    this.timer = undefined;
    this.closes = false;
  }

  write(bytes) {
    this.waiting.push(bytes);
    this.flush();
  }

  flush() {
    while (this.waiting.length > 0) {
      const written = Atomics.load(this.state, WRITTEN);
      const free = CAPACITY - ((written - Atomics.load(this.state, READ)) >>> 0);
      if (free === 0) break;
      const [first] = this.waiting;
      const part = first.subarray(0, free);
      for (let i = 0; i < part.length; i++) this.data[((written >>> 0) + i) % CAPACITY] = part[i];
      if (part.length === first.length) this.waiting.shift();
      else this.waiting[0] = first.subarray(part.length);
      Atomics.store(this.state, WRITTEN, (written + part.length) | 0);
      Atomics.notify(this.state, WRITTEN);
    }
    clearTimeout(this.timer);
    if (this.waiting.length > 0) this.timer = setTimeout(() => this.flush(), 5);
    else if (this.closes) this.end();
  }

  /** Ends the input after the bytes already written. */
  close() {
    this.closes = true;
    this.flush();
  }

  /** Ends the input at once and drops the unwritten bytes. */
  end() {
    clearTimeout(this.timer);
    this.waiting = [];
    Atomics.store(this.state, CLOSED, 1);
    Atomics.notify(this.state, WRITTEN);
  }
}

/** The module's side. */
export class RingReader {
  constructor(shared) {
    this.state = new Int32Array(shared, 0, HEADER / 4);
    this.data = new Uint8Array(shared, HEADER);
  }

  /** Waits for input. Returns at most `length` bytes, and no bytes after the end. */
  read(length) {
    for (;;) {
      const written = Atomics.load(this.state, WRITTEN);
      const from = Atomics.load(this.state, READ);
      const count = Math.min((written - from) >>> 0, length);
      if (count > 0) {
        const bytes = new Uint8Array(count);
        for (let i = 0; i < count; i++) bytes[i] = this.data[((from >>> 0) + i) % CAPACITY];
        Atomics.store(this.state, READ, (from + count) | 0);
        return bytes;
      }
      if (Atomics.load(this.state, CLOSED) !== 0) return new Uint8Array();
      Atomics.wait(this.state, WRITTEN, written, 1000);
    }
  }

  /** Returns a number that is unique among the threads of the instance. */
  nextThread() {
    return Atomics.add(this.state, THREADS, 1) + 1;
  }

  sleep(milliseconds) {
    // This address is never changed, so the wait always times out.
    Atomics.wait(this.state, HEADER / 4 - 1, 0, milliseconds);
  }
}
