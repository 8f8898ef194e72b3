//! One tenant's table is replaced again and again while three tenants' packets fill the
//! pipeline.

use super::programs::{flow_frame, program};
use super::witness::{Conclusion, Sent, Steady, Witness};
use crate::support::Build;
use sluice_device::{Device, Event, Offer, OpId};
use sluice_formats::random::Rng;
use sluice_formats::{Target, limits};
use sluice_object::linker::spaces::Region;
use sluice_object::{Action, Destination, KeySpec, Linker, Load, NicSettings, Object, TenantSpec, VlanGrant};
use sluice_rtlsim::{Faults, RtlNic, RtlOptions};
use std::time::Instant;

/// The tenant whose table is replaced, and the two others.
const TENANTS: [u16; 3] = [100, 200, 300];
const VLANS: [u16; 3] = [10, 20, 30];
const NAMES: [&str; 3] = ["red", "green", "blue"];
const GREEN_DMAC: [u8; 6] = [0x0a, 1, 2, 3, 4, 5];
/// Frames as the ports see them.
const FRAME_BYTES: u32 = 64;
/// Ticks that a replacement may take.
const PATIENCE: u64 = 4_000_000;

/// Changes a load before it is submitted.
pub type Spoil = fn(&Load) -> Load;

/// A run.
#[derive(Clone, Debug)]
pub struct Plan {
    pub build: Build,
    pub replacements: u32,
    pub seed: u64,
    pub faults: Faults,
    /// What is done to every replacement's load.
    pub spoil: Option<Spoil>,
    /// Rounds of traffic at least.
    pub rounds: u64,
}

impl Plan {
    pub fn new(build: Build, replacements: u32, seed: u64) -> Self {
        Self { build, replacements, seed, faults: Faults::default(), spoil: None, rounds: 0 }
    }

    /// One message in five is dropped or corrupted, in each direction.
    pub fn with_faults(self) -> Self {
        // In 256ths; what is dropped cannot be corrupted too, so that each is 10.2 % of all.
        Self { faults: Faults { drop: 26, corrupt: 29, ..Faults::default() }, ..self }
    }
}

/// What a run was and has shown.
pub struct Run {
    pub conclusion: Conclusion,
    pub replacements: u32,
    pub entries: u16,
    pub cycles: u64,
    pub rounds: u64,
    pub messages: u64,
    pub disturbed: u64,
    pub repeated: u64,
    pub seconds: f64,
}

impl Run {
    /// Share of the cycles between the first and the last packet in which the pipeline took a beat.
    pub fn load(&self, target: &Target) -> f64 {
        let beats = self.conclusion.packets * u64::from(target.beats(FRAME_BYTES - 4));
        beats as f64 / self.conclusion.stamped as f64
    }

    /// For people and for docs/measurements.md.
    pub fn summary(&self, plan: &Plan) -> String {
        let c = &self.conclusion;
        let target = Target::by_name(plan.build.target).expect("the run has used it");
        format!(
            "{}: {} replacements of {} entries, {} commits seen by packets, {} packets, {} cycles, pipeline {:.2} % busy, \
             {} messages on the ring, {} of them dropped or corrupted, {} sent again, {} mixtures, {} lost, {} others \
             disturbed, {} steps back (seed {}, {:.0} s)",
            plan.build,
            self.replacements,
            self.entries,
            c.programs_seen.saturating_sub(1),
            c.packets,
            self.cycles,
            100.0 * self.load(target),
            self.messages,
            self.disturbed,
            self.repeated,
            c.faults.mixtures,
            c.faults.own_drops + c.faults.lost_or_doubled,
            c.faults.others,
            c.faults.went_back,
            plan.seed,
            self.seconds,
        )
    }
}

/// Entries of the replaced table: 256, or what the target can hold twice.
pub fn entries(target: &Target) -> u16 {
    Region::most_entries(target.rmt.sets().trailing_zeros()).min(256) as u16
}

/// Runs a plan.
pub fn run(plan: &Plan) -> Run {
    Bench::new(plan).run(plan)
}

struct Bench {
    nic: RtlNic,
    linker: Linker,
    witness: Witness,
    rng: Rng,
    target: &'static Target,
    flows: u16,
    /// Frames by tenant and flow.
    frames: Vec<Vec<Vec<u8>>>,
    rounds: u64,
    begin: u64,
}

impl Bench {
    fn new(plan: &Plan) -> Self {
        let mut nic = plan.build.open(RtlOptions { faults: plan.faults, ..plan.build.options(plan.seed) });
        let target = Target::by_name(plan.build.target).expect("a plug-in has a target");
        let flows = entries(target);
        let mut linker = Linker::new(target);
        let settings = linker.nic(NicSettings::new(target)).unwrap();
        perform(&mut nic, &settings);
        for tenant in 0..3 {
            let load = linker.admit(spec(tenant, target, flows)).unwrap();
            perform(&mut nic, &load);
        }
        let hosts = target.ports as u8;
        let green = Action::to([Destination::Port(1)]).set_dmac(GREEN_DMAC);
        let blue = Action::to([Destination::Host(2)]);
        for (tenant, object) in [
            (0, program(0, flows, target)),
            (1, Object::new("green", KeySpec::NONE, green)),
            (2, Object::new("blue", KeySpec::NONE, blue)),
        ] {
            let load = linker.load(TENANTS[tenant], &object).unwrap();
            perform(&mut nic, &load);
        }
        let module = |tenant: usize| linker.tenant(TENANTS[tenant]).unwrap().module;
        let steady = |tenant: usize, destination, set_dmac| Steady {
            module: module(tenant),
            destination,
            set_dmac,
            generation: linker.generation(TENANTS[tenant]).unwrap(),
        };
        let others = [steady(1, 1, Some(GREEN_DMAC)), steady(2, hosts + 2, None)];
        let mut witness = Witness::new(*target, VLANS, module(0), others);
        witness.expects(0, linker.generation(TENANTS[0]).unwrap());
        let frames = VLANS.map(|vlan| (0..flows).map(|flow| flow_frame(flow, vlan)).collect()).into();
        let begin = nic.now() + 64;
        Self { nic, linker, witness, rng: Rng::new(plan.seed), target, flows, frames, rounds: 0, begin }
    }

