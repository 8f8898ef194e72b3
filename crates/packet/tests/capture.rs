//! Captures: files made by hand, both ways, and what is refused.

use sluice_packet::capture::{
    CaptureError, CaptureReader, CaptureWriter, Format, Packet, ReadOptions, read_all, write_all,
};

/// Numbers of a file in one byte order.
#[derive(Clone, Copy)]
struct File {
    big: bool,
}

const BOTH: [File; 2] = [File { big: true }, File { big: false }];

impl File {
    fn u16(self, n: u16) -> Vec<u8> {
        if self.big { n.to_be_bytes().to_vec() } else { n.to_le_bytes().to_vec() }
    }

    fn u32(self, n: u32) -> Vec<u8> {
        if self.big { n.to_be_bytes().to_vec() } else { n.to_le_bytes().to_vec() }
    }

    fn u32s(self, numbers: &[u32]) -> Vec<u8> {
        numbers.iter().flat_map(|n| self.u32(*n)).collect()
    }

    fn pcap(self, magic: u32, link: u32) -> Vec<u8> {
        let versions = [self.u16(2), self.u16(4)].concat();
        [self.u32(magic), versions, self.u32s(&[0, 0, 65535, link])].concat()
    }

    fn block(self, kind: u32, body: &[u8]) -> Vec<u8> {
        let mut body = body.to_vec();
        body.resize(body.len().next_multiple_of(4), 0);
        let total = self.u32(body.len() as u32 + 12);
        [self.u32(kind), total.clone(), body, total].concat()
    }

    fn section(self) -> Vec<u8> {
        let body = [self.u32(0x1a2b3c4d), self.u16(1), self.u16(0), vec![0xff; 8]].concat();
        self.block(0x0a0d0d0a, &body)
    }

    fn option(self, code: u16, value: &[u8]) -> Vec<u8> {
        let mut padded = value.to_vec();
        padded.resize(value.len().next_multiple_of(4), 0);
        [self.u16(code), self.u16(value.len() as u16), padded].concat()
    }

    fn interface(self, link: u16, options: &[Vec<u8>]) -> Vec<u8> {
        let body = [self.u16(link), self.u16(0), self.u32(0), options.concat()].concat();
        self.block(1, &body)
    }

    fn enhanced(self, interface: u32, ticks: u64, wire: u32, data: &[u8]) -> Vec<u8> {
        let numbers = [interface, (ticks >> 32) as u32, ticks as u32, data.len() as u32, wire];
        self.block(6, &[self.u32s(&numbers), data.to_vec()].concat())
    }
}

fn read(bytes: &[u8]) -> Result<Vec<Packet>, CaptureError> {
    CaptureReader::new("test", bytes, ReadOptions::default())?.collect()
}

fn error(bytes: &[u8]) -> String {
    read(bytes).expect_err("must be refused").to_string()
}

#[test]
fn pcap_of_both_magics_and_orders_gives_nanoseconds() {
    for file in BOTH {
        for (magic, part, want) in
            [(0xa1b2c3d4u32, 999_999, 3_999_999_000u64), (0xa1b23c4d, 999_999_999, 3_999_999_999)]
        {
            let header = file.pcap(magic, 1);
            let record = [file.u32s(&[3, part, 4, 4]), vec![1, 2, 3, 4]].concat();
            let packets = read(&[header, record.clone(), record].concat()).unwrap();
            assert_eq!(packets, vec![Packet::new(want, vec![1, 2, 3, 4]); 2]);
        }
    }
}

