// WASI preview 1 for one instance: arguments, clocks, random numbers, standard streams, and files in memory.
// With threads, each worker of an instance has its own files; only the first worker opens any.

const OK = 0;
const AGAIN = 6;
const BADF = 8;
const EXIST = 20;
const INVAL = 28;
const ISDIR = 31;
const NOENT = 44;
const NOSYS = 52;
const NOTDIR = 54;
const NOTEMPTY = 55;

const CHARACTER_DEVICE = 2;
const DIRECTORY = 3;
const REGULAR_FILE = 4;

const ROOT = 3;

/** Thrown by `proc_exit`, to end the module. */
export class Exit extends Error {
  constructor(code) {
    super(`exit code ${code}`);
    this.code = code;
  }
}

/** A file in memory. */
class File {
  constructor(bytes = new Uint8Array()) {
    this.buffer = bytes;
    this.size = bytes.length;
    this.changed = false;
  }

  get bytes() {
    return this.buffer.slice(0, this.size);
  }

  resize(size) {
    if (size > this.buffer.length) {
      const larger = new Uint8Array(Math.max(size, 2 * this.buffer.length, 4096));
      larger.set(this.buffer.subarray(0, this.size));
      this.buffer = larger;
    } else if (size < this.size) {
      this.buffer = this.buffer.slice(0, size);
    }
    this.size = size;
    this.changed = true;
  }

  write(at, bytes) {
    if (at + bytes.length > this.size) this.resize(at + bytes.length);
    this.buffer.set(bytes, at);
    this.changed = true;
  }

  read(at, length) {
    return this.buffer.subarray(Math.min(at, this.size), Math.min(at + length, this.size));
  }
}

/** The files of an instance by path, without a slash at the start. Folders exist from the start, or are created. */
class Files {
  constructor(files) {
    this.files = new Map();
    this.folders = new Set(["", "tmp"]);
    for (const [path, content] of Object.entries(files)) {
      const name = Files.normal(path);
      const bytes = typeof content === "string" ? new TextEncoder().encode(content) : new Uint8Array(content);
      this.files.set(name, new File(bytes));
      for (let at = name.lastIndexOf("/"); at > 0; at = name.lastIndexOf("/", at - 1)) this.folders.add(name.slice(0, at));
    }
  }

  static normal(path) {
    const parts = [];
    for (const part of path.split("/")) {
      if (part === "..") parts.pop();
      else if (part !== "" && part !== ".") parts.push(part);
    }
    return parts.join("/");
  }

  /** Whether the parent folder of `path` exists. */
  hasParent(path) {
    return this.folders.has(path.slice(0, Math.max(path.lastIndexOf("/"), 0)));
  }

  /** Names and kinds of a folder's entries. */
  list(folder) {
    const prefix = folder === "" ? "" : `${folder}/`;
    const inside = (path) => path !== "" && path.startsWith(prefix) && !path.slice(prefix.length).includes("/");
    const named = (kind) => (path) => ({ name: path.slice(prefix.length), kind });
    return [
      ...[...this.folders].filter(inside).map(named(DIRECTORY)),
      ...[...this.files.keys()].filter(inside).map(named(REGULAR_FILE)),
    ];
  }

  /** The content of all written files. */
  changed() {
    const changed = [...this.files].filter(([, file]) => file.changed);
    return Object.fromEntries(changed.map(([path, file]) => [path, file.bytes]));
  }
}

/**
 * The imports `wasi_snapshot_preview1` of a module.
 *
 * `host` has: `args` and `env`; `files` by path; `read(length)`, which returns bytes of standard input (no bytes at
 * its end), or `undefined` if none have arrived yet; `write(descriptor, bytes)` for standard output and standard
 * error; `sleep(milliseconds)`; `now()`; `pause()`, called by `sched_yield`.
 */
export class Wasi {
  constructor(host) {
    this.host = host;
    this.files = new Files(host.files ?? {});
    this.open = new Map();
    this.nextDescriptor = ROOT + 1;
    /** Set after the instantiation. */
    this.memory = undefined;
  }

  get view() {
    return new DataView(this.memory.buffer);
  }

  bytes(at, length) {
    return new Uint8Array(this.memory.buffer, at >>> 0, length >>> 0);
  }

  /** A string in the module's memory. Copied, because decoders reject shared memory. */
  text(at, length) {
    return new TextDecoder().decode(this.bytes(at, length).slice());
  }

