//! Program Warping on RTL: what a packet's bytes decide is decided before a core sees it, and everything else is as without.

use crate::packets;
use crate::parsers::parser;
use crate::support;
use crate::xdp::engine::{Engine, INTERFACES, MODULE};
use crate::xdp::pair::Pair;
use crate::xdp::together::together;
use sluice_ebpf::vm::Ingress;
use sluice_formats::random::{Rng, test_seed};
use sluice_formats::row::Row;
use sluice_formats::target::{DEFAULT, TINY};
use sluice_formats::xdp::codes::XdpMapOp;
use sluice_formats::xdp::rows::XdpWarpHitsRow;
use sluice_formats::xdp::target::WARP_RULES;
use sluice_formats::{Table, Target};
use sluice_hxdp::Stored;
use sluice_hxdp::warp::bits::Seen;
use sluice_hxdp::warp::tree::Tree;
use sluice_hxdp::warp::witness::witness;
use sluice_hxdp::warp::{Action, Table as WarpTable};
use sluice_rtlsim::{Variant, top};

/// What a run has seen.
#[derive(Default, Debug)]
struct Run {
    packets: u64,
    programs: u64,
    verdicts: u64,
    resumes: u64,
    early: u64,
}

/// What is known of a packet's leaf: which one, and its key if it looks up.
fn leaf_of(table: &WarpTable, frame: &[u8], port: u8) -> Option<(usize, Option<Vec<u8>>)> {
    let ingress = Ingress { ifindex: INTERFACES[usize::from(port)], queue: 0 };
    let seen = Seen::new(frame, ingress);
    let leaf = table.leaf(&seen)?;
    match &table.leaves[leaf].action {
        Action::Plain => None,
        Action::Verdict { .. } => Some((leaf, None)),
        Action::Resume { entry, .. } => Some((leaf, entry.lookup.as_ref().map(|lookup| lookup.key_of(&seen)))),
    }
}

/// Random parsers with packets of all their leaves.
fn parsers(target: &'static Target, seed: u64, wanted: u64, all: &mut Run) {
    let (mut engine, mut rng) = (Engine::open(target, seed), Rng::new(seed));
    let mut number = 0;
    while all.packets < wanted {
        let (image, text) = parser(&mut rng);
        let tree = Tree::of(&image, &image.programs[0], &Stored::default());
        let Some(mut pair) = Pair::warped(&mut engine, image) else { continue };
        all.programs += 1;
        for rule in 0..WARP_RULES as u32 {
            let index = 2 * u32::from(MODULE) * WARP_RULES as u32 + rule;
            engine.write(Table::XdpWarpHits, index, &XdpWarpHitsRow::default());
        }
        let tests = tree.leaves();
        let table = pair.table.clone().expect("it is warped");
        let mut hits = vec![0u64; table.leaves.len()];
        for _ in 0..3 {
            let frames: Vec<(u8, Vec<u8>)> = (0..1 + rng.index(60))
                .map(|_| {
                    let found = witness(&tests[rng.index(tests.len())].1, &mut rng);
                    let (mut frame, ingress) = found.unwrap_or_else(|| (packets::frame(&mut rng), Ingress::default()));
                    match rng.index(6) {
                        0 => frame.truncate(rng.index(frame.len()).max(1)),
                        1 => {
                            let byte = rng.index(frame.len().min(64));
                            frame[byte] ^= 1 << rng.index(8);
                        }
                        _ => {}
                    }
                    let there = INTERFACES.iter().position(|ifindex| *ifindex == ingress.ifindex);
                    let ports = usize::try_from(target.ports).expect("few");
                    (there.filter(|port| *port < ports).unwrap_or_else(|| rng.index(ports)) as u8, frame)
                })
                .collect();
            for (port, frame) in &frames {
                let Some((leaf, key)) = leaf_of(&table, frame, *port) else { continue };
                hits[leaf] += 1;
                let resumes = matches!(table.leaves[leaf].action, Action::Resume { .. });
                all.resumes += u64::from(resumes);
                all.verdicts += u64::from(!resumes);
                if let Some(key) = key.filter(|_| rng.chance(1, 2)) {
                    pair.host(&mut engine, XdpMapOp::Update, 1, &key, &rng.bytes(8), 0);
                }
            }
            let (ready, gaps) = [(0, 0), (0, 0), (40, 0), (200, 100), (0, 200)][rng.index(5)];
            engine.stall(ready, gaps);
            engine.steps.clear();
            together(&mut engine, &mut pair, &frames, number);
            number += frames.len() as u32;
            all.packets += frames.len() as u64;
        }
        for (rule, wanted) in (0..).zip(&hits) {
            let index = 2 * u32::from(MODULE) * WARP_RULES as u32 + rule;
            let row = XdpWarpHitsRow::unpack(&engine.read(Table::XdpWarpHits, index)).unwrap();
            assert_eq!(row.packets, *wanted, "packets of leaf {rule}\n{text}");
        }
    }
    all.early += engine.early as u64;
}

#[test]
fn random_parsers_do_the_same_by_their_tables_on_rtl() {
    let test = "random_parsers_do_the_same_by_their_tables_on_rtl";
    let long = support::long();
    for (target, wanted) in [(&TINY, if long { 200_000 } else { 6_000 }), (&DEFAULT, if long { 1_000_000 } else { 0 })] {
        if wanted == 0 || !support::has_top(&top::XDP, target.name, Variant::Test) {
            continue;
        }
        let mut all = Run::default();
        parsers(target, test_seed(test), wanted, &mut all);
        println!("{}: {all:?}", target.name);
        assert!(all.early * 10 > all.packets, "{all:?}");
        assert!(all.resumes * 10 > all.packets && all.verdicts * 10 > all.packets, "{all:?}");
    }
}
