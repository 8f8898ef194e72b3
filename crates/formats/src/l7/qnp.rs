//! The QNP header: Ethernet, IPv4, UDP and 22 bytes more, 64 in all (dissertation, figure 4.9; docs/design/l7.md).

/// Bytes of all headers in front of a packet's part of its message.
pub const HEADER_BYTES: usize = 64;
/// Bytes of the headers in front of a raw application's payload.
pub const RAW_HEADER_BYTES: usize = 42;
/// Offset of the UDP header.
pub const UDP: usize = 34;
/// Offset of the QNP header.
pub const QNP: usize = 42;
/// Bytes of the QNP header.
pub const QNP_BYTES: usize = HEADER_BYTES - QNP;
/// Most packets of a message on the wire; a target has its own limit, [`super::target::Target::message_packets`].
pub const MOST_PACKETS: usize = 255;

/// What a packet is.
pub mod flag {
    /// Part of a message.
    pub const DATA: u8 = 0;
    /// An acknowledgement.
    pub const ACK: u8 = 1;
}

/// The QNP header. Numbers are big-endian on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Header {
    /// Application.
    pub app_id: u8,
    /// Message type.
    pub msg_type: u8,
    /// Message; unique for a sender's address, port and session.
    pub msg_id: u32,
    /// Message that is acknowledged.
    pub msg_acked_id: u32,
    /// Packets of the message.
    pub msg_len_in_pkts: u8,
    /// Number of this packet, from 0.
    pub pkt_seq_num_in_msg: u8,
    /// [`flag`].
    pub pkt_flag: u8,
    /// Segments of 64 bytes behind the headers that hold dispatch fields; 0: not known.
    pub seg_cnt: u8,
    /// Session of the sender.
    pub session: u32,
    /// Bit n: message `msg_acked_id` + 1 + n is acknowledged too.
    pub acked_set: u32,
}

impl Header {
    /// From its bytes.
    pub fn from_bytes(bytes: &[u8; QNP_BYTES]) -> Self {
        let word = |at: usize| u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        Self {
            app_id: bytes[0],
            msg_type: bytes[1],
            msg_id: word(2),
            msg_acked_id: word(6),
            msg_len_in_pkts: bytes[10],
            pkt_seq_num_in_msg: bytes[11],
            pkt_flag: bytes[12],
            seg_cnt: bytes[13],
            session: word(14),
            acked_set: word(18),
        }
    }

    /// Its bytes.
    pub fn to_bytes(self) -> [u8; QNP_BYTES] {
        let mut bytes = [0; QNP_BYTES];
        bytes[..2].copy_from_slice(&[self.app_id, self.msg_type]);
        bytes[2..6].copy_from_slice(&self.msg_id.to_be_bytes());
        bytes[6..10].copy_from_slice(&self.msg_acked_id.to_be_bytes());
        bytes[10..14].copy_from_slice(&[self.msg_len_in_pkts, self.pkt_seq_num_in_msg, self.pkt_flag, self.seg_cnt]);
        bytes[14..18].copy_from_slice(&self.session.to_be_bytes());
        bytes[18..].copy_from_slice(&self.acked_set.to_be_bytes());
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_headers_are_64_bytes_and_their_fields_lie_where_the_page_says() {
        let header = Header {
            app_id: 1,
            msg_type: 2,
            msg_id: 0x0304_0506,
            msg_acked_id: 0x0708_090a,
            msg_len_in_pkts: 11,
            pkt_seq_num_in_msg: 12,
            pkt_flag: 13,
            seg_cnt: 14,
            session: 0x0f10_1112,
            acked_set: 0x1314_1516,
        };
        let bytes: Vec<u8> = (1..=22).collect();
        assert_eq!(header.to_bytes().to_vec(), bytes);
        assert_eq!(Header::from_bytes(&header.to_bytes()), header);
        assert_eq!(QNP + QNP_BYTES, 64);
    }
}
