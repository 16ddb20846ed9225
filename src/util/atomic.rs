//! Files that are there whole or not at all.

use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::claim::{self, claim};
use super::identity;
use super::kind::Kind;

/// Bytes that go to the system at once.
const BUFFER: usize = 1 << 16;

/// A file in the making. It is written beside its target, as `.NAME.zoothera.tmp`, and takes the target's name when it
/// is complete: readers never see half of it, and the old content is replaced only then. Dropped before, it leaves
/// nothing behind. If the process is killed, the temporary file stays until the same target is written again.
///
/// The mode of the old file is kept, and a symbolic link stays one: the file that it names is replaced.
pub struct AtomicFile {
    /// The name that was asked for.
    path: PathBuf,
    /// The same without a link as its last part.
    target: PathBuf,
    beside: PathBuf,
    file: BufWriter<File>,
    complete: bool,
}

impl AtomicFile {
    /// Begins a file.
    ///
    /// # Errors
    /// Fails on an I/O error, if another process writes the same file, if the target is read-only, and if it is a
    /// device, a pipe or a folder.
    pub fn create(path: &Path) -> Result<Self> {
        let target = resolve(path)?;
        let old = replaceable(&target, path)?;
        let beside = claim::beside(&target, "tmp");
        let claimed = claim(&beside).with_context(|| format!("cannot write {}", path.display()))?;
        let Some(file) = claimed else {
            bail!("{} is being written already", path.display());
        };
        let atomic = Self {
            path: path.to_path_buf(),
            target,
            beside,
            file: BufWriter::with_capacity(BUFFER, file),
            complete: false,
        };
        if let Some(old) = old {
            let kept = keep_mode(atomic.file.get_ref(), &old);
            kept.with_context(|| format!("cannot keep the permissions of {}", path.display()))?;
        }
        Ok(atomic)
    }

    /// Begins a file that may replace only another one of its kind.
    ///
    /// # Errors
    /// As [`Self::create`] and [`Kind::check`].
    pub fn create_over(path: &Path, kind: &Kind) -> Result<Self> {
        kind.check(path)?;
        Self::create(path)
    }

    /// Gives the file its name, once all of it has reached the disk.
    ///
    /// # Errors
    /// Fails on an I/O error; the old file stays then.
    pub fn commit(mut self) -> Result<()> {
        let synced = self.flush().and_then(|()| self.file.get_ref().sync_all());
        synced.with_context(|| format!("cannot write {}", self.path.display()))?;
        let folder = self.target.parent().map(|folder| folder.join("."));
        self.commit_without_sync()?;
        // So that the new name outlasts a power failure too. Not every system can do it.
        if cfg!(unix)
            && let Some(folder) = folder
        {
            let _ = File::open(folder).and_then(|folder| folder.sync_all());
        }
        Ok(())
    }

    /// Gives the file its name, whether or not it has reached the disk: whole for every other process, also when this
    /// one is killed, but perhaps not after a power failure. For small files that are written very often.
    ///
    /// # Errors
    /// As [`Self::commit`].
    pub fn commit_without_sync(mut self) -> Result<()> {
        let target = self.target.clone();
        let renamed = self.rename_to(&target);
        renamed.with_context(|| format!("cannot write {}", self.path.display()))
    }

    /// Keeps what was written so far under a name that is free, `NAME.part` or `NAME.part2` and so on, and returns
    /// it. The target stays as it is.
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
            // Whoever creates a name owns it, and may replace it.
            match OpenOptions::new().write(true).create_new(true).open(&name) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                created => created.and_then(|_| self.rename_to(&name)),
            }
            .with_context(|| format!("cannot write {}", name.display()))?;
            return Ok(name);
        }
        bail!(
            "there is no free name for a part of {}",
            self.path.display()
        )
    }

    fn rename_to(&mut self, name: &Path) -> io::Result<()> {
        self.flush()?;
        if !identity::names(&self.beside, self.file.get_ref()) {
            let what = "another process has replaced its temporary file";
            return Err(io::Error::other(what));
        }
        fs::rename(&self.beside, name)?;
        self.complete = true;
        Ok(())
    }
}

/// The file that `path` names, if that is a symbolic link, or else `path`.
///
/// # Errors
/// Fails if the link leads nowhere.
pub fn resolve(path: &Path) -> Result<PathBuf> {
    let is_link = fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
    // The names of standard streams are links too, but lead to no path.
    let is_device = fs::metadata(path).is_ok_and(|found| !found.is_file());
    if !is_link || is_device {
        return Ok(path.to_path_buf());
    }
    fs::canonicalize(path).with_context(|| {
        let path = path.display();
        format!("cannot write {path}: it is a symbolic link that leads nowhere")
    })
}

/// The old file, `None` if there is none.
///
/// # Errors
/// Fails if it must not be replaced; `path` is the name that the user knows.
fn replaceable(target: &Path, path: &Path) -> Result<Option<Metadata>> {
    let shown = path.display();
    let found = match fs::metadata(target) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        found => found.with_context(|| format!("cannot write {shown}"))?,
    };
    if !found.is_file() {
        bail!("cannot write {shown}: it is no regular file");
    }
    if found.permissions().readonly() {
        bail!("cannot write {shown}: it is read-only; make it writable or give another name");
    }
    let opened = claim::open_existing(target);
    let old = opened.with_context(|| format!("cannot write {shown}"))?;
    if claim::is_locked_elsewhere(&old) {
        bail!("cannot write {shown}: another process writes to it");
    }
    Ok(Some(found))
}

