//! Formats of `trace_printk`, `trace_vprintk` and `snprintf`: what the kernel allows, and its text.

use crate::Errno;

/// Bytes of the kernel's buffer for arguments.
const MAX_ARGUMENT_BYTES: usize = 512;
/// Longest piece that is written out; whoever asks keeps less.
const MAX_TEXT: usize = 4096;

/// Text of a format, at most 4 KiB of it, and its whole length.
pub struct Formatted {
    /// The bytes.
    pub text: Vec<u8>,
    /// What the length would be without a bound.
    pub len: u64,
}

/// One conversion's flags and width.
#[derive(Clone, Copy, Default)]
struct Spec {
    zero: bool,
    plus: bool,
    left: bool,
    space: bool,
    width: u64,
}

/// What a format reads at addresses; nothing where nothing may be read.
pub trait Memory {
    /// Text up to its zero, which is left out, or up to `max` bytes.
    fn text(&self, address: u64, max: usize) -> Option<Vec<u8>>;
    /// Exactly so many bytes.
    fn bytes(&self, address: u64, bytes: usize) -> Option<Vec<u8>>;
}

/// Writes the arguments by the format, for a buffer of `size` bytes.
pub fn format(format: &[u8], arguments: &[u64], size: u64, memory: &dyn Memory) -> Result<Formatted, Errno> {
    let mut out = Formatted { text: Vec::new(), len: 0 };
    let mut arguments = arguments.iter().copied();
    let mut room = Room { used: 0 };
    let at = |i: usize| format.get(i).copied().unwrap_or(0);
    let ends = |c: u8| c == 0 || is_space(c) || is_punctuation(c);
    // Behind a pointer the kernel passes over letters and digits, whatever they mean.
    let swallow = |i: &mut usize| {
        while is_letter_or_digit(at(*i)) {
            *i += 1;
        }
    };
    let mut i = 0;
    while i < format.len() {
        let c = format[i];
        if c.is_ascii_control() && !is_space(c) {
            return Err(Errno::INVAL);
        }
        i += 1;
        if c != b'%' {
            out.put(&[c]);
            continue;
        }
        if at(i) == b'%' {
            out.put(b"%");
            i += 1;
            continue;
        }
        let argument = arguments.next().ok_or(Errno::INVAL)?;
        let mut spec = Spec::default();
        loop {
            match at(i) {
                b'0' => spec.zero = true,
                b'+' => spec.plus = true,
                b'-' => spec.left = true,
                b' ' => spec.space = true,
                _ => break,
            }
            i += 1;
        }
        while at(i).is_ascii_digit() {
            spec.width = spec.width.saturating_mul(10).saturating_add(u64::from(at(i) - b'0'));
            i += 1;
        }
        match at(i) {
            b'p' if matches!(at(i + 1), b'k' | b'u') && at(i + 2) == b's' => {
                i += 3;
                if !ends(at(i)) {
                    return Err(Errno::INVAL);
                }
                // A program has no user memory: `%pus` finds nothing.
                let text = if at(i - 2) == b'k' { memory.text(argument, room.left()?) } else { None };
                out.put_made(size, room.string(text)?);
            }
            b'p' if (ends(at(i + 1)) && at(i + 1) != b'%') || matches!(at(i + 1), b'K' | b'x' | b's' | b'S') => {
                room.number(8)?;
                out.put_pointer(spec, at(i + 1), argument);
                i += if matches!(at(i + 1), b'K' | b'x' | b's' | b'S') { 2 } else { 1 };
                swallow(&mut i);
            }
            b'p' if at(i + 1) == b'B' => {
                let text = format!("{argument:#x}").into_bytes();
                out.put_made(size, room.string(Some(text))?);
                i += 2;
                swallow(&mut i);
            }
            b'p' if matches!(at(i + 1), b'i' | b'I') && matches!(at(i + 2), b'4' | b'6') => {
                let bytes = if at(i + 2) == b'4' { 4 } else { 16 };
                let address = memory.bytes(argument, bytes).unwrap_or(vec![0; bytes]);
                // The text is made before the format is: it knows no width.
                out.put_made(size, room.string(Some(ip(&address, at(i + 1) == b'I')))?);
                i += 3;
                swallow(&mut i);
            }
            b's' => {
                i += 1;
                if !ends(at(i)) {
                    return Err(Errno::INVAL);
                }
                let text = memory.text(argument, room.left()?);
                out.put_string(spec, room.string(text)?);
            }
            b'c' => {
                i += 1;
                room.take(1)?;
                out.put_string(spec, vec![argument as u8]);
            }
            _ => {
                let mut wide = false;
                for _ in 0..2 {
                    if at(i) == b'l' {
                        wide = true;
                        i += 1;
                    }
                }
                room.number(if wide { 8 } else { 4 })?;
                match at(i) {
                    b'd' | b'i' => {
                        let value = if wide { argument as i64 } else { i64::from(argument as i32) };
                        let sign = match value {
                            ..0 => "-",
                            _ if spec.plus => "+",
                            _ if spec.space => " ",
                            _ => "",
                        };
                        out.put_number(spec, sign, &value.unsigned_abs().to_string());
                    }
                    kind @ (b'u' | b'x' | b'X') => {
                        let value = if wide { argument } else { u64::from(argument as u32) };
                        out.put_number(
                            spec,
                            "",
                            &match kind {
                                b'u' => value.to_string(),
                                b'x' => format!("{value:x}"),
                                _ => format!("{value:X}"),
                            },
                        );
                    }
                    _ => return Err(Errno::INVAL),
                }
                i += 1;
            }
        }
    }
    Ok(out)
}