  /** The parts of memory listed by `iovec` structures. */
  parts(list, count) {
    const view = this.view;
    return Array.from({ length: count }, (_, i) => {
      const at = (list >>> 0) + 8 * i;
      return this.bytes(view.getUint32(at, true), view.getUint32(at + 4, true));
    });
  }

  /** Writes zero-terminated strings, and pointers to them. */
  strings(list, pointers, to) {
    const view = this.view;
    let at = to >>> 0;
    list.forEach((text, i) => {
      const bytes = new TextEncoder().encode(`${text}\0`);
      view.setUint32((pointers >>> 0) + 4 * i, at, true);
      this.bytes(at, bytes.length).set(bytes);
      at += bytes.length;
    });
    return OK;
  }

  sizes(list, count, size) {
    const total = list.reduce((sum, text) => sum + new TextEncoder().encode(text).length + 1, 0);
    this.view.setUint32(count >>> 0, list.length, true);
    this.view.setUint32(size >>> 0, total, true);
    return OK;
  }

  get environment() {
    return Object.entries(this.host.env ?? {}).map(([name, value]) => `${name}=${value}`);
  }

  /** Writes a `filestat`. */
  stat(at, kind, size) {
    this.bytes(at, 64).fill(0);
    this.view.setUint8((at >>> 0) + 16, kind);
    this.view.setBigUint64((at >>> 0) + 24, 1n, true);
    this.view.setBigUint64((at >>> 0) + 32, BigInt(size), true);
    return OK;
  }

  /** The path passed to a call, relative to an open folder. */
  path(descriptor, at, length) {
    const folder = descriptor === ROOT ? "" : this.open.get(descriptor)?.folder;
    return folder === undefined ? undefined : Files.normal(`${folder}/${this.text(at, length)}`);
  }

  opened(entry, to) {
    const descriptor = this.nextDescriptor++;
    this.open.set(descriptor, entry);
    this.view.setUint32(to >>> 0, descriptor, true);
    return OK;
  }

  openPath(folder, at, length, openFlags, descriptorFlags, to) {
    const [create, directory, exclusive, truncate] = [1, 2, 4, 8].map((flag) => (openFlags & flag) !== 0);
    const path = this.path(folder, at, length);
    if (path === undefined) return BADF;
    if (this.files.folders.has(path)) return create ? ISDIR : this.opened({ folder: path }, to);
    let file = this.files.files.get(path);
    if (directory) return file ? NOTDIR : NOENT;
    if (file && create && exclusive) return EXIST;
    if (!file) {
      if (!create || !this.files.hasParent(path)) return NOENT;
      file = new File();
      file.changed = true;
      this.files.files.set(path, file);
    }
    if (truncate) file.resize(0);
    return this.opened({ file, at: 0, append: (descriptorFlags & 1) !== 0 }, to);
  }

  /** Reads from a position of a file into the parts. Returns the number of bytes. */
  readAt(file, at, parts) {
    let total = 0;
    for (const part of parts) {
      const bytes = file.read(at + total, part.length);
      part.set(bytes);
      total += bytes.length;
    }
    return total;
  }

  writeAt(file, at, parts) {
    let total = 0;
    for (const part of parts) {
      file.write(at + total, part);
      total += part.length;
    }
    return total;
  }

  readInput(parts, size) {
    let total = 0;
    for (const part of parts.filter((part) => part.length > 0)) {
      const bytes = this.host.read(part.length);
      if (bytes === undefined) return AGAIN;
      part.set(bytes);
      total += bytes.length;
      break; // A short read is allowed, and no more bytes may be available.
    }
    this.view.setUint32(size >>> 0, total, true);
    return OK;
  }

  list(descriptor, at, length, cookie, size) {
    const folder = descriptor === ROOT ? "" : this.open.get(descriptor)?.folder;
    if (folder === undefined) return BADF;
    let used = 0;
    this.files.list(folder).forEach(({ name, kind }, i) => {
      if (BigInt(i) < cookie || used >= length) return;
      const encoded = new TextEncoder().encode(name);
      const entry = new Uint8Array(24 + encoded.length);
      const view = new DataView(entry.buffer);
      view.setBigUint64(0, BigInt(i + 1), true);
      view.setUint32(16, encoded.length, true);
      view.setUint8(20, kind);
      entry.set(encoded, 24);
      const part = entry.subarray(0, length - used);
      this.bytes((at >>> 0) + used, part.length).set(part);
      used += part.length;
    });
    this.view.setUint32(size >>> 0, used, true);
    return OK;
  }

