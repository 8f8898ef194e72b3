//! Random frames of which many lead deep into programs: few addresses and ports, all lengths.

use sluice_formats::random::Rng;

fn few(rng: &mut Rng, of: &[u8]) -> u8 {
    of[rng.index(of.len())]
}

fn address(rng: &mut Rng, bytes: usize, out: &mut Vec<u8>) {
    let mut a = vec![0; bytes];
    a[0] = few(rng, &[10, 10, 10, 192, 0xfd, 2]);
    a[1] = few(rng, &[0, 0, 1, 168]);
    a[bytes - 1] = few(rng, &[1, 2, 3, 9]);
    out.extend(a);
}

fn layer4(rng: &mut Rng, protocol: u8, out: &mut Vec<u8>) {
    let port = |rng: &mut Rng| [0, few(rng, &[80, 53, 22, 1])];
    let (a, b) = (port(rng), port(rng));
    match protocol {
        6 => {
            out.extend(a.into_iter().chain(b));
            out.extend(rng.bytes(8));
            out.extend([few(rng, &[0x50, 0x50, 0x80, 0xf0]), few(rng, &[2, 16, 18, 1, 4]), 1, 0, 0, 0, 0, 0]);
        }
        17 => {
            out.extend(a.into_iter().chain(b));
            out.extend([0, 20, 0, 0]);
        }
        1 | 58 => out.extend([few(rng, &[0, 8, 3, 128, 129, 135]), 0, 0, 0, 0, 1, 0, 1]),
        4 => {
            layer3(rng, 0x0800, out, 1);
        }
        _ => {}
    }
}

fn layer3(rng: &mut Rng, kind: u16, out: &mut Vec<u8>, depth: u32) {
    let protocol = if depth > 0 { few(rng, &[6, 17, 1]) } else { few(rng, &[6, 6, 17, 17, 1, 4, 58, 50]) };
    match kind {
        0x0800 => {
            let words = few(rng, &[5, 5, 5, 5, 6, 15, 4]);
            out.extend([0x40 | words, 0, 0, 100, 0, 1, few(rng, &[0, 0, 0, 0x20, 0x40]), 0]);
            out.extend([few(rng, &[64, 1, 0, 2]), protocol, 0, 0]);
            address(rng, 4, out);
            address(rng, 4, out);
            out.extend(rng.bytes(usize::from(words.max(5) - 5) * 4));
            layer4(rng, protocol, out);
        }
        0x86dd => {
            out.extend([0x60, 0, 0, 0, 0, 40, protocol, few(rng, &[64, 1, 0])]);
            address(rng, 16, out);
            address(rng, 16, out);
            layer4(rng, protocol, out);
        }
        _ => out.extend(rng.bytes(28)),
    }
}

/// A frame of at least 14 bytes.
pub fn frame(rng: &mut Rng) -> Vec<u8> {
    let mut out = Vec::new();
    address(rng, 6, &mut out);
    address(rng, 6, &mut out);
    for _ in 0..rng.below(6).saturating_sub(3) {
        out.extend([[0x81, 0x00], [0x88, 0xa8]][rng.index(2)]);
        out.extend([0, few(rng, &[0, 1, 7, 100])]);
    }
    let kind = [0x0800u16, 0x0800, 0x0800, 0x86dd, 0x86dd, 0x0806, 0x1234][rng.index(7)];
    out.extend(kind.to_be_bytes());
    layer3(rng, kind, &mut out, 0);
    let tail = [0, 0, 8, 40, 600, 1500, 3000, 9000][rng.index(8)];
    out.extend(rng.bytes(rng.clone().index(tail + 1)));
    if rng.chance(1, 4) {
        out.truncate(14 + rng.index(out.len() - 13));
    }
    for _ in 0..rng.below(8).saturating_sub(5) {
        let at = rng.index(out.len());
        out[at] = rng.next_u32() as u8;
    }
    out.resize(out.len().max(14), 0);
    out
}
