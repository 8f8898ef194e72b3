//! Secrets of hash tables in the load that brings ports up.

use sluice_formats::address::control;
use sluice_formats::target::TINY;
use sluice_formats::{EngineId, Table};
use sluice_object::{Linker, Load, Secrets, Step};

fn nic(secrets: Secrets) -> Load {
    let mut linker = Linker::of(&TINY, &EngineId::all().collect::<Vec<_>>(), None).with_secrets(secrets);
    let settings = linker.settings().clone();
    linker.nic(settings).unwrap()
}

/// Rows of secrets, and whether ports are open before one of them.
fn secrets(load: &Load) -> (Vec<(Table, u32, Vec<u32>)>, bool) {
    let (mut rows, mut open, mut late) = (Vec::new(), false, false);
    for step in &load.steps {
        let Step::Write { table, index, words, .. } = step else { continue };
        open |= *table == Table::PortPolicy;
        if *table == Table::L7Secret || *table == Table::Control && *index >= control::FLOW_SECRET {
            late |= open;
            rows.push((*table, *index, words.clone()));
        }
    }
    (rows, late)
}

#[test]
fn the_same_seed_gives_the_same_rows_and_they_are_there_before_ports_are_open() {
    let (one, late) = secrets(&nic(Secrets::of_seed(1)));
    assert!(one.len() == 2 + control::FLOW_SECRET_WORDS as usize && !late, "{one:?}");
    assert_eq!(one, secrets(&nic(Secrets::of_seed(1))).0);
    let (drawn, again) = (nic(Secrets::drawn().unwrap()), nic(Secrets::drawn().unwrap()));
    for (other, before) in [(nic(Secrets::of_seed(2)), &one), (again, &secrets(&drawn).0)] {
        let other = secrets(&other).0;
        assert!(other.iter().zip(before).all(|(a, b)| a.0 == b.0 && a.1 == b.1 && a.2 != b.2), "{other:?}");
    }
    // Without, loads are as they were: those of the flow hash stay as after a reset.
    assert_eq!(secrets(&nic(Secrets::default())).0.len(), 2);
}

#[test]
fn a_load_with_another_secret_than_the_nics_is_refused() {
    let mut linker = Linker::of(&TINY, &EngineId::all().collect::<Vec<_>>(), None).with_secrets(Secrets::of_seed(1));
    let settings = linker.settings().clone();
    let load = linker.nic(settings).unwrap();
    assert!(linker.check(&load).is_ok());
    for n in 0..load.steps.len() {
        let mut broken = load.clone();
        let Step::Write { table, index, words, .. } = &mut broken.steps[n] else { continue };
        if *table == Table::L7Secret || *table == Table::Control && *index >= control::FLOW_SECRET {
            words[0] ^= 1;
            assert!(linker.check(&broken).is_err(), "{:?}", broken.steps[n]);
        }
    }
}