#[test]
fn pcapng_interfaces_keep_their_own_resolution_and_offset() {
    for file in BOTH {
        let offset = if file.big { 2u64.to_be_bytes() } else { 2u64.to_le_bytes() };
        let bytes = [
            file.section(),
            file.interface(1, &[file.option(2, b"left")]),
            file.interface(1, &[file.option(9, &[9])]),
            file.interface(1, &[file.option(9, &[0x8a]), file.option(14, &offset), file.option(0, b"")]),
            // Zone, which is obsolete, and an unknown option do no harm.
            file.interface(1, &[file.option(10, &[0; 4]), file.option(777, b"xyz"), file.option(9, &[0])]),
            file.enhanced(0, 7, 1, &[1]),
            file.enhanced(1, 1 << 33, 2, &[1, 2]),
            file.enhanced(2, 512, 3, &[1, 2, 3]),
            file.enhanced(3, 4, 0, &[]),
        ];
        let mut reader = CaptureReader::new("test", bytes.concat().leak() as &[u8], ReadOptions::default()).unwrap();
        let packets: Vec<Packet> = reader.by_ref().map(Result::unwrap).collect();
        let stamps: Vec<u64> = packets.iter().map(|p| p.stamp).collect();
        assert_eq!(stamps, [7_000, 1 << 33, 2_500_000_000, 4_000_000_000]);
        let interfaces: Vec<u32> = packets.iter().map(|p| p.interface).collect();
        assert_eq!(interfaces, [0, 1, 2, 3]);
        assert_eq!(packets[2].bytes, [1, 2, 3]);
        assert_eq!(reader.interfaces()[0].name, "left");
        assert_eq!(reader.format(), Format::PcapNg);
    }
}

#[test]
fn sections_of_different_byte_order_number_their_interfaces_on() {
    let [big, little] = BOTH;
    let bytes = [
        little.section(),
        little.interface(1, &[]),
        little.enhanced(0, 1, 1, &[1]),
        big.section(),
        big.interface(1, &[]),
        big.enhanced(0, 2, 1, &[2]),
    ];
    let packets = read(&bytes.concat()).unwrap();
    assert_eq!((packets[0].interface, packets[1].interface), (0, 1));
    assert_eq!((packets[0].stamp, packets[1].stamp), (1_000, 2_000));
}

#[test]
fn simple_and_obsolete_packets_and_unknown_blocks_are_read() {
    for file in BOTH {
        let obsolete = [file.u16(0), file.u16(9), file.u32s(&[0, 5, 3, 3]), vec![7, 8, 9]].concat();
        let bytes = [
            file.section(),
            file.interface(1, &[]),
            file.block(0xbad, &[1; 100_000]),
            file.block(2, &obsolete),
            // Five bytes and three of padding: no part of the packet.
            file.block(3, &[file.u32(5), vec![1, 2, 3, 4, 5]].concat()),
        ];
        let packets = read(&bytes.concat()).unwrap();
        assert_eq!(packets[0].bytes, [7, 8, 9]);
        assert_eq!(packets[1].bytes, [1, 2, 3, 4, 5]);
        assert_eq!(packets[1].stamp, packets[0].stamp);
    }
}

#[test]
fn other_link_types_are_refused_in_words() {
    let [_, file] = BOTH;
    let text = error(&file.pcap(0xa1b2c3d4, 113));
    assert!(text.contains("link type 113 (LINUX_SLL), allowed is only 1 (ETHERNET)"), "{text}");
    let bytes = [file.section(), file.interface(101, &[]), file.interface(1, &[])].concat();
    // An interface that no packet uses does no harm.
    assert_eq!(read(&[bytes.clone(), file.enhanced(1, 0, 1, &[1])].concat()).unwrap().len(), 1);
    let text = error(&[bytes, file.enhanced(0, 0, 1, &[1])].concat());
    assert!(text.starts_with("[E0153] test: packet 1 at byte 68: link type 101 (RAW)"), "{text}");
}

#[test]
fn truncated_packets_are_refused_unless_allowed_and_then_counted() {
    let [_, file] = BOTH;
    let record = [file.u32s(&[0, 0, 2, 9]), vec![1, 2]].concat();
    let bytes = [file.pcap(0xa1b2c3d4, 1), record].concat();
    let text = error(&bytes);
    assert!(text.starts_with("[E0155] test: packet 1 at byte"), "{text}");
    assert!(text.contains("2 of 9 bytes were captured"), "{text}");
    let options = ReadOptions { allow_truncated: true };
    let mut reader = CaptureReader::new("test", &bytes[..], options).unwrap();
    let packet = reader.next().unwrap().unwrap();
    assert_eq!((packet.bytes.len(), packet.wire_len), (2, 9));
    assert!(packet.is_truncated());
    assert_eq!((reader.packets(), reader.truncated()), (1, 1));
}

