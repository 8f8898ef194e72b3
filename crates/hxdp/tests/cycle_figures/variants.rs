//! The same programs as clang makes them at -O1, and from sources with their branches in another order (tests/variants).

use super::mixes::Mix;
use super::path_list::{PATHS, Path};
use super::{DEFAULT, paths, warp};
use crate::support::Replay;
use crate::support::steps::{self, Step};
use sluice_hxdp::{Engine, Target};
use std::path::{Path as FilePath, PathBuf};

/// Paths that have variants, and what issue 44 allows each with a warp engine.
const LIMITS: [(&str, f64); 6] = [
    ("L2 ACL #1", 4.0),
    ("router #7", 9.0),
    ("tunnel #4", 18.0),
    ("NAT #2, known flow", 24.0),
    ("Suricata #46", 7.0),
    ("Katran #11, established", 46.0),
];
/// How much more a variant may take.
const MORE: f64 = 1.2;
/// Endings of their names, and whether the limit is asked of them. With both changes balancer's leaves are each of their own code, and the
/// most used one has no rows left.
const VARIANTS: [(&str, bool); 3] = [("o1", true), ("turned", true), ("turned_o1", false)];

fn object(program: &str, variant: &str) -> PathBuf {
    FilePath::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/variants/{program}.{variant}.o"))
}

/// A script's steps with another object in place of the shipped one.
fn steps_of(script: &FilePath, object: &FilePath) -> Vec<Vec<Step>> {
    let mut all = steps::steps(script);
    for step in all.iter_mut().flatten() {
        if let Step::Load(load) = step {
            load.file = object.to_path_buf();
        }
    }
    all
}

/// The path's packets of a variant, without and with the engine.
fn mixes(path: &Path, object: &FilePath) -> [Mix; 2] {
    let script =
        FilePath::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/xdp").join(path.program).join("path.pkt");
    let target = Target::new(2).unwrap();
    [Replay::record as fn(&[Step], &Target) -> Replay, Replay::warped].map(|play| {
        let recorded: Vec<_> = steps_of(&script, object)
            .iter()
            .flat_map(|steps| play(steps, &target).traces)
            .flat_map(|(_, packets)| packets)
            .collect();
        let (traces, instructions) = path.packets.iter().map(|at| recorded[*at].clone()).unzip();
        Mix { traces, instructions }
    })
}

#[test]
fn the_same_source_compiled_in_another_way_is_nearly_as_fast_with_a_warp_engine() {
    let engine = Engine::default();
    let mut slow = Vec::new();
    for (what, limit) in LIMITS {
        let path = PATHS.iter().find(|path| path.what == what).unwrap();
        let shipped = paths::packets(path, DEFAULT);
        for (variant, is_limited) in VARIANTS {
            let mixes = mixes(path, &object(path.program, variant));
            for (one, other) in shipped.traces.iter().zip(&mixes[1].traces) {
                assert_eq!(
                    (one.rows_out, one.flow),
                    (other.rows_out, other.flow),
                    "{what}: {variant} does something else"
                );
            }
            let [without, with] = [0, 1].map(|at| paths::cycles(&mixes[at], &engine));
            println!(
                "{what} {} {variant}: {:.1} instructions, {:.1} issues and {without:.2} cycles, with warp {:.1} and {with:.2}, at most {:.2}",
                path.program,
                mixes[0].mean_instructions(),
                warp::passes(&mixes[0].traces),
                warp::passes(&mixes[1].traces),
                limit * MORE,
            );
            if is_limited && with > limit * MORE || with > without * 1.01 {
                slow.push(format!("{what} {variant}: {with:.2}"));
            }
        }
    }
    assert!(slow.is_empty(), "slower than its limit: {slow:?}");
}