  /** Waits for the shortest of the clocks; a descriptor is always ready. */
  poll(subscriptions, events, count, size) {
    const view = this.view;
    const list = Array.from({ length: count }, (_, i) => (subscriptions >>> 0) + 48 * i);
    const isClock = (at) => view.getUint8(at + 8) === 0;
    const wait = (at) => {
      const absolute = (view.getUint16(at + 40, true) & 1) !== 0;
      const time = Number(view.getBigUint64(at + 24, true)) / 1e6;
      const clock = view.getUint32(at + 16, true);
      return absolute ? time - (clock === 0 ? Date.now() : this.host.now()) : time;
    };
    const others = list.filter((at) => !isClock(at));
    const ready = others.length > 0 ? others : list.slice(0, 1);
    const done = () => {
      ready.forEach((at, i) => {
        const event = (events >>> 0) + 32 * i;
        this.bytes(event, 32).fill(0);
        this.view.setBigUint64(event, this.view.getBigUint64(at, true), true);
        this.view.setUint8(event + 10, this.view.getUint8(at + 8));
      });
      this.view.setUint32(size >>> 0, ready.length, true);
      return OK;
    };
    if (others.length > 0) return done();
    const slept = this.host.sleep(Math.max(0, Math.min(...list.map(wait))));
    return slept instanceof Promise ? slept.then(done) : done();
  }

