//! The type information in `.BTF`: types by ID, checked once, then read without failing.

use super::error::LoadError;

/// Kinds of types, as in `linux/btf.h`.
#[allow(missing_docs)] // The names are the kernel's.
pub(super) mod kind {
    pub const INT: u8 = 1;
    pub const PTR: u8 = 2;
    pub const ARRAY: u8 = 3;
    pub const STRUCT: u8 = 4;
    pub const UNION: u8 = 5;
    pub const ENUM: u8 = 6;
    pub const FWD: u8 = 7;
    pub const TYPEDEF: u8 = 8;
    pub const VOLATILE: u8 = 9;
    pub const CONST: u8 = 10;
    pub const RESTRICT: u8 = 11;
    pub const FUNC: u8 = 12;
    pub const FUNC_PROTO: u8 = 13;
    pub const VAR: u8 = 14;
    pub const DATASEC: u8 = 15;
    pub const FLOAT: u8 = 16;
    pub const DECL_TAG: u8 = 17;
    pub const TYPE_TAG: u8 = 18;
    pub const ENUM64: u8 = 19;
}

/// Longest chain of typedefs, arrays and modifiers, as in the kernel.
const MAX_DEPTH: usize = 32;

/// A section of types.
pub(super) struct Btf<'a> {
    /// By ID; 0 is void.
    types: Vec<Type<'a>>,
    strings: &'a [u8],
}

/// One type.
#[derive(Clone, Copy)]
pub(super) struct Type<'a> {
    /// Byte offset in the section.
    pub at: usize,
    /// Its name; empty if it has none.
    pub name: &'a str,
    /// Which [`kind`].
    pub kind: u8,
    /// Members, values, parameters, variables; linkage of a function.
    pub count: u32,
    /// Bit 31 of the info.
    pub flag: bool,
    /// Bytes, or the type it refers to.
    pub size_or_type: u32,
    /// What follows the 12 bytes: its size is that which kind and count ask for.
    extra: &'a [u8],
}

/// Member of a struct or union.
pub(super) struct Member<'a> {
    /// Its name; empty if it has none.
    pub name: &'a str,
    /// Its type.
    pub kind: u32,
    /// Bits from the start.
    pub bit: u32,
    /// Bits of a bit field, where the type says so; 0 otherwise.
    pub width: u32,
}

/// Variable of a section.
pub(super) struct SectionVar {
    /// Its type, of kind `VAR`.
    pub kind: u32,
    /// Byte in the section; 0 when the symbol table knows it.
    pub offset: u32,
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

fn bad(offset: usize, found: impl Into<String>, expected: &'static str) -> LoadError {
    LoadError::Btf { section: ".BTF", offset: offset as u64, found: found.into(), expected }
}

/// The text at an offset of a string section.
pub(super) fn string(strings: &[u8], offset: u32) -> Option<&str> {
    let rest = strings.get(offset as usize..)?;
    let end = rest.iter().take(MAX_STRING + 1).position(|b| *b == 0)?;
    std::str::from_utf8(&rest[..end]).ok()
}

/// Longest string: they are copied.
const MAX_STRING: usize = 4096;

impl<'a> Btf<'a> {
    /// Reads the section.
    pub fn parse(data: &'a [u8]) -> Result<Self, LoadError> {
        let header = |at| u32_at(data, at).ok_or_else(|| bad(at, "the end", "24 bytes of header"));
        let (magic, header_len) = (header(0)?, header(4)?);
        if magic & 0x00ff_ffff != 0x01_eb9f {
            return Err(bad(0, format!("{magic:#010x}"), "0x0001eb9f (BTF, version 1, little-endian)"));
        }
        let part = |at| -> Result<&'a [u8], LoadError> {
            let (from, len) = (u64::from(header_len) + u64::from(header(at)?), u64::from(header(at + 4)?));
            let (from, to) = (from as usize, (from + len) as usize);
            data.get(from..to).ok_or_else(|| bad(at, format!("bytes {from} to {to}"), "a part of the section"))
        };
        let (types, strings) = (part(8)?, part(16)?);
        let base = header_len as usize + header(8)? as usize;
        if strings.first() != Some(&0) || strings.last() != Some(&0) {
            return Err(bad(16, "strings without a zero at start or end", "both"));
        }
        let void = Type { at: 0, name: "", kind: 0, count: 0, flag: false, size_or_type: 0, extra: &[] };
        let mut btf = Self { types: vec![void], strings };
        let mut at = 0;
        while at < types.len() {
            let one = btf.type_at(types, at, base)?;
            at += 12 + one.extra.len();
            btf.types.push(one);
        }
        Ok(btf)
    }

