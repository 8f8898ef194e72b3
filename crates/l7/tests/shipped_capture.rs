//! programs/l7/course_reviews.pcap: `UPDATE_DOCS=1 cargo test -p sluice-l7 --test all shipped_capture::` writes it.

use sluice_formats::l7::qnp::{Header, flag};
use sluice_l7::message::{Addresses, Field, frame, segments};
use sluice_packet::capture::{CaptureWriter, Format, Packet};
use std::path::Path;

/// Reviews that each rule takes and none, one of three packets, an acknowledgement, and what is dropped or no message.
fn frames() -> Vec<Vec<u8>> {
    let reviews = Addresses::to_port(9000);
    let review = |msg_id, student: &str, course: &str, text: usize| {
        let field = |index, value: Vec<u8>| Field { index, value };
        let fields = [field(1, student.into()), field(2, course.into()), field(16, vec![b'.'; text])];
        let header = Header { app_id: 1, msg_type: 1, msg_id, session: 77, ..Header::default() };
        segments(&reviews, header, &fields, 512).expect("it fits")
    };
    let mut all = Vec::new();
    for (msg_id, (student, course, text)) in [
        ("/CA/20240919", "/CS/Networks", 100),
        ("/CA/20230117", "/CS/Math", 20),
        ("/PA/202345", "/CS/Math", 1200),
        ("/CA/2024", "/CS/Math", 0),
    ]
    .into_iter()
    .enumerate()
    {
        all.extend(review(msg_id as u32, student, course, text));
    }
    let header = Header { app_id: 1, msg_len_in_pkts: 1, ..Header::default() };
    all.push(frame(&Addresses::to_port(9001), Header { pkt_flag: flag::ACK, msg_acked_id: 3, ..header }, b""));
    // An index that is not higher, an ID that nobody has, a port that nobody has, and a byte that changed on its way.
    all.push(frame(&reviews, Header { msg_type: 1, ..header }, b"\x02\x01a\x01\x01b"));
    all.push(frame(&reviews, Header { app_id: 9, ..header }, b""));
    all.push(frame(&Addresses::to_port(53), header, b""));
    let mut damaged = all[0].clone();
    damaged[70] ^= 1;
    all.push(damaged);
    all
}

#[test]
fn the_shipped_capture_is_of_these_messages() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/l7/course_reviews.pcap");
    let mut writer = CaptureWriter::new("shipped", Vec::new(), Format::Pcap, &["port0"]).unwrap();
    for (n, frame) in frames().into_iter().enumerate() {
        let stamp = 1_000 * n as u64;
        writer.write(&Packet { stamp, interface: 0, wire_len: frame.len() as u32, bytes: frame }).unwrap();
    }
    let fresh = writer.into_inner().unwrap();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &fresh).unwrap();
    }
    let found = std::fs::read(&path).unwrap_or_default();
    assert!(found == fresh, "stale: UPDATE_DOCS=1 cargo test -p sluice-l7 --test all shipped_capture::");
}
