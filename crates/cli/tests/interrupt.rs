//! Ctrl-C ends a run in order: outputs are whole, the table is printed, the exit code is 130.

mod common;

use common::{Folder, root};
use sluice_packet::capture::{CaptureWriter, Format, read_all};
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// More packets than a pipe holds: when they are written, the run has begun.
const BEGUN: u64 = 2_000;

#[test]
fn ctrl_c_finishes_what_is_in_flight_and_exits_with_130() {
    let folder = Folder::new();
    let mut packets = read_all(&root().join("programs/nic/mixed.pcapng")).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_sluice"))
        .args(["run", "--config", "programs/nic/nic.toml", "--in", "port0=/dev/stdin", "--out", "port1=out.pcapng"])
        .current_dir(folder.path(""))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let stdin = child.stdin.take().unwrap();
    let written = Arc::new(AtomicU64::new(0));
    let count = written.clone();
    // An endless capture: it ends when nobody reads any more.
    let feeder = std::thread::spawn(move || {
        let mut writer = CaptureWriter::new("pipe", stdin, Format::Pcap, &["port0"]).unwrap();
        loop {
            for packet in &mut packets {
                packet.interface = 0;
                if writer.write(packet).is_err() {
                    return writer.packets();
                }
                count.fetch_add(1, Ordering::Relaxed);
            }
        }
    });
    while written.load(Ordering::Relaxed) < BEGUN {
        std::thread::sleep(Duration::from_millis(10));
        assert!(child.try_wait().unwrap().is_none(), "the run ended before it was interrupted");
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let mut table = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_to_string(&mut table).unwrap();
    let messages: Vec<String> = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap).collect();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{messages:?}");
    let fed = feeder.join().unwrap();
    assert!(messages.iter().any(|l| l.contains("ending")), "{messages:?}");
    assert!(table.contains("interrupted") && table.contains("accounting: closed"), "{table}");
    let total = table.lines().find(|l| l.starts_with("total")).unwrap();
    let offered: u64 = total.split_whitespace().nth(1).unwrap().replace(',', "").parse().unwrap();
    assert!(offered > 0 && offered <= fed + 1, "{offered} of {fed}");
    assert!(!read_all(&folder.path("out.pcapng")).unwrap().is_empty());
}
