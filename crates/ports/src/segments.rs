//! Large TCP and UDP packets of a host that leaves cutting them to its interface, cut.
//!
//! Each segment gets the headers, with its own lengths, number and checksums; flags that are said once stay in the first or
//! the last.

use crate::checksum;
use std::ops::Range;

const TCP_FIN: u8 = 0x01;
const TCP_PSH: u8 = 0x08;
const TCP_CWR: u8 = 0x80;
/// Kinds in `struct virtio_net_hdr`; the highest bit says that CWR is set.
const KIND_TCP4: u8 = 1;
const KIND_TCP6: u8 = 4;
const KIND_UDP: u8 = 5;

/// A large packet, and how much of it is cut.
#[derive(Debug, Default)]
pub(crate) struct Segments {
    frame: Vec<u8>,
    /// Where IP and TCP or UDP begin, and the payload.
    ip: usize,
    transport: usize,
    payload: usize,
    is_tcp: bool,
    /// Bytes of payload in each segment but the last.
    size: usize,
    next: Range<usize>,
    number: u16,
    segment: Vec<u8>,
}

impl Segments {
    /// Whether there is nothing left.
    pub fn is_empty(&self) -> bool {
        self.next.is_empty()
    }

    /// Takes a packet that the kernel says is of this kind, with segments of this size, and whose checksum begins at
    /// `transport`; whether it is one that can be cut.
    pub fn take(&mut self, frame: &[u8], kind: u8, size: usize, transport: usize) -> bool {
        self.next = 0..0;
        let kind = kind & 0x7f;
        let ip = match checksum::network(frame) {
            Some((ip, 0x0800)) if kind == KIND_TCP4 || kind == KIND_UDP => ip,
            Some((ip, 0x86dd)) if kind == KIND_TCP6 || kind == KIND_UDP => ip,
            _ => return false,
        };
        let is_tcp = kind != KIND_UDP;
        let header = match (is_tcp, frame.get(transport + 12)) {
            (true, Some(offset)) => usize::from(offset >> 4) * 4,
            (false, _) => 8,
            (true, None) => return false,
        };
        let payload = transport + header;
        if transport < ip + 20 || size == 0 || header < 8 || is_tcp && header < 20 || payload >= frame.len() {
            return false;
        }
        self.frame.clear();
        self.frame.extend_from_slice(frame);
        (self.ip, self.transport, self.payload, self.is_tcp, self.size) = (ip, transport, payload, is_tcp, size);
        (self.next, self.number) = (payload..frame.len(), 0);
        true
    }

