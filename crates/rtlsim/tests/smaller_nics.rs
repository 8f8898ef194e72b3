//! What a NIC does that has not every engine: refuse what needs the others, and treat its last host queue as any other.

use crate::support::{self, BARE_TINY};
use crate::traffic::rig::{Module, Rig, To};
use sluice_device::{Device, DeviceError, Offer, Verdict};
use sluice_formats::random::Rng;
use sluice_formats::row::Row;
use sluice_formats::rows::QuantumRow;
use sluice_formats::{EngineId, Node, Table, target};
use sluice_nic::{SoftwareNic, engines};
use sluice_object::Step;
use sluice_rtlsim::{RtlOptions, top};

/// The bare NIC in software, and in RTL where its plug-in is there.
fn bare() -> Vec<Box<dyn Device>> {
    let mut devices: Vec<Box<dyn Device>> = vec![Box::new(SoftwareNic::having(target::TINY, engines::BARE))];
    if BARE_TINY.is_there() {
        devices.push(Box::new(BARE_TINY.open(RtlOptions::default())));
    }
    devices
}

#[test]
fn a_load_for_an_engine_that_is_not_there_is_refused_and_none_of_it_is_written() {
    for mut nic in bare() {
        let kind = nic.capabilities().kind;
        assert_eq!(nic.capabilities().engines, [EngineId::RMT]);
        let before = nic.read_row(Node::Egress, Table::Quantum, 3).unwrap();
        let words = QuantumRow { bytes: 4321 }.pack().unwrap();
        assert_ne!(before, words);
        let good = support::write(Node::Egress, Table::Quantum, 3, &words);
        let row = |node, table: Table| Step::Write { node, table, index: 0, words: vec![0; table.words()] };
        let program = Step::Install { engine: EngineId::XDP, module: 1, generation: 0, install: None };
        for (needs, engine) in [
            (row(Node::Xdp, Table::XdpProgram), EngineId::XDP),
            (row(Node::L7, Table::L7Match), EngineId::L7),
            (program, EngineId::XDP),
        ] {
            let refused = nic.submit(&support::load(nic.as_ref(), vec![good.clone(), needs])).unwrap_err();
            let said = matches!(refused, DeviceError::NoEngine { engine: found, step: 1, .. } if found == engine);
            assert!(said && refused.code() == "E0309" && refused.is_refusal(), "{kind}: {refused}");
            assert!(refused.to_string().ends_with("it has rmt"), "{kind}: {refused}");
        }
        nic.quiesce().unwrap();
        assert_eq!(nic.read_row(Node::Egress, Table::Quantum, 3).unwrap(), before, "{kind}");
        // Nobody is there to answer with a row.
        assert!(nic.read_row(Node::Xdp, Table::XdpProgram, 0).is_err(), "{kind}");
        assert!(nic.maps().is_err() && nic.rings().is_err(), "{kind}");
    }
}

/// Without l7 a packet leaves the last host queue in the cycle in which it would leave any other.
#[test]
fn the_last_host_queue_of_the_bare_nic_is_like_the_others() {
    if !BARE_TINY.is_there() {
        return;
    }
    let run = |destination: u8| {
        // Turns by weights in bytes: quantum has its say here.
        let modules = [
            Module { quantum: 120, ..Module::new(1, To::One(destination)) },
            Module { quantum: 480, ..Module::new(2, To::One(destination)) },
        ];
        let mut rig = Rig::open(BARE_TINY.target, BARE_TINY.options(1), &modules);
        rig.nic.set_blocked(destination, true).unwrap();
        let mut rng = Rng::new(7);
        for i in 0..24u8 {
            rig.offer(i % 4, Some(1 + i % 2), 0, rng.range(60, 300) as usize);
        }
        rig.quiesce();
        rig.nic.set_blocked(destination, false).unwrap();
        rig.quiesce();
        assert!(rig.left.iter().all(|left| left.destination == destination));
        let left: Vec<_> = rig.left.iter().map(|l| (l.id, l.module, l.bytes, l.first_out, l.last_out)).collect();
        let counters = rig.counters();
        assert!(counters.modules.values().all(|m| m.closes() && m.in_flight == 0));
        (left, counters.modules[&1].delivered, counters.modules[&2].delivered)
    };
    let last = target::TINY.destinations() as u8 - 1;
    let (left, other) = (run(last), run(last - 1));
    assert_eq!(left.0.len(), 24);
    assert_eq!(left, other);
}

/// On the model too, and a frame of message dispatch is one like any other.
#[test]
fn a_frame_for_the_last_host_queue_is_delivered_by_every_bare_device() {
    for mut nic in bare() {
        support::set_up(nic.as_mut());
        let target = nic.capabilities().target;
        // Modules send to the host queue of their number.
        let module = target.hosts - 1;
        let bytes = support::tagged(module as u16, 100, &mut Rng::new(3));
        nic.offer(&[Offer { port: 0, bytes: bytes.clone(), at: 0, bad: false }]).unwrap();
        nic.quiesce().unwrap();
        let outcomes = nic.poll(usize::MAX).into_iter().filter_map(|event| match event {
            sluice_device::Event::Outcome(outcome) => Some((outcome.verdict, outcome.bytes.len())),
            _ => None,
        });
        let delivered = (Verdict::Delivered { queue: module as u8 }, bytes.len() - 4);
        assert!(outcomes.collect::<Vec<_>>().contains(&delivered), "{}", nic.capabilities().kind);
        let counters = nic.counters().unwrap();
        assert_eq!(counters.modules[&(module as u8)].delivered, 1);
    }
}

#[test]
fn a_top_is_found_by_its_engines() {
    for top in [&top::NIC, &top::BARE, &top::WITH_XDP, &top::WITH_L7] {
        assert_eq!(top::with(top.engines), top);
    }
    let names = engines::SETS.map(|models| top::with(models).config("tiny"));
    assert_eq!(names, ["tiny", "bare_tiny", "with_xdp_tiny", "with_l7_tiny"]);
}