/// Gives the new file the mode of the old one, and its owner where that is possible.
#[cfg(unix)]
fn keep_mode(new: &File, old: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};
    let found = new.metadata()?;
    if (found.uid(), found.gid()) != (old.uid(), old.gid()) {
        // Only root may give files away.
        let _ = fchown(new, Some(old.uid()), Some(old.gid()));
    }
    if found.mode() == old.mode() {
        return Ok(());
    }
    new.set_permissions(old.permissions())
}

/// Other systems have no modes, and a read-only file is not replaced.
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
        if !self.complete {
            claim::remove(&self.beside, self.file.get_ref());
        }
    }
}

/// Writes a file that is there whole or not at all, and on the disk when this returns.
///
/// # Errors
/// Fails if `fill` does, and as [`AtomicFile::create`] and [`AtomicFile::commit`].
pub fn write_atomically(
    path: &Path,
    fill: impl FnOnce(&mut AtomicFile) -> io::Result<()>,
) -> Result<()> {
    write_to(AtomicFile::create(path)?, fill)
}

/// As [`write_atomically`], but replaces only a file of the same kind.
///
/// # Errors
/// As [`write_atomically`] and [`Kind::check`].
pub fn write_over(
    path: &Path,
    kind: &Kind,
    fill: impl FnOnce(&mut AtomicFile) -> io::Result<()>,
) -> Result<()> {
    write_to(AtomicFile::create_over(path, kind)?, fill)
}

fn write_to(
    mut file: AtomicFile,
    fill: impl FnOnce(&mut AtomicFile) -> io::Result<()>,
) -> Result<()> {
    let filled = fill(&mut file);
    filled.with_context(|| format!("cannot write {}", file.path.display()))?;
    file.commit()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(folder: &Path) -> usize {
        fs::read_dir(folder).expect("the folder").count()
    }

    fn refusal(path: &Path) -> String {
        let refused = AtomicFile::create(path).err();
        format!("{:#}", refused.expect("it is refused"))
    }

    #[test]
    fn file_keeps_its_old_content_until_commit() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.txt");
        let text = || fs::read_to_string(&path).unwrap_or_default();
        write_atomically(&path, |file| file.write_all(b"old")).expect("room");
        // A longer one that a killed process left behind.
        fs::write(claim::beside(&path, "tmp"), "left behind").expect("room");
        let mut file = AtomicFile::create(&path).expect("room");
        file.write_all(b"new").expect("room");
        assert!(refusal(&path).contains("being written already"));
        assert_eq!((text().as_str(), count(folder.path())), ("old", 2));
        file.commit().expect("room");
        assert_eq!((text().as_str(), count(folder.path())), ("new", 1));
        let failed = write_atomically(&path, |_| Err(io::Error::other("no more room")));
        let error = format!("{:#}", failed.expect_err("it fails"));
        assert!(
            error.contains("a.txt") && error.contains("no more room"),
            "{error}"
        );
        assert_eq!((text().as_str(), count(folder.path())), ("new", 1));
        assert!(AtomicFile::create(&folder.path().join("no folder/a")).is_err());
    }

    #[test]
    fn part_gets_a_free_name_and_leaves_the_target() {
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
    fn folder_is_not_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let inner = folder.path().join("inner");
        fs::create_dir(&inner).expect("room");
        assert!(refusal(&inner).contains("inner: it is no regular file"));
        assert_eq!(count(folder.path()), 1);
    }

    #[test]
    fn read_only_file_is_not_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.txt");
        fs::write(&path, "old").expect("room");
        let writable = fs::metadata(&path).expect("a file").permissions();
        let mut readonly = writable.clone();
        readonly.set_readonly(true);
        fs::set_permissions(&path, readonly).expect("it is ours");
        assert!(refusal(&path).contains("read-only"));
        assert_eq!(count(folder.path()), 1);
        fs::set_permissions(&path, writable).expect("it is ours");
    }

    #[test]
    fn file_locked_by_its_writer_is_not_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.txt");
        let writer = File::create(&path).expect("room");
        writer.try_lock().expect("nobody else has it");
        assert!(refusal(&path).contains("another process writes to it"));
        drop(writer);
        assert!(AtomicFile::create(&path).is_ok());
    }

    #[cfg(unix)]
    #[test]
    fn link_stays_a_link_and_mode_is_kept() {
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
        assert!(refusal(&lost).contains("leads nowhere"));
        assert_eq!((count(folder.path()), count(&inner)), (3, 1));
    }

    #[cfg(unix)]
    #[test]
    fn planted_link_and_pipe_are_neither_followed_nor_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let [path, victim] = ["out.bin", "thesis.txt"].map(|name| folder.path().join(name));
        let planted = claim::beside(&path, "tmp");
        fs::write(&victim, "precious").expect("room");
        std::os::unix::fs::symlink(&victim, &planted).expect("the disk has symbolic links");
        // A name that an earlier version used, which is the user's now.
        let own = folder.path().join("out.bin.tmp");
        fs::write(&own, "the user's").expect("room");
        assert!(refusal(&path).contains("no regular file has this name"));
        assert!(planted.is_symlink());
        fs::remove_file(&planted).expect("it is there");
        let made = std::process::Command::new("mkfifo").arg(&planted).status();
        assert!(made.expect("there is a mkfifo").success());
        assert!(refusal(&path).contains("no regular file has this name"));
        fs::remove_file(&planted).expect("it is there");
        write_atomically(&path, |file| file.write_all(b"new")).expect("room");
        let text = |path: &Path| fs::read_to_string(path).expect("a file");
        assert_eq!(
            (text(&victim), text(&own)),
            ("precious".into(), "the user's".into())
        );
    }
}
