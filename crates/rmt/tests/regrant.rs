//! Another grant for a tenant whose packets go on: all of the old program or all of the new one, in the place that it was given by then.

use crate::common::linker::Tenants;
use crate::common::{check_rows, random_part};
use crate::linker::{InFlight, object, rng_says, run};
use sluice_formats::Table;
use sluice_formats::random::{Rng, test_seed};
use sluice_object::linker::rmt::{Quota, StageQuota};
use sluice_object::{Destinations, LinkError, Linker, Load, Object, RmtPart, Step, TenantSpec};
use sluice_rmt::target::{DEFAULT, TINY, Target};
use sluice_rmt::testing::device::Device;

/// The tenant with another quota.
fn regrant(linker: &mut Linker, id: u16, quota: Quota, object: &Object) -> Result<Load, LinkError> {
    let before = linker.tenant(id)?.spec.clone();
    let queues = Destinations::from_mask(quota.destinations, linker.target()).iter().map(|d| (d, 4)).collect();
    linker.regrant(TenantSpec { queues, rmt: Some(quota), ..before }, Some(object))
}

/// A quota with which this program runs, and some more of everything at times.
fn quota(rng: &mut Rng, part: &RmtPart, target: &Target) -> Quota {
    let mut quota = Quota::of(part, 0xff);
    let much = if rng.chance(1, 4) { target.ternary as u32 / 3 } else { 0 };
    for given in quota.stages.values_mut() {
        given.ternary += much;
        given.exact += rng.below(1 + target.sets() as u64 / 8) as u32;
        given.ternary += rng.below(1 + target.ternary as u64 / 16) as u32;
        given.actions += rng.below(3) as u32;
        given.numbers += rng.below(9) as u32;
    }
    quota
}

/// What is left of a pipeline, without the order in which it was taken.
fn left(linker: &Tenants) -> Vec<[u32; 5]> {
    linker.placer().left().iter().map(|s| [s.sets, s.ternary, s.actions, s.pages, s.numbers]).collect()
}

#[test]
fn a_tenant_grows_and_shrinks_while_every_packet_meets_a_whole_program() {
    let mut rng = Rng::new(test_seed("rmt_regrant"));
    let (mut looked, mut moved, mut refused) = (0, 0, 0);
    for round in 0..36 {
        let target = if round % 3 == 0 { DEFAULT } else { TINY };
        let mut linker = Tenants::new(target);
        let mut device = Device::new(target);
        let empty = left(&linker);
        let other = random_part(&mut rng, &target, 1);
        let first = RmtPart { keep_state: false, ..random_part(&mut rng, &target, 1) };
        let (blue, red) = (Quota::of(&other, 1), quota(&mut rng, &first, &target));
        let steps = [
            linker.admit(7, "blue", blue),
            linker.load(7, &object("b", &target, other.clone())),
            linker.admit(8, "red", red),
            linker.load(8, &object("r", &target, first.clone())),
        ];
        if steps.iter().any(Result::is_err) {
            continue;
        }
        steps.into_iter().flatten().for_each(|load| run(&mut device, &load, &mut rng, |_, _| {}));
        let module = linker.module(8).unwrap();
        let mut packets = InFlight { module, carried: [false; 2], current: linker.generation(8) };
        packets.carried[usize::from(packets.current)] = true;
        let mut there: [RmtPart; 2] = Default::default();
        let in_place = |linker: &Tenants, part: &RmtPart| part.moved(&linker.placer().stages_of(module));
        there[usize::from(packets.current)] = in_place(&linker, &first);
        for _ in 0..6 {
            let part = RmtPart { keep_state: false, ..random_part(&mut rng, &target, 1) };
            let given = quota(&mut rng, &part, &target);
            let before = (linker.clone(), left(&linker));
            let load = match regrant(&mut linker.0, 8, given, &object("r", &target, part.clone())) {
                Ok(load) => load,
                Err(error) => {
                    assert_eq!(error.code(), "E0670", "{error}");
                    assert_eq!((left(&linker), linker.generation(8)), (before.1, before.0.generation(8)));
                    refused += 1;
                    continue;
                }
            };
            moved += 1;
            there[usize::from(linker.generation(8))] = in_place(&linker, &part);
            run(&mut device, &load, &mut rng, |device, step| {
                packets.see(step);
                if rng_says(&mut looked) {
                    for g in (0..2).filter(|&g| packets.carried[usize::from(g)]) {
                        check_rows(device, &target, module, g, &there[usize::from(g)]);
                    }
                }
            });
            let neighbour = linker.module(7).unwrap();
            let other = other.moved(&linker.placer().stages_of(neighbour));
            check_rows(&device, &target, neighbour, linker.generation(7), &other);
        }
        for id in [8, 7] {
            let load = linker.remove(id).unwrap();
            run(&mut device, &load, &mut rng, |_, _| {});
        }
        assert_eq!(device.places().collect::<Vec<_>>(), [], "rows that stay");
        assert_eq!(left(&linker), empty, "all that was held is free again");
    }
    assert!(
        looked > 1000 && moved > 60 && refused > 5,
        "{looked} looks, {moved} moves, {refused} refused: too few to mean anything"
    );
}

