//! What hosts talk about: one function a kind of conversation.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::site::{Host, MTU, Talk, udp};
use crate::headers::{port, tcp_flags::*};
use crate::layers::{LayerKind, PacketSpec};
use crate::mac::MacAddr;

/// A kind of conversation.
pub(super) struct Conversation {
    /// How often it is held, relative to the others.
    pub weight: u64,
    /// Holds it.
    pub hold: fn(&mut Talk<'_>),
}

/// Every kind, in the order in which they are held first.
pub(super) const ALL: [Conversation; 14] = [
    Conversation { weight: 1, hold: dhcp },
    Conversation { weight: 4, hold: arp },
    Conversation { weight: 8, hold: dns },
    Conversation { weight: 8, hold: http },
    Conversation { weight: 7, hold: tls },
    Conversation { weight: 4, hold: ping },
    Conversation { weight: 3, hold: neighbours },
    Conversation { weight: 2, hold: ping6 },
    Conversation { weight: 3, hold: multicast_dns },
    Conversation { weight: 2, hold: ntp },
    Conversation { weight: 3, hold: vxlan },
    Conversation { weight: 1, hold: ip_in_ip },
    Conversation { weight: 2, hold: fragments },
    Conversation { weight: 1, hold: fragments6 },
];

const NAMES: [&str; 6] = ["www", "api", "db", "cache", "mail", "build"];

/// Discover, offer, request, acknowledge.
fn dhcp(talk: &mut Talk<'_>) {
    let (server, client) = (talk.site.host(2), talk.client());
    let transaction = talk.rng.next_u32();
    for (message, from_client) in [(1u8, true), (2, false), (3, true), (5, false)] {
        let mut body = vec![if from_client { 1 } else { 2 }, 1, 6, 0];
        body.extend(transaction.to_be_bytes());
        body.extend([0; 8]);
        let offered = if from_client { Ipv4Addr::UNSPECIFIED } else { client.v4 };
        body.extend(offered.octets());
        body.extend(if from_client { [0; 4] } else { server.v4.octets() });
        body.extend([0; 4]);
        body.extend(client.mac.0);
        // Rest of the hardware address, server name and boot file are empty.
        body.resize(236, 0);
        body.extend([0x63, 0x82, 0x53, 0x63, 53, 1, message]);
        if message != 1 {
            body.extend([54, 4]);
            body.extend(server.v4.octets());
        }
        body.push(255);
        let (src, dst, source) = if from_client {
            (client.mac, MacAddr::BROADCAST, Ipv4Addr::UNSPECIFIED)
        } else {
            (server.mac, client.mac, server.v4)
        };
        let to = if from_client { Ipv4Addr::BROADCAST } else { client.v4 };
        let ip = talk.frame(src, dst).layer(LayerKind::Ipv4);
        let ip = ip.with("src", source).with("dst", to);
        let (sport, dport) = if from_client { (68, 67) } else { (67, 68) };
        talk.send(udp(ip, sport, dport).payload(body));
        talk.turn();
    }
}

/// Who has the gateway's address?
fn arp(talk: &mut Talk<'_>) {
    let (gateway, client) = (talk.gateway(), talk.client());
    let request = talk.frame(client.mac, MacAddr::BROADCAST).layer(LayerKind::Arp);
    talk.send(request.with("sha", client.mac).with("spa", client.v4).with("tpa", gateway.v4));
    talk.turn();
    let reply = talk.frame(gateway.mac, client.mac).layer(LayerKind::Arp).with("op", 2u16);
    let reply = reply.with("sha", gateway.mac).with("spa", gateway.v4);
    talk.send(reply.with("tha", client.mac).with("tpa", client.v4));
}

/// A question and its answer in the wire format of RFC 1035.
fn dns_message(id: u16, name: &[&str], answer: Option<Ipv4Addr>, multicast: bool) -> Vec<u8> {
    let flags: u16 = match (answer, multicast) {
        (None, false) => 0x0100,
        (None, true) => 0,
        (Some(_), false) => 0x8180,
        (Some(_), true) => 0x8400,
    };
    let mut message = Vec::new();
    for word in [id, flags, 1, u16::from(answer.is_some()), 0, 0] {
        message.extend(word.to_be_bytes());
    }
    for label in name {
        message.push(label.len() as u8);
        message.extend(label.as_bytes());
    }
    message.extend([0, 0, 1, 0, 1]);
    if let Some(address) = answer {
        message.extend([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4]);
        message.extend(address.octets());
    }
    message
}

fn dns(talk: &mut Talk<'_>) {
    let (server, client) = (talk.site.host(2), talk.client());
    let (id, from) = (talk.rng.next_u32() as u16, talk.port());
    let name = [NAMES[talk.rng.index(NAMES.len())], "example", "net"];
    let ask = udp(talk.v4(client, server), from, 53);
    talk.send(ask.payload(dns_message(id, &name, None, false)));
    talk.turn();
    let answer = Some(talk.site.host(3).v4);
    let reply = udp(talk.v4(server, client), 53, from);
    talk.send(reply.payload(dns_message(id, &name, answer, false)));
}

/// One TCP connection, from its handshake to its end.
struct Connection {
    client: Host,
    server: Host,
    ports: (u16, u16),
    /// Next sequence numbers of client and server.
    seq: (u32, u32),
}

/// MSS 1460, SACK permitted, timestamps, window scale 7, as Linux sends them.
fn syn_options(now: u32) -> Vec<u8> {
    let mut options = vec![2, 4, 0x05, 0xb4, 4, 2, 8, 10];
    options.extend(now.to_be_bytes());
    options.extend([0, 0, 0, 0, 1, 3, 3, 7]);
    options
}

impl Connection {
    fn open(talk: &mut Talk<'_>, client: Host, server: Host, dport: u16) -> Connection {
        let mut connection =
            Connection { client, server, ports: (talk.port(), dport), seq: (talk.rng.next_u32(), talk.rng.next_u32()) };
        let clock = talk.rng.next_u32();
        let syn = connection.header(talk, true, SYN).options(&syn_options(clock));
        talk.send(syn.with("ack", 0u32));
        connection.seq.0 = connection.seq.0.wrapping_add(1);
        talk.turn();
        let both = connection.header(talk, false, SYN | ACK).options(&syn_options(clock));
        talk.send(both);
        connection.seq.1 = connection.seq.1.wrapping_add(1);
        talk.turn();
        connection.ack(talk, true);
        connection
    }

