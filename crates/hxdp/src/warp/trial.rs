//! What a leaf saves: its packets in the bundle model, with and without it.

use super::bits::Seen;
use super::lookup::Lookup;
use super::table::{Action, Leaf, Rule, Table};
use super::witness::Witness;
use crate::cycles::{Arrivals, Engine, Load, Trace, simulate};
use crate::sections::Serial;
use crate::{Bundles, Cores};
use sluice_ebpf::vm::Packet;
use sluice_ebpf::{Image, MapSpec, Runtime};

/// Entries of a map that is tried with: the greatest maps would take longer to make than all else.
const ENTRIES: u32 = 256;

/// Packets that fill the engine, and those that are measured.
const WARM: usize = 64;
const MEASURED: usize = 192;
/// Back edges and calls, and issues, of a packet that is tried: those of longer ones are not worth the time.
const WORK: u64 = 64;
const LONGEST: usize = 1024;

/// A program of an image with small maps.
pub struct Trial {
    image: Image,
    program: usize,
    engine: Engine,
}

/// What packets took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Taken {
    /// Issues of one, the mean.
    pub issues: f64,
    /// Cycles from one to the next.
    pub cycles: f64,
}

impl Trial {
    /// Of the program with this number.
    pub fn new(image: &Image, program: usize) -> Self {
        let mut image = image.clone();
        let small = |map: &mut MapSpec| map.max_entries = map.max_entries.clamp(1, ENTRIES).next_power_of_two();
        for map in &mut image.maps {
            small(map);
            map.initial.retain(|(at, _)| *at < ENTRIES);
            if let Some(inner) = map.inner.as_deref_mut() {
                small(inner);
            }
        }
        Self { image, program, engine: Engine::default() }
    }

    /// What packets take of these rows, without a leaf or with it. `known`: this lookup finds an entry.
    pub fn run(
        &self,
        (bundles, serial): (&Bundles, &Serial),
        leaf: Option<&Action>,
        packets: &[Witness],
        known: Option<&Lookup>,
    ) -> Option<Taken> {
        let one = |packet| self.packet((bundles, serial), leaf, packet, known);
        let traces: Vec<Trace> = packets.iter().map(one).collect::<Option<_>>()?;
        let passes = |trace: &Trace| trace.issues.len() + trace.issues.iter().filter(|issue| issue.twice).count();
        let issues = traces.iter().map(passes).sum::<usize>() as f64 / traces.len() as f64;
        let load = Load { traces: &traces, arrivals: Arrivals::BackToBack, warm: WARM, measured: MEASURED };
        Some(Taken { issues, cycles: simulate(&self.engine, &load).cycles_per_packet() })
    }

    fn packet(
        &self,
        (bundles, serial): (&Bundles, &Serial),
        leaf: Option<&Action>,
        (frame, ingress): &Witness,
        known: Option<&Lookup>,
    ) -> Option<Trace> {
        let mut runtime = Runtime::new(2, 1);
        runtime.work_limit = WORK;
        let installed = runtime.install_unchecked(&self.image, &|_| None).ok()?;
        let number = runtime.program_number(installed, self.program)?;
        let mut cores = Cores::new();
        cores.bind(bundles.clone(), number, &runtime, installed);
        cores.mark(number, serial.clone());
        cores.record();
        if let Some(action) = leaf {
            // Every packet is the leaf's.
            let leaf = Leaf::all(action.clone());
            cores.warp(number, Table { leaves: vec![leaf], ..Table::default() }, &runtime, installed);
        }
        if let Some(lookup) = known {
            let id = runtime.map(installed, lookup.map as usize)?;
            let spec = &self.image.maps[lookup.map as usize];
            let bytes = spec.value_size as usize * if spec.kind.is_per_cpu() { 2 } else { 1 };
            let value = vec![0; bytes.next_multiple_of(if spec.kind.is_per_cpu() { 8 } else { 1 })];
            let key = lookup.key_of(&Seen::new(frame, *ingress));
            runtime.maps.user_update(id, &key, &value, 0).ok()?;
        }
        let mut packet = Packet::new(frame);
        let outcome = runtime.run_on(&cores, installed, self.program, &mut packet, *ingress);
        let trace = Trace::new(cores.take_issues(), frame.len(), &packet, outcome.verdict, 0);
        Some(trace).filter(|trace| trace.issues.len() <= LONGEST)
    }
}

impl Leaf {
    /// One that all packets match.
    fn all(action: Action) -> Self {
        use super::walk::End;
        Self {
            rule: Rule::default(),
            action,
            end: End::Exit(0),
            work: 0,
            slots: vec![],
            answered: None,
            tests: vec![],
            issues: None,
        }
    }
}
