//! Reading whole files of users, whose size nobody has promised: `/dev/zero` has no end.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Longest text that is read: descriptions, scripts, modules, tables.
pub const MOST_TEXT: u64 = 16 << 20;
/// Longest object, load, object file or state of maps that is read.
pub const MOST_OBJECT: u64 = 256 << 20;

/// Reads of this process that wait for a pipe or a device.
static WAITING: AtomicUsize = AtomicUsize::new(0);

/// Whether a read of this process may wait for somebody else: whoever ends the process then loses nothing by it.
pub fn is_waiting() -> bool {
    WAITING.load(Ordering::Relaxed) > 0
}

/// Counts a read that may wait, as long as it lives.
struct Waiting;

impl Waiting {
    fn begin() -> Self {
        WAITING.fetch_add(1, Ordering::Relaxed);
        Self
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        WAITING.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The bytes of a file, or an error that says how many are allowed when it has more than `most`.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // Opening a pipe waits already.
    let _waiting = (!std::fs::metadata(path)?.is_file()).then(Waiting::begin);
    // A byte more tells a file of just that size from a longer one.
    File::open(path)?.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let what = format!("it is longer than {most} bytes, the most that is read of such a file");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_the_size_is_read_and_one_byte_more_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("text");
        std::fs::write(&file, [7; 100]).unwrap();
        assert_eq!(read(&file, 100).unwrap(), [7; 100]);
        let error = read(&file, 99).unwrap_err().to_string();
        assert!(error.contains("longer than 99 bytes"), "{error}");
    }

    #[test]
    fn a_file_without_an_end_is_refused() {
        assert_eq!(read(Path::new("/dev/zero"), MOST_TEXT).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    }
}
