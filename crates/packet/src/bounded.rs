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

/// What some editors write in front of a text, a byte order mark (U+FEFF); no binary format of ours begins so.
const MARK: &[u8] = "\u{feff}".as_bytes();

/// The bytes of a file without its byte order mark, or an error that says how many are allowed when it has more than `most`.
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
    if bytes.starts_with(MARK) {
        bytes.drain(..MARK.len());
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
    fn a_byte_order_mark_in_front_is_no_part_of_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("text");
        std::fs::write(&file, "\u{feff}a\u{feff}").unwrap();
        assert_eq!(read(&file, 100).unwrap(), "a\u{feff}".as_bytes());
        std::fs::write(&file, [0xef, 0xbb]).unwrap();
        assert_eq!(read(&file, 100).unwrap(), [0xef, 0xbb]);
    }

    #[test]
    fn a_file_without_an_end_is_refused() {
        assert_eq!(read(Path::new("/dev/zero"), MOST_TEXT).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    }
}