#[test]
fn a_frame_check_sequence_that_the_file_announces_is_removed() {
    let [_, file] = BOTH;
    // Two 16-bit words of FCS, marked as valid.
    let header = file.pcap(0xa1b2c3d4, 1 | 1 << 26 | 2 << 28);
    let whole = [file.u32s(&[0, 0, 6, 6]), vec![1, 2, 3, 4, 5, 6]].concat();
    assert_eq!(read(&[header, whole].concat()).unwrap()[0], Packet::new(0, vec![1, 2]));
    let bytes =
        [file.section(), file.interface(1, &[file.option(13, &[32])]), file.enhanced(0, 0, 6, &[1, 2, 3, 4, 5, 6])];
    assert_eq!(read(&bytes.concat()).unwrap()[0], Packet::new(0, vec![1, 2]));
}

#[test]
fn malformed_files_say_what_is_wrong_and_where() {
    let [_, file] = BOTH;
    let head = file.pcap(0xa1b2c3d4, 1);
    let good = [file.u32s(&[0, 0, 2, 2]), vec![1, 2]].concat();
    let ng = [file.section(), file.interface(1, &[])].concat();
    let mut version = head.clone();
    version[4] = 3;
    let mut trailer = [ng.clone(), file.enhanced(0, 0, 1, &[1])].concat();
    *trailer.last_mut().unwrap() = 1;
    let mut magic = file.section();
    magic[8] = 0;
    for (bytes, want) in [
        (vec![], "[E0151] test: at byte 0: the file begins with nothing: it is empty"),
        (b"hello".to_vec(), "[E0151] test: at byte 0: the file begins with 68656c6c"),
        (vec![0x1f, 0x8b, 8, 0], "gzip: decompress it first"),
        (
            head[..20].to_vec(),
            "[E0154] test: at byte 0: the file ends in the file header: 20 bytes are left, 24 are needed",
        ),
        (version, "[E0152] test: at byte 0: pcap version 3.4, expected 2.4"),
        (
            [&head[..], &good, &good[..9]].concat(),
            "[E0154] test: packet 2 at byte 42: the file ends in a record header: 9 bytes are left, 16 are needed",
        ),
        (
            [&head[..], &good[..17]].concat(),
            "[E0154] test: packet 1 at byte 24: the file ends in a packet: 17 bytes are left, 18 are needed",
        ),
        (
            [&head[..], &file.u32s(&[0, 0, u32::MAX, u32::MAX])].concat(),
            "[E0156] test: packet 1 at byte 24: the captured length is 4294967295, expected at most 262144",
        ),
        (
            [&head[..], &file.u32s(&[0, 0, 3, 2])].concat(),
            "[E0156] test: packet 1 at byte 24: the captured length is 3, expected at most the length on the wire, 2",
        ),
        ([&head[..], &file.u32s(&[0, 1_000_000, 0, 0])].concat(), "[E0157]"),
        (
            [&ng[..], &file.enhanced(1, 0, 1, &[1])].concat(),
            "[E0158] test: packet 1 at byte 48: interface 1, described are 1 interfaces",
        ),
        (
            trailer,
            "[E0159] test: packet 1 at byte 48: the block length at the end of the block is 16777252, expected 36",
        ),
        (magic, "[E0159] test: packet 1 at byte 0: the byte-order magic"),
        ([&ng[..], &file.u32s(&[6, 13, 0])].concat(), "the block length is 13, expected a multiple of 4"),
        ([&ng[..], &file.u32s(&[6, 0x7fff_fffc, 0])].concat(), "the block length is 2147483644, expected at most"),
        ([&ng[..], &file.u32s(&[99, 0x7fff_fffc, 0])].concat(), "the file ends in a block: 12 bytes are left"),
        ([&ng[..], &file.block(6, &[0; 16])[..]].concat(), "the length of a packet block is 28, expected at least 32"),
        (
            [&ng[..], &file.block(6, &file.u32s(&[0, 0, 0, 9, 9]))].concat(),
            "the captured length is 9, expected at most the 0 bytes of the block",
        ),
        (
            [file.section(), file.interface(1, &[file.option(9, &[1, 2])])].concat(),
            "the length of if_tsresol is 2, expected 1 bytes",
        ),
        ([file.section(), file.interface(1, &[vec![2, 0, 255, 0]])].concat(), "the length of an option is 255"),
    ] {
        let text = error(&bytes);
        assert!(text.contains(want), "{text}\nexpected {want}");
    }
}