    fn type_at(&self, types: &'a [u8], at: usize, base: usize) -> Result<Type<'a>, LoadError> {
        let word = |n| u32_at(types, at + n).ok_or_else(|| bad(base + at, "the end", "12 bytes of a type"));
        let (name, info, size_or_type) = (word(0)?, word(4)?, word(8)?);
        let (kind, count) = ((info >> 24 & 0x1f) as u8, info & 0xffff);
        let each = match kind {
            kind::STRUCT | kind::UNION | kind::DATASEC | kind::ENUM64 => 12,
            kind::ENUM | kind::FUNC_PROTO => 8,
            _ => 0,
        };
        let fixed = match kind {
            kind::ARRAY => 12,
            kind::INT | kind::VAR | kind::DECL_TAG => 4,
            1..=19 => 0,
            _ => return Err(bad(base + at + 4, format!("kind {kind}"), "1 to 19")),
        };
        let len = fixed + each * count as usize;
        let extra = types
            .get(at + 12..at + 12 + len)
            .ok_or_else(|| bad(base + at, format!("a type of {} bytes", 12 + len), "no more than there are left"))?;
        let name = string(self.strings, name).ok_or_else(|| bad(base + at, format!("name {name}"), "a string"))?;
        Ok(Type { at: base + at, name, kind, count, flag: info >> 31 != 0, size_or_type, extra })
    }

    /// The type with this ID.
    pub fn get(&self, id: u32) -> Option<&Type<'a>> {
        self.types.get(id as usize)
    }

    /// All types with their IDs, void first.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Type<'a>)> {
        self.types.iter().enumerate().map(|(id, t)| (id as u32, t))
    }

    /// The text at an offset of the string section.
    pub fn string(&self, offset: u32) -> Option<&'a str> {
        string(self.strings, offset)
    }

    /// The type behind typedefs and modifiers.
    pub fn skip(&self, mut id: u32) -> Option<(u32, &Type<'a>)> {
        for _ in 0..MAX_DEPTH {
            let one = self.get(id)?;
            match one.kind {
                kind::TYPEDEF | kind::VOLATILE | kind::CONST | kind::RESTRICT | kind::TYPE_TAG => id = one.size_or_type,
                _ => return Some((id, one)),
            }
        }
        None
    }

    /// Bytes of a type.
    pub fn size(&self, mut id: u32) -> Option<u64> {
        let mut elements = 1u64;
        for _ in 0..MAX_DEPTH {
            let (_, one) = self.skip(id)?;
            let size = match one.kind {
                kind::INT | kind::STRUCT | kind::UNION | kind::ENUM | kind::ENUM64 | kind::FLOAT | kind::DATASEC => {
                    u64::from(one.size_or_type)
                }
                kind::PTR => 8,
                kind::VAR => {
                    id = one.size_or_type;
                    continue;
                }
                kind::ARRAY => {
                    let (element, count) = one.array()?;
                    elements = elements.checked_mul(u64::from(count))?;
                    id = element;
                    continue;
                }
                _ => return None,
            };
            return elements.checked_mul(size);
        }
        None
    }

    /// One member of a struct or union.
    pub fn member(&self, one: &Type<'a>, at: usize) -> Option<Member<'a>> {
        let of = if matches!(one.kind, kind::STRUCT | kind::UNION) { one.extra } else { &[] };
        let from = at.checked_mul(12)?;
        let only = Type { extra: of.get(from..from.checked_add(12)?)?, ..*one };
        self.members(&only).next()
    }

    /// Members of a struct or union.
    pub fn members<'b>(&'b self, one: &Type<'a>) -> impl Iterator<Item = Member<'a>> + use<'a, 'b> {
        let flag = one.flag;
        let of = if matches!(one.kind, kind::STRUCT | kind::UNION) { one.extra } else { &[] };
        of.chunks_exact(12).map(move |m| {
            let word = |n| u32_at(m, n).unwrap_or(0);
            // With the flag the upper byte is the width of a bit field.
            let bit = if flag { word(8) & 0xff_ffff } else { word(8) };
            let width = if flag { word(8) >> 24 } else { 0 };
            Member { name: self.string(word(0)).unwrap_or(""), kind: word(4), bit, width }
        })
    }
}

