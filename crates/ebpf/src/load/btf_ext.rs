//! `.BTF.ext`: which type a function has, which source line an instruction is of, and what
//! a kernel would relocate (CO-RE).

use super::btf::Btf;
use super::error::LoadError;
use std::collections::HashMap;

/// By name of the section, then in the order of the file.
#[derive(Default)]
pub(super) struct BtfExt<'a> {
    /// Type of the function that begins at a byte.
    pub functions: HashMap<&'a str, HashMap<u32, u32>>,
    /// Lines, by rising byte.
    pub lines: HashMap<&'a str, Vec<LineInfo>>,
    /// CO-RE relocations, by rising byte.
    pub core: HashMap<&'a str, Vec<CoreInfo>>,
}

/// Source line of the instructions from a byte on.
#[derive(Clone, Copy)]
pub(super) struct LineInfo {
    /// Byte in the section.
    pub offset: u32,
    /// File, a string of `.BTF`.
    pub file: u32,
    /// Text, a string of `.BTF`.
    pub text: u32,
    /// Line in the upper 22 bits, column in the lower 10.
    pub position: u32,
}

/// One CO-RE relocation.
#[derive(Clone, Copy)]
pub(super) struct CoreInfo {
    /// Byte in the section.
    pub offset: u32,
    /// Type it is about.
    pub root: u32,
    /// Access, such as `0:1:2`, a string of `.BTF`.
    pub access: u32,
    /// `enum bpf_core_relo_kind`.
    pub kind: u32,
}

fn bad(offset: usize, found: impl Into<String>, expected: &'static str) -> LoadError {
    LoadError::Btf { section: ".BTF.ext", offset: offset as u64, found: found.into(), expected }
}

fn word(data: &[u8], at: usize) -> Result<u32, LoadError> {
    let bytes = data.get(at..at + 4).and_then(|b| b.try_into().ok());
    bytes.map(u32::from_le_bytes).ok_or_else(|| bad(at, "the end", "four more bytes"))
}

impl<'a> BtfExt<'a> {
    /// Reads the section.
    pub fn parse(data: &[u8], btf: &Btf<'a>) -> Result<Self, LoadError> {
        let magic = word(data, 0)?;
        if magic & 0x00ff_ffff != 0x01_eb9f {
            return Err(bad(0, format!("{magic:#010x}"), "0x0001eb9f (BTF, version 1, little-endian)"));
        }
        let mut ext = Self::default();
        for (name, at, record) in records(data, btf, 8, 8)? {
            ext.functions.entry(name).or_default().insert(record[0], word(data, at + 4)?);
        }
        for (name, _, [offset, file, text, position]) in records(data, btf, 16, 16)? {
            ext.lines.entry(name).or_default().push(LineInfo { offset, file, text, position });
        }
        // Older compilers end the header before it.
        if word(data, 4)? >= 32 {
            for (name, _, [offset, root, access, kind]) in records(data, btf, 24, 16)? {
                ext.core.entry(name).or_default().push(CoreInfo { offset, root, access, kind });
            }
        }
        ext.lines.values_mut().for_each(|l| l.sort_by_key(|l| l.offset));
        ext.core.values_mut().for_each(|c| c.sort_by_key(|c| c.offset));
        Ok(ext)
    }
}

/// Records of the table whose place stands at `header`: section, byte, and the first four words.
#[allow(clippy::type_complexity)]
fn records<'a>(
    data: &[u8],
    btf: &Btf<'a>,
    header: usize,
    least: usize,
) -> Result<Vec<(&'a str, usize, [u32; 4])>, LoadError> {
    let start = word(data, 4)? as usize + word(data, header)? as usize;
    let (len, mut found) = (word(data, header + 4)? as usize, Vec::new());
    if len == 0 {
        return Ok(found);
    }
    let end = start + len;
    if end > data.len() {
        return Err(bad(header, format!("bytes {start} to {end}"), "a part of the section"));
    }
    let size = word(data, start)? as usize;
    if size < least || !size.is_multiple_of(4) {
        return Err(bad(start, format!("records of {size} bytes"), "the size of a record or more, in fours"));
    }
    let mut at = start + 4;
    while at < end {
        let (name, count) = (word(data, at)?, word(data, at + 4)? as usize);
        let name = btf.string(name).ok_or_else(|| bad(at, format!("section name {name}"), "a string of .BTF"))?;
        at += 8;
        if count.checked_mul(size).is_none_or(|bytes| bytes > end.saturating_sub(at)) {
            return Err(bad(at - 4, format!("{count} records of {size} bytes"), "no more than there are left"));
        }
        for _ in 0..count {
            let mut record = [0; 4];
            for (n, to) in record.iter_mut().take(least / 4).enumerate() {
                *to = word(data, at + n * 4)?;
            }
            found.push((name, at, record));
            at += size;
        }
    }
    Ok(found)
}
