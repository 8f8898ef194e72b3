//! `BPF_F_LOCK` of updates on the XDP engine in RTL: what it does as the software NIC does it, and what it refuses.

use crate::support;
use crate::xdp::device::{Nic, object};
use crate::xdp::engine::open_tiny;
use crate::xdp::pair::Pair;
use sluice_device::{Device, DeviceError};
use sluice_ebpf::{Image, MapSpec, MapType, Program};
use sluice_formats::target::TINY;
use sluice_rtlsim::{Comparison, RtlOptions, Variant, top};

/// Bytes of a value; its lock is in the first four.
const VALUE: usize = 16;
const ENTRIES: u32 = 4;
/// `BPF_F_LOCK`, and with it what is only made, or only changed.
const LOCK: u64 = 4;
const NEW_LOCK: u64 = 5;
const CHANGE_LOCK: u64 = 6;
const KINDS: [MapType; 2] = [MapType::Array, MapType::Hash];

/// Updates the entry that the frame's first byte names, and writes the answer into the frame. `flags` sets r4.
fn update(flags: &str) -> String {
    format!(
        "r6 = *(u32 *)(r1 +0)\nr2 = *(u32 *)(r1 +4)\nr3 = r6\nr3 += 64\nr0 = 1\nif r3 > r2 goto out\nr1 = *(u8 *)(r6 +0)\n*(u32 *)(r10 -4) = r1\n\
         r2 = r10\nr2 += -4\nr3 = r6\nr3 += 16\nr1 = map[values]\n{flags}call bpf_map_update_elem\n*(u64 *)(r6 +8) = r0\nr0 = 3\nout:\nexit\n"
    )
}

fn values(kind: MapType, locks: bool) -> MapSpec {
    MapSpec { spin_lock: locks.then_some(0), ..MapSpec::new("values", kind, 4, VALUE as u32, ENTRIES) }
}

#[test]
fn what_changes_no_entry_under_its_lock_answers_as_the_software_nic_does() {
    let name = "what_changes_no_entry_under_its_lock_answers_as_the_software_nic_does";
    let Some((mut engine, mut rng)) = open_tiny(name) else { return };
    let (mut number, mut made) = (0, 0);
    for kind in KINDS {
        for locks in [false, true] {
            for flags in (0u64..10).chain([1 << 32, LOCK << 32, u64::MAX - 3]) {
                if locks && [LOCK, CHANGE_LOCK].contains(&flags) {
                    continue;
                }
                let text = update(&format!("r4 = {flags:#x}\n"));
                let program = sluice_ebpf::insn::assemble("flags", &text, &["values"]).unwrap();
                let programs = vec![Program { section: "xdp".into(), ..program }];
                let image = Image { programs, maps: vec![values(kind, locks)], ..Image::default() };
                let mut pair = Pair::new(&mut engine, image).unwrap_or_else(|| panic!("{kind:?}, flags {flags:#x}"));
                // The same key again, and one beyond the end or more than there is room for.
                for key in [1, 1, 0, 2, 3, 5, 1] {
                    let mut frame = rng.bytes(64);
                    frame[0] = key;
                    pair.send(&mut engine, 0, number, &frame);
                    engine.end(pair.waiting());
                    number += 1;
                }
                made += pair.compare(&mut engine);
            }
        }
    }
    assert_eq!(made, 7 * (4 * 13 - 4));
}

/// A NIC of the engine with the software NIC beside it.
fn beside(name: &str) -> Option<Nic<Comparison>> {
    let options = RtlOptions { top: &top::XDP, ..RtlOptions::default() };
    support::has_top(&top::XDP, TINY.name, Variant::Test).then(|| {
        Nic::new(
            Comparison::open(TINY.name, options, support::waves_folder()).unwrap_or_else(|e| panic!("{name}: {e}")),
        )
    })
}

