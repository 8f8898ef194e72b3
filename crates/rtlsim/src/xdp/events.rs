//! Events of programs in hardware: words of a module's ring to what the program said.

use sluice_formats::row::Row;
use sluice_formats::xdp::codes::XdpEventKind;
use sluice_formats::xdp::rows::XdpEventHeader;

/// An event as the engine tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// What it is.
    pub kind: XdpEventKind,
    /// Generation of its packet.
    pub generation: u8,
    /// Processor that executed it.
    pub processor: u8,
    /// Which of the program's maps, or calls of `trace_printk`.
    pub channel: u8,
    /// Its bytes: of a perf event those of the packet behind its own.
    pub data: Vec<u8>,
}

impl Told {
    /// The numbers of a call of `trace_printk`.
    pub fn numbers(&self) -> [u64; 3] {
        let word = |at: usize| {
            self.data.get(8 * at..8 * at + 8).map_or(0, |b| u64::from_le_bytes(b.try_into().unwrap_or_default()))
        };
        [word(0), word(1), word(2)]
    }
}

/// What the words of whole events say; an error names the word that is no header.
pub fn told(words: &[u64]) -> Result<Vec<Told>, String> {
    let (mut events, mut at) = (Vec::new(), 0);
    while let Some(word) = words.get(at) {
        let first = at;
        let wrong = || format!("word {first} of {} is no event's header: {word:#018x}", words.len());
        let header = XdpEventHeader::unpack(&[*word as u32, (*word >> 32) as u32]).map_err(|_| wrong())?;
        let XdpEventHeader { kind, generation, processor, channel, bytes, packet, reserved } = header;
        let kind = XdpEventKind::from_code(kind).filter(|_| reserved == 0).ok_or_else(wrong)?;
        at += 1;
        let mut data = Vec::new();
        for part in [bytes, packet].map(usize::from) {
            let all = words.get(at..at + part.div_ceil(8)).ok_or_else(wrong)?;
            data.extend(all.iter().flat_map(|word| word.to_le_bytes()).take(part));
            at += part.div_ceil(8);
        }
        events.push(Told { kind, generation, processor, channel, data });
    }
    Ok(events)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_parts_fill_whole_words_and_what_is_cut_off_is_an_error() {
        let header = XdpEventHeader { kind: 1, processor: 3, channel: 2, bytes: 9, packet: 3, ..Default::default() };
        let words = header.pack().unwrap();
        let word = u64::from(words[0]) | u64::from(words[1]) << 32;
        let all = [word, 0x0807_0605_0403_0201, 9, 0x0c_0b0a];
        let found = told(&all).unwrap();
        assert_eq!(found[0].data, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
        assert_eq!((found.len(), found[0].kind, found[0].processor), (1, XdpEventKind::Perf, 3));
        assert!(told(&all[..3]).unwrap_err().contains("word 0 of 3"));
        assert!(told(&[3]).is_err());
    }
}
