//! The match-action pipeline alone, as a device with modules that the linker places.
//!
//! Module m is tenant m with VLAN m, and may send to port 0 and where its programs
//! demand queues. Frames are told without their tag, as the pipeline sees them.
#![allow(dead_code)] // each test uses a part

use sluice_device::run_load::run_load;
use sluice_device::{Device, Offer, Outcome, Verdict};
use sluice_formats::{Reason, Target};
use sluice_frontends::Reading;
use sluice_object::{Destination, Linker, Load, NicSettings, Object, TenantSpec};
use std::collections::BTreeSet;
use std::path::Path;

/// Bytes of a VLAN tag and where it stands.
const TAG: std::ops::Range<usize> = 12..16;

/// A pipeline on a device.
pub struct Pipeline<D> {
    pub nic: D,
    pub linker: Linker,
    pub target: &'static Target,
    /// What happened while loads ran.
    outcomes: Vec<Outcome>,
}

/// A program's text as an object.
pub fn object(text: &str, target: &Target) -> Object {
    let read = sluice_frontends::decode(Path::new("test.rmt"), text.as_bytes(), &Reading::new(target, "test"));
    read.unwrap_or_else(|e| panic!("{e}\n{text}"))
}

impl<D: Device> Pipeline<D> {
    /// A pipeline that takes frames of every length.
    pub fn new(mut nic: D) -> Self {
        let target = Target::by_name(nic.capabilities().target.name).expect("a target has a name");
        let mut linker = Linker::new(target);
        let first = linker.nic(NicSettings::new(target)).expect("these are the defaults");
        let mut outcomes = Vec::new();
        run_load(&mut nic, &first, &mut outcomes).expect("it is taken");
        Self { nic, linker, target, outcomes }
    }

    /// Runs a load.
    pub fn run(&mut self, load: &Load) {
        run_load(&mut self.nic, load, &mut self.outcomes).unwrap_or_else(|e| panic!("{e}"));
    }

    /// Lets the next module in, with room for these objects, and a part of all cells.
    pub fn admit(&mut self, module: u8, rooms: &[&Object], share: u32) {
        let load = self.admission(module, rooms, share);
        self.run(&load);
    }

    /// The load that does so.
    pub fn admission(&mut self, module: u8, rooms: &[&Object], share: u32) -> Load {
        let mut spec = TenantSpec::new(module.into(), format!("tenant{module}"));
        spec.vlans = vec![sluice_object::VlanGrant { port: None, vlan: module.into() }];
        let demanded = rooms.iter().flat_map(|object| object.demands.queues.keys().copied());
        let destinations: BTreeSet<Destination> = demanded.chain([Destination::Port(0)]).collect();
        let cells = self.linker.grantable_cells() / share / destinations.len() as u32;
        spec.queues = destinations.into_iter().map(|d| (d, cells.try_into().expect("16 bits"))).collect();
        rooms.iter().for_each(|object| spec.make_room(object));
        self.linker.admit(spec).unwrap_or_else(|e| panic!("{e}"))
    }

    /// A module's first program.
    pub fn load(&mut self, module: u8, object: &Object) {
        let load = self.linker.load(module.into(), object).unwrap_or_else(|e| panic!("{e}"));
        self.run(&load);
    }

    /// Another program in the place of the one that runs.
    pub fn replacement(&mut self, module: u8, object: &Object) -> Load {
        self.linker.replace(module.into(), object).unwrap_or_else(|e| panic!("{e}"))
    }

    /// Offers frames of modules, not before a tick.
    pub fn offer(&mut self, frames: impl IntoIterator<Item = (u8, Vec<u8>, u64)>) {
        let tagged = |(module, mut bytes, at): (u8, Vec<u8>, u64)| {
            bytes.splice(TAG.start..TAG.start, [0x81, 0, 0, module]);
            Offer { port: 0, bytes, at, bad: false }
        };
        let offers: Vec<Offer> = frames.into_iter().map(tagged).collect();
        self.nic.offer(&offers).expect("frames are in range");
    }

    /// Outcomes since the last call, their bytes without tags.
    pub fn take(&mut self) -> Vec<Outcome> {
        let mut outcomes = std::mem::take(&mut self.outcomes);
        outcomes.extend(self.nic.poll(usize::MAX).into_iter().filter_map(|event| match event {
            sluice_device::Event::Outcome(outcome) => Some(outcome),
            sluice_device::Event::OpDone { result, .. } => {
                result.unwrap_or_else(|e| panic!("{e}"));
                None
            }
        }));
        Self::without_tags(outcomes)
    }

    /// Outcomes as the pipeline sees their bytes.
    pub fn without_tags(mut outcomes: Vec<Outcome>) -> Vec<Outcome> {
        for outcome in &mut outcomes {
            if matches!(outcome.verdict, Verdict::Forwarded { .. }) {
                outcome.bytes.drain(TAG);
            }
        }
        outcomes
    }

    /// Bytes of what left, in its order, and why the others did not, when all frames have ended.
    pub fn finish(&mut self) -> (Vec<Vec<u8>>, Vec<Reason>) {
        self.nic.quiesce().unwrap_or_else(|e| panic!("{e}"));
        let (mut left, mut dropped) = (Vec::new(), Vec::new());
        for outcome in self.take() {
            match outcome.verdict {
                Verdict::Dropped { reason, .. } => dropped.push(reason),
                _ => left.push(outcome.bytes),
            }
        }
        (left, dropped)
    }
}
