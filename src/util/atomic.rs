//! Files that are written atomically (readers find either the old or the complete new content), and append-only files.

use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, BufReader, BufWriter, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use crc32fast::Hasher;

use super::files::{self, Kind, claim, is_read_only};
use super::text::Shown as _;

/// Size of the write buffer in bytes.
const BUFFER: usize = 1 << 16;

/// A file that is being written. Writes to the temporary file `.NAME.zoothera.tmp` next to the target, which is renamed
/// to the target on completion. Until then the target keeps its old content. If the value is dropped earlier, the
/// temporary file is removed. If the process is killed, it remains until the same target is written again.
///
/// The mode of the old file is kept. If the target is a symbolic link, the file that it points to is replaced.
pub struct AtomicFile {
    /// The requested path.
    path: PathBuf,
    /// The requested path with symbolic links resolved.
    target: PathBuf,
    /// The path of the temporary file.
    temporary: PathBuf,
    file: BufWriter<File>,
    /// Whether the temporary file has been renamed.
    complete: bool,
}

impl AtomicFile {
    /// Creates the temporary file for `path`.
    ///
    /// # Errors
    /// Fails on an I/O error, if another process writes the same file, if the target is read-only, and if it is a
    /// device, a pipe or a folder.
    pub fn create(path: &Path) -> Result<Self> {
        let target = resolve(path)?;
        let old = replaceable(&target, path)?;
        let temporary = files::hidden_path(&target, "tmp");
        let claimed = claim(&temporary).with_context(|| format!("cannot write {}", path.shown()))?;
        let Some(file) = claimed else {
            bail!("cannot write {}: another process is writing to it", path.shown());
        };
        let atomic = Self {
            path: path.to_path_buf(),
            target,
            temporary,
            file: BufWriter::with_capacity(BUFFER, file),
            complete: false,
        };
        if let Some(old) = old {
            let kept = keep_mode(atomic.file.get_ref(), &old);
            kept.with_context(|| format!("cannot keep the permissions of {}", path.shown()))?;
        }
        Ok(atomic)
    }

    /// Creates the temporary file for `path`, which may replace only a file of the same kind.
    ///
    /// # Errors
    /// As for [`Self::create`] and [`Kind::check`].
    pub fn create_over(path: &Path, kind: &Kind) -> Result<Self> {
        kind.check(path)?;
        Self::create(path)
    }

    /// Syncs the file to the disk, then renames it to the target.
    ///
    /// # Errors
    /// Fails on an I/O error and then keeps the old file.
    pub fn commit(mut self) -> Result<()> {
        let synced = self.flush().and_then(|()| self.file.get_ref().sync_all());
        synced.with_context(|| format!("cannot write {}", self.path.shown()))?;
        let folder = self.target.parent().map(|folder| folder.join("."));
        self.commit_without_sync()?;
        // Syncs the folder, so that the rename survives a power failure. Not every file system supports this.
        if cfg!(unix)
            && let Some(folder) = folder
        {
            let _ = File::open(folder).and_then(|folder| folder.sync_all());
        }
        Ok(())
    }

    /// Renames the file to the target without a sync. Other processes see the complete file, even if this one is
    /// killed, but a power failure may damage it. For small files that are written very often.
    ///
    /// # Errors
    /// As for [`Self::commit`].
    pub fn commit_without_sync(mut self) -> Result<()> {
        let target = self.target.clone();
        let renamed = self.rename_to(&target);
        renamed.with_context(|| format!("cannot write {}", self.path.shown()))
    }

    /// Saves the incomplete file under an unused name, `NAME.part`, `NAME.part2` and so on, and returns this name. The
    /// target is not changed.
    ///
    /// # Errors
    /// Fails on an I/O error.
    pub fn keep_part(mut self) -> Result<PathBuf> {
        for number in 1_u32.. {
            let mut name = OsString::from(&self.path);
            name.push(".part");
            if number > 1 {
                name.push(number.to_string());
            }
            let name = PathBuf::from(name);
            // Creates the name exclusively first, so that no other file is replaced.
            match OpenOptions::new().write(true).create_new(true).open(&name) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                created => created.and_then(|_| self.rename_to(&name)),
            }
            .with_context(|| format!("cannot write {}", name.shown()))?;
            return Ok(name);
        }
        bail!("cannot save the incomplete {}: all names ending in .part are in use", self.path.shown())
    }

    /// Flushes and renames the temporary file.
    fn rename_to(&mut self, name: &Path) -> io::Result<()> {
        self.flush()?;
        if !files::names(&self.temporary, self.file.get_ref()) {
            let what = "another process has replaced its temporary file";
            return Err(io::Error::other(what));
        }
        fs::rename(&self.temporary, name)?;
        self.complete = true;
        Ok(())
    }
}