    fn run(mut self, plan: &Plan) -> Run {
        let clock = Instant::now();
        let (before, messages) = (self.nic.requester_counts(), self.nic.fault_counts());
        let mut next = 1;
        let mut under_way: Vec<(OpId, u32)> = Vec::new();
        let mut progress = self.nic.now();
        while next <= plan.replacements || !under_way.is_empty() || self.rounds < plan.rounds {
            // Two loads at a time: the ring never waits for this loop.
            while next <= plan.replacements && under_way.len() < 2 {
                under_way.push((self.submit(next, plan.spoil), next));
                next += 1;
            }
            self.offer_ahead();
            self.nic.advance(self.round_ticks()).unwrap();
            for (op, result) in self.look() {
                result.unwrap();
                let at = under_way.iter().position(|u| u.0 == op).expect("it was submitted");
                let (_, program) = under_way.remove(at);
                progress = self.nic.now();
                self.witness.replaced(program, progress);
            }
            assert!(self.nic.now() - progress < PATIENCE || next > plan.replacements, "no replacement ends any more");
        }
        self.nic.quiesce().unwrap();
        self.look();
        let (after, counts) = (self.nic.requester_counts(), self.nic.fault_counts());
        Run {
            replacements: plan.replacements,
            entries: self.flows,
            cycles: self.nic.now() - self.begin,
            rounds: self.rounds,
            messages: match plan.faults.any() {
                true => counts.messages - messages.messages,
                // Without faults nothing passes the injector's count: each answer is two messages.
                false => 2 * (after.answered - before.answered),
            },
            disturbed: counts.dropped + counts.corrupted - messages.dropped - messages.corrupted,
            repeated: after.repeated - before.repeated,
            seconds: clock.elapsed().as_secs_f64(),
            conclusion: self.witness.conclude(),
        }
    }

    fn submit(&mut self, number: u32, spoil: Option<Spoil>) -> OpId {
        let object = program(number, self.flows, self.target);
        let load = self.linker.replace(TENANTS[0], &object).unwrap();
        self.witness.expects(number, self.linker.generation(TENANTS[0]).unwrap());
        let load = spoil.map_or(load.clone(), |spoil| spoil(&load));
        self.nic.submit(&load).unwrap()
    }

    /// Frames of each port in a round: back to back on every port at once, and as many as the
    /// pipeline takes until the next round begins.
    fn burst(&self) -> u64 {
        u64::from(self.target.port_packets / 4)
    }

    fn round_ticks(&self) -> u64 {
        let beats = self.target.beats(FRAME_BYTES - limits::TAG_BYTES as u32);
        self.burst() * u64::from(self.target.ports * beats)
    }

    fn offer_ahead(&mut self) {
        let ticks = self.round_ticks();
        loop {
            let at = self.begin + self.rounds * ticks;
            if at >= self.nic.now() + 3 * ticks {
                break;
            }
            let mut offers = Vec::new();
            for port in 0..self.target.ports as u8 {
                for _ in 0..self.burst() {
                    let sent = Sent { tenant: self.rng.below(3) as u8, flow: self.rng.below(self.flows.into()) as u16 };
                    self.witness.sends(port, sent);
                    let bytes = self.frames[usize::from(sent.tenant)][usize::from(sent.flow)].clone();
                    offers.push(Offer { port, bytes, at, bad: false });
                }
            }
            self.nic.offer_owned(offers).unwrap();
            self.rounds += 1;
        }
    }

    fn look(&mut self) -> Vec<(OpId, Result<(), sluice_device::DeviceError>)> {
        let mut ended = Vec::new();
        for event in self.nic.poll(usize::MAX) {
            match event {
                Event::Outcome(outcome) => self.witness.sees(&outcome),
                Event::OpDone { op, result } => ended.push((op, result)),
            }
        }
        ended
    }
}

fn spec(tenant: usize, target: &Target, flows: u16) -> TenantSpec {
    let mut spec = TenantSpec::new(TENANTS[tenant], NAMES[tenant]);
    spec.vlans = vec![VlanGrant { port: None, vlan: VLANS[tenant] }];
    let all = (0..target.destinations() as u8).filter_map(|n| Destination::from_number(n, target));
    let room = (target.cells - target.beats(limits::MAX_FRAME_BYTES)) / (3 * target.destinations());
    spec.queues = all.map(|d| (d, room as u16)).collect();
    spec.max_entries = if tenant == 0 { flows.into() } else { 0 };
    spec
}

fn perform(nic: &mut RtlNic, load: &Load) {
    nic.submit(load).unwrap();
    nic.quiesce().unwrap();
    for event in nic.poll(usize::MAX) {
        if let Event::OpDone { result, .. } = event {
            result.unwrap();
        }
    }
}
