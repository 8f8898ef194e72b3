//! One measured tenant, alone and beside hostile ones, on one device.

use super::bound::{self, Share};
use super::field::Field;
use super::frames::{self, Style};
use super::hostile::{Hostile, Room};
use super::measured::{self, Grant, Kind, Queues, Record, Seen, Sent};
use super::programs;
use sluice_device::{Device, Offer, OpId};
use sluice_formats::random::Rng;
use sluice_formats::xdp::target::Target as XdpTarget;
use sluice_formats::{EngineId, Target};
use sluice_object::linker::shares::Assured;
use sluice_object::{Destination, Linker, NicSettings, Rate};
use std::collections::BTreeMap;

/// Ticks of frames that are offered ahead, and after which is looked what happened.
const AHEAD: u64 = 1024;
const LOOK: u64 = 256;
/// Ticks between the last load before and the first frame.
const REST: u64 = 64;
/// Frames of one style, on average.
const STREAK: u64 = 120;

/// What is drawn before devices run it.
#[derive(Clone, Debug)]
pub struct Plan {
    pub target: &'static Target,
    pub seed: u64,
    pub grant: Grant,
    pub hostile: Vec<Hostile>,
    pub sent: Vec<Sent>,
    /// What he is assured of at least, whatever the hostile ones run.
    pub assured: Assured,
    /// Hostile tenants may send to his second destination, too.
    pub shared: bool,
    /// Ticks from the first frame to the last.
    pub ticks: u64,
    /// The linker's bounds of ticks until a packet within his shares enters the pipeline, and until it has left for each destination.
    pub wait: u64,
    pub within: BTreeMap<u8, u64>,
}

impl Plan {
    /// A tenant of this kind with so many hostile ones, for so many ticks.
    pub fn draw(target: &'static Target, seed: u64, kind: Kind, hostile: u16, ticks: u64) -> Self {
        let mut rng = Rng::new(seed);
        let mut all: Vec<Destination> =
            (0..target.destinations() as u8).filter_map(|n| Destination::from_number(n, target)).collect();
        rng.shuffle(&mut all);
        if kind == Kind::L7 {
            // In front of the rules, and hostile ones dispatch there too.
            let last = Destination::Host(target.hosts as u8 - 1);
            let at = all.iter().position(|to| *to == last).expect("it is there");
            all.swap(0, at);
        }
        let own = [all[0], all[1]];
        let shared = kind == Kind::L7 || rng.chance(1, 2);
        let grantable = target.cells - bound::longest(target) as u32;
        let cells = grantable / 6;
        // A share that is reserved, a quarter of what is left, or an even part.
        let reserved = Rate { bits_per_second: target.bits_per_second() / 40, burst_bytes: 16 * target.bus_bytes };
        let share = rng.chance(1, 3).then_some(reserved);
        // On tiny one tenant may own contexts.
        let cores = XdpTarget::by_name(target.name).cores as u8;
        let owns = kind == Kind::Xdp && rng.chance(2, 3);
        let contexts = if owns { cores } else { 0 };
        let grant =
            Grant { kind, destinations: own, cells: [cells as u16, cells as u16 / 2], quantum: 1500, share, contexts };
        let left = grantable - cells - cells / 2;
        let each = left / u32::from(hostile.max(1));
        let shared_cells = (each / 4).clamp(1, 10) as u16;
        let room = Room {
            target,
            destinations: &all[2..],
            cells: each,
            shared: shared.then_some((own[usize::from(kind != Kind::L7)], shared_cells)),
            dispatch: kind == Kind::L7,
            long: kind != Kind::Xdp || owns,
            owners: if target.name == "tiny" { u16::from(!owns) } else { 5 },
            victim: measured::VLAN,
            tenants: hostile.into(),
        };
        let hostile: Vec<Hostile> = (0..hostile).map(|n| Hostile::draw(&mut rng, n, &room)).collect();
        let mut hostile = hostile;
        let engines: Vec<EngineId> = EngineId::all().collect();
        let mut linker = Linker::of(target, &engines, None);
        linker.nic(NicSettings::new(target)).expect("these are the defaults");
        let (spec, object) = grant.spec(target);
        linker.admit(spec).and_then(|_| linker.load(measured::ID, &object)).unwrap_or_else(|e| panic!("{e}"));
        hostile.iter_mut().for_each(|one| one.fit(&mut linker, target));
        // Rate and burst change with what they run, the one up and the other down: with each program of each alone, and with the one of each
        // that is charged most, one tenant after the other.
        let (mut assured, mut wait) = assured(&linker);
        let mut with = |linker: &Linker| {
            let (with, waits) = self::assured(linker);
            (assured, wait) = (least(assured, with), wait.max(waits));
        };
        for one in &hostile {
            one.each(&linker).iter().for_each(&mut with);
        }
        for one in &hostile {
            one.charge(&mut linker);
            with(&linker);
        }
        let share = Share::of(&assured);
        // Short packets, of which a destination takes more, or longer ones among them; short ones where they have to fit into a bay.
        let longest = if owns { 130 } else { *rng.choose(&[130, 130, 700]).unwrap() };
        let longest = u64::from(longest + programs::GROWTH);
        let mut within = BTreeMap::new();
        let shares = own.map(|to| {
            let delivery = linker.delivery(measured::ID, to).expect("he is in").expect("he may send there");
            let length = longest as u32;
            let at_once = rng.range(1, u64::from(delivery.room(length) / 4).max(1)) as u32;
            within.insert(to.number(target).expect("he may send there"), delivery.leaves_within(length, at_once));
            let taken = delivery.packets_per_round(length, at_once);
            (taken > 0).then(|| Share::new(taken, at_once))
        });
        // A packet that his bay does not hold waits for the pool, with all of his that come behind it.
        let most = if owns { measured::BAY_HOLDS } else { u64::MAX };
        let queues = Queues { most, longest, shares };
        let sent = measured::schedule(&mut rng, target, kind, share, queues, ticks);
        Self { target, seed, grant, hostile, sent, assured, shared, ticks, wait, within }
    }

