//! Devices that misbehave are noticed, and the exit code says so.

use super::*;
use crate::run::assign::Input;
use crate::run::bring_up;
use crate::run::pace::Pace;
use sluice_device::Capabilities;
use sluice_formats::{Node, Table};
use sluice_nic::SoftwareNic;
use sluice_object::Load;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What is wrong with the device.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    /// One packet that came out is not reported.
    SwallowsAnOutcome,
    /// It stops with the words of a comparison.
    Differs,
}

struct Faulty {
    inner: SoftwareNic,
    fault: Fault,
}

impl Device for Faulty {
    fn capabilities(&self) -> &Capabilities {
        self.inner.capabilities()
    }
    fn submit(&mut self, load: &Load) -> Result<OpId, DeviceError> {
        self.inner.submit(load)
    }
    fn offer(&mut self, packets: &[Offer]) -> Result<(), DeviceError> {
        self.inner.offer(packets)
    }
    fn now(&self) -> u64 {
        self.inner.now()
    }
    fn advance(&mut self, ticks: u64) -> Result<(), DeviceError> {
        self.inner.advance(ticks)
    }
    fn poll(&mut self, max: usize) -> Vec<Event> {
        let mut events = self.inner.poll(max);
        let outcome = events.iter().position(|e| matches!(e, Event::Outcome(_)));
        if let (Some(at), Fault::SwallowsAnOutcome) = (outcome, self.fault) {
            events.remove(at);
            self.fault = Fault::None;
        }
        events
    }
    fn set_blocked(&mut self, destination: u8, blocked: bool) -> Result<(), DeviceError> {
        self.inner.set_blocked(destination, blocked)
    }
    fn quiesce(&mut self) -> Result<(), DeviceError> {
        match self.fault {
            Fault::Differs => Err(DeviceError::Unavailable("RTL and model differ at tick 7".to_owned())),
            _ => self.inner.quiesce(),
        }
    }
    fn counters(&mut self) -> Result<Counters, DeviceError> {
        self.inner.counters()
    }
    fn read_row(&mut self, node: Node, table: Table, index: u32) -> Result<Vec<u32>, DeviceError> {
        self.inner.read_row(node, table, index)
    }
}

fn play(fault: Fault) -> Result<Played, Failure> {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/nic");
    let nic = bring_up::read(&programs.join("nic.toml"), None, None, None)?;
    let mut device = Faulty { inner: SoftwareNic::new(*nic.target), fault: Fault::None };
    let mut linker = nic.start(&mut device)?;
    device.fault = fault;
    let file: PathBuf = programs.join("mixed.pcapng");
    let mut source = Source::open(&[Input { port: None, file }], nic.target)?;
    Play {
        clock: Clock::new(Pace::Line(25e9), nic.target.ports as usize, device.now()),
        device: &mut device,
        linker: &mut linker,
        limit: 300,
        changes: Vec::new(),
        sinks: &mut Sinks::default(),
        progress: &Progress::new("test", None),
        host: &mut Host::default(),
    }
    .run(&mut source)
}

#[test]
fn a_good_device_closes_its_account() {
    let played = play(Fault::None).unwrap();
    assert_eq!((played.open_account, played.offered), (None, 300));
}

#[test]
fn a_packet_that_is_counted_and_never_comes_out_opens_the_account() {
    let open = play(Fault::SwallowsAnOutcome).unwrap().open_account.unwrap();
    assert!(open.contains("seen were"), "{open}");
}

#[test]
fn a_difference_is_a_failure_with_exit_code_1() {
    let failure = play(Fault::Differs).err().unwrap();
    assert_eq!(failure.exit(), ExitCode::from(1));
    let text = failure.to_string();
    assert!(text.contains("error[E0505]: RTL and model differ at tick 7"), "{text}");
}
