//! A capture through a pipe never makes the loop of a NIC on live interfaces wait.

use super::*;
use crate::SoftwareNic;
use crate::ports::{Bindings, LiveCounts, run_live};
use sluice_device::Device;
use sluice_formats::target;
use sluice_packet::capture::Format;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

/// What nothing here takes.
const PATIENCE: Duration = Duration::from_secs(10);

fn fifo(folder: &tempfile::TempDir) -> PathBuf {
    let path = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    path
}

/// Stops what would wait for ever, so that a test fails and does not hang.
fn in_time(path: &Path) -> Option<CaptureSource> {
    static BEGUN: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    BEGUN.get_or_init(Instant::now);
    CaptureSource::open(path, || BEGUN.get().is_some_and(|begun| begun.elapsed() > PATIENCE)).unwrap()
}

/// The next frame, or none at the end.
fn awaited(source: &mut CaptureSource) -> Result<Option<Vec<u8>>, PortError> {
    let begun = Instant::now();
    loop {
        let mut came = None;
        match source.receive(1, &mut |bytes| came = Some(bytes.to_vec()))? {
            Some(0) if begun.elapsed() < PATIENCE => std::thread::sleep(Duration::from_millis(1)),
            Some(0) => panic!("nothing comes"),
            _ => return Ok(came),
        }
    }
}

#[test]
fn a_pipe_is_asked_again_until_its_packets_come_and_it_ends() {
    let folder = tempfile::tempdir().unwrap();
    let path = fifo(&folder);
    let mut source = in_time(&path).expect("nobody writes yet, and it is opened");
    let mut nothing = |_: &[u8]| panic!("nobody has written");
    assert_eq!(source.receive(64, &mut nothing).unwrap(), Some(0));
    let mut bytes = CaptureWriter::new("pipe", Vec::new(), Format::Pcap, &["port0"]).unwrap();
    bytes.write(&Packet::new(5, vec![1; 60])).unwrap();
    let mut writer = OpenOptions::new().write(true).open(&path).unwrap();
    writer.write_all(&bytes.into_inner().unwrap()).unwrap();
    assert_eq!(awaited(&mut source).unwrap(), Some(vec![1; 60]));
    assert_eq!(source.receive(64, &mut nothing).unwrap(), Some(0));
    drop(writer);
    assert_eq!(awaited(&mut source).unwrap(), None);
}

#[test]
fn a_pipe_that_holds_no_capture_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = fifo(&folder);
    let mut source = in_time(&path).unwrap();
    OpenOptions::new().write(true).open(&path).unwrap().write_all(&[7; 100]).unwrap();
    let error = awaited(&mut source).unwrap_err();
    assert!(error.to_string().contains("pipe"), "{error}");
}

#[test]
fn the_loop_of_a_nic_goes_on_while_a_pipe_stalls() {
    let folder = tempfile::tempdir().unwrap();
    let source = in_time(&fifo(&folder)).expect("nobody writes, and the NIC begins");
    let mut bindings = Bindings::default();
    bindings.sources.push(Some(Box::new(source)));
    let (mut nic, mut rounds) = (SoftwareNic::new(target::DEFAULT), 0);
    let stop = |_: &mut dyn Device, _: &LiveCounts| {
        rounds += 1;
        rounds > 20
    };
    let begun = Instant::now();
    run_live(&mut nic, &mut bindings, stop).unwrap();
    assert!(rounds > 20 && begun.elapsed() < PATIENCE / 2, "{rounds} rounds in {:?}", begun.elapsed());
}
