//! The published rules do what the program does with every frame that is as long as its program asks.

use crate::support::paper::Run;
use crate::support::{Replay, Twins, fill, image, objects, scripts, steps, target};
use sluice_ebpf::vm::Ingress;
use sluice_formats::random::{Rng, test_seed};
use sluice_hxdp::warp::paper::{Rule, Table, optimize};

/// The rule's way, and what is saved: as many instructions as that has.
fn check(run: &Run, table: &Table, what: &str) {
    let [without, with] = run.instructions;
    let Some(rule) = run.rule.map(|at| &table.rules[at]) else {
        assert_eq!((run.is_same, without), (true, with), "{what}: no rule");
        return;
    };
    assert!(run.is_same, "{what}: {rule:?}");
    if run.is_long {
        assert_eq!(without - with, rule.path.len() as u64, "{what}: {rule:?}");
        return;
    }
    // It leaves the way where a length was asked.
    let shared = rule.path.iter().zip(&run.slots).take_while(|(slot, (_, other))| *slot == other).count();
    assert!(rule.assumed.contains(&rule.path[shared - 1]), "{what}: slot {}: {rule:?}", rule.path[shared - 1]);
}

#[test]
fn packets_of_scripts_have_the_same_verdict_by_the_papers_rules_where_their_frames_are_long_enough() {
    let (mut packets, mut short) = (0, 0);
    for script in scripts() {
        for steps in steps::steps(&script) {
            let replay = Replay::by_paper(&steps, &target(2));
            for (file, runs) in replay.papers {
                let image = image(&file);
                let tables: Vec<Table> = image.programs.iter().map(optimize).collect();
                for run in &runs {
                    // Which program ran is not said; only one is, in these scripts, but for chains.
                    if tables.len() == 1 {
                        check(run, &tables[0], &format!("{}: {}", script.display(), file.display()));
                    }
                    packets += 1;
                    short += usize::from(!run.is_long);
                }
            }
        }
    }
    println!("{packets} packets, {short} shorter than their program asks");
    assert!(packets > 800 && short > 0, "{packets} packets, {short} short");
}

#[test]
fn packets_of_every_rule_have_the_same_verdict() {
    let seed = test_seed("warp_paper");
    let mut rng = Rng::new(seed);
    let (mut rules, mut hit, mut packets) = (0, 0, 0);
    for object in objects() {
        let image = image(&object);
        for index in 0..image.programs.len() {
            let table = optimize(&image.programs[index]);
            rules += table.rules.len();
            let mut twins = Twins::new(image.clone(), &target(2), None).unwrap();
            twins.by_paper();
            fill(&mut twins, &mut rng);
            let mut met = vec![false; table.rules.len()];
            for (at, rule) in table.rules.iter().enumerate() {
                for _ in 0..8 {
                    let frame = frame(rule, &mut rng);
                    let ingress = Ingress { ifindex: 1 + rng.index(3) as u32, queue: 0 };
                    twins
                        .run(index, &frame, ingress)
                        .unwrap_or_else(|e| panic!("seed {seed}, {}: {e}", object.display()));
                    let run = twins.paper.as_ref().unwrap().runs.last().unwrap();
                    packets += 1;
                    if run.rule == Some(at) && run.is_long {
                        met[at] = true;
                    }
                    check(run, &table, &format!("seed {seed}, {}", object.display()));
                }
            }
            hit += met.iter().filter(|met| **met).count();
        }
    }
    println!("seed {seed}: {packets} packets, {hit} of {rules} rules");
    assert!(hit * 2 > rules, "{hit} of {rules} rules");
}

/// A frame that a rule asks for, with a header length and a length that programs want.
fn frame(rule: &Rule, rng: &mut Rng) -> Vec<u8> {
    let mut frame = vec![0; 200 + rng.index(100)];
    frame.iter_mut().for_each(|byte| *byte = rng.index(256) as u8);
    frame[14] = 0x45;
    frame[16..18].copy_from_slice(&64u16.to_be_bytes());
    for (at, (mask, value)) in &rule.matches {
        let byte = &mut frame[usize::from(*at)];
        *byte = *byte & !mask | value;
    }
    frame
}
