//! Idle cycles that are left out change nothing: rates, shares, messages that expire, counters and rows are as if all had been run.

use crate::support;
use sluice_device::run_load::run_load;
use sluice_device::{Counters, Device, Event, Offer, Outcome, Rows, Verdict};
use sluice_formats::Reason;
use sluice_formats::l7::qnp::Header;
use sluice_formats::target::TINY;
use sluice_l7::message::{Addresses, frame};
use sluice_l7::object::object;
use sluice_l7::rules::read;
use sluice_object::{Action, Destination, KeySpec, Linker, Object, PortSettings, Rate, TenantSpec, VlanGrant};
use sluice_rtlsim::{Comparison, RtlNic, RtlOptions, Variant};

const HOST: Destination = Destination::Host(3);
/// Of a message: in nanoseconds, in the rules, and in cycles.
const EXPIRY: (&str, u64) = ("100us", 25_000);

/// Tenant 1 has untagged messages on port 0, and tenant 2 frames of VLAN 20 with a rate, on the same port, so that both have shares.
fn set_up(nic: &mut dyn Device) -> Linker {
    let mut linker = Linker::of(&TINY, &nic.capabilities().engines, Some(sluice_hxdp::rows::compiler));
    let text = format!("application a {{ port 9000 id 1 default queue 0 expire {} message m = 1 {{ }} }}\n", EXPIRY.0);
    let rules = object("rules", &read("a.l7", &text).unwrap(), &TINY).unwrap();
    let mut red = TenantSpec::new(1, "red");
    red.queues.insert(HOST, 400);
    red.make_room(&rules);
    let mut blue = TenantSpec::new(2, "blue");
    blue.vlans = vec![VlanGrant { port: None, vlan: 20 }];
    blue.queues.insert(Destination::Port(1), 200);
    blue.rate = Some(Rate { bits_per_second: 200_000_000, burst_bytes: 500 });
    let table = Object::new("to", KeySpec::NONE, Action::to([Destination::Port(1)]));
    let mut settings = linker.settings().clone();
    settings.ports[0] = PortSettings { untagged: Some(1), ..PortSettings::default() };
    let loads = [
        linker.admit(red),
        linker.admit(blue),
        linker.load(1, &rules),
        linker.load(2, &table),
        linker.nic(settings.clone()),
    ];
    loads.into_iter().for_each(|load| run_load(nic, &load.unwrap(), &mut Vec::new()).unwrap());
    linker
}

/// A packet of a message of two.
fn part(message: u32, number: u8) -> Vec<u8> {
    let header = Header {
        app_id: 1,
        msg_type: 1,
        msg_id: message,
        msg_len_in_pkts: 2,
        pkt_seq_num_in_msg: number,
        ..Header::default()
    };
    // A field of 38 bytes.
    let mut fields = [7; 40];
    (fields[0], fields[1]) = (1, 38);
    frame(&Addresses::to_port(9000), header, &fields)
}

fn tagged(length: usize) -> Vec<u8> {
    let mut bytes = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x81, 0, 0, 20, 0x88, 0xb5];
    bytes.resize(length, 1);
    bytes
}

/// What one run came to.
#[derive(Debug, PartialEq)]
struct Seen {
    outcomes: Vec<Outcome>,
    now: u64,
    counters: Counters,
    rows: Rows,
}

/// Bursts with pauses between them, in which a message expires and one does not.
fn run(nic: &mut dyn Device) -> Seen {
    set_up(nic);
    let begin = nic.now() + 100;
    let offer = |at: u64, bytes: Vec<u8>| Offer { port: 0, bytes, at: begin + at, bad: false };
    let burst = |at: u64| (0..12).map(move |i| offer(at + 40 * i, tagged(100 + 10 * i as usize)));
    let (early, late) = (EXPIRY.1 - 3_000, EXPIRY.1 + 6_000);
    let mut packets: Vec<Offer> = vec![offer(0, part(1, 0))];
    packets.extend(burst(100));
    // Message 1 goes on in time, 2 does not.
    packets.extend([offer(early, part(1, 1)), offer(early + 400, part(2, 0))]);
    packets.extend(burst(early + 900));
    packets.push(offer(early + late, part(2, 1)));
    packets.extend(burst(early + late + 100));
    nic.offer(&packets).unwrap();
    nic.advance(begin + early + late + 5_000 - nic.now()).unwrap();
    nic.advance(25_000).unwrap();
    nic.quiesce().unwrap();
    let now = nic.now();
    let outcome = |event| if let Event::Outcome(outcome) = event { Some(outcome) } else { None };
    let outcomes = nic.poll(usize::MAX).into_iter().filter_map(outcome).collect();
    let (counters, rows) = (nic.counters().unwrap(), nic.snapshot().unwrap());
    Seen { outcomes, now, counters, rows }
}

#[test]
fn a_run_that_leaves_idle_cycles_out_is_one_that_does_not() {
    if !support::has("tiny", Variant::Test) {
        return;
    }
    let of = |idle_jumps| {
        let mut nic = RtlNic::open("tiny", RtlOptions { idle_jumps, ..RtlOptions::default() }).unwrap();
        let seen = run(&mut nic);
        (seen, nic.cycles_left_out())
    };
    let (jumped, left_out) = of(true);
    let (all, none) = of(false);
    assert_eq!(none, 0);
    assert!(left_out > 15_000, "{left_out} cycles");
    assert_eq!(jumped.outcomes, all.outcomes);
    assert_eq!((jumped.now, &jumped.counters), (all.now, &all.counters));
    assert!(jumped == all, "rows differ");
    // It is about something: frames beyond their rate, and within it after a pause; a message that was forgotten, and only one.
    let dropped = |reason| all.counters.modules.values().filter_map(|m| m.dropped.get(&reason)).sum::<u64>();
    assert!((10..30).contains(&dropped(Reason::Rate)), "{:?}", all.counters);
    assert_eq!(dropped(Reason::L7NoFirst), 1, "{:?}", all.counters);
    let messages = |o: &&Outcome| matches!(o.verdict, Verdict::Delivered { .. });
    assert_eq!(all.outcomes.iter().filter(messages).count(), 3, "{:?}", all.outcomes);
}

/// Hours of simulation, were they run.
#[test]
fn ten_seconds_pass_in_lockstep_with_the_model() {
    if !support::has("tiny", Variant::Test) {
        return;
    }
    let mut nic = Comparison::open("tiny", RtlOptions::default(), support::waves_folder()).unwrap();
    set_up(&mut nic);
    let mut at = nic.now();
    for message in 0..2 {
        nic.offer(&[Offer { port: 0, bytes: part(message, 0), at, bad: false }]).unwrap();
        at += 1_250_000_000;
    }
    nic.advance(at - nic.now()).unwrap();
    nic.offer(&[Offer { port: 0, bytes: part(1, 1), at, bad: false }]).unwrap();
    nic.quiesce().unwrap();
    let counters = nic.counters().unwrap();
    let dropped: u64 = counters.modules.values().filter_map(|m| m.dropped.get(&Reason::L7NoFirst)).sum();
    assert_eq!(dropped, 1, "the second message was forgotten: {counters:?}");
    assert!(nic.rtl().cycles_left_out() > 2_400_000_000);
}
