//! The whole NIC with external memory: maps of one tenant lie outside, those of another on the chip, in lockstep with the software NIC.

use crate::support;
use crate::xdp::device::{COUNT, Nic, SHOW, array, frame, object};
use sluice_device::{Device, Offer, Verdict};
use sluice_ebpf::tenant;
use sluice_formats::random::{Rng, test_seed};
use sluice_formats::target::TINY_FAR;
use sluice_object::{Object, XdpMemory};
use sluice_rtlsim::{Comparison, RtlOptions, Variant, top};

/// The NIC and the software NIC in lockstep. Memory answers after 30 to 150 cycles.
fn lockstep(name: &str) -> Option<(Nic<Comparison>, Rng)> {
    if !support::has_top(&top::NIC, TINY_FAR.name, Variant::Test) {
        return None;
    }
    let seed = test_seed(name);
    let options = RtlOptions { seed, check_accounting: true, stalls: support::stalls(), ..RtlOptions::default() };
    Some((Nic::new(Comparison::open(TINY_FAR.name, options, support::waves_folder()).unwrap()), Rng::new(seed)))
}

/// A program with an array of so many numbers, which lies where it is said, and is kept.
fn program(text: &str, numbers: u32, place: Option<XdpMemory>) -> Object {
    let mut object = object("program", text, vec![array("counts", 8, numbers)], &["counts"]);
    let places: Vec<_> = place.map(|place| ("counts".to_owned(), place)).into_iter().collect();
    tenant::place(&mut object, &places).unwrap();
    object
}

/// Where a tenant's array lies.
fn lies(nic: &Nic<Comparison>, id: u16) -> XdpMemory {
    nic.linker.map_places(id).unwrap()[0].1.values
}

#[test]
fn maps_outside_and_on_the_chip_are_the_interpreters_in_the_whole_nic() {
    let Some((mut nic, mut rng)) = lockstep("maps_outside_and_on_the_chip_are_the_interpreters") else { return };
    // Tenant 3 asks for 256 MiB and says nothing.
    let given = [(Some(XdpMemory::Outside), 6), (Some(XdpMemory::Chip), 6), (None, 1 << 25)];
    let steps = if support::long() { 2_000 } else { 60 };
    let (mut loads, mut asked) = (0, 0);
    for _ in 0..steps {
        let id = rng.range(1, 3) as u16;
        let (place, numbers) = given[usize::from(id) - 1];
        let runs = nic.linker.tenant(id).unwrap().running.is_some();
        match rng.below(7) {
            0 if runs => nic.unload(id),
            0..=2 => {
                nic.put(id, &program(if rng.chance(1, 2) { COUNT } else { SHOW }, numbers, place)).unwrap();
                let outside = if id == 2 { XdpMemory::Chip } else { XdpMemory::Outside };
                assert_eq!(lies(&nic, id), outside);
                loads += 1;
            }
            3 if runs => {
                let (module, map) = (nic.module(id), nic.map(id, "counts"));
                let index = if rng.chance(1, 2) { rng.below(6) as u32 } else { numbers - 1 };
                let value = rng.bytes(8);
                let maps = nic.device.maps().unwrap();
                maps.update(module, map, &index.to_le_bytes(), &value, 0).unwrap();
                assert_eq!(maps.lookup(module, map, &index.to_le_bytes()).unwrap(), value);
                asked += 1;
            }
            _ => {
                let frame = |rng: &mut Rng| {
                    let (vlan, length) = (rng.range(1, 4) as u16, rng.range(50, 300) as usize);
                    frame(vlan, rng.below(8) as u8, &rng.bytes(length))
                };
                let frames: Vec<Vec<u8>> = (0..8).map(|_| frame(&mut rng)).collect();
                nic.offer(rng.below(4) as u8, frames);
            }
        }
        if rng.chance(1, 5) {
            nic.device.quiesce().unwrap();
        }
    }
    nic.device.quiesce().unwrap();
    assert!(nic.device.counters().unwrap().modules.values().all(|m| m.closes() && m.in_flight == 0));
    println!("{loads} loads, {asked} operations of the host, {:?}", nic.device.compared());
    assert!(loads > steps / 8 && asked > 0 && nic.device.compared().outputs > 2 * loads);
}

/// Replacements of a program whose array lies outside, and of one whose array lies on the chip, under load: each packet has counted.
#[test]
fn a_replacement_under_load_keeps_what_lies_outside_and_loses_nothing() {
    let Some((mut nic, mut rng)) = lockstep("a_replacement_under_load_keeps_what_lies_outside") else { return };
    let places = [XdpMemory::Outside, XdpMemory::Chip];
    let put = |nic: &mut Nic<Comparison>, id: u16, text: &str| {
        let place = places[usize::from(id) - 1];
        nic.put(id, &program(text, 6, Some(place))).unwrap();
        assert_eq!(lies(nic, id), place);
    };
    (1..=2).for_each(|id| put(&mut nic, id, COUNT));
    let rounds = if support::long() { 100 } else { 5 };
    let mut offered = [[0u64; 6]; 2];
    for round in 0..rounds {
        let begin = nic.device.now();
        for n in 0..20 {
            for id in [1, 2] {
                let (first, length) = (rng.below(6) as u8, rng.range(50, 200) as usize);
                let bytes = frame(id, first, &rng.bytes(length));
                // As fast as packets that wait for each other go, so that none finds its queue full.
                let offer = Offer { port: id as u8, bytes, at: begin + 1_000 * n, bad: false };
                nic.device.offer(&[offer]).unwrap();
                offered[usize::from(id) - 1][usize::from(first)] += 1;
            }
        }
        nic.device.advance(rng.below(8_000)).unwrap();
        (1..=2).for_each(|id| put(&mut nic, id, if round % 2 == 0 { SHOW } else { COUNT }));
        nic.device.quiesce().unwrap();
    }
    let outcomes = nic.ended();
    assert!(outcomes.iter().all(|outcome| !matches!(outcome.verdict, Verdict::Dropped { .. })), "{outcomes:?}");
    assert_eq!(outcomes.len() as u64, offered.as_flattened().iter().sum::<u64>());
    for (id, numbers) in (1..).zip(offered) {
        let counted: Vec<u64> = (0..6).map(|index| nic.number(id, "counts", index)).collect();
        assert_eq!(counted, numbers, "tenant {id}");
    }
}