    /// Packets that go to each of his destinations.
    pub fn to(&self) -> [usize; 2] {
        [0, 1].map(|n| self.sent.iter().filter(|sent| self.grant.kind.ways(sent.flow).contains(&n)).count())
    }
}

/// What the measured tenant is assured of now, and how long he waits at most.
fn assured(linker: &Linker) -> (Assured, u64) {
    let at_port = linker.shares(measured::PORT).expect("the port is there");
    (at_port.assured[&measured::ID], at_port.wait)
}

fn least(one: Assured, other: Assured) -> Assured {
    Assured {
        beats_per_round: one.beats_per_round.min(other.beats_per_round),
        burst_beats: one.burst_beats.min(other.burst_beats),
    }
}

/// What a run did beside what was seen of the measured tenant.
#[derive(Debug, Default)]
pub struct Done {
    pub frames: u64,
    /// Hostile tenants that were let in.
    pub tenants: u16,
    pub operations: BTreeMap<&'static str, u64>,
    pub refused: u64,
    /// Ticks of the whole run.
    pub ticks: u64,
    /// Drops of hostile frames by reason.
    pub dropped: BTreeMap<&'static str, u64>,
}

/// Runs a plan on a device, alone or beside the hostile tenants.
pub fn run(device: impl Device + 'static, plan: &Plan, beside: bool) -> (Seen, Done) {
    let mut field = Field::new(device);
    let mut rng = Rng::new(plan.seed ^ 0xa77a);
    let mut done = Done::default();
    let (spec, object) = plan.grant.spec(plan.target);
    field.admit(spec);
    field.load(measured::ID, &object);
    let mut hostile: Vec<Hostile> = if beside { plan.hostile.clone() } else { Vec::new() };
    for one in &mut hostile {
        one.enter(&mut rng, &mut field);
        done.tenants += 1;
    }
    let mut record = Record::new(&mut field, plan.grant.kind, REST);
    let begin = record.begin();
    let mut traffic = Traffic::new(plan, begin);
    let mut operation: Option<OpId> = None;
    let end = begin + plan.ticks;
    while field.nic.now() < end {
        let to = (field.nic.now() + AHEAD).min(end);
        done.frames += traffic.offer(&mut rng, &mut field, &mut record, &mut hostile, to);
        if operation.is_none_or(|op| field.is_done(op)) && !hostile.is_empty() {
            let one = rng.index(hostile.len());
            let next = hostile[one].operate(&mut rng, &mut field);
            let (now, wait) = assured(&field.linker);
            let is_within = least(now, plan.assured) == plan.assured && wait <= plan.wait;
            assert!(
                is_within,
                "{now:?}, {wait} ticks; the plan has {:?}, {}; seed {}",
                plan.assured, plan.wait, plan.seed
            );
            operation = next.map(|(what, load)| {
                *done.operations.entry(what).or_default() += 1;
                field.submit(&load)
            });
            done.refused += u64::from(operation.is_none());
        }
        field.advance(LOOK);
        field.take().iter().for_each(|outcome| record.sees(outcome));
    }
    field.quiesce();
    field.take().iter().for_each(|outcome| record.sees(outcome));
    let counters = field.nic.counters().unwrap_or_else(|e| panic!("{e}"));
    let module = field.linker.tenant(measured::ID).expect("he is in").module;
    for (_, counters) in counters.modules.iter().filter(|(m, _)| **m != module) {
        for (reason, count) in &counters.dropped {
            *done.dropped.entry(reason.name()).or_default() += count;
        }
    }
    done.ticks = field.nic.now();
    (record.end(&mut field), done)
}

