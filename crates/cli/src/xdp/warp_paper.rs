//! `sluice xdp warp --paper`: the rules that the published algorithm makes of a program.

use super::warp::{asked, place};
use crate::failure::Failure;
use serde_json::{Value, json};
use sluice_ebpf::vm::{Ingress, Packet};
use sluice_ebpf::{Image, Program, Runtime, Verdict};
use sluice_hxdp::warp::paper::{Action, Engine, Rule, Table};
use std::fmt::Write;
use std::path::Path;

/// Packets of a rule, or of none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hits {
    packets: u64,
    /// Instructions that the interpreter executed of them, without and with rules.
    instructions: [u64; 2],
    /// Packets that became something else: shorter ones than the program asks for, since no rule has a length.
    wrong: u64,
}

/// Packets of each rule, and behind them those of none; each packet on both sides.
pub fn check(
    image: &Image,
    index: usize,
    table: &Table,
    frames: &[(u64, Vec<u8>)],
    object: &Path,
) -> Result<Vec<Hits>, Failure> {
    let side = || {
        let mut runtime = Runtime::new(2, 1);
        let failure = |e: sluice_ebpf::load::LoadError| Failure::input(e.code(), format!("{}: {e}", object.display()));
        let installed = runtime.install(image, &|_| None).map_err(failure)?;
        Ok::<_, Failure>((runtime, installed))
    };
    let ((mut plain, on_plain), (mut other, on_other)) = (side()?, side()?);
    let mut hits = vec![Hits::default(); table.rules.len() + 1];
    let Some(engine) = Engine::new(table.clone(), image, index, &other, on_other) else { return Ok(hits) };
    for (stamp, frame) in frames {
        let ingress = Ingress { ifindex: 1, queue: 0 };
        (plain.world.now_ns, other.world.now_ns) = (*stamp, *stamp);
        let (mut packet, mut other_packet) = (Packet::new(frame), Packet::new(frame));
        let without = plain.run(on_plain, index, &mut packet, ingress);
        let with = other.run_on(&engine, on_other, index, &mut other_packet, ingress);
        let hit = &mut hits[engine.last().unwrap_or(table.rules.len())];
        hit.packets += 1;
        hit.instructions[0] += without.instructions;
        hit.instructions[1] += with.instructions;
        let is_same = without.verdict == with.verdict && packet.frame() == other_packet.frame();
        hit.wrong += u64::from(!is_same);
    }
    Ok(hits)
}

pub fn text(program: &Program, table: &Table, hits: Option<&[Hits]>) -> String {
    let forwards = table.rules.iter().filter(|rule| matches!(rule.action, Action::Forward(_))).count();
    let mut out = format!(
        "{}: {} entries by the published algorithm: {forwards} forward, {} restore; {} bytes of a key, {} of the stack\n",
        program.name,
        table.rules.len(),
        table.rules.len() - forwards,
        table.key().len(),
        table.stack(),
    );
    for (at, rule) in table.rules.iter().enumerate() {
        let _ = writeln!(
            out,
            "  {at:2}  {}, {} instructions done{}",
            does(rule),
            rule.path.len(),
            hits.map_or_else(String::new, |hits| counted(&hits[at]))
        );
        if let Action::Restore { pc, why, .. } = &rule.action {
            let _ = writeln!(out, "      its path ends at {}: {}", place(program, *pc), why.text());
        }
        let matches: Vec<String> = rule.matches.iter().map(|(byte, of)| asked(*byte, *of)).collect();
        let _ = writeln!(out, "      {}", if matches.is_empty() { "any".to_owned() } else { matches.join(" and ") });
    }
    let none = hits.map_or_else(String::new, |hits| counted(&hits[table.rules.len()]));
    let _ = writeln!(out, "  --  every other packet from the program's start{none}");
    out
}

fn does(rule: &Rule) -> String {
    match &rule.action {
        Action::Forward(r0) => Verdict::from_r0(*r0).name().to_owned(),
        Action::Restore { pc, stack, .. } => {
            let bytes: usize = stack.iter().map(|(_, bytes, _)| usize::from(*bytes)).sum();
            format!("goes on at slot {pc} with {bytes} bytes of the stack")
        }
    }
}

fn counted(hits: &Hits) -> String {
    let wrong = match hits.wrong {
        0 => String::new(),
        wrong => format!(", {wrong} of them wrong, for no rule has a length"),
    };
    format!(", {} packets, {} instructions become {}{wrong}", hits.packets, hits.instructions[0], hits.instructions[1])
}

pub fn document(program: &Program, table: &Table, hits: Option<&[Hits]>) -> Value {
    let counts = |at: usize| {
        hits.map(|hits| {
            let Hits { packets, instructions: [without, with], wrong } = hits[at];
            json!({ "packets": packets, "instructions": { "without": without, "with": with }, "wrong": wrong })
        })
    };
    let rule = |(at, rule): (usize, &Rule)| {
        let action = match &rule.action {
            Action::Forward(r0) => json!({ "kind": "forward", "r0": r0 }),
            Action::Restore { pc, why, .. } => json!({ "kind": "restore", "pc": pc, "why": why.text() }),
        };
        json!({
            "action": action,
            "matches": rule.matches.iter().map(|(byte, (mask, value))| json!({ "byte": byte, "mask": mask, "value": value })).collect::<Vec<_>>(),
            "path": rule.path,
            "counts": counts(at),
        })
    };
    json!({
        "name": program.name,
        "rules": table.rules.iter().enumerate().map(rule).collect::<Vec<_>>(),
        "key": table.key(),
        "stack": table.stack(),
        "others": counts(table.rules.len()),
    })
}
