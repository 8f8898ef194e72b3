//! The aims beside the nearest shipped programs.

use super::mixes::{Mix, Mixes};
use super::path_list::{DROP, SWAP};
use super::{DEFAULT, Shape};
use crate::support::{Twins, target};
use sluice_ebpf::insn::assemble;
use sluice_ebpf::vm::Ingress;
use sluice_ebpf::{Image, Verdict};
use sluice_hxdp::Engine;
use sluice_hxdp::cycles::Memory;
use std::fmt::Write;

/// A published program, what it executes and takes without its warp engine, and what the engine is to take.
struct Aim {
    what: &'static str,
    published_instructions: u32,
    published: f64,
    aim: f64,
    ours: &'static str,
}

const fn aim(what: &'static str, insns: u32, published: f64, aim: f64, ours: &'static str) -> Aim {
    Aim { what, published_instructions: insns, published, aim, ours }
}

const AIMS: [Aim; 11] = [
    aim("L2 ACL", 40, 46.0, 10.0, "l2_acl"),
    aim("router", 72, 94.0, 20.0, "router"),
    aim("tunnel", 145, 113.1, 30.0, "iptunnel"),
    aim("NAT", 144, 132.3, 35.0, "nat.fed"),
    aim("Suricata #46", 64, 71.0, 15.0, "vlan_filter.fed"),
    aim("Suricata #23, drop", 44, 58.0, 10.0, "rate_limit.fed"),
    aim("Katran", 385, 277.8, 80.0, "load_balancer.fed"),
    aim("firewall", 61, 23.9, 14.0, "firewall"),
    aim("drop", 12, 3.0, 1.5, "bare drop"),
    aim("swap", 54, 6.9, 2.0, "bare swap"),
    aim("redirect_map", 33, 10.4, 5.0, "redirect_map"),
];

/// A frame that programs which look at nothing get.
pub const FRAME: [u8; 60] = [2; 60];

/// A program that is not shipped, and one packet of it.
pub fn bare(text: &str, frame: &[u8], verdict: Verdict, (lanes, _): Shape) -> Mix {
    run(Twins::new(image(text), &target(lanes), None).unwrap(), frame, verdict)
}

/// The same with a warp engine in front of the cores.
pub fn bare_warped(text: &str, frame: &[u8], verdict: Verdict) -> Mix {
    run(Twins::warped(image(text), &target(2)).unwrap(), frame, verdict)
}

fn image(text: &str) -> Image {
    let program = assemble("bare", text, &[]).unwrap_or_else(|e| panic!("{e:?}"));
    Image { programs: vec![program], ..Image::default() }
}

fn run(mut twins: Twins, frame: &[u8], verdict: Verdict) -> Mix {
    twins.record();
    let outcome = twins.run(0, frame, Ingress { ifindex: 1, queue: 0 }).unwrap();
    assert_eq!(outcome.verdict, verdict);
    let (traces, instructions) = twins.traces.into_iter().unzip();
    Mix { traces, instructions }
}

/// The packets that an aim is about: those that leave, all where none does.
fn packets(mixes: &Mixes, shape: Shape, ours: &str) -> Mix {
    match ours {
        "bare drop" => bare(DROP, &FRAME, Verdict::Drop, shape),
        "bare swap" => bare(SWAP, &FRAME, Verdict::Tx, shape),
        name => {
            let all = &mixes.on(shape)[name];
            let leaving = all.only(|trace| trace.rows_out > 0);
            if leaving.traces.is_empty() { all.clone() } else { leaving }
        }
    }
}

/// Beside each aim: the program's packets that leave (all, where none does) on the default engine.
pub fn table(mixes: &Mixes) -> String {
    let mut out = String::from(
        "| aim | insns, published | cycles, published | aim | ours | insns | bundles | cycles | one core | cycles at as many insns \
         |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    let engine = Engine::default();
    for aim in AIMS {
        let mix = packets(mixes, DEFAULT, aim.ours);
        let insns = mix.mean_instructions();
        let cycles = mix.saturated(&engine).cycles_per_packet();
        let core = mix.saturated(&Engine { cores: 1, ..engine }).cycles_per_packet();
        let scaled = match aim.ours.starts_with("bare") {
            true => String::from("-"),
            false => format!("{:.1}", cycles * f64::from(aim.published_instructions) / insns),
        };
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {insns:.1} | {:.1} | {cycles:.1} | {core:.1} | {scaled} |",
            aim.what,
            aim.published_instructions,
            aim.published,
            aim.aim,
            aim.ours,
            mix.mean_bundles(),
        );
    }
    out
}

/// The same packets on other engines; the shipped programs' cycles are scaled to the published instructions.
pub fn reach(mixes: &Mixes) -> String {
    let base = Engine::default();
    let lean = Engine { posted: true, late_port: true, ..base.with_contexts(12) };
    let four = Engine { memory: Memory::TWO, ..base };
    let engines = [
        ("default", DEFAULT, base),
        ("12 contexts", DEFAULT, base.with_contexts(12)),
        ("and posted stores, late results by a port of their own", DEFAULT, lean),
        ("and 3 cores", DEFAULT, Engine { cores: 3, ..lean }),
        ("2 cores, 4 lanes, 2 ports", (4, 2), four),
        ("and all that", (4, 2), Engine { memory: Memory::TWO, ..lean }),
    ];
    let mut out = String::from("| aim |  |");
    engines.iter().for_each(|(what, ..)| out.push_str(&format!(" {what} |")));
    out.push_str(&format!("\n| --- | --- |{}\n", " --- |".repeat(engines.len())));
    for aim in AIMS {
        let _ = write!(out, "| {} | {} |", aim.what, aim.aim);
        for (_, shape, engine) in engines {
            let mix = packets(mixes, shape, aim.ours);
            let scale = match aim.ours.starts_with("bare") {
                true => 1.0,
                false => f64::from(aim.published_instructions) / mix.mean_instructions(),
            };
            let _ = write!(out, " {:.1} |", mix.saturated(&engine).cycles_per_packet() * scale);
        }
        out.push('\n');
    }
    out
}
