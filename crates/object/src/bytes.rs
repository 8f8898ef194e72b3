//! Little-endian reading and writing of the binary forms; errors name the offset.

use crate::error::ObjectError;
use sluice_formats::hash::crc32c;
use sluice_formats::limits::FORMAT_VERSION;

/// Bytes before the first section: magic, version, length, target hash.
pub(crate) const HEADER_BYTES: usize = 16;
const CHECKSUM_BYTES: usize = 4;

pub(crate) fn wrong(offset: usize, found: impl ToString, expected: impl ToString) -> ObjectError {
    ObjectError::Binary { offset, found: found.to_string(), expected: expected.to_string() }
}

/// Writes a file: header, sections, checksum.
pub(crate) struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    pub fn new(magic: [u8; 4], target_hash: u32) -> Self {
        let mut bytes = magic.to_vec();
        for word in [FORMAT_VERSION, 0, target_hash] {
            bytes.extend(word.to_le_bytes());
        }
        Self { bytes }
    }

    pub fn put(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
    }

    pub fn u8(&mut self, v: u8) {
        self.bytes.push(v);
    }

    pub fn u16(&mut self, v: u16) {
        self.put(&v.to_le_bytes());
    }

    pub fn u32(&mut self, v: u32) {
        self.put(&v.to_le_bytes());
    }

    pub fn u64(&mut self, v: u64) {
        self.put(&v.to_le_bytes());
    }

    /// Length in one byte, then the text.
    pub fn name(&mut self, text: &str) {
        self.u8(text.len() as u8);
        self.put(text.as_bytes());
    }

    /// One section: number, length, what `body` writes.
    pub fn section(&mut self, number: u32, body: impl FnOnce(&mut Self)) {
        self.u32(number);
        let at = self.bytes.len();
        self.u32(0);
        body(self);
        let length = (self.bytes.len() - at - 4) as u32;
        self.bytes[at..at + 4].copy_from_slice(&length.to_le_bytes());
    }

    /// Fills in the length and adds the checksum.
    pub fn finish(mut self) -> Vec<u8> {
        let total = (self.bytes.len() + CHECKSUM_BYTES) as u32;
        self.bytes[8..12].copy_from_slice(&total.to_le_bytes());
        let checksum = crc32c(&self.bytes);
        self.u32(checksum);
        self.bytes
    }
}

/// Reads a file, or one section of it.
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    end: usize,
}

impl<'a> Reader<'a> {
    /// Checks magic, version, length and checksum; returns the sections and the target hash.
    pub fn open(bytes: &'a [u8], magic: [u8; 4], what: &'static str) -> Result<(Self, u32), ObjectError> {
        let mut header = Self { bytes, at: 0, end: bytes.len() };
        let name = String::from_utf8_lossy(&magic).into_owned();
        let found = header.take(4, "magic")?;
        if found != magic {
            return Err(wrong(0, format!("bytes {found:02x?}"), format!("`{name}` of a binary {what}")));
        }
        let version = header.u32("format version")?;
        if version != FORMAT_VERSION {
            return Err(ObjectError::Version { what, found: version.into(), allowed: FORMAT_VERSION });
        }
        let total = header.u32("length")?;
        if total as usize != bytes.len() || bytes.len() < HEADER_BYTES + CHECKSUM_BYTES {
            return Err(wrong(8, format!("length {total}"), format!("the file's {} bytes", bytes.len())));
        }
        let target_hash = header.u32("target hash")?;
        let end = bytes.len() - CHECKSUM_BYTES;
        let found = u32::from_le_bytes([bytes[end], bytes[end + 1], bytes[end + 2], bytes[end + 3]]);
        let expected = crc32c(&bytes[..end]);
        if found != expected {
            return Err(ObjectError::Checksum { offset: end, found, expected });
        }
        Ok((Self { bytes, at: HEADER_BYTES, end }, target_hash))
    }

    pub fn at(&self) -> usize {
        self.at
    }

    pub fn left(&self) -> usize {
        self.end - self.at
    }

    pub fn take(&mut self, n: usize, what: &str) -> Result<&'a [u8], ObjectError> {
        if self.left() < n {
            return Err(wrong(self.at, format!("{} bytes", self.left()), format!("{n} bytes: {what}")));
        }
        self.at += n;
        Ok(&self.bytes[self.at - n..self.at])
    }

    pub fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N], ObjectError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N, what)?);
        Ok(array)
    }

    pub fn u8(&mut self, what: &str) -> Result<u8, ObjectError> {
        Ok(u8::from_le_bytes(self.array(what)?))
    }

    pub fn u16(&mut self, what: &str) -> Result<u16, ObjectError> {
        Ok(u16::from_le_bytes(self.array(what)?))
    }

    pub fn u32(&mut self, what: &str) -> Result<u32, ObjectError> {
        Ok(u32::from_le_bytes(self.array(what)?))
    }

    pub fn u64(&mut self, what: &str) -> Result<u64, ObjectError> {
        Ok(u64::from_le_bytes(self.array(what)?))
    }

    /// A count of records of at least `least` bytes each: more than fit are refused before
    /// anything is reserved for them.
    pub fn count(&mut self, least: usize, what: &str) -> Result<usize, ObjectError> {
        let at = self.at;
        let n = self.u32(what)? as usize;
        if n > self.left() / least {
            let room = self.left() / least;
            return Err(wrong(at, format!("{n} {what}"), format!("at most {room}, which the section has room for")));
        }
        Ok(n)
    }

    pub fn name(&mut self, what: &str) -> Result<String, ObjectError> {
        let n = self.u8(what)?;
        let at = self.at;
        let bytes = self.take(n.into(), what)?;
        let text = std::str::from_utf8(bytes);
        text.map(str::to_owned).map_err(|_| wrong(at, "bytes that are no text", format!("{what} in UTF-8")))
    }

    /// Whether the section with this number is next.
    pub fn next_is(&self, number: u32) -> bool {
        self.bytes[self.at..self.end].starts_with(&number.to_le_bytes())
    }

    /// The section with this number, which must be next.
    pub fn section(&mut self, number: u32, what: &str) -> Result<Reader<'a>, ObjectError> {
        let at = self.at;
        let found = self.u32(what)?;
        if found != number {
            return Err(wrong(at, format!("section {found}"), format!("section {number}: {what}")));
        }
        let at = self.at;
        let length = self.u32(what)? as usize;
        if length > self.left() {
            let expected = format!("at most {}, to the end of the sections", self.left());
            return Err(wrong(at, format!("length {length} of section {what}"), expected));
        }
        let section = Reader { bytes: self.bytes, at: self.at, end: self.at + length };
        self.at += length;
        Ok(section)
    }

    /// Nothing may be left.
    pub fn finish(self, what: &str) -> Result<(), ObjectError> {
        match self.left() {
            0 => Ok(()),
            n => Err(wrong(self.at, format!("{n} bytes more"), format!("the end of {what}"))),
        }
    }
}
