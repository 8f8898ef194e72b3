//! Buffered bytes with their offset.

use std::io::{ErrorKind, Read};

const CHUNK: usize = 256 * 1024;

/// A reader of which any number of bytes can be looked at before they are taken.
#[derive(Debug)]
pub(super) struct Source<R> {
    reader: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    offset: u64,
    ended: bool,
}

impl<R: Read> Source<R> {
    pub fn new(reader: R) -> Source<R> {
        Source { reader, buffer: vec![0; CHUNK], start: 0, end: 0, offset: 0, ended: false }
    }

    /// Offset of the next byte.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Up to `count` bytes; fewer only at the end of the file.
    #[inline]
    pub fn peek(&mut self, count: usize) -> std::io::Result<&[u8]> {
        if self.end - self.start < count && !self.ended {
            self.fill(count)?;
        }
        let available = (self.end - self.start).min(count);
        Ok(&self.buffer[self.start..self.start + available])
    }

    fn fill(&mut self, count: usize) -> std::io::Result<()> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.buffer.len() < count {
            self.buffer.resize(count.next_multiple_of(CHUNK), 0);
        }
        while self.end < count && !self.ended {
            match self.reader.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.ended = true,
                Ok(read) => self.end += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Takes `count` bytes that were looked at.
    #[inline]
    pub fn consume(&mut self, count: usize) {
        let count = count.min(self.end - self.start);
        self.start += count;
        self.offset += count as u64;
    }

    /// Takes `count` bytes without holding them; returns how many there were.
    pub fn skip(&mut self, count: u64) -> std::io::Result<u64> {
        let mut left = count;
        while left > 0 {
            let step = left.min(CHUNK as u64) as usize;
            let found = self.peek(step)?.len();
            self.consume(found);
            left -= found as u64;
            if found < step {
                break;
            }
        }
        Ok(count - left)
    }
}

/// Order of the bytes in numbers of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ByteOrder {
    Big,
    Little,
}

impl ByteOrder {
    /// The 32-bit number at `at`; bytes beyond the end count as zero.
    pub fn u32(self, bytes: &[u8], at: usize) -> u32 {
        let mut raw = [0; 4];
        for (to, from) in raw.iter_mut().zip(bytes.iter().skip(at)) {
            *to = *from;
        }
        match self {
            ByteOrder::Big => u32::from_be_bytes(raw),
            ByteOrder::Little => u32::from_le_bytes(raw),
        }
    }

    /// The 16-bit number at `at`; bytes beyond the end count as zero.
    pub fn u16(self, bytes: &[u8], at: usize) -> u16 {
        let byte = |i| bytes.get(at + i).copied().unwrap_or(0);
        match self {
            ByteOrder::Big => u16::from_be_bytes([byte(0), byte(1)]),
            ByteOrder::Little => u16::from_le_bytes([byte(0), byte(1)]),
        }
    }

    /// The 64-bit number at `at`, as one number in this order.
    pub fn u64(self, bytes: &[u8], at: usize) -> u64 {
        let (first, second) = (self.u32(bytes, at), self.u32(bytes, at + 4));
        let (high, low) = match self {
            ByteOrder::Big => (first, second),
            ByteOrder::Little => (second, first),
        };
        u64::from(high) << 32 | u64::from(low)
    }
}
