//! Program Warping in the bundle model: what the interpreter does from the first instruction on.

use crate::support::{Replay, Twins, fill, image, objects, scripts, steps};
use sluice_formats::random::{Rng, test_is_long, test_seed};
use sluice_hxdp::Target;
use sluice_hxdp::warp::tree::Tree;
use sluice_hxdp::warp::witness::witness;
use sluice_hxdp::cycles::{Engine, mean_alone, saturated};
use sluice_hxdp::warp::{Action, warp};

#[test]
fn scripts_are_the_same_with_warp() {
    for script in scripts() {
        for steps in steps::steps(&script) {
            println!("{}", script.display());
            Replay::warped(&steps, &Target::new(2).unwrap());
        }
    }
}

#[test]
fn show() {
    let only = std::env::var("WARP_SHOW").unwrap_or_default();
    for object in objects() {
        let name = object.file_stem().unwrap().to_string_lossy().into_owned();
        if !only.is_empty() && !only.split(',').any(|n| n == name) {
            continue;
        }
        let image = image(&object);
        for (index, program) in image.programs.iter().enumerate() {
            let target = Target::new(2).unwrap();
            let plain = sluice_hxdp::compile(&image, program, &target).unwrap();
            let rows = plain.bundles.rows.len();
            let warped = warp(&image, index, &plain, &target).unwrap();
            println!("== {name} {}: {rows} rows, {} with leaves, lanes {:?}, {:?}", program.name, warped.bundles.rows.len(), warped.table.key.lanes, warped.table.key.predicates);
            for leaf in &warped.table.leaves {
                match &leaf.action {
                    Action::Resume { row, entry, missed } => println!("  {:?} {} insns -> row {row} {missed:?} stack {} steps {} lookup {:?} regs {:?}", leaf.end, leaf.slots.len(), entry.stack.len(), entry.steps(), entry.lookup.is_some(), entry.registers.iter().map(|(r, _)| *r).collect::<Vec<_>>()),
                    other => println!("  {:?} {} insns -> {other:?}", leaf.end, leaf.slots.len()),
                }
            }
            if !only.is_empty() {
                println!("{}", sluice_hxdp::listing::listing(&warped.bundles, program, &image.maps));
            }
        }
    }
}

#[test]
fn measure() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/xdp");
    let target = Target::new(2).unwrap();
    for (what, program, packets) in [
        ("L2 ACL #1", "mac_gate", &[0usize, 1, 2, 3, 4, 5][..]),
        ("router #7", "router_basic", &[0, 1, 2, 3, 4, 5]),
        ("tunnel #4", "iptunnel", &[0, 1, 2, 3, 4, 5]),
        ("NAT #2, known flow", "nat_basic", &[1, 2, 3, 5, 6, 7]),
        ("Suricata #46", "flow_filter", &[0, 1, 2, 3, 4, 5]),
        ("Suricata #23, drop", "flow_filter", &[6, 7, 8, 9, 10, 11]),
        ("Katran #11", "balancer", &[1, 2, 3, 5, 6, 7]),
        ("firewall new", "udp_firewall", &[0, 1, 2, 3]),
        ("firewall known", "udp_firewall", &[4, 5, 6, 7]),
        ("redirect_map", "redirect_map", &[0, 1, 2, 3, 4, 5]),
        ("edge_router", "edge_router", &[0, 1, 2, 3, 4, 5]),
        ("vxlan_entry", "vxlan_entry", &[0, 1, 2, 3, 4, 5]),
        ("edge_balancer", "edge_balancer", &[0, 1, 2, 3, 4, 5]),
    ] {
        let all = steps::steps(&root.join(program).join("path.pkt"));
        let play = |warps: bool| {
            let replay = |steps: &Vec<_>| if warps { Replay::warped(steps, &target) } else { Replay::record(steps, &target) };
            let traces: Vec<_> = all.iter().flat_map(|s| replay(s).traces).flat_map(|(_, t)| t).collect();
            packets.iter().map(|at| traces[*at].0.clone()).collect::<Vec<_>>()
        };
        let (plain, warped) = (play(false), play(true));
        let issues = |t: &[sluice_hxdp::Trace]| t.iter().map(|t| t.issues.len() + t.issues.iter().filter(|i| i.twice).count()).sum::<usize>() as f64 / t.len() as f64;
        let engine = Engine::default();
        let with = engine.with_warp();
        println!(
            "{what:22} issues {:6.1} {:6.1}   cycles {:6.1} {:6.1}  alone {:6.0} {:6.0}  {:?}",
            issues(&plain), issues(&warped),
            saturated(&engine, &plain).cycles_per_packet(), saturated(&with, &warped).cycles_per_packet(),
            mean_alone(&engine, &plain), mean_alone(&with, &warped), warped[0].start
        );
    }
}

/// Packets of a leaf in CI, and of each test that is off by a little.
const PACKETS: usize = 40;

#[test]
fn witnesses_of_every_leaf_are_the_same_as_interpreted() {
    let mut rng = Rng::new(test_seed("witnesses"));
    let rounds = if test_is_long() { 100 * PACKETS } else { PACKETS };
    let (mut leaves, mut hit, mut packets) = (0, 0, 0);
    for object in objects() {
        let image = image(&object);
        for program in 0..image.programs.len() {
            let target = Target::new(2).unwrap();
            let tree = Tree::of(&image, &image.programs[program]);
            let mut twins = Twins::warped(image.clone(), &target).unwrap_or_else(|e| panic!("{}: {e}", object.display()));
            fill(&mut twins, &mut rng);
            for (_, tests) in tree.leaves() {
                leaves += 1;
                let mut some = false;
                for _ in 0..rounds {
                    let Some((mut frame, ingress)) = witness(&tests, &mut rng) else { continue };
                    some = true;
                    // Half of them are a little off.
                    if rng.chance(1, 2) {
                        near(&mut frame, &mut rng);
                    }
                    packets += 1;
                    let ran = twins.run(program, &frame, ingress);
                    ran.unwrap_or_else(|e| panic!("{}, {tests:?}, {frame:02x?}: {e}", object.display()));
                }
                hit += usize::from(some);
            }
            twins.compare_maps().unwrap_or_else(|e| panic!("{}: {e}", object.display()));
        }
    }
    println!("{packets} packets, {hit} of {leaves} leaves");
}

fn near(frame: &mut Vec<u8>, rng: &mut Rng) {
    match rng.index(3) {
        0 => frame.truncate(rng.index(frame.len()).max(1)),
        1 => {
            let at = rng.index(frame.len().min(64));
            frame[at] ^= 1 << rng.index(8);
        }
        _ => {
            let at = rng.index(frame.len().min(64));
            frame[at] = frame[at].wrapping_add(if rng.chance(1, 2) { 1 } else { 255 });
        }
    }
}