#[test]
fn a_program_that_may_change_an_entry_under_its_lock_is_refused_with_its_instruction() {
    let Some(mut nic) = beside("a_program_that_may_change_an_entry_under_its_lock_is_refused") else { return };
    // The call's slot is 15 behind a number, and one more for each instruction that makes the flags.
    let cases = [
        (format!("r4 = {LOCK}\n"), Some(15)),
        (format!("r4 = {CHANGE_LOCK}\n"), Some(15)),
        ("r4 = *(u8 *)(r6 +1)\n".to_owned(), Some(15)),
        ("r4 = *(u8 *)(r6 +1)\nr4 &= 6\n".to_owned(), Some(16)),
        // Flags that cannot be.
        ("r4 = *(u8 *)(r6 +1)\nr4 &= 3\n".to_owned(), None),
        (format!("r4 = {NEW_LOCK}\n"), None),
        ("r4 = 0\n".to_owned(), None),
    ];
    for kind in KINDS {
        for (flags, slot) in &cases {
            let put = nic.put(1, &object("program", &update(flags), vec![values(kind, true)], &[]));
            match slot {
                None => put.unwrap_or_else(|e| panic!("{flags}: {e}")),
                Some(slot) => {
                    let error = put.expect_err(flags);
                    let text = error.to_string();
                    assert_eq!(error.code(), "E0805");
                    for said in [&format!("instruction {slot}: "), "`map_update_elem`", "`BPF_F_LOCK`", "software NIC"]
                    {
                        assert!(text.contains(said), "{flags}: {text}");
                    }
                }
            }
            // Without a lock the flags mean nothing but an error.
            let plain = object("program", &update(flags), vec![values(kind, false)], &[]);
            nic.put(1, &plain).unwrap_or_else(|e| panic!("{flags}: {e}"));
        }
    }
}

#[test]
fn a_call_of_one_of_several_maps_is_refused_if_one_has_locks() {
    let Some(mut nic) = beside("a_call_of_one_of_several_maps_is_refused_if_one_has_locks") else { return };
    let choice = "r4 = *(u8 *)(r6 +2)\nif r4 != 0 goto plain\ngoto both\nplain:\nr1 = map[plain]\nboth:\n";
    for (locks, flags) in [(true, LOCK), (true, NEW_LOCK), (false, LOCK)] {
        let plain = MapSpec { name: "plain".to_owned(), ..values(MapType::Hash, false) };
        let text = update(&format!("{choice}r4 = {flags}\n"));
        let put = nic.put(1, &object("program", &text, vec![values(MapType::Hash, locks), plain], &[]));
        assert_eq!(put.is_err(), locks && flags == LOCK, "locks {locks}, flags {flags}");
    }
}

#[test]
fn the_hosts_update_under_a_lock_is_refused_and_all_others_answer_alike() {
    let Some(mut nic) = beside("the_hosts_update_under_a_lock_is_refused") else { return };
    for kind in KINDS {
        for locks in [false, true] {
            nic.put(1, &object("program", &update("r4 = 0\n"), vec![values(kind, locks)], &[])).unwrap();
            let (module, map) = (nic.module(1), nic.map(1, "values"));
            let maps = nic.device.maps().unwrap();
            let mut refused = 0;
            for flags in 0u64..10 {
                for key in [1u32, 0, 9, 1] {
                    // Answers are compared where the software NIC has been asked too.
                    let answer = maps.update(module, map, &key.to_le_bytes(), &[flags as u8; VALUE], flags);
                    if let Err(error @ DeviceError::MapLacks { .. }) = answer {
                        assert!([LOCK, CHANGE_LOCK].contains(&flags), "{flags}: {error}");
                        assert!(error.is_refusal() && error.code() == "E0805", "{error}");
                        assert!(error.to_string().contains("software NIC"), "{error}");
                        refused += 1;
                    }
                }
            }
            assert_eq!(refused, if locks { 8 } else { 0 }, "{kind:?}");
            // A value of another length is no update at all.
            assert!(matches!(maps.update(module, map, &[0; 4], &[0; 3], LOCK), Err(DeviceError::Map { .. })));
        }
    }
    nic.device.counters().unwrap();
}
