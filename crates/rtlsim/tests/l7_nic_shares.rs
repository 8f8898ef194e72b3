//! The scheduler in front of the l7 engine, in the whole NIC: short programs beside long ones, and shares of the matchers' steps.

use crate::support;
use sluice_device::run_load::run_load;
use sluice_device::{Device, Event, Offer, Verdict};
use sluice_formats::Target;
use sluice_formats::l7::qnp::Header;
use sluice_formats::random::test_seed;
use sluice_formats::target::{DEFAULT, TINY};
use sluice_l7::message::{Addresses, frame};
use sluice_l7::object::object;
use sluice_l7::testing::{ping_pong, ping_pong_payload};
use sluice_object::{Destination, Linker, Object, PortSettings, TenantSpec};
use sluice_rtlsim::{RtlNic, RtlOptions, Variant};
use std::fmt::Write;

const HOST: Destination = Destination::Host(3);
/// Ticks of a second of the default target.
const CLOCK: f64 = 250e6;

/// A tenant that sends messages of so many compares.
#[derive(Clone, Copy)]
struct Sender {
    steps: u32,
    weight: u16,
    /// Ticks from a message to the next; 0 is none.
    apart: f64,
    /// Packets and beats of the staging buffer that are its own.
    own: (u16, u16),
}

impl Sender {
    fn new(steps: u32, weight: u16, apart: f64) -> Self {
        Self { steps, weight, apart, own: (0, 0) }
    }

    /// Its n-th packet.
    fn packet(&self, n: u32) -> Vec<u8> {
        let header = Header { app_id: 1, msg_id: n, msg_len_in_pkts: 1, ..Header::default() };
        frame(&Addresses::to_port(9000), header, &ping_pong_payload(self.steps as usize, 0))
    }
}

/// What became of a tenant's messages.
#[derive(Clone, Debug, Default)]
struct Seen {
    offered: u32,
    /// Ticks from a message's first beat into the NIC to its first beat out, of those that came out.
    latencies: Vec<u64>,
    /// When they came out.
    out: Vec<u64>,
    lost: u32,
}

impl Seen {
    fn at(&self, part: f64) -> u64 {
        let mut latencies = self.latencies.clone();
        latencies.sort_unstable();
        latencies[((latencies.len() - 1) as f64 * part).ceil() as usize]
    }
}

fn rules(steps: u32, target: &'static Target) -> Object {
    object("rules", &ping_pong(steps as usize, 1), target).unwrap()
}

/// Lets the tenants send for so many ticks, and waits for what is on its way.
fn run(target: &'static Target, seed: u64, senders: &[Sender], ticks: u64) -> Vec<Seen> {
    let mut nic = RtlNic::open(target.name, RtlOptions { seed, ..RtlOptions::default() }).unwrap();
    let mut linker = Linker::of(target, &nic.capabilities().engines, Some(sluice_hxdp::rows::compiler));
    let mut settings = linker.settings().clone();
    let mut loads = Vec::new();
    for (number, sender) in senders.iter().enumerate() {
        let (id, object) = (number as u16 + 1, rules(sender.steps, target));
        let mut spec = TenantSpec::new(id, format!("tenant{id}"));
        spec.queues.insert(HOST, (target.cells / 5) as u16);
        spec.make_room(&object);
        let given = spec.l7.as_mut().unwrap();
        (given.weight, given.messages) = (Some(sender.weight), Some(16));
        (given.packets, given.beats) = sender.own;
        loads.push(linker.admit(spec).unwrap());
        loads.push(linker.load(id, &object).unwrap());
        settings.ports[number] = PortSettings { untagged: Some(id), ..PortSettings::default() };
    }
    loads.push(linker.nic(settings).unwrap());
    loads.iter().for_each(|load| run_load(&mut nic, load, &mut Vec::new()).unwrap());

    let mut seen = vec![Seen::default(); senders.len()];
    let begin = nic.now() + 100;
    while nic.now() < begin + ticks {
        let to = nic.now() + 1_000;
        let mut offers = Vec::new();
        for (number, sender) in senders.iter().enumerate() {
            let next = |seen: &Seen| begin + (f64::from(seen.offered) * sender.apart) as u64;
            while sender.apart > 0.0 && next(&seen[number]) < to {
                let at = next(&seen[number]);
                let bytes = sender.packet(seen[number].offered);
                seen[number].offered += 1;
                offers.push(Offer { port: number as u8, bytes, at, bad: false });
            }
        }
        nic.offer(&offers).unwrap();
        nic.advance(to - nic.now()).unwrap();
        take(&mut nic, &linker, &mut seen);
    }
    nic.quiesce().unwrap();
    take(&mut nic, &linker, &mut seen);
    seen
}