    fn header(&self, talk: &mut Talk<'_>, from_client: bool, flags: u8) -> PacketSpec {
        let (src, dst, ports, seq) = if from_client {
            (self.client, self.server, self.ports, self.seq)
        } else {
            let (ports, seq) = (self.ports, self.seq);
            (self.server, self.client, (ports.1, ports.0), (seq.1, seq.0))
        };
        let ip = talk.v4(src, dst).with("df", true);
        let tcp = ip.layer(LayerKind::Tcp).with("sport", ports.0).with("dport", ports.1);
        tcp.with("seq", seq.0).with("ack", seq.1).with("flags", flags)
    }

    fn ack(&self, talk: &mut Talk<'_>, from_client: bool) {
        let packet = self.header(talk, from_client, ACK);
        talk.send(packet);
    }

    /// Sends `data` in segments; the other side acknowledges every second one and the last.
    fn data(&mut self, talk: &mut Talk<'_>, from_client: bool, data: &[u8]) {
        let segments = data.chunks(MTU - 40);
        let last = segments.len().saturating_sub(1);
        for (index, segment) in segments.enumerate() {
            let flags = if index == last { ACK | PSH } else { ACK };
            let packet = self.header(talk, from_client, flags).payload(segment.to_vec());
            talk.send(packet);
            let seq = if from_client { &mut self.seq.0 } else { &mut self.seq.1 };
            *seq = seq.wrapping_add(segment.len() as u32);
            if index % 2 == 1 || index == last {
                talk.wait(10, 60);
                self.ack(talk, !from_client);
            }
        }
    }

