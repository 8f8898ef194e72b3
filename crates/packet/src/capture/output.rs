//! Files that a run writes. What was there stays as it is until the run begins.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use super::{AwaitedOutput, Stop};

/// Most bytes that wait for the run to begin: more are written at once.
const MOST_WAITING: usize = 1 << 16;

/// Whether a run of this process has begun.
static BEGUN: AtomicBool = AtomicBool::new(false);

/// Inputs were found good and outputs opened: from now on outputs are written.
pub fn begin() {
    BEGUN.store(true, Ordering::Relaxed);
}

/// Folders that this process has made for its outputs.
static MADE: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Makes the folders on the way to a file; what it could not make.
pub fn make_folders(path: &Path) -> Result<(), (PathBuf, io::Error)> {
    let folders = path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
    let missing: Vec<&Path> = folders.take_while(|folder| fs::symlink_metadata(folder).is_err()).collect();
    for folder in missing.into_iter().rev() {
        match fs::create_dir(folder) {
            Ok(()) => MADE.lock().unwrap_or_else(PoisonError::into_inner).push(folder.to_owned()),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => {
                unmake_folders(path);
                return Err((folder.to_owned(), e));
            }
        }
    }
    Ok(())
}

/// Takes those folders on the way to a file away again that were made for outputs and hold nothing.
pub fn unmake_folders(path: &Path) {
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    for folder in path.ancestors().skip(1) {
        let Some(at) = made.iter().position(|made| made == folder) else { return };
        if fs::remove_dir(folder).is_err() {
            return;
        }
        made.remove(at);
    }
}

/// A file that is opened when a command looks at its arguments, and emptied when the first bytes are due.
///
/// Bytes wait until [`begin`], a flush, or until they are many. A command that fails before leaves a file that was
/// there unchanged, and removes one that it made, with folders of [`make_folders`].
#[derive(Debug)]
pub struct OutputFile {
    file: AwaitedOutput,
    path: PathBuf,
    waiting: Vec<u8>,
    /// It was not there before.
    made: bool,
    begun: bool,
}

impl OutputFile {
    /// Opens a file to write; nothing of it changes yet.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::open_until(path, || false)
    }

    /// As [`OutputFile::open`]; a pipe that nobody reads is no longer waited for when `stop` says so.
    pub fn open_until(path: &Path, stop: Stop) -> io::Result<Self> {
        let made = fs::symlink_metadata(path).is_err();
        // Emptied when it is begun.
        let file = AwaitedOutput::open(path, stop).inspect_err(|_| unmake_folders(path))?;
        Ok(Self { file, path: path.to_owned(), waiting: Vec::new(), made, begun: false })
    }

    fn start(&mut self) -> io::Result<()> {
        if self.begun {
            return Ok(());
        }
        self.begun = true;
        let file = self.file.file();
        if file.metadata()?.is_file() {
            file.set_len(0)?;
        }
        self.file.write_all(&std::mem::take(&mut self.waiting))
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let due = BEGUN.load(Ordering::Relaxed) || self.waiting.len() + bytes.len() > MOST_WAITING;
        if !self.begun && !due {
            self.waiting.extend_from_slice(bytes);
            return Ok(bytes.len());
        }
        self.start()?;
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.start()?;
        self.file.flush()
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if self.made && !self.begun {
            // Nobody has written it; one that cannot be removed is empty.
            let _ = fs::remove_file(&self.path);
            unmake_folders(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_changes_with_its_first_due_bytes_and_not_before() {
        let folder = tempfile::tempdir().unwrap();
        let (old, new) = (folder.path().join("old"), folder.path().join("new"));
        fs::write(&old, "what was there").unwrap();
        for path in [&old, &new] {
            let mut file = io::BufWriter::new(OutputFile::open(path).unwrap());
            file.write_all(b"header").unwrap();
        }
        assert_eq!(fs::read(&old).unwrap(), b"what was there");
        assert!(!new.exists());
        for path in [&old, &new] {
            let mut file = OutputFile::open(path).unwrap();
            file.write_all(b"header").unwrap();
            file.flush().unwrap();
            file.write_all(b", more").unwrap();
            drop(file);
            assert_eq!(fs::read(path).unwrap(), b"header, more");
        }
        let mut file = OutputFile::open(&old).unwrap();
        file.write_all(&[7; MOST_WAITING]).unwrap();
        assert_eq!(fs::read(&old).unwrap(), b"header, more");
        file.write_all(&[8]).unwrap();
        assert_eq!(fs::metadata(&old).unwrap().len(), MOST_WAITING as u64 + 1);
    }
}