impl Type<'_> {
    /// Element type and length of an array.
    pub fn array(&self) -> Option<(u32, u32)> {
        (self.kind == kind::ARRAY).then_some(())?;
        Some((u32_at(self.extra, 0)?, u32_at(self.extra, 8)?))
    }

    /// Variables of a section.
    pub fn variables(&self) -> impl Iterator<Item = SectionVar> {
        let of = if self.kind == kind::DATASEC { self.extra } else { &[] };
        of.chunks_exact(12).map(|v| SectionVar { kind: u32_at(v, 0).unwrap_or(0), offset: u32_at(v, 4).unwrap_or(0) })
    }

    /// Encoding of an integer: 1 signed, 2 character, 4 boolean.
    pub fn encoding(&self) -> u32 {
        if self.kind == kind::INT { u32_at(self.extra, 0).unwrap_or(0) >> 24 & 0xf } else { 0 }
    }

    /// Bit at which an integer begins in its bytes.
    pub fn int_offset(&self) -> u32 {
        if self.kind == kind::INT { u32_at(self.extra, 0).unwrap_or(0) >> 16 & 0xff } else { 0 }
    }

    /// Types of a prototype's parameters.
    pub fn parameters(&self) -> impl Iterator<Item = u32> {
        let of = if self.kind == kind::FUNC_PROTO { self.extra } else { &[] };
        of.chunks_exact(8).map(|p| u32_at(p, 4).unwrap_or(0))
    }

    /// Bits that an integer has in its bytes.
    pub fn int_bits(&self) -> u32 {
        if self.kind == kind::INT { u32_at(self.extra, 0).unwrap_or(0) & 0xff } else { 0 }
    }

    /// Offsets of the names of an enumeration's values in the strings, and the values.
    pub fn values(&self) -> impl Iterator<Item = (u32, i128)> {
        let each = match self.kind {
            kind::ENUM => 8,
            kind::ENUM64 => 12,
            _ => usize::MAX,
        };
        let signed = self.flag;
        self.extra.chunks_exact(each).map(move |v| {
            let word = |at| u32_at(v, at).unwrap_or(0);
            let value = match (each, signed) {
                (8, false) => i128::from(word(4)),
                (8, true) => i128::from(word(4) as i32),
                (_, false) => i128::from(u64::from(word(4)) | u64::from(word(8)) << 32),
                (_, true) => i128::from((u64::from(word(4)) | u64::from(word(8)) << 32) as i64),
            };
            (word(0), value)
        })
    }

    /// Linkage of a variable: 0 static, 1 global, 2 extern.
    pub fn linkage(&self) -> u32 {
        match self.kind {
            kind::VAR => u32_at(self.extra, 0).unwrap_or(0),
            kind::FUNC => self.count,
            _ => 0,
        }
    }

    /// First value of a 64-bit enumeration.
    pub fn first_value64(&self) -> Option<u64> {
        (self.kind == kind::ENUM64).then_some(())?;
        Some(u64::from(u32_at(self.extra, 4)?) | u64::from(u32_at(self.extra, 8)?) << 32)
    }
}