/// The kernel's buffer that arguments are laid out in.
struct Room {
    used: usize,
}

impl Room {
    fn take(&mut self, bytes: usize) -> Result<(), Errno> {
        if MAX_ARGUMENT_BYTES.saturating_sub(self.used) < bytes {
            return Err(Errno::NOSPC);
        }
        self.used += bytes;
        Ok(())
    }

    fn number(&mut self, bytes: usize) -> Result<(), Errno> {
        self.used = self.used.next_multiple_of(4);
        self.take(bytes)
    }

    /// Bytes that a string still finds.
    fn left(&self) -> Result<usize, Errno> {
        match MAX_ARGUMENT_BYTES.saturating_sub(self.used) {
            0 => Err(Errno::NOSPC),
            left => Ok(left),
        }
    }

    /// A string with its zero, cut to what is left.
    fn string(&mut self, text: Option<Vec<u8>>) -> Result<Vec<u8>, Errno> {
        let mut text = text.unwrap_or_default();
        text.truncate(self.left()? - 1);
        self.used += text.len() + 1;
        Ok(text)
    }
}

impl Formatted {
    fn put(&mut self, bytes: &[u8]) {
        let left = MAX_TEXT.saturating_sub(self.text.len());
        self.text.extend_from_slice(&bytes[..bytes.len().min(left)]);
        self.len = self.len.saturating_add(bytes.len() as u64);
    }

    fn pad(&mut self, count: u64, with: u8) {
        let left = MAX_TEXT.saturating_sub(self.text.len()) as u64;
        self.text.resize(self.text.len() + count.min(left) as usize, with);
        self.len = self.len.saturating_add(count);
    }

    fn put_string(&mut self, spec: Spec, text: Vec<u8>) {
        let fill = spec.width.saturating_sub(text.len() as u64);
        if !spec.left {
            self.pad(fill, b' ');
        }
        self.put(&text);
        if spec.left {
            self.pad(fill, b' ');
        }
    }

    /// A text that was made before the format is written: without width, and (as in the kernel) not
    /// even counted once the buffer is full.
    fn put_made(&mut self, size: u64, text: Vec<u8>) {
        if self.len < size {
            self.put(&text);
        }
    }

    fn put_number(&mut self, spec: Spec, sign: &str, digits: &str) {
        let fill = spec.width.saturating_sub((sign.len() + digits.len()) as u64);
        match (spec.left, spec.zero) {
            (true, _) => {
                self.put(sign.as_bytes());
                self.put(digits.as_bytes());
                self.pad(fill, b' ');
            }
            (false, true) => {
                self.put(sign.as_bytes());
                self.pad(fill, b'0');
                self.put(digits.as_bytes());
            }
            (false, false) => {
                self.pad(fill, b' ');
                self.put(sign.as_bytes());
                self.put(digits.as_bytes());
            }
        }
    }