  imports() {
    const standard = (descriptor) => descriptor < ROOT;
    const withFile = (descriptor, action) => {
      const entry = this.open.get(descriptor);
      return entry?.file ? action(entry) : BADF;
    };
    const size = (to, value) => {
      this.view.setUint32(to >>> 0, value, true);
      return OK;
    };
    const known = {
      args_get: (pointers, to) => this.strings(this.host.args, pointers, to),
      args_sizes_get: (count, to) => this.sizes(this.host.args, count, to),
      environ_get: (pointers, to) => this.strings(this.environment, pointers, to),
      environ_sizes_get: (count, to) => this.sizes(this.environment, count, to),
      clock_res_get: (_clock, to) => {
        this.view.setBigUint64(to >>> 0, 1000n, true);
        return OK;
      },
      clock_time_get: (clock, _precision, to) => {
        const milliseconds = clock === 0 ? Date.now() : this.host.now();
        this.view.setBigUint64(to >>> 0, BigInt(Math.round(milliseconds * 1e6)), true);
        return OK;
      },
      random_get: (at, length) => {
        const bytes = new Uint8Array(length);
        for (let i = 0; i < length; i += 65536) crypto.getRandomValues(bytes.subarray(i, i + 65536));
        this.bytes(at, length).set(bytes);
        return OK;
      },
      sched_yield: () => this.host.pause?.() ?? OK,
      proc_exit: (code) => {
        throw new Exit(code);
      },
      poll_oneoff: (from, to, count, done) => this.poll(from, to, count, done),

      fd_prestat_get: (descriptor, to) => {
        if (descriptor !== ROOT) return BADF;
        this.view.setUint32(to >>> 0, 0, true);
        return size((to >>> 0) + 4, 1);
      },
      fd_prestat_dir_name: (descriptor, at) => {
        if (descriptor !== ROOT) return BADF;
        this.bytes(at, 1)[0] = 0x2f;
        return OK;
      },
      fd_fdstat_get: (descriptor, to) => {
        const entry = this.open.get(descriptor);
        const folder = descriptor === ROOT || entry?.folder !== undefined;
        if (!standard(descriptor) && !folder && !entry) return BADF;
        this.bytes(to, 24).fill(0);
        this.view.setUint8(to >>> 0, standard(descriptor) ? CHARACTER_DEVICE : folder ? DIRECTORY : REGULAR_FILE);
        this.view.setUint16((to >>> 0) + 2, entry?.append ? 1 : 0, true);
        this.view.setBigUint64((to >>> 0) + 8, ~0n & 0xffffffffffffffffn, true);
        this.view.setBigUint64((to >>> 0) + 16, 0xffffffffffffffffn, true);
        return OK;
      },
      fd_fdstat_set_flags: () => OK,
      fd_filestat_get: (descriptor, to) => {
        if (standard(descriptor)) return this.stat(to, CHARACTER_DEVICE, 0);
        const entry = this.open.get(descriptor);
        if (descriptor === ROOT || entry?.folder !== undefined) return this.stat(to, DIRECTORY, 0);
        return entry ? this.stat(to, REGULAR_FILE, entry.file.size) : BADF;
      },
      fd_filestat_set_size: (descriptor, length) =>
        withFile(descriptor, ({ file }) => {
          file.resize(Number(length));
          return OK;
        }),
      fd_read: (descriptor, list, count, to) => {
        const parts = this.parts(list, count);
        if (descriptor === 0) return this.readInput(parts, to);
        return withFile(descriptor, (entry) => {
          const read = this.readAt(entry.file, entry.at, parts);
          entry.at += read;
          return size(to, read);
        });
      },
      fd_pread: (descriptor, list, count, at, to) =>
        withFile(descriptor, ({ file }) => size(to, this.readAt(file, Number(at), this.parts(list, count)))),
      fd_write: (descriptor, list, count, to) => {
        const parts = this.parts(list, count);
        if (standard(descriptor)) {
          parts.forEach((part) => this.host.write(descriptor, part.slice()));
          return size(to, parts.reduce((sum, part) => sum + part.length, 0));
        }
        return withFile(descriptor, (entry) => {
          if (entry.append) entry.at = entry.file.size;
          const written = this.writeAt(entry.file, entry.at, parts);
          entry.at += written;
          return size(to, written);
        });
      },
      fd_pwrite: (descriptor, list, count, at, to) =>
        withFile(descriptor, ({ file }) => size(to, this.writeAt(file, Number(at), this.parts(list, count)))),
      fd_seek: (descriptor, offset, whence, to) =>
        withFile(descriptor, (entry) => {
          const base = [0, entry.at, entry.file.size][whence] ?? 0;
          const at = base + Number(offset);
          if (at < 0) return INVAL;
          entry.at = at;
          this.view.setBigUint64(to >>> 0, BigInt(at), true);
          return OK;
        }),
      fd_tell: (descriptor, to) =>
        withFile(descriptor, (entry) => {
          this.view.setBigUint64(to >>> 0, BigInt(entry.at), true);
          return OK;
        }),
      fd_sync: () => OK,
      fd_datasync: () => OK,
      fd_advise: () => OK,
      fd_close: (descriptor) => (this.open.delete(descriptor) || standard(descriptor) ? OK : BADF),
      fd_readdir: (descriptor, at, length, cookie, to) => this.list(descriptor, at, length, cookie, to),

      path_open: (folder, _follow, at, length, flags, _rights, _inherited, descriptorFlags, to) =>
        this.openPath(folder, at, length, flags, descriptorFlags, to),
      path_filestat_get: (folder, _follow, at, length, to) => {
        const path = this.path(folder, at, length);
        if (this.files.folders.has(path)) return this.stat(to, DIRECTORY, 0);
        const file = this.files.files.get(path);
        return file ? this.stat(to, REGULAR_FILE, file.size) : NOENT;
      },
      path_create_directory: (folder, at, length) => {
        const path = this.path(folder, at, length);
        if (this.files.folders.has(path) || this.files.files.has(path)) return EXIST;
        if (!this.files.hasParent(path)) return NOENT;
        this.files.folders.add(path);
        return OK;
      },
      path_remove_directory: (folder, at, length) => {
        const path = this.path(folder, at, length);
        if (this.files.list(path).length > 0) return NOTEMPTY;
        return this.files.folders.delete(path) ? OK : NOENT;
      },
      path_unlink_file: (folder, at, length) => (this.files.files.delete(this.path(folder, at, length)) ? OK : NOENT),
      path_rename: (folder, at, length, toFolder, toAt, toLength) => {
        const [from, to] = [this.path(folder, at, length), this.path(toFolder, toAt, toLength)];
        const file = this.files.files.get(from);
        if (!file || !this.files.hasParent(to)) return NOENT;
        if (this.files.folders.has(to)) return ISDIR;
        this.files.files.delete(from);
        file.changed = true;
        this.files.files.set(to, file);
        return OK;
      },
      path_readlink: (folder, at, length) => {
        const path = this.path(folder, at, length);
        return this.files.folders.has(path) || this.files.files.has(path) ? INVAL : NOENT;
      },
    };
    // A module can import functions that it never calls.
    return new Proxy(known, { get: (functions, name) => functions[name] ?? (() => NOSYS) });
  }
}
