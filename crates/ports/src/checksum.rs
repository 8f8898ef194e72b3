//! TCP and UDP checksums that the sender has left to its interface, completed.
//!
//! A sender on this machine (behind a veth pair, a bridge, a TAP device) writes the sum of the pseudo header alone and leaves
//! the rest to hardware that is not there. AF_PACKET says so of a frame, with the places; AF_XDP says nothing. There such a
//! frame is known by its field: it is the pseudo header's sum, while the checksum over all does not hold. A frame from
//! elsewhere with a wrong checksum looks so one time in 65,536.

const TCP: u8 = 6;
const UDP: u8 = 17;
/// Bytes before the EtherType.
const MACS_BYTES: usize = 12;

/// The sum of 16-bit words in the order of the wire, not folded; an odd last byte is the upper half of a word.
fn sum(bytes: &[u8]) -> u64 {
    // Two carries are added at the end: 2^32 words of 32 bits fit.
    let mut total = 0u64;
    let mut words = bytes.chunks_exact(4);
    for word in &mut words {
        total += u64::from(u32::from_be_bytes([word[0], word[1], word[2], word[3]]));
    }
    let mut last = [0; 4];
    last[..words.remainder().len()].copy_from_slice(words.remainder());
    total + u64::from(u32::from_be_bytes(last))
}

/// The same as one word; zero only where all was zero.
fn fold(mut sum: u64) -> u16 {
    while sum >> 16 != 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// What is summed up of a segment, and where its field is.
struct Segment {
    start: usize,
    end: usize,
    field: usize,
    pseudo: u16,
}

fn word(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at + 2).map(|b| u16::from_be_bytes([b[0], b[1]]))
}

/// Where a frame's network header begins, behind any tags, and its EtherType.
pub(crate) fn network(frame: &[u8]) -> Option<(usize, u16)> {
    let mut at = MACS_BYTES;
    let mut ethertype = word(frame, at)?;
    while matches!(ethertype, 0x8100 | 0x88a8 | 0x9100) {
        at += 4;
        ethertype = word(frame, at)?;
    }
    Some((at + 2, ethertype))
}

/// The segment of a frame that is TCP or UDP as a whole, over IPv4 or IPv6, behind any tags.
fn segment(frame: &[u8]) -> Option<Segment> {
    let (ip, ethertype) = network(frame)?;
    let (protocol, addresses, start, end) = match ethertype {
        0x0800 => {
            let header = usize::from(frame.get(ip)? & 15) * 4;
            // A fragment's checksum is over all fragments: nobody leaves that to an interface.
            if header < 20 || word(frame, ip + 6)? & 0x3fff != 0 {
                return None;
            }
            let total = usize::from(word(frame, ip + 2)?);
            (*frame.get(ip + 9)?, ip + 12..ip + 20, ip + header, ip + total)
        }
        0x86dd => {
            let end = ip + 40 + usize::from(word(frame, ip + 4)?);
            let (mut next, mut at) = (*frame.get(ip + 6)?, ip + 40);
            // Options by hop and for the destination; a route changes the address that is summed up.
            while matches!(next, 0 | 60) {
                let length = (usize::from(*frame.get(at + 1)?) + 1) * 8;
                (next, at) = (*frame.get(at)?, at + length);
            }
            (next, ip + 8..ip + 40, at, end)
        }
        _ => return None,
    };
    let field = match protocol {
        TCP => start + 16,
        UDP => start + 6,
        _ => return None,
    };
    if end > frame.len() || end < field + 2 {
        return None;
    }
    let pseudo = fold(sum(&frame[addresses]) + u64::from(protocol) + (end - start) as u64);
    Some(Segment { start, end, field, pseudo })
}

/// Completes the checksum of a frame whose field is the pseudo header's sum; whether it was so.
pub(crate) fn complete(frame: &mut [u8]) -> bool {
    let Some(segment) = segment(frame) else { return false };
    if word(frame, segment.field) != Some(segment.pseudo) {
        return false;
    }
    let total = sum(&frame[segment.start..segment.end]);
    // It holds as it is: the payload sums up to nothing.
    if fold(total + u64::from(segment.pseudo)) == 0xffff {
        return false;
    }
    write(frame, segment.field, total);
    true
}

/// Completes a checksum over the frame's bytes from `start`, whose field is `offset` behind it; whether both are inside.
pub(crate) fn complete_at(frame: &mut [u8], start: usize, offset: usize) -> bool {
    let field = start + offset;
    if field + 2 > frame.len() {
        return false;
    }
    // Padding behind a short packet is no part of it, and zero.
    let end = segment(frame).filter(|s| s.start == start).map_or(frame.len(), |s| s.end);
    let total = sum(&frame[start..end]);
    write(frame, field, total);
    true
}

/// The checksum of a header that has none in its field, or 0 of one that holds.
pub(crate) fn of(header: &[u8]) -> u16 {
    !fold(sum(header))
}

/// Writes the checksum of a TCP or UDP frame, whatever its field has.
pub(crate) fn fill(frame: &mut [u8]) {
    if let Some(segment) = segment(frame) {
        frame[segment.field..segment.field + 2].copy_from_slice(&segment.pseudo.to_be_bytes());
        let total = sum(&frame[segment.start..segment.end]);
        write(frame, segment.field, total);
    }
}

/// Whether the checksum of a TCP or UDP frame holds.
#[cfg(test)]
pub(crate) fn holds(frame: &[u8]) -> bool {
    segment(frame).is_some_and(|s| fold(sum(&frame[s.start..s.end]) + u64::from(s.pseudo)) == 0xffff)
}