/// Name in `folder` that no file has yet: `STEM.EXTENSION`, `STEM-2.EXTENSION` and so on.
///
/// # Errors
/// Fails if a hundred such names are in use.
pub fn unused_path(folder: &Path, stem: &str, extension: &str) -> Result<PathBuf> {
    for number in 1..=100 {
        let tail = if number == 1 { String::new() } else { format!("-{number}") };
        let path = folder.join(format!("{stem}{tail}.{extension}"));
        if path.symlink_metadata().is_err() {
            return Ok(path);
        }
    }
    bail!("cannot find an unused file name in {}", folder.shown())
}

/// Resolves `path` if it is a symbolic link to a file, and returns it unchanged otherwise.
///
/// # Errors
/// Fails if the target of the link does not exist.
pub fn resolve(path: &Path) -> Result<PathBuf> {
    let is_link = fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
    // The names of standard streams are links too, but their targets are not paths.
    let is_device = fs::metadata(path).is_ok_and(|found| !found.is_file());
    if !is_link || is_device {
        return Ok(path.to_path_buf());
    }
    fs::canonicalize(path).with_context(|| {
        let path = path.shown();
        format!("cannot write {path}: it is a symbolic link to a missing file")
    })
}

/// Metadata of the file at `target`; `None` if there is no file.
///
/// # Errors
/// Fails if the file must not be replaced. The error names it as `path`, the user's name for it.
fn replaceable(target: &Path, path: &Path) -> Result<Option<Metadata>> {
    let shown = path.shown();
    let found = match fs::metadata(target) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        found => found.with_context(|| format!("cannot write {shown}"))?,
    };
    if !found.is_file() {
        bail!("cannot write {shown}: it is not a regular file");
    }
    if is_read_only(&found) {
        bail!("cannot write {shown}: it is read-only; make it writable or use another name");
    }
    let opened = files::open_existing(target);
    let old = opened.with_context(|| format!("cannot write {shown}"))?;
    if files::is_locked_elsewhere(&old) {
        bail!("cannot write {shown}: another process is writing to it");
    }
    Ok(Some(found))
}

/// Gives the new file the mode of the old one, and its owner if permitted.
#[cfg(unix)]
fn keep_mode(new: &File, old: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};
    let found = new.metadata()?;
    if (found.uid(), found.gid()) != (old.uid(), old.gid()) {
        // Only root may change the owner of a file.
        let _ = fchown(new, Some(old.uid()), Some(old.gid()));
    }
    if found.mode() == old.mode() {
        return Ok(());
    }
    new.set_permissions(old.permissions())
}

/// Does nothing: other systems have no modes, and read-only files are never replaced.
#[cfg(not(unix))]
fn keep_mode(_new: &File, _old: &Metadata) -> io::Result<()> {
    Ok(())
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if self.complete {
            files::unlock(self.file.get_ref());
        } else {
            files::remove(&self.temporary, self.file.get_ref());
        }
    }
}

/// Writes a file atomically, with the content that `fill` writes, and syncs it to the disk.
///
/// # Errors
/// Fails if `fill` fails, and as [`AtomicFile::create`] and [`AtomicFile::commit`].
pub fn write_atomically(path: &Path, fill: impl FnOnce(&mut AtomicFile) -> io::Result<()>) -> Result<()> {
    write_to(AtomicFile::create(path)?, fill)
}

/// As [`write_atomically`], but replaces only a file of the same kind.
///
/// # Errors
/// As for [`write_atomically`] and [`Kind::check`].
pub fn write_over(path: &Path, kind: &Kind, fill: impl FnOnce(&mut AtomicFile) -> io::Result<()>) -> Result<()> {
    write_to(AtomicFile::create_over(path, kind)?, fill)
}

fn write_to(mut file: AtomicFile, fill: impl FnOnce(&mut AtomicFile) -> io::Result<()>) -> Result<()> {
    let filled = fill(&mut file);
    filled.with_context(|| format!("cannot write {}", file.path.shown()))?;
    file.commit()
}

// Append-only files that a later process can continue.

/// Size in bytes of the blocks in which the checksum is computed.
const APPEND_BUFFER: usize = 1 << 20;

/// An append-only file with a checksum of all its bytes, locked against other processes.
pub struct AppendFile {
    path: PathBuf,
    file: File,
    /// Size of the file in bytes.
    bytes: u64,
    crc: Hasher,
}

impl AppendFile {
    /// Opens or creates the file without changing its content.
    ///
    /// # Errors
    /// Fails on an I/O error, if the file is read-only or not a regular file, and if another process is writing to it.
    /// The error does not name the file.
    pub fn open(path: &Path) -> Result<Self> {
        let file = open_data(path)?;
        if files::is_locked_elsewhere(&file) {
            bail!("another process is writing to it");
        }
        let bytes = file.metadata()?.len();
        Ok(Self { path: path.to_path_buf(), file, bytes, crc: Hasher::new() })
    }

