//! What tenants are given of the XDP engine, from the linker on: work of a packet, and their part of the queues.

use crate::support;
use crate::xdp::device::{Nic, frame, object};
use sluice_device::{Device, Event, Offer, Verdict};
use sluice_formats::Reason;
use sluice_formats::random::test_seed;
use sluice_formats::target::TINY;
use sluice_object::XdpShare;
use sluice_rtlsim::{Comparison, RtlNic, RtlOptions, Variant, top};
use std::collections::BTreeMap;

/// Goes round as often as the first byte behind the type says, and without end if it is 255; then the frame goes back.
const ROUND: &str = "r6 = *(u32 *)(r1 +0)\nr2 = *(u32 *)(r1 +4)\nr3 = r6\nr3 += 15\nr0 = 1\nif r3 > r2 goto out\n\
    r4 = *(u8 *)(r6 +14)\nr5 = 0\nround:\nr5 += 1\nif r4 == 255 goto round\nif r5 < r4 goto round\nr0 = 3\nout:\nexit\n";

fn options(test: &str) -> Option<RtlOptions> {
    let there = support::has_top(&top::XDP, TINY.name, Variant::Test);
    let seed = test_seed(test);
    there.then(|| RtlOptions { top: &top::XDP, seed, check_accounting: true, ..RtlOptions::default() })
}

/// Whether a packet came to its end.
fn ended<D: Device>(nic: &mut Nic<D>, id: u16, rounds: u8) -> bool {
    nic.offer(0, [frame(id, rounds, &[0; 50])]);
    nic.device.quiesce().unwrap_or_else(|e| panic!("{e}"));
    let outcome = nic.device.poll(usize::MAX).into_iter().find_map(|event| match event {
        Event::Outcome(outcome) => Some(outcome),
        Event::OpDone { .. } => None,
    });
    match outcome.expect("an outcome").verdict {
        Verdict::Forwarded { port: 0 } => true,
        Verdict::Dropped { reason: Reason::XdpAborted, .. } => false,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_packet_works_as_much_as_its_tenant_is_given_beside_the_interpreter() {
    let Some(options) = options("a_packet_works_as_much_as_its_tenant_is_given") else { return };
    let device = Comparison::open(TINY.name, options, support::waves_folder()).unwrap();
    let mut nic = Nic::given(device, |spec| {
        spec.xdp_work = [None, Some(40), Some(1)].get(spec.id as usize - 1).copied().flatten()
    });
    for id in 1..=3 {
        nic.put(id, &object("round", ROUND, Vec::new(), &[])).unwrap();
    }
    // The last round has no back edge.
    for (id, rounds, ends) in
        [(2, 41, true), (2, 42, false), (3, 2, true), (3, 3, false), (2, 255, false), (1, 254, true)]
    {
        assert_eq!(ended(&mut nic, id, rounds), ends, "tenant {id}, {rounds} rounds");
    }
    // A new program has the tenant's limit too.
    nic.put(2, &object("round", ROUND, Vec::new(), &[])).unwrap();
    assert!(ended(&mut nic, 2, 41) && !ended(&mut nic, 2, 42));
    // What nobody is given: 65,536 rounds, longer than a device without programs is waited for.
    let begin = nic.device.now();
    assert!(!ended(&mut nic, 1, 255));
    let took = nic.device.now() - begin;
    assert!((65_536 * 5..65_536 * 40).contains(&took), "{took} ticks");
}

#[test]
fn what_goes_round_for_longer_than_silence_is_waited_for() {
    let Some(options) = options("what_goes_round_for_longer_than_silence_is_waited_for") else { return };
    let mut nic = Nic::given(RtlNic::open(TINY.name, options).unwrap(), |spec| spec.xdp_work = Some(400_000));
    nic.put(1, &object("round", ROUND, Vec::new(), &[])).unwrap();
    let begin = nic.device.now();
    assert!(!ended(&mut nic, 1, 255));
    let took = nic.device.now() - begin;
    assert!(took > 1_000_000, "{took} ticks are more than any device is waited for in silence");
}

#[test]
fn tenants_have_as_much_of_the_core_as_their_weights_when_the_linker_writes_them() {
    let Some(options) = options("tenants_have_as_much_of_the_core_as_their_weights") else { return };
    let weights = BTreeMap::from([(1, 4), (2, 12)]);
    let give = |spec: &mut sluice_object::TenantSpec| {
        spec.xdp_share =
            weights.get(&spec.id).map(|weight| XdpShare { weight: *weight, rows: 100, ..XdpShare::default() });
    };
    let mut nic = Nic::given(RtlNic::open(TINY.name, options).unwrap(), give);
    for id in [1, 2] {
        nic.put(id, &object("round", ROUND, Vec::new(), &[])).unwrap();
    }
    // Both send several times as much as the core takes, each on a port of his own.
    let (packets, begin) = (if support::long() { 200_000 } else { 20_000 }, nic.device.now());
    let offer = |n: u64| {
        let port = (n % 2) as u8;
        Offer { port, bytes: frame(u16::from(port) + 1, 20, &[0; 60]), at: begin + 8 * n, bad: false }
    };
    nic.device.offer(&(0..packets).map(offer).collect::<Vec<_>>()).unwrap();
    let mut served = BTreeMap::<u8, u64>::new();
    // Both queues are full then, and stay so until the end.
    let window = begin + 20_000..begin + 8 * packets;
    while nic.device.now() < window.end {
        nic.device.advance(1_000).unwrap();
        for event in nic.device.poll(usize::MAX) {
            let Event::Outcome(outcome) = event else { continue };
            let left = outcome.first_out.is_some_and(|tick| window.contains(&tick));
            if left && !matches!(outcome.verdict, Verdict::Dropped { .. }) {
                *served.entry(outcome.module).or_default() += 1;
            }
        }
    }
    let [light, heavy] = [1, 2].map(|id| served[&nic.module(id)]);
    println!("{light} packets of the tenant with weight 4, {heavy} of the one with 12");
    assert!(light > 100 && (3 * light).abs_diff(heavy) * 20 <= heavy, "{light} and {heavy}");
}
