//! The number of a function of the running kernel: its place among the kernel's types (BTF).

use std::io::{self, Error, ErrorKind};

const KIND_FUNCTION: u32 = 12;

/// The kernel's number for a function that programs may call.
pub(crate) fn function(name: &str) -> io::Result<u32> {
    let types = std::fs::read("/sys/kernel/btf/vmlinux")
        .map_err(|e| Error::new(e.kind(), format!("/sys/kernel/btf/vmlinux: {e}")))?;
    find(&types, name).ok_or_else(|| Error::new(ErrorKind::Unsupported, format!("the kernel has no `{name}`")))
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at.checked_add(4)?).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
}

/// The number of the function type with this name; types count from 1.
fn find(btf: &[u8], name: &str) -> Option<u32> {
    let header = word(btf, 4)? as usize;
    let offset = |at| word(btf, at).and_then(|o| header.checked_add(o as usize));
    let (types, strings) = (offset(8)?, offset(16)?);
    let types_end = types.checked_add(word(btf, 12)? as usize)?;
    let strings = btf.get(strings..strings.checked_add(word(btf, 20)? as usize)?)?;
    let mut at = types;
    for number in 1.. {
        if at >= types_end {
            return None;
        }
        let (text, info) = (word(btf, at)? as usize, word(btf, at + 4)?);
        let (kind, count) = (info >> 24 & 31, (info & 0xffff) as usize);
        if kind == KIND_FUNCTION
            && strings.get(text..)?.strip_prefix(name.as_bytes()).is_some_and(|s| s.first() == Some(&0))
        {
            return Some(number);
        }
        at += 12
            + match kind {
                // Number, variable, tag of a declaration.
                1 | 14 | 17 => 4,
                // Array.
                3 => 12,
                // Struct, union, enum of 64 bits, section.
                4 | 5 | 19 | 15 => 12 * count,
                // Enum, parameters.
                6 | 13 => 8 * count,
                _ => 0,
            };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Types after each other, with the strings `one` at 1 and `oneself` at 5.
    fn blob(types: &[u32]) -> Vec<u8> {
        let strings = b"\0one\0oneself\0";
        let length = types.len() as u32 * 4;
        let header = [0x0001_eb9f, 24, 0, length, length, strings.len() as u32];
        header.iter().chain(types).flat_map(|w| w.to_le_bytes()).chain(strings.iter().copied()).collect()
    }

    #[test]
    fn a_function_is_found_behind_types_of_every_size() {
        let info = |kind: u32, count: u32| kind << 24 | count;
        let mut types = vec![1, info(1, 0), 4, 0]; // 1: a number of the same name
        types.extend([0, info(3, 0), 0, 1, 1, 9]); // 2: an array
        types.extend([0, info(4, 2), 8, 0, 1, 0, 0, 1, 32]); // 3: a struct of two
        types.extend([0, info(6, 1), 4, 0, 7]); // 4: an enum of one
        types.extend([0, info(13, 1), 1, 0, 1]); // 5: a function's parameters
        types.extend([5, info(12, 0), 5]); // 6: `oneself`
        types.extend([1, info(12, 1), 5]); // 7: `one`
        assert_eq!(find(&blob(&types), "one"), Some(7));
        assert_eq!(find(&blob(&types), "oneself"), Some(6));
        assert_eq!(find(&blob(&types), "self"), None);
    }

    #[test]
    fn what_is_cut_short_has_no_functions() {
        let whole = blob(&[1, 12 << 24, 0]);
        assert_eq!(find(&whole, "one"), Some(1));
        for end in 0..whole.len() - 9 {
            assert_eq!(find(&whole[..end], "one"), None);
        }
    }
}
