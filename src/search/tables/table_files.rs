//! Tablebase files on systems without reads at an offset (WASI): seek, then read.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use crate::util::sync::Mutex;
use shakmaty_syzygy::filesystem::{Filesystem, RandomAccessFile, ReadHint};

/// Opens files with the standard library.
pub(super) struct TableFiles;

impl Filesystem for TableFiles {
    fn regular_file_size(&self, path: &Path) -> io::Result<u64> {
        let meta = fs::metadata(path)?;
        if meta.is_file() { Ok(meta.len()) } else { Err(io::ErrorKind::InvalidInput.into()) }
    }

    fn read_dir(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect()
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn RandomAccessFile>> {
        Ok(Box::new(TableFile(Mutex::new(File::open(path)?))))
    }
}

/// An open file. The lock makes a seek and its read atomic.
struct TableFile(Mutex<File>);

impl RandomAccessFile for TableFile {
    fn read_at(&self, buf: &mut [u8], offset: u64, _hint: ReadHint) -> io::Result<usize> {
        let mut file = self.0.lock();
        file.seek(SeekFrom::Start(offset))?;
        file.read(buf)
    }
}
