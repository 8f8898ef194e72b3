//! TCP, UDP and ICMP.

use super::describe::{Fill, Form, Malformed, fixed, header};

header! {
    /// UDP header (RFC 768).
    Udp, UDP {
        name: "udp", base: 8, check: fixed::<8>, options: (0, 0, &[]), always: &["sport", "dport"],
    }
    /// source port
    sport, set_sport: u16 = ("sport", 0, 16, Form::Dec, Fill::Fixed(1024));
    /// destination port
    dport, set_dport: u16 = ("dport", 16, 16, Form::Dec, Fill::NextPort(9));
    /// length in bytes, header included
    length, set_length: u16 = ("len", 32, 16, Form::Dec, Fill::TotalLength);
    /// checksum, 0 for none
    checksum, set_checksum: u16 = ("csum", 48, 16, Form::Hex, Fill::UdpSum);
}

header! {
    /// TCP header (RFC 9293).
    Tcp, TCP {
        name: "tcp", base: 20, check: check_tcp, options: (4, 40, &[]), always: &["sport", "dport", "flags"],
    }
    /// source port
    sport, set_sport: u16 = ("sport", 0, 16, Form::Dec, Fill::Fixed(1024));
    /// destination port
    dport, set_dport: u16 = ("dport", 16, 16, Form::Dec, Fill::Fixed(80));
    /// sequence number
    seq, set_seq: u32 = ("seq", 32, 32, Form::Dec, Fill::Fixed(0));
    /// acknowledgment number
    ack, set_ack: u32 = ("ack", 64, 32, Form::Dec, Fill::Fixed(0));
    /// header length in 32-bit words
    data_offset, set_data_offset: u8 = ("off", 96, 4, Form::Dec, Fill::HeaderLength(4, 0));
    /// reserved bits
    reserved, set_reserved: u8 = ("res", 100, 4, Form::Dec, Fill::Fixed(0));
    /// flags, of C E U A P R S F
    flags, set_flags: u8 = ("flags", 104, 8, Form::TcpFlags, Fill::Fixed(0x10));
    /// window
    window, set_window: u16 = ("win", 112, 16, Form::Dec, Fill::Fixed(65535));
    /// checksum
    checksum, set_checksum: u16 = ("csum", 128, 16, Form::Hex, Fill::PseudoSum);
    /// urgent pointer
    urgent, set_urgent: u16 = ("urg", 144, 16, Form::Dec, Fill::Fixed(0));
}

header! {
    /// ICMP header, echo form (RFC 792).
    Icmp, ICMP {
        name: "icmp", base: 8, check: fixed::<8>, options: (0, 0, &[]), always: &["type"],
    }
    /// type: 8 echo request, 0 echo reply
    kind, set_kind: u8 = ("type", 0, 8, Form::Dec, Fill::Fixed(8));
    /// code
    code, set_code: u8 = ("code", 8, 8, Form::Dec, Fill::Fixed(0));
    /// checksum
    checksum, set_checksum: u16 = ("csum", 16, 16, Form::Hex, Fill::BodySum);
    /// identifier, or the first half of what the type puts here
    id, set_id: u16 = ("id", 32, 16, Form::Dec, Fill::Fixed(0));
    /// sequence number, or the second half
    seq, set_seq: u16 = ("seq", 48, 16, Form::Dec, Fill::Fixed(0));
}

header! {
    /// ICMPv6 header, echo form (RFC 4443).
    Icmp6, ICMP6 {
        name: "icmp6", base: 8, check: fixed::<8>, options: (0, 0, &[]), always: &["type"],
    }
    /// type: 128 echo request, 129 echo reply, 135 and 136 neighbour discovery
    kind, set_kind: u8 = ("type", 0, 8, Form::Dec, Fill::Fixed(128));
    /// code
    code, set_code: u8 = ("code", 8, 8, Form::Dec, Fill::Fixed(0));
    /// checksum
    checksum, set_checksum: u16 = ("csum", 16, 16, Form::Hex, Fill::PseudoSum);
    /// identifier, or the first half of what the type puts here
    id, set_id: u16 = ("id", 32, 16, Form::Dec, Fill::Fixed(0));
    /// sequence number, or the second half
    seq, set_seq: u16 = ("seq", 48, 16, Form::Dec, Fill::Fixed(0));
}

fn check_tcp(bytes: &[u8]) -> Result<usize, Malformed> {
    match bytes[12] >> 4 {
        words @ 5.. => Ok(usize::from(words) * 4),
        words => Err(Malformed::Field { header: "tcp", field: "off", found: u32::from(words), expected: "5 to 15" }),
    }
}

impl<T: AsRef<[u8]>> Udp<T> {
    /// What the header carries: up to its length, or to the end of the bytes.
    pub fn payload(&self) -> &[u8] {
        let rest = self.rest();
        let length = usize::from(self.length()).saturating_sub(8);
        rest.get(..length).unwrap_or(rest)
    }
}

/// The letters of the TCP flags, most significant bit first.
pub const TCP_FLAG_LETTERS: &str = "CEUAPRSF";

/// Bits of the TCP flags.
pub mod tcp_flags {
    /// No more data from the sender.
    pub const FIN: u8 = 0x01;
    /// Synchronize sequence numbers.
    pub const SYN: u8 = 0x02;
    /// Reset.
    pub const RST: u8 = 0x04;
    /// Push.
    pub const PSH: u8 = 0x08;
    /// The acknowledgment number counts.
    pub const ACK: u8 = 0x10;
}

/// UDP ports that the project knows.
pub mod port {
    /// VXLAN (RFC 7348).
    pub const VXLAN: u16 = 4789;
    /// Reconfiguration packets, which no port may accept.
    pub const RECONFIGURATION: u16 = 0xf1f2;
}