fn take(nic: &mut RtlNic, linker: &Linker, seen: &mut [Seen]) {
    for event in nic.poll(usize::MAX) {
        let Event::Outcome(outcome) = event else { continue };
        let number = (outcome.id >> 28) as usize;
        let seen = &mut seen[number];
        if outcome.verdict == (Verdict::Delivered { queue: 3 }) {
            assert_eq!(outcome.queue, linker.rings(number as u16 + 1).unwrap().start as u8, "{outcome:?}");
            seen.latencies.push(outcome.first_out.unwrap() - outcome.first_in.unwrap());
            seen.out.push(outcome.first_out.unwrap());
        } else {
            assert!(matches!(outcome.verdict, Verdict::Dropped { .. }), "{outcome:?}");
            seen.lost += 1;
        }
    }
}

fn is_there(target: &Target) -> bool {
    support::has(target.name, Variant::Test)
}

/// Figure 4.21: 2 steps at 7 million a second beside 48 steps at more than fits.
#[test]
fn short_programs_do_not_wait_for_long_ones() {
    if !is_there(&DEFAULT) {
        return;
    }
    let (seed, ticks) = (test_seed("l7_nic_shares"), if support::long() { 200_000 } else { 30_000 });
    let mut report = String::new();
    let mut alone = 0;
    for heavy in [0.0, 10.0, 20.0, 30.0] {
        let apart = |rate: f64| if rate > 0.0 { CLOCK / 1e6 / rate } else { 0.0 };
        let senders = [Sender::new(2, 16, apart(7.0)), Sender::new(48, 16, apart(heavy))];
        let seen = run(&DEFAULT, seed, &senders, ticks);
        let light = &seen[0];
        assert_eq!(
            (light.lost, light.latencies.len()),
            (0, light.offered as usize),
            "{heavy} M/s: light ones are lost"
        );
        if heavy == 0.0 {
            alone = light.at(0.99);
        }
        let first = light.out.iter().min().unwrap();
        let served = seen[1].out.iter().filter(|at| **at < first + ticks).count();
        let rate = served as f64 * CLOCK / 1e6 / ticks as f64;
        let more = light.at(0.99) as i64 - alone as i64;
        let (median, most) = (light.at(0.5), light.at(0.99));
        writeln!(
            report,
            "heavy {heavy} M/s, {rate:.2} served, {} lost; light median {median}, 99 % {most} ({more:+})",
            seen[1].lost
        )
        .unwrap();
        assert!(more <= 24, "{report}");
        assert!(heavy < 20.0 || seen[1].lost > 0, "more than fits did fit: {report}");
    }
    println!("{report}");
}

/// Two tenants that both want more have the matchers' steps by their weights.
#[test]
fn steps_are_shared_by_weight() {
    let ticks = if support::long() { 1_000_000 } else { 120_000 };
    // On tiny, packets that both ports take at this rate: where one loses some of them, its queue is empty at times.
    for (target, weights, steps) in [(&DEFAULT, [16, 48], [48, 24]), (&TINY, [40, 16], [11, 8])] {
        if !is_there(target) {
            continue;
        }
        let senders = [0, 1].map(|n| Sender::new(steps[n], weights[n], 8.0));
        let seen = run(target, test_seed("l7_nic_steps"), &senders, ticks);
        // While both had packets waiting: behind the first quarter, up to the last one that was offered.
        let (from, to) = (ticks / 4, ticks);
        let first = seen.iter().flat_map(|seen| &seen.out).min().unwrap();
        let done = [0, 1].map(|n| {
            let within = seen[n].out.iter().filter(|at| (first + from..first + to).contains(at)).count();
            within as f64 * f64::from(steps[n])
        });
        assert!(seen.iter().all(|seen| seen.lost > 0), "one of them wanted no more: {done:?}");
        let share = done[0] / (done[0] + done[1]);
        let due = f64::from(weights[0]) / f64::from(weights[0] + weights[1]);
        println!("{}: {done:?} steps, share {share:.4}, due {due:.4}", target.name);
        assert!((share / due - 1.0).abs() < 0.01 && ((1.0 - share) / (1.0 - due) - 1.0).abs() < 0.01);
    }
}

/// Long programs fill what the staging buffer has for all; a tenant with room of its own does not notice.
#[test]
fn a_tenant_with_room_of_its_own_waits_for_nobody() {
    if !is_there(&TINY) {
        return;
    }
    let (seed, ticks) = (test_seed("l7_nic_room"), if support::long() { 400_000 } else { 40_000 });
    let light = Sender { own: (28, 448), ..Sender::new(2, 16, 60.0) };
    let mut report = String::new();
    let most = [0.0, 5.0].map(|apart| {
        let seen = run(&TINY, seed, &[light, Sender::new(11, 16, apart)], ticks);
        let (median, most) = (seen[0].at(0.5), seen[0].at(0.99));
        assert_eq!((seen[0].lost, seen[0].latencies.len()), (0, seen[0].offered as usize));
        let _ =
            writeln!(report, "light median {median}, 99 % {most}; heavy {} of {}", seen[1].out.len(), seen[1].offered);
        // What all share is too little for the long ones.
        assert!(apart == 0.0 || (seen[1].lost > 0 && seen[1].out.len() > 1_000), "{report}");
        most
    });
    println!("{report}");
    assert!(most[1] <= most[0] + 24, "{report}");
}
