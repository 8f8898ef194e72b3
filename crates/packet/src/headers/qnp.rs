//! Messages for dispatch: the header behind UDP, and its fields (docs/design/l7.md).

use super::describe::{Fill, Form, Malformed, fixed, header};

header! {
    /// QNP header: a packet of a message (docs/design/l7.md)
    Qnp, QNP {
        name: "qnp", base: 22, check: fixed::<22>, options: (0, 0, &[]), always: &["app", "type", "id"],
    }
    /// application
    app, set_app: u8 = ("app", 0, 8, Form::Dec, Fill::Fixed(1));
    /// message type
    kind, set_kind: u8 = ("type", 8, 8, Form::Dec, Fill::Fixed(1));
    /// message
    id, set_id: u32 = ("id", 16, 32, Form::Dec, Fill::Fixed(0));
    /// message that is acknowledged
    acked_id, set_acked_id: u32 = ("acked_id", 48, 32, Form::Dec, Fill::Fixed(0));
    /// packets of the message
    packets, set_packets: u8 = ("packets", 80, 8, Form::Dec, Fill::Fixed(1));
    /// number of this packet, from 0
    seq, set_seq: u8 = ("seq", 88, 8, Form::Dec, Fill::Fixed(0));
    /// 0 data, 1 acknowledgement
    flag, set_flag: u8 = ("flag", 96, 8, Form::Dec, Fill::Fixed(0));
    /// segments of 64 bytes with dispatch fields, 0 for not known
    segments, set_segments: u8 = ("segments", 104, 8, Form::Dec, Fill::Fixed(0));
    /// session of the sender
    session, set_session: u32 = ("session", 112, 32, Form::Dec, Fill::Fixed(0));
    /// further messages that are acknowledged, a bit each
    acked_set, set_acked_set: u32 = ("acked_set", 144, 32, Form::Hex, Fill::Fixed(0));
}

header! {
    /// Field of a message: index, length, and the value as `opts` (docs/design/l7.md)
    Tlv, TLV {
        name: "tlv", base: 2, check: check_tlv, options: (1, 255, &[]), always: &["index"],
    }
    /// 1 to 15 for fields that rules look at
    index, set_index: u8 = ("index", 0, 8, Form::Dec, Fill::Fixed(1));
    /// length of the value
    length, set_length: u8 = ("len", 8, 8, Form::Dec, Fill::HeaderLength(1, 2));
}

fn check_tlv(bytes: &[u8]) -> Result<usize, Malformed> {
    Ok(2 + usize::from(bytes[1]))
}
