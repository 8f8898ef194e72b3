//! Rates of reading and writing captures, and of making and printing packets.

use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};
use sluice_packet::capture::{CaptureReader, CaptureWriter, Format, Packet, ReadOptions};
use sluice_packet::generate::{Generator, Sizes, Traffic, mixed_capture};
use sluice_packet::notation::{packet, print_packet};

fn main() {
    divan::main();
}

const PACKETS: usize = 20_000;

fn packets(size: usize) -> Vec<Packet> {
    let traffic = Traffic { sizes: Sizes::Fixed(size), ..Traffic::default() };
    let generator = Generator::new(1, traffic).expect("such traffic can be made");
    generator.take(PACKETS).map(|g| g.packet).collect()
}

fn written(format: Format, size: usize) -> Vec<u8> {
    let mut writer = CaptureWriter::new("bench", Vec::new(), format, &[]).expect("memory can be written");
    for packet in packets(size) {
        writer.write(&packet).expect("memory can be written");
    }
    writer.into_inner().expect("memory can be written")
}

fn read(bencher: Bencher<'_, '_>, format: Format, size: usize) {
    let file = written(format, size);
    bencher.counter(ItemsCount::new(PACKETS)).counter(BytesCount::new(file.len())).bench(|| {
        let mut reader =
            CaptureReader::new("bench", black_box(&file[..]), ReadOptions::default()).expect("it was just written");
        let mut packet = Packet::default();
        while reader.read(&mut packet).expect("it was just written") {
            black_box(&packet);
        }
        assert_eq!(reader.packets(), PACKETS as u64);
    });
}

#[divan::bench(args = [60, 1514])]
fn read_pcap(bencher: Bencher<'_, '_>, size: usize) {
    read(bencher, Format::Pcap, size);
}

#[divan::bench(args = [60, 1514])]
fn read_pcapng(bencher: Bencher<'_, '_>, size: usize) {
    read(bencher, Format::PcapNg, size);
}

#[divan::bench(args = [60, 1514])]
fn write_pcap(bencher: Bencher<'_, '_>, size: usize) {
    let packets = packets(size);
    let len = written(Format::Pcap, size).len();
    bencher.counter(ItemsCount::new(PACKETS)).bench(|| {
        let mut writer =
            CaptureWriter::new("bench", Vec::with_capacity(len), Format::Pcap, &[]).expect("memory can be written");
        for packet in &packets {
            writer.write(black_box(packet)).expect("memory can be written");
        }
        writer.into_inner().map(|file| file.len()).expect("memory can be written")
    });
}

#[divan::bench]
fn generate_imix(bencher: Bencher<'_, '_>) {
    let traffic = Traffic { sizes: Sizes::Imix, flows: 100, ..Traffic::default() };
    bencher.counter(ItemsCount::new(1_000usize)).bench(|| {
        let generator = Generator::new(1, traffic.clone()).expect("such traffic can be made");
        generator.take(1_000).map(|g| g.packet.bytes.len()).sum::<usize>()
    });
}

#[divan::bench]
fn make_mixed_capture(bencher: Bencher<'_, '_>) {
    bencher.counter(ItemsCount::new(4_000usize)).bench(|| mixed_capture(1, &[10, 20, 30], 4_000));
}

const TEXT: &str = "eth/vlan(vid=7)/ipv4(dst=10.1.2.3, ttl=1)/udp(dport=53)/payload(len=100, seed=3)";

#[divan::bench]
fn parse_notation() -> Vec<u8> {
    packet(black_box(TEXT)).expect("the text is right")
}

#[divan::bench]
fn print_notation(bencher: Bencher<'_, '_>) {
    let bytes = packet(TEXT).expect("the text is right");
    bencher.bench(|| print_packet(black_box(&bytes)));
}