/// As many pages as there were go on; the rest of the stage may be given anew around them.
#[test]
fn state_is_kept_where_a_tenant_grows() {
    let mut rng = Rng::new(test_seed("rmt_regrant_state"));
    let mut kept = 0;
    for _ in 0..200 {
        let target = DEFAULT;
        let part = RmtPart { keep_state: true, ..random_part(&mut rng, &target, 1) };
        let Some((&stage, _)) = part.stages.iter().find(|(_, rows)| rows.pages > 0) else { continue };
        let mut linker = Tenants::new(target);
        let name = object("r", &target, part.clone());
        if linker.admit(8, "red", Quota::of(&part, 0xff)).is_err() || linker.load(8, &name).is_err() {
            continue;
        }
        let word = |linker: &Tenants| linker.0.state_word(8, stage, 0).unwrap();
        let at = word(&linker);
        let mut more = Quota::of(&part, 0xff);
        more.stages.values_mut().for_each(|given| (given.pages, given.ternary) = (given.pages + 1, given.ternary + 1));
        if regrant(&mut linker.0, 8, more, &name).is_ok() {
            assert_eq!(word(&linker), at);
            kept += 1;
        }
    }
    assert!(kept > 10, "{kept} kept");
}

#[test]
fn what_cannot_be_had_is_refused_as_a_whole() {
    let mut rng = Rng::new(test_seed("rmt_regrant_refused"));
    let part = random_part(&mut rng, &DEFAULT, 1);
    let mut linker = Tenants::new(DEFAULT);
    let program = object("r", &DEFAULT, part.clone());
    linker.admit(8, "red", Quota::of(&part, 0xff)).unwrap();
    linker.load(8, &program).unwrap();
    let spec = linker.0.tenant(8).unwrap().spec.clone();
    let before = format!("{:?}", linker.0);
    let mut large = spec.clone();
    large.rmt.as_mut().unwrap().stages.values_mut().for_each(|given| given.ternary = DEFAULT.ternary as u32);
    let mut more = spec.clone();
    more.rmt.as_mut().unwrap().stages.values_mut().for_each(|given| given.actions += 1);
    let mut fewer = spec.clone();
    fewer.queues.pop_first();
    for (spec, program, code, words) in [
        (fewer, None, "E0229", "where there is a queue"),
        (large, Some(&program), "E0670", "ternary"),
        (more, None, "E0229", "the program too"),
        (TenantSpec { name: "blue".to_owned(), ..spec.clone() }, None, "E0226", "name"),
        (TenantSpec { xdp_work: Some(3), ..spec.clone() }, None, "E0226", "xdp_work"),
        (TenantSpec { id: 9, ..spec.clone() }, None, "E0225", "9"),
    ] {
        let error = linker.0.regrant(spec, program).unwrap_err();
        assert!(error.code() == code && error.to_string().contains(words), "{error} [{}]", error.code());
        assert_eq!(format!("{:?}", linker.0), before, "{error}");
    }
}

/// A tenant who runs nothing gets other rows, those that he had are free again, and his first program has room there.
#[test]
fn who_runs_nothing_gets_other_rows() {
    let mut rng = Rng::new(test_seed("rmt_regrant_idle"));
    let part = RmtPart { keep_state: false, ..random_part(&mut rng, &DEFAULT, 1) };
    let mut linker = Tenants::new(DEFAULT);
    let mut device = Device::new(DEFAULT);
    let empty = left(&linker);
    let load = linker.admit(8, "red", Quota { destinations: 0xff, ..Quota::default() }).unwrap();
    run(&mut device, &load, &mut rng, |_, _| {});
    let spec = TenantSpec { rmt: Some(Quota::of(&part, 0xff)), ..linker.0.tenant(8).unwrap().spec.clone() };
    let program = object("r", &DEFAULT, part.clone());
    assert_eq!(linker.0.regrant(spec.clone(), Some(&program)).unwrap_err().code(), "E0229");
    for load in [linker.0.regrant(spec, None).unwrap(), linker.load(8, &program).unwrap()] {
        run(&mut device, &load, &mut rng, |_, _| {});
    }
    let module = linker.module(8).unwrap();
    let there = part.moved(&linker.placer().stages_of(module));
    check_rows(&device, &DEFAULT, module, linker.generation(8), &there);
    let load = linker.remove(8).unwrap();
    run(&mut device, &load, &mut rng, |_, _| {});
    assert_eq!((device.places().count(), left(&linker)), (0, empty));
}

/// Rows that nobody had yet are zeroed before anything else is there: also the first ones of a memory, of which the tenant had none.
#[test]
fn new_rows_begin_with_zeros() {
    let mut linker = Tenants::new(DEFAULT);
    let stage = |ternary| StageQuota { exact: 4, ternary, actions: 1, numbers: 8, ..StageQuota::default() };
    let quota = |ternary| Quota { stages: [(1, stage(ternary))].into(), destinations: 1, ..Quota::default() };
    linker.admit(8, "red", quota(0)).unwrap();
    let spec = TenantSpec { rmt: Some(quota(3)), ..linker.0.tenant(8).unwrap().spec.clone() };
    let load = linker.0.regrant(spec, None).unwrap();
    let zeroed = |step: &&Step| matches!(step, Step::Write { table: Table::Ternary, index: 0..6, words, .. } if words.iter().all(|word| *word == 0));
    assert_eq!(load.steps.iter().filter(zeroed).count(), 6);
}
