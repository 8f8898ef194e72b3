//! Packets by the published Warp Optimizer's rules, beside the others.

use sluice_ebpf::vm::{At, Ingress, Installed, Outcome, Packet, Tracer};
use sluice_ebpf::{Image, Runtime};
use sluice_hxdp::cycles::Issue;
use sluice_hxdp::warp::bits::Seen;
use sluice_hxdp::warp::paper::{Action, Engine, Rule, Table, optimize};
use sluice_hxdp::{Cores, Visit};
use std::cell::RefCell;

/// Instructions in the order in which the interpreter executes them: frame and slot.
#[derive(Default)]
pub struct Slots(RefCell<Vec<(u32, u32)>>);

impl Tracer for Slots {
    fn before(&self, at: At, _: &[u64; 16]) {
        self.0.borrow_mut().push((at.frame, at.pc));
    }
}

impl Slots {
    pub fn take(&self) -> Vec<(u32, u32)> {
        self.0.take()
    }
}

/// What became of a packet.
pub struct Run {
    pub rule: Option<usize>,
    /// Without and with rules.
    pub instructions: [u64; 2],
    /// Issues of the program's rows, and those of them in which something is left to do.
    pub issues: [u64; 2],
    /// Its way without rules.
    pub slots: Vec<(u32, u32)>,
    /// Its verdict, frame and faults are the same.
    pub is_same: bool,
    /// Its way is the rule's; what is not so was played without rules.
    pub is_long: bool,
}

/// A world of its own.
pub struct Paper {
    pub runtime: Runtime,
    pub installed: Installed,
    pub tables: Vec<Table>,
    engines: Vec<Engine>,
    packet: Packet,
    pub slots: Slots,
    pub runs: Vec<Run>,
}

impl Paper {
    /// Of all programs of an image.
    pub fn new(image: &Image) -> Self {
        let mut runtime = Runtime::new(2, 7);
        let installed = runtime.install_unchecked(image, &|_| None).unwrap_or_else(|e| panic!("{e}"));
        let tables: Vec<Table> = image.programs.iter().map(optimize).collect();
        let engine = |(index, table): (usize, &Table)| Engine::new(table.clone(), image, index, &runtime, installed);
        let engines = tables.iter().enumerate().map(|one| engine(one).unwrap()).collect();
        Self { runtime, installed, tables, engines, packet: Packet::new(&[]), slots: Slots::default(), runs: vec![] }
    }

    /// A packet that was played without rules; `executed` are its bundles.
    pub fn run(
        &mut self,
        (program, frame, ingress): (usize, &[u8], Ingress),
        (expected, after): (&Outcome, &Packet),
        executed: (&Cores, &[Visit], &[Issue]),
    ) {
        let slots = self.slots.take();
        let table = &self.tables[program];
        let rule = table.rule(&Seen::new(frame, ingress));
        let done = rule.map(|at| &table.rules[at]);
        let way = |rule: &Rule| slots.iter().take(rule.path.len()).map(|(_, slot)| *slot).eq(rule.path.iter().copied());
        let is_long = done.is_none_or(way);
        self.packet.set(frame);
        // A frame that is too short for its rule's way is the program's, so that maps stay as they are without rules.
        let found = match is_long {
            true => self.runtime.run_on(&self.engines[program], self.installed, program, &mut self.packet, ingress),
            false => self.runtime.run(self.installed, program, &mut self.packet, ingress),
        };
        let end = |o: &Outcome| (o.r0, o.redirect, o.fault.as_ref().map(|f| (f.reason, f.pc)));
        let frames = [after, &self.packet].map(|packet| packet.frame().to_vec());
        let is_same = end(expected) == end(&found) && (expected.fault.is_some() || frames[0] == frames[1]);
        self.runs.push(Run {
            rule,
            instructions: [expected.instructions, found.instructions],
            issues: issues(done, executed),
            is_long,
            is_same,
            slots,
        });
    }
}

/// Issues of all bundles, and of those that have something that the rule has not done.
fn issues(rule: Option<&Rule>, (cores, visits, issues): (&Cores, &[Visit], &[Issue])) -> [u64; 2] {
    let mut all = [0, 0];
    for (visit, issue) in visits.iter().zip(issues) {
        let passes = 1 + u64::from(issue.twice);
        all[0] += passes;
        let is_left = |rule: &Rule| {
            let rows = &cores.bundles(visit.program).unwrap().rows[visit.row as usize];
            visit.frame > 0 || rows.lanes.iter().take(visit.lanes).any(|step| !rule.path.contains(&step.slot))
        };
        let is_left = match rule {
            Some(Rule { action: Action::Forward(_), .. }) => false,
            Some(rule) => is_left(rule),
            None => true,
        };
        all[1] += if is_left { passes } else { 0 };
    }
    all
}