    /// Size of the file in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// CRC-32 of the file, after [`Self::continue_at`].
    pub fn crc(&self) -> u32 {
        self.crc.clone().finalize()
    }

    /// Truncates the file to its first `bytes` bytes, whose checksum must be `crc` if one is given. Later data is
    /// appended after them.
    ///
    /// # Errors
    /// Fails on an I/O error, and if the file is shorter or the checksum differs. The error does not name the file.
    pub fn continue_at(&mut self, bytes: u64, crc: Option<u32>) -> Result<()> {
        ensure!(
            self.bytes >= bytes,
            "it has {} bytes, fewer than the {bytes} that were written: it can be read but not continued",
            self.bytes
        );
        self.crc = crc_of(&mut self.file, bytes)?;
        let found = self.crc();
        ensure!(
            crc.is_none_or(|stored| stored == found),
            "it was changed or damaged after it was written: the checksum of its first {bytes} bytes is {found:08x}, \
             not {:08x}; restore the original file or start a new one",
            crc.unwrap_or_default()
        );
        self.file.set_len(bytes)?;
        self.file.seek(SeekFrom::End(0))?;
        self.bytes = bytes;
        Ok(())
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// Fails on an I/O error. The file can still be continued later.
    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        let written = self.file.write_all(bytes);
        written.with_context(|| format!("cannot write {}", self.path.shown()))?;
        self.crc.update(bytes);
        self.bytes += bytes.len() as u64;
        Ok(())
    }

    /// Syncs the file to the disk.
    ///
    /// # Errors
    /// Fails on an I/O error.
    pub fn sync(&self) -> Result<()> {
        let synced = self.file.sync_all();
        synced.with_context(|| format!("cannot write {}", self.path.shown()))
    }
}

impl Drop for AppendFile {
    fn drop(&mut self) {
        files::unlock(&self.file);
    }
}

/// Opens the file for reading and writing, or creates it.
fn open_data(path: &Path) -> Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    match fs::metadata(path) {
        Ok(found) => {
            // Checked first, because opening a pipe would wait for its other end.
            ensure!(found.is_file(), "it is not a regular file");
            let readonly = is_read_only(&found);
            ensure!(!readonly, "it is read-only; make it writable or use another name");
        }
        Err(_) => {
            options.create_new(true);
        }
    }
    Ok(options.open(path)?)
}

