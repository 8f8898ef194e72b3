//! Random frames that reach every branch of ingress and match.

use sluice_formats::random::Rng;

/// A 5-tuple as the key holds it: source, destination, ports, protocol.
pub type Tuple = [u8; 13];

/// What random frames are made of; tables are filled from the same pools so that keys hit.
pub struct Pool {
    pub vlans: Vec<u16>,
    pub macs: Vec<[u8; 6]>,
    pub tuples: Vec<Tuple>,
}

impl Pool {
    pub fn new(rng: &mut Rng, vlans: Vec<u16>) -> Self {
        let mac = |rng: &mut Rng| [2, 0, 0, rng.below(2) as u8, rng.next_u32() as u8, rng.below(4) as u8];
        let tuple = |rng: &mut Rng| {
            let mut t = [10, 0, 0, 0, 192, 168, 0, 0, 0x13, 0, 0, 0x50, 6];
            t[3] = rng.below(8) as u8;
            t[7] = rng.below(8) as u8;
            t[9] = rng.below(4) as u8;
            t[12] = if rng.chance(1, 2) { 6 } else { 17 };
            t
        };
        Self { vlans, macs: (0..24).map(|_| mac(rng)).collect(), tuples: (0..40).map(|_| tuple(rng)).collect() }
    }

    /// A frame without FCS; every 20th is something that ingress or the parser has to refuse.
    pub fn frame(&self, rng: &mut Rng) -> Vec<u8> {
        let mut f = rng.choose(&self.macs).unwrap().to_vec();
        f.extend([2, 0, 0, 0, 0, 9]);
        if !rng.chance(1, 16) {
            let vlan = if rng.chance(1, 24) { rng.below(4096) as u16 } else { *rng.choose(&self.vlans).unwrap() };
            f.extend([0x81, 0]);
            f.extend((vlan | (rng.below(16) as u16) << 12).to_be_bytes());
        }
        if rng.chance(1, 20) {
            // A second tag, of either kind.
            f.extend(if rng.chance(1, 2) { [0x81, 0] } else { [0x88, 0xa8] });
            f.extend((rng.below(4096) as u16).to_be_bytes());
        }
        match rng.below(10) {
            0 => f.extend(rng.bytes(2)),
            1 => f.extend([0x86, 0xdd]),
            _ => self.ipv4(rng, &mut f),
        }
        let length = length(rng);
        if f.len() < length {
            f.extend(rng.bytes(length - f.len()));
        } else if rng.chance(1, 12) {
            // Cut anywhere, so that headers end early.
            f.truncate(rng.range(1, f.len() as u64) as usize);
        }
        f
    }

    fn ipv4(&self, rng: &mut Rng, f: &mut Vec<u8>) {
        let t = rng.choose(&self.tuples).unwrap();
        let (version, fragment) = match rng.below(20) {
            0 => (0x46, [0, 0]),
            1 => (0x65, [0, 0]),
            2 => (0x45, [0x20, 0]),
            3 => (0x45, [0x00, 1 + rng.below(200) as u8]),
            4 => (0x45, [1 + rng.below(31) as u8, 0]),
            _ => (0x45, [0x40, 0]),
        };
        let protocol = if rng.chance(1, 12) { rng.next_u32() as u8 } else { t[12] };
        f.extend([8, 0, version, 0, 0, 40, 0, 1, fragment[0], fragment[1], 64, protocol, 0, 0]);
        f.extend(&t[..8]);
        f.extend(&t[8..10]);
        f.extend(if rng.chance(1, 40) { [0xf1, 0xf2] } else { [t[10], t[11]] });
    }
}

/// Lengths around every beat, and a few long ones.
fn length(rng: &mut Rng) -> usize {
    let n = match rng.below(40) {
        0 => rng.range(1, 40),
        1 => rng.range(1500, 1530),
        2 if rng.chance(1, 6) => rng.range(8990, 9230),
        3..=9 => 32 * rng.range(2, 8) + rng.range(0, 10) - 4,
        10..=14 => rng.range(60, 600),
        _ => rng.range(56, 72),
    };
    n as usize
}