    /// The next segment.
    pub fn cut(&mut self) -> Option<&mut [u8]> {
        if self.next.is_empty() {
            return None;
        }
        let (begin, end) = (self.next.start, self.next.end.min(self.next.start + self.size));
        let (is_first, is_last) = (begin == self.payload, end == self.next.end);
        self.next.start = end;
        let (ip, transport) = (self.ip, self.transport);
        let out = &mut self.segment;
        out.clear();
        out.extend_from_slice(&self.frame[..self.payload]);
        out.extend_from_slice(&self.frame[begin..end]);
        let put = |out: &mut [u8], at: usize, value: u16| out[at..at + 2].copy_from_slice(&value.to_be_bytes());
        let get = |out: &[u8], at: usize| u16::from_be_bytes([out[at], out[at + 1]]);
        let behind = (out.len() - ip) as u16;
        if out[ip] >> 4 == 4 {
            put(out, ip + 2, behind);
            let id = get(out, ip + 4).wrapping_add(self.number);
            put(out, ip + 4, id);
            put(out, ip + 10, 0);
            let header = ip..ip + usize::from(out[ip] & 15) * 4;
            let value = checksum::of(&out[header]);
            put(out, ip + 10, value);
        } else {
            put(out, ip + 4, behind - 40);
        }
        if self.is_tcp {
            let at = transport + 4;
            let sequence = u32::from_be_bytes([out[at], out[at + 1], out[at + 2], out[at + 3]]);
            let sequence = sequence.wrapping_add((begin - self.payload) as u32);
            out[at..at + 4].copy_from_slice(&sequence.to_be_bytes());
            let flags = &mut out[transport + 13];
            *flags &= if is_last { 0xff } else { !(TCP_FIN | TCP_PSH) };
            *flags &= if is_first { 0xff } else { !TCP_CWR };
        } else {
            let length = (out.len() - transport) as u16;
            put(out, transport + 4, length);
        }
        checksum::fill(out);
        self.number = self.number.wrapping_add(1);
        Some(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_packet::notation::packet;

    fn whole(text: &str) -> Vec<u8> {
        let mut frame = packet(text).unwrap();
        checksum::fill(&mut frame);
        frame
    }

    /// The segments of a packet.
    fn cut(frame: &[u8], kind: u8, size: usize, transport: usize) -> Vec<Vec<u8>> {
        let mut segments = Segments::default();
        assert!(segments.take(frame, kind, size, transport));
        let mut out = Vec::new();
        while let Some(segment) = segments.cut() {
            out.push(segment.to_vec());
        }
        assert!(segments.is_empty());
        out
    }

    #[test]
    fn tcp_segments_are_whole_packets_with_the_bytes_in_order() {
        for (text, kind, ip, transport) in [
            ("eth/ipv4/tcp/payload(len=5000, seed=1)", KIND_TCP4, 14, 34),
            ("eth/vlan(vid=3)/ipv4/tcp/payload(len=4344, seed=2)", KIND_TCP4 | 0x80, 18, 38),
            ("eth/ipv6/tcp/payload(len=2001, seed=3)", KIND_TCP6, 14, 54),
        ] {
            let mut frame = whole(text);
            frame[transport + 13] |= TCP_FIN | TCP_PSH | TCP_CWR;
            frame[transport + 4..transport + 8].copy_from_slice(&0xffff_fff0u32.to_be_bytes());
            let payload = transport + 20;
            let segments = cut(&frame, kind, 1448, transport);
            assert_eq!(segments.len(), (frame.len() - payload).div_ceil(1448), "{text}");
            let mut bytes = Vec::new();
            for (n, segment) in segments.iter().enumerate() {
                let (first, last) = (n == 0, n + 1 == segments.len());
                let sequence = u32::from_be_bytes(segment[transport + 4..transport + 8].try_into().unwrap());
                assert_eq!(sequence, 0xffff_fff0u32.wrapping_add(bytes.len() as u32), "{text}: segment {n}");
                let flags = segment[transport + 13];
                assert_eq!((flags & TCP_CWR != 0, flags & TCP_FIN != 0, flags & TCP_PSH != 0), (first, last, last));
                assert!(checksum::holds(segment), "{text}: segment {n}");
                if kind & 0x7f == KIND_TCP4 {
                    assert_eq!(checksum::of(&segment[ip..ip + 20]), 0, "{text}: IP of segment {n}");
                    assert_eq!(segment[ip + 5], frame[ip + 5].wrapping_add(n as u8), "{text}: number");
                }
                assert_eq!(segment[..12], frame[..12]);
                bytes.extend_from_slice(&segment[payload..]);
            }
            assert_eq!(bytes, frame[payload..], "{text}");
        }
    }

    #[test]
    fn udp_segments_have_their_own_lengths() {
        let frame = whole("eth/ipv4/udp/payload(len=2500, seed=4)");
        let segments = cut(&frame, KIND_UDP, 1000, 34);
        let lengths: Vec<_> = segments.iter().map(|s| u16::from_be_bytes([s[38], s[39]])).collect();
        assert_eq!(lengths, [1008, 1008, 508]);
        assert!(segments.iter().all(|s| checksum::holds(s)));
        assert_eq!(segments.iter().flat_map(|s| &s[42..]).copied().collect::<Vec<_>>(), frame[42..]);
    }

    #[test]
    fn what_is_no_such_packet_is_refused() {
        let frame = whole("eth/ipv4/tcp/payload(len=3000, seed=5)");
        let mut segments = Segments::default();
        for (kind, size, transport) in [
            (KIND_TCP6, 1000, 34),
            (0, 1000, 34),
            (3, 1000, 34),
            (KIND_TCP4, 0, 34),
            (KIND_TCP4, 1000, 20),
            (KIND_TCP4, 1000, 9000),
        ] {
            assert!(!segments.take(&frame, kind, size, transport), "{kind} {size} {transport}");
            assert!(segments.is_empty() && segments.cut().is_none());
        }
        assert!(!segments.take(&frame[..54], KIND_TCP4, 1000, 34), "no payload");
    }
}