    fn close(mut self, talk: &mut Talk<'_>) {
        let fin = self.header(talk, true, FIN | ACK);
        talk.send(fin);
        self.seq.0 = self.seq.0.wrapping_add(1);
        talk.turn();
        let fin = self.header(talk, false, FIN | ACK);
        talk.send(fin);
        self.seq.1 = self.seq.1.wrapping_add(1);
        talk.turn();
        self.ack(talk, true);
    }
}

fn http(talk: &mut Talk<'_>) {
    let (server, client) = (talk.site.host(3), talk.client());
    let mut connection = Connection::open(talk, client, server, 80);
    for _ in 0..talk.rng.range(1, 3) {
        let name = NAMES[talk.rng.index(NAMES.len())];
        let page = talk.rng.below(1000);
        let request = format!("GET /{name}/{page} HTTP/1.1\r\nHost: {name}.example.net\r\nAccept: */*\r\n\r\n");
        talk.turn();
        connection.data(talk, true, request.as_bytes());
        let len = talk.rng.range(80, 9_000) as usize;
        let mut response =
            format!("HTTP/1.1 200 OK\r\nServer: example\r\nContent-Type: text/plain\r\nContent-Length: {len}\r\n\r\n")
                .into_bytes();
        response.extend((0..len).map(|n| b'a' + (n % 26) as u8));
        talk.turn();
        connection.data(talk, false, &response);
    }
    talk.turn();
    connection.close(talk);
}

/// A TLS record: type, version 1.2 as TLS 1.3 writes it, and random bytes as ciphertext.
fn record(talk: &mut Talk<'_>, kind: u8, len: u64) -> Vec<u8> {
    let mut record = vec![kind, 3, 3];
    record.extend((len as u16).to_be_bytes());
    record.extend(talk.rng.bytes(len as usize));
    record
}

fn tls(talk: &mut Talk<'_>) {
    let (server, client) = (talk.site.host(4), talk.client());
    let mut connection = Connection::open(talk, client, server, 443);
    let mut hello = record(talk, 22, 512);
    hello[5..9].copy_from_slice(&[1, 0, 1, 0xfc]);
    connection.data(talk, true, &hello);
    let mut answer = record(talk, 22, 122);
    answer[5..9].copy_from_slice(&[2, 0, 0, 118]);
    answer.extend([20, 3, 3, 0, 1, 1]);
    let certificate = talk.rng.range(2_000, 4_000);
    answer.extend(record(talk, 23, certificate));
    talk.turn();
    connection.data(talk, false, &answer);
    let mut finished = vec![20, 3, 3, 0, 1, 1];
    finished.extend(record(talk, 23, 53));
    talk.turn();
    connection.data(talk, true, &finished);
    for _ in 0..talk.rng.range(1, 4) {
        let (up, down) = (talk.rng.range(60, 900), talk.rng.range(200, 8_000));
        let request = record(talk, 23, up);
        talk.turn();
        connection.data(talk, true, &request);
        let response = record(talk, 23, down);
        talk.turn();
        connection.data(talk, false, &response);
    }
    connection.close(talk);
}

fn echo(spec: PacketSpec, kind: LayerKind, request: bool, id: u16, seq: u16) -> PacketSpec {
    let number: u8 = match (kind, request) {
        (LayerKind::Icmp, true) => 8,
        (LayerKind::Icmp, false) => 0,
        (_, true) => 128,
        (_, false) => 129,
    };
    let spec = spec.layer(kind).with("type", number);
    spec.with("id", id).with("seq", seq).payload((0x10..0x48).collect())
}

fn ping(talk: &mut Talk<'_>) {
    let (gateway, client) = (talk.gateway(), talk.client());
    let id = talk.rng.next_u32() as u16;
    for seq in 1..=talk.rng.range(1, 4) as u16 {
        let ask = talk.v4(client, gateway).with("df", true);
        talk.send(echo(ask, LayerKind::Icmp, true, id, seq));
        talk.turn();
        let reply = talk.v4(gateway, client);
        talk.send(echo(reply, LayerKind::Icmp, false, id, seq));
        talk.wait(1_000, 2_000);
    }
}

fn ping6(talk: &mut Talk<'_>) {
    let (gateway, client) = (talk.gateway(), talk.client());
    let id = talk.rng.next_u32() as u16;
    let ask = talk.v6(client, gateway);
    talk.send(echo(ask, LayerKind::Icmp6, true, id, 1));
    talk.turn();
    let reply = talk.v6(gateway, client);
    talk.send(echo(reply, LayerKind::Icmp6, false, id, 1));
}

/// Neighbour solicitation to the solicited-node group, and the advertisement.
fn neighbours(talk: &mut Talk<'_>) {
    let (gateway, client) = (talk.gateway(), talk.client());
    let [.., a, b, c] = gateway.v6.octets();
    let group = Ipv6Addr::from([0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, a, b, c]);
    let ask = talk.frame(client.mac, MacAddr::ipv6_multicast(group)).layer(LayerKind::Ipv6);
    let ask = ask.with("src", client.v6).with("dst", group).with("hops", 255u8);
    let mut body = gateway.v6.octets().to_vec();
    body.extend([1, 1]);
    body.extend(client.mac.0);
    talk.send(ask.layer(LayerKind::Icmp6).with("type", 135u8).payload(body));
    talk.turn();
    let mut body = gateway.v6.octets().to_vec();
    body.extend([2, 1]);
    body.extend(gateway.mac.0);
    let reply = talk.v6(gateway, client).with("hops", 255u8).with("flow", 0u32);
    // Solicited and override: the top bits of what echo calls the identifier.
    let reply = reply.layer(LayerKind::Icmp6).with("type", 136u8).with("id", 0x6000u16);
    talk.send(reply.payload(body));
}

fn multicast_dns(talk: &mut Talk<'_>) {
    let (asker, owner) = (talk.client(), talk.client());
    let group = Ipv4Addr::new(224, 0, 0, 251);
    let name = [NAMES[talk.rng.index(NAMES.len())], "local"];
    for (host, answer) in [(asker, None), (owner, Some(owner.v4))] {
        let frame = talk.frame(host.mac, MacAddr::ipv4_multicast(group));
        let ip = frame.layer(LayerKind::Ipv4).with("src", host.v4).with("dst", group);
        let packet = udp(ip.with("ttl", 255u8), 5353, 5353);
        talk.send(packet.payload(dns_message(0, &name, answer, true)));
        talk.turn();
    }
}

fn ntp(talk: &mut Talk<'_>) {
    let (gateway, client) = (talk.gateway(), talk.client());
    let from = talk.port();
    for (src, dst, ports, mode) in [(client, gateway, (from, 123), 0x23u8), (gateway, client, (123, from), 0x24)] {
        let mut body = vec![mode, 2, 6, 0xec];
        body.extend(talk.rng.bytes(44));
        let packet = udp(talk.v4(src, dst), ports.0, ports.1);
        talk.send(packet.payload(body));
        talk.turn();
    }
}

/// Two guests behind two tunnel ends: the outer addresses are the servers', the port a hash.
fn vxlan(talk: &mut Talk<'_>) {
    let ends = (talk.site.host(3), talk.site.host(4));
    let network = talk.rng.range(1, 0xff_ffff) as u32;
    let (a, b) = (MacAddr::local(0x00aa_0001), MacAddr::local(0x00aa_0002));
    let guests = (Ipv4Addr::new(192, 168, 1, 1), Ipv4Addr::new(192, 168, 1, 2));
    for request in [true, false] {
        let (from, to) = if request { ends } else { (ends.1, ends.0) };
        let (src, dst) = if request { (a, b) } else { (b, a) };
        let (inner_src, inner_dst) = if request { guests } else { (guests.1, guests.0) };
        let hash = talk.port();
        let outer = udp(talk.v4(from, to), hash, port::VXLAN).with("csum", 0u16);
        let inner = outer.layer(LayerKind::Vxlan).with("vni", network).layer(LayerKind::Eth);
        let inner = inner.with("src", src).with("dst", dst).layer(LayerKind::Ipv4);
        let inner = inner.with("src", inner_src).with("dst", inner_dst);
        let packet = if talk.rng.chance(1, 2) {
            echo(inner, LayerKind::Icmp, request, 7, 1)
        } else {
            let body = talk.rng.range(20, 800) as usize;
            udp(inner, 7000, 7001).payload(talk.rng.bytes(body))
        };
        talk.send(packet);
        talk.turn();
    }
}

fn ip_in_ip(talk: &mut Talk<'_>) {
    let (from, to) = (talk.site.host(3), talk.site.host(4));
    let body = talk.rng.range(20, 400) as usize;
    let outer = talk.v4(from, to).layer(LayerKind::Ipv4);
    let inner = outer.with("src", Ipv4Addr::new(192, 168, 2, 1)).with("dst", Ipv4Addr::new(192, 168, 2, 2));
    let packet = udp(inner, 7100, 7101).payload(talk.rng.bytes(body));
    talk.send(packet);
}

/// One UDP datagram too large for a packet: its transport bytes are built whole, so that the
/// checksum is the datagram's, and then cut.
fn datagram(headers: PacketSpec, transport_at: usize, body: Vec<u8>) -> Vec<u8> {
    let whole = udp(headers, 9000, 9001).payload(body).build().unwrap_or_default();
    whole.get(transport_at..).unwrap_or_default().to_vec()
}

fn fragments(talk: &mut Talk<'_>) {
    let (from, to) = (talk.client(), talk.site.host(4));
    let len = talk.rng.range(2_000, 4_500) as usize;
    let body = talk.rng.bytes(len);
    let id = talk.rng.next_u32() as u16;
    let header = talk.v4(from, to);
    let transport = datagram(header, 14 + 4 + 20, body);
    // Fragments but the last hold a multiple of 8 bytes.
    let step = (MTU - 20) / 8 * 8;
    let pieces = transport.chunks(step);
    let last = pieces.len() - 1;
    for (index, piece) in pieces.enumerate() {
        let packet = talk.v4(from, to).with("id", id).with("proto", 17u8);
        let packet = packet.with("frag", (index * step / 8) as u16).with("mf", index < last);
        talk.send(packet.payload(piece.to_vec()));
    }
}

fn fragments6(talk: &mut Talk<'_>) {
    let (from, to) = (talk.client(), talk.site.host(4));
    let len = talk.rng.range(2_000, 4_000) as usize;
    let body = talk.rng.bytes(len);
    let id = talk.rng.next_u32();
    let header = talk.v6(from, to);
    let transport = datagram(header, 14 + 4 + 40, body);
    let step = (MTU - 48) / 8 * 8;
    let pieces = transport.chunks(step);
    let last = pieces.len() - 1;
    for (index, piece) in pieces.enumerate() {
        let packet = talk.v6(from, to).layer(LayerKind::Fragment).with("next", 17u8);
        let packet = packet.with("off", (index * step / 8) as u16).with("more", index < last);
        talk.send(packet.with("id", id).payload(piece.to_vec()));
    }
}