/// CRC-32 of the first `bytes` bytes of a file.
fn crc_of(file: &mut File, bytes: u64) -> Result<Hasher> {
    let mut crc = Hasher::new();
    file.rewind()?;
    let mut source = BufReader::with_capacity(APPEND_BUFFER, file).take(bytes);
    let mut buffer = vec![0; APPEND_BUFFER];
    loop {
        match source.read(&mut buffer)? {
            0 => return Ok(crc),
            count => crc.update(&buffer[..count]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(folder: &Path) -> usize {
        fs::read_dir(folder).expect("the folder").count()
    }

    fn creation_error(path: &Path) -> String {
        let error = AtomicFile::create(path).err();
        format!("{:#}", error.expect("an error"))
    }

    #[cfg(unix)]
    #[test]
    fn committed_file_is_not_locked_by_a_copy_of_the_handle() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.txt");
        let file = AtomicFile::create(&path).expect("room");
        let copy = file.file.get_ref().try_clone().expect("a copy, as a child process has it");
        file.commit().expect("room");
        AtomicFile::create(&path).expect("the file is not locked").commit().expect("room");
        drop(copy);
    }

    #[test]
    fn file_keeps_its_old_content_until_commit() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.txt");
        let text = || fs::read_to_string(&path).unwrap_or_default();
        write_atomically(&path, |file| file.write_all(b"old")).expect("room");
        // The longer temporary file of a killed process.
        fs::write(files::hidden_path(&path, "tmp"), "abandoned").expect("room");
        let mut file = AtomicFile::create(&path).expect("room");
        file.write_all(b"new").expect("room");
        assert!(creation_error(&path).contains("another process is writing to it"));
        assert_eq!((text().as_str(), count(folder.path())), ("old", 2));
        file.commit().expect("room");
        assert_eq!((text().as_str(), count(folder.path())), ("new", 1));
        let failed = write_atomically(&path, |_| Err(io::Error::other("no more room")));
        let error = format!("{:#}", failed.expect_err("it fails"));
        assert!(error.contains("a.txt") && error.contains("no more room"), "{error}");
        assert_eq!((text().as_str(), count(folder.path())), ("new", 1));
        assert!(AtomicFile::create(&folder.path().join("no folder/a")).is_err());
    }

    #[test]
    fn unused_path_skips_existing_files() {
        let folder = tempfile::tempdir().expect("a folder");
        for expected in ["game.pgn", "game-2.pgn", "game-3.pgn"] {
            let path = unused_path(folder.path(), "game", "pgn").expect("a free name");
            assert_eq!(path, folder.path().join(expected));
            fs::write(path, "").expect("the file is written");
        }
    }

    #[test]
    fn incomplete_file_gets_an_unused_name_and_keeps_the_target() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.txt");
        fs::write(&path, "old").expect("room");
        fs::write(folder.path().join("a.txt.part"), "the user's").expect("room");
        let mut file = AtomicFile::create(&path).expect("room");
        file.write_all(b"ne").expect("room");
        let part = file.keep_part().expect("room");
        assert_eq!(part, folder.path().join("a.txt.part2"));
        let text = |name: &str| fs::read_to_string(folder.path().join(name)).expect("a file");
        let texts = ["a.txt", "a.txt.part", "a.txt.part2"].map(text);
        assert_eq!(texts, ["old", "the user's", "ne"]);
        assert_eq!(count(folder.path()), 3);
    }

    #[test]
    fn create_rejects_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        let inner = folder.path().join("inner");
        fs::create_dir(&inner).expect("room");
        assert!(creation_error(&inner).contains("inner: it is not a regular file"));
        assert_eq!(count(folder.path()), 1);
    }

    #[test]
    fn create_rejects_read_only_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.txt");
        fs::write(&path, "old").expect("room");
        let writable = fs::metadata(&path).expect("a file").permissions();
        let mut readonly = writable.clone();
        readonly.set_readonly(true);
        fs::set_permissions(&path, readonly).expect("it is ours");
        assert!(creation_error(&path).contains("read-only"));
        assert_eq!(count(folder.path()), 1);
        fs::set_permissions(&path, writable).expect("it is ours");
    }

    #[test]
    fn create_rejects_file_locked_by_its_writer() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.txt");
        let writer = File::create(&path).expect("room");
        writer.try_lock().expect("an unlocked file");
        assert!(creation_error(&path).contains("another process is writing to it"));
        drop(writer);
        assert!(AtomicFile::create(&path).is_ok());
    }

    #[cfg(unix)]
    #[test]
    fn commit_keeps_symbolic_link_and_mode() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().expect("a folder");
        let [inner, link, lost] = ["inner", "link", "lost"].map(|name| folder.path().join(name));
        fs::create_dir(&inner).expect("room");
        let target = inner.join("target");
        fs::write(&target, "old").expect("room");
        fs::set_permissions(&target, PermissionsExt::from_mode(0o600)).expect("it is ours");
        symlink("inner/target", &link).expect("the disk has symbolic links");
        write_atomically(&link, |file| file.write_all(b"new")).expect("room");
        assert!(link.is_symlink());
        assert_eq!(fs::read_to_string(&target).expect("a file"), "new");
        let mode = fs::metadata(&target).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        symlink("nothing", &lost).expect("the disk has symbolic links");
        assert!(creation_error(&lost).contains("symbolic link to a missing file"));
        assert_eq!((count(folder.path()), count(&inner)), (3, 1));
    }

    #[cfg(unix)]
    #[test]
    fn create_neither_follows_nor_removes_planted_link_or_pipe() {
        let folder = tempfile::tempdir().expect("a folder");
        let [path, victim] = ["out.bin", "thesis.txt"].map(|name| folder.path().join(name));
        let planted = files::hidden_path(&path, "tmp");
        fs::write(&victim, "precious").expect("room");
        std::os::unix::fs::symlink(&victim, &planted).expect("the disk has symbolic links");
        // A name that an earlier version used for temporary files. Now it can be a file of the user.
        let own = folder.path().join("out.bin.tmp");
        fs::write(&own, "the user's").expect("room");
        assert!(creation_error(&path).contains("it is not a regular file: remove it"));
        assert!(planted.is_symlink());
        fs::remove_file(&planted).expect("it is there");
        let made = std::process::Command::new("mkfifo").arg(&planted).status();
        assert!(made.expect("there is a mkfifo").success());
        assert!(creation_error(&path).contains("it is not a regular file: remove it"));
        fs::remove_file(&planted).expect("it is there");
        write_atomically(&path, |file| file.write_all(b"new")).expect("room");
        let text = |path: &Path| fs::read_to_string(path).expect("a file");
        assert_eq!((text(&victim), text(&own)), ("precious".into(), "the user's".into()));
    }
}

#[cfg(all(test, unix))]
mod append_tests {
    use super::*;

    #[test]
    fn closed_file_is_not_locked_by_a_copy_of_the_handle() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.bin");
        let file = AppendFile::open(&path).expect("a new file");
        let copy = file.file.try_clone().expect("a copy, as a child process has it");
        assert!(AppendFile::open(&path).is_err());
        drop(file);
        assert!(AppendFile::open(&path).is_ok());
        drop(copy);
    }
}