    /// Device addresses need no hiding: `%p` is the address itself in 16 digits.
    fn put_pointer(&mut self, mut spec: Spec, kind: u8, address: u64) {
        if matches!(kind, b's' | b'S') {
            return self.put_string(spec, format!("{address:#x}").into_bytes());
        }
        if spec.width == 0 {
            (spec.width, spec.zero) = (16, true);
        }
        self.put_number(spec, "", &format!("{address:x}"));
    }
}

/// `%pI4`, `%pI6`; without `separators` `%pi4` and `%pi6`.
fn ip(bytes: &[u8], separators: bool) -> Vec<u8> {
    let text = match (bytes.len(), separators) {
        (4, true) => bytes.iter().map(u8::to_string).collect::<Vec<_>>().join("."),
        (4, false) => bytes.iter().map(|b| format!("{b:03}")).collect::<Vec<_>>().join("."),
        (_, true) => bytes.chunks(2).map(|w| format!("{:02x}{:02x}", w[0], w[1])).collect::<Vec<_>>().join(":"),
        (_, false) => bytes.iter().map(|b| format!("{b:02x}")).collect(),
    };
    text.into_bytes()
}

/// The kernel's `isspace`; above 127 its table is Latin-1.
pub fn is_space(c: u8) -> bool {
    matches!(c, 9..=13 | b' ' | 0xa0)
}

fn is_punctuation(c: u8) -> bool {
    c.is_ascii_punctuation() || matches!(c, 0xa1..=0xbf | 0xd7 | 0xf7)
}

fn is_letter_or_digit(c: u8) -> bool {
    c.is_ascii_alphanumeric() || c >= 0xc0 && !is_punctuation(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four bytes at every address but 0.
    struct Fixed;

    impl Memory for Fixed {
        fn text(&self, address: u64, _: usize) -> Option<Vec<u8>> {
            self.bytes(address, 4)
        }
        fn bytes(&self, address: u64, _: usize) -> Option<Vec<u8>> {
            (address != 0).then(|| vec![b'a', b'b', address as u8, 4])
        }
    }

    fn shown(text: &str, arguments: &[u64]) -> Result<String, Errno> {
        format(text.as_bytes(), arguments, 1024, &Fixed).map(|f| String::from_utf8(f.text).unwrap())
    }

    #[test]
    fn numbers_are_written_as_the_kernel_does() {
        assert_eq!(
            shown("%d %u|%5x|%-5X|%05d", &[u64::MAX, u64::MAX, 10, 10, -7i64 as u64]).unwrap(),
            "-1 4294967295|    a|A    |-0007"
        );
        assert_eq!(
            shown("%ld %llu %lx", &[u64::MAX, u64::MAX, u64::MAX]).unwrap(),
            "-1 18446744073709551615 ffffffffffffffff"
        );
        assert_eq!(shown("%+d% d%%", &[1, 2]).unwrap(), "+1 2%");
    }

    #[test]
    fn addresses_and_strings_are_read() {
        assert_eq!(shown("%pI4 %pi4", &[b'c'.into(), b'c'.into()]).unwrap(), "97.98.99.4 097.098.099.004");
        assert_eq!(shown("%pI4", &[0]).unwrap(), "0.0.0.0");
        assert_eq!(shown("[%s]", &[0]).unwrap(), "[]");
        assert_eq!(shown("%p", &[0x2000_0000]).unwrap(), "0000000020000000");
    }

    #[test]
    fn what_the_kernel_refuses_is_refused() {
        for text in ["%", "%#x", "%.2d", "%hd", "%f", "%n", "%pI5", "%pM", "%sx", "\u{1}", "%lls", "%d%"] {
            assert_eq!(shown(text, &[0]).err(), Some(Errno::INVAL), "{text:?}");
        }
        assert_eq!(shown("%d", &[]).err(), Some(Errno::INVAL));
    }

    #[test]
    fn a_huge_width_makes_no_huge_text() {
        let f = format(b"%9999999999999d", &[1], 1024, &Fixed).unwrap();
        assert_eq!((f.text.len(), f.len), (MAX_TEXT, 9_999_999_999_999));
    }
}