#[test]
fn after_an_error_there_is_nothing_more() {
    let [_, file] = BOTH;
    let bytes = [file.pcap(0xa1b2c3d4, 1), vec![0; 3]].concat();
    let mut reader = CaptureReader::new("test", &bytes[..], ReadOptions::default()).unwrap();
    assert!(reader.next().unwrap().is_err());
    assert!(reader.next().is_none());
}

#[test]
fn both_formats_return_what_was_written_to_the_nanosecond() {
    let folder = tempfile::tempdir().unwrap();
    let packets: Vec<Packet> =
        (0..50u64).map(|n| Packet::new(1_767_225_600_123_456_789 + n * 7, vec![n as u8; n as usize * 31])).collect();
    for name in ["a.pcap", "a.pcapng"] {
        let path = folder.path().join(name);
        write_all(&path, &packets).unwrap();
        assert_eq!(read_all(&path).unwrap(), packets);
        let reader = CaptureReader::open(&path, ReadOptions::default()).unwrap();
        assert_eq!(reader.size(), Some(std::fs::metadata(&path).unwrap().len()));
    }
}

#[test]
fn pcapng_keeps_interfaces_and_truncation_and_pcap_refuses_several() {
    let packet = Packet { stamp: 5, interface: 1, bytes: vec![1, 2, 3], wire_len: 900_000 };
    let names = ["left", "right"];
    let mut writer = CaptureWriter::new("test", Vec::new(), Format::PcapNg, &names).unwrap();
    writer.write(&packet).unwrap();
    let bytes = writer.into_inner().unwrap();
    let options = ReadOptions { allow_truncated: true };
    let mut reader = CaptureReader::new("test", &bytes[..], options).unwrap();
    assert_eq!(reader.next().unwrap().unwrap(), packet);
    assert_eq!(reader.interfaces().iter().map(|i| &i.name[..]).collect::<Vec<_>>(), names);
    let error = CaptureWriter::new("test", Vec::new(), Format::Pcap, &names).err().unwrap();
    assert_eq!(error.code(), "E0161");
}

#[test]
fn what_cannot_be_written_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let error = CaptureWriter::create(&folder.path().join("a.txt"), &[]).err().unwrap();
    assert!(error.to_string().contains("the extension is `txt`, allowed are `pcap` and `pcapng`"));
    let error = CaptureWriter::create(&folder.path().join("no/a.pcap"), &[]).err().unwrap();
    assert_eq!(error.code(), "E0150");
    let mut writer = CaptureWriter::new("test", Vec::new(), Format::Pcap, &[]).unwrap();
    let stamp = (u64::from(u32::MAX) + 1) * 1_000_000_000;
    let error = writer.write(&Packet::new(stamp, vec![])).unwrap_err();
    assert!(error.to_string().contains("[E0161] test: packet 1: the stamp in seconds is 4294967296"), "{error}");
    let error = writer.write(&Packet { interface: 1, ..Packet::default() }).unwrap_err();
    assert_eq!(error.code(), "E0158");
    let error = writer.write(&Packet::new(0, vec![0; 300_000])).unwrap_err();
    assert_eq!(error.code(), "E0156");
    let short = Packet { wire_len: 1, bytes: vec![0; 2], ..Packet::default() };
    assert_eq!(writer.write(&short).unwrap_err().code(), "E0156");
    assert_eq!(writer.packets(), 0);
}