/// Frames on all ports, as many as these take.
struct Traffic<'a> {
    plan: &'a Plan,
    begin: u64,
    /// The first tick at which a port is free.
    free_at: Vec<u64>,
    /// Who sends on a port, and until how many frames from now.
    streaks: Vec<(usize, u64)>,
    next: usize,
}

impl<'a> Traffic<'a> {
    fn new(plan: &'a Plan, begin: u64) -> Self {
        let ports = plan.target.ports as usize;
        Self { plan, begin, free_at: vec![begin; ports], streaks: vec![(0, 0); ports], next: 0 }
    }

    /// Offers what arrives before tick `to`.
    fn offer(
        &mut self,
        rng: &mut Rng,
        field: &mut Field,
        record: &mut Record,
        hostile: &mut [Hostile],
        to: u64,
    ) -> u64 {
        let mut frames = 0;
        for port in 0..self.plan.target.ports as u8 {
            while self.free_at[usize::from(port)] < to {
                let free_at = self.free_at[usize::from(port)];
                let next = self.plan.sent.get(self.next).filter(|_| port == measured::PORT);
                let room = next.map_or(u64::MAX, |sent| (self.begin + sent.at).saturating_sub(free_at));
                let offer = match next.filter(|_| room == 0 || hostile.is_empty()) {
                    Some(sent) => {
                        let at = self.begin + sent.at;
                        if at >= to {
                            break;
                        }
                        self.next += 1;
                        let offer = Offer { port, bytes: sent.bytes.clone(), at, bad: false };
                        frames += 1;
                        let beats = u64::from(self.plan.target.beats(offer.bytes.len() as u32));
                        record.sends(field.offer(offer), sent);
                        self.free_at[usize::from(port)] = at + beats;
                        continue;
                    }
                    None if hostile.is_empty() => break,
                    None => self.hostile_offer(rng, port, hostile, room, free_at),
                };
                let Some(offer) = offer else {
                    // Nothing of theirs ends before his next frame begins, or they have nothing here.
                    self.free_at[usize::from(port)] = free_at + room.min(LOOK);
                    continue;
                };
                self.free_at[usize::from(port)] = free_at + u64::from(self.plan.target.beats(offer.bytes.len() as u32));
                field.offer(offer);
                frames += 1;
            }
        }
        frames
    }

    /// A hostile frame on a port that is no longer than `room` beats.
    fn hostile_offer(&mut self, rng: &mut Rng, port: u8, hostile: &mut [Hostile], room: u64, at: u64) -> Option<Offer> {
        let has = |h: &Hostile| h.spec.vlans.iter().any(|v| v.port.is_none_or(|p| p == port));
        let (who, left) = self.streaks[usize::from(port)];
        let who = if left > 0 {
            who
        } else {
            let here: Vec<usize> = (0..hostile.len()).filter(|n| has(&hostile[*n])).collect();
            let who = *rng.choose(&here)?;
            hostile[who].style = Style::draw(rng);
            who
        };
        let left = if left > 0 { left } else { rng.range(1, 2 * STREAK) };
        self.streaks[usize::from(port)] = (who, left - 1);
        let bus = u64::from(self.plan.target.bus_bytes);
        let most = (room.saturating_mul(bus)).min(16_383) as usize;
        if most < 64 {
            return None;
        }
        let one = &hostile[who];
        let frame = match one.dispatches() && rng.chance(3, 4) {
            true => Some(frames::message(rng, one.vlan)).filter(|frame| frame.bytes.len() <= most)?,
            false => frames::frame(rng, one.style, one.vlan, one.aim(), most, self.plan.target),
        };
        let mut bytes = frame.bytes;
        // On his port his VLAN is his.
        if port == measured::PORT
            && bytes.len() >= 16
            && bytes[12..14] == [0x81, 0]
            && bytes[15] == measured::VLAN as u8
        {
            bytes[15] = one.vlan as u8;
        }
        Some(Offer { port, bytes, at, bad: frame.bad })
    }
}