fn write(frame: &mut [u8], field: usize, total: u64) {
    // Zero would say that there is none.
    let checksum = match !fold(total) {
        0 => 0xffff,
        checksum => checksum,
    };
    frame[field..field + 2].copy_from_slice(&checksum.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_formats::random::{Rng, test_seed};
    use sluice_packet::notation::packet;

    /// Frames with right checksums, and where the field is.
    fn frames() -> Vec<(Vec<u8>, usize)> {
        let text = |text: &str| packet(text).unwrap_or_else(|e| panic!("{text}: {e}"));
        let mut frames = vec![
            (text("eth/ipv4/udp/payload(len=1, seed=1)"), 40),
            (text("eth/ipv4/udp/payload(len=18, seed=2)"), 40),
            (text("eth/ipv4/tcp/payload(len=333, seed=3)"), 50),
            (text("eth/vlan(vid=9)/ipv4/tcp/payload(len=64, seed=4)"), 54),
            (text("eth/vlan(vid=9)/vlan(vid=10)/ipv4/udp/payload(len=1400, seed=5)"), 48),
            (text("eth/ipv6/tcp/payload(len=77, seed=6)"), 70),
            (text("eth/vlan(vid=1)/ipv6/udp/payload(len=8001, seed=7)"), 64),
        ];
        for (frame, field) in &mut frames {
            // What the notation leaves zero is made right here, in the plainest way there is.
            let s = segment(frame).unwrap();
            assert_eq!(s.field, *field);
            frame[*field..*field + 2].fill(0);
            let mut total = u32::from(s.pseudo);
            for pair in frame[s.start..s.end].chunks(2) {
                total += u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0));
            }
            while total > 0xffff {
                total = (total & 0xffff) + (total >> 16);
            }
            let right = if total == 0xffff { 0xffff } else { !(total as u16) };
            frame[*field..*field + 2].copy_from_slice(&right.to_be_bytes());
        }
        frames
    }

    #[test]
    fn a_partial_checksum_becomes_the_whole_one_and_a_whole_one_stays() {
        for (right, field) in frames() {
            let mut frame = right.clone();
            assert!(!complete(&mut frame), "a right one is touched");
            assert_eq!(frame, right);
            let s = segment(&frame).unwrap();
            frame[field..field + 2].copy_from_slice(&s.pseudo.to_be_bytes());
            let partial = frame.clone();
            assert!(complete(&mut frame));
            assert_eq!(frame, right, "field at {field}");
            let mut frame = partial;
            assert!(complete_at(&mut frame, s.start, field - s.start));
            assert_eq!(frame, right, "field at {field}, with its place told");
        }
    }

    #[test]
    fn wrong_checksums_and_none_are_left_as_they_are() {
        for (right, field) in frames() {
            let pseudo = segment(&right).unwrap().pseudo;
            for wrong in [0, 1, 0xffff, pseudo.wrapping_add(1)] {
                let mut frame = right.clone();
                if u16::from_be_bytes([frame[field], frame[field + 1]]) == wrong {
                    continue;
                }
                frame[field..field + 2].copy_from_slice(&wrong.to_be_bytes());
                let before = frame.clone();
                assert!(!complete(&mut frame) && frame == before, "{wrong:#06x} at {field}");
            }
        }
    }

    #[test]
    fn padding_is_no_part_of_the_segment() {
        let (right, field) = frames().swap_remove(0);
        let mut frame = right.clone();
        let pseudo = segment(&frame).unwrap().pseudo;
        frame[field..field + 2].copy_from_slice(&pseudo.to_be_bytes());
        frame.resize(60, 0xaa);
        let mut told = frame.clone();
        assert!(complete(&mut frame) && complete_at(&mut told, 34, 6));
        assert_eq!((&frame[..43], &told[..43]), (&right[..43], &right[..43]));
    }

    #[test]
    fn a_fragment_is_left_alone() {
        let (mut frame, field) = frames().swap_remove(1);
        let pseudo = segment(&frame).unwrap().pseudo;
        frame[field..field + 2].copy_from_slice(&pseudo.to_be_bytes());
        for fragment in [0x2000u16, 0x0001] {
            frame[20..22].copy_from_slice(&fragment.to_be_bytes());
            assert!(!complete(&mut frame));
        }
    }

    #[test]
    fn no_bytes_make_it_read_or_write_outside() {
        let seed = test_seed("checksum_bytes");
        let mut rng = Rng::new(seed);
        let frames = frames();
        for _ in 0..50_000 {
            let (mut frame, _) = frames[rng.index(frames.len())].clone();
            frame.truncate(rng.index(frame.len() + 1));
            for _ in 0..rng.index(4) {
                if !frame.is_empty() {
                    let at = rng.index(frame.len().min(80));
                    frame[at] = rng.next_u32() as u8;
                }
            }
            complete(&mut frame);
            complete_at(&mut frame, rng.index(100), rng.index(40));
        }
    }

    #[test]
    fn the_sum_is_that_of_words_for_each_length() {
        let bytes: Vec<u8> = (0..=255u8).cycle().skip(77).take(5000).collect();
        for length in (0..70).chain([4999, 5000]) {
            let plain: u64 =
                bytes[..length].chunks(2).map(|p| u64::from(p[0]) << 8 | u64::from(*p.get(1).unwrap_or(&0))).sum();
            assert_eq!(fold(sum(&bytes[..length])), fold(plain), "{length} bytes");
        }
    }
}
