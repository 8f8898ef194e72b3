//! A VLAN tag that the kernel keeps beside a frame, put back in.

/// Bytes of a tag.
pub(crate) const TAG_BYTES: usize = 4;
/// Bytes before its place: both addresses.
pub(crate) const MACS_BYTES: usize = 12;
/// EtherType of a tag whose kind is not told.
const VLAN: u16 = 0x8100;

/// A tag's four bytes; without an EtherType it is the usual one.
pub(crate) fn bytes(ethertype: Option<u16>, value: u16) -> [u8; TAG_BYTES] {
    let ([a, b], [c, d]) = (ethertype.unwrap_or(VLAN).to_be_bytes(), value.to_be_bytes());
    [a, b, c, d]
}

/// The same from what the program of AF_XDP writes in front of a frame: the EtherType as on the wire, then the value as a
/// number of the host.
pub(crate) fn of_mark(mark: u64) -> [u8; TAG_BYTES] {
    bytes(Some(u16::from_be(mark as u16)), (mark >> 16) as u16)
}

/// Puts a tag in: `frame` has [`TAG_BYTES`] of room in front, which are used up.
pub(crate) fn insert(frame: &mut [u8], tag: [u8; TAG_BYTES]) {
    frame.copy_within(TAG_BYTES..TAG_BYTES + MACS_BYTES, 0);
    frame[MACS_BYTES..MACS_BYTES + TAG_BYTES].copy_from_slice(&tag);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_stands_behind_the_addresses_and_nothing_else_moves() {
        let mut frame: Vec<u8> = vec![0xee; 4];
        frame.extend(0..18);
        insert(&mut frame, bytes(None, 0x600a));
        assert_eq!(frame[..12], (0..12).collect::<Vec<u8>>());
        assert_eq!(frame[12..16], [0x81, 0, 0x60, 0x0a]);
        assert_eq!(frame[16..], (12..18).collect::<Vec<u8>>());
    }

    #[test]
    fn a_mark_has_the_ethertype_of_the_wire_and_the_value_of_the_host() {
        let mark = u64::from(0x88a8u16.to_be()) | 0x3007 << 16;
        assert_eq!(of_mark(mark), [0x88, 0xa8, 0x30, 0x07]);
        assert_eq!(bytes(Some(0x88a8), 0x3007), of_mark(mark));
    }
}
