//! The shipped programs, run by the kernel and by the interpreter on the same packets.

mod coverage;
mod jumbo;
mod replay;
mod shipped;
mod steps;
mod traffic;
mod verdicts;

use crate::helpers_support::skipped;
use coverage::{Reasons, coverage};
use replay::Replay;
use sluice_ebpf::kernel::{Difference, Kernel, Pinned, Sandbox, TestInput, hex};
use sluice_ebpf::{MapType, Verdict};
use sluice_formats::random::{Rng, test_seed};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;
use steps::Step;
use traffic::{Kind, Next, Traffic};

/// Random packets for each program.
const PACKETS: usize = 10_000;
/// Packets between two comparisons of all maps.
const LOOK_EVERY: usize = 500;
/// Interfaces of the sandbox, as many as a script may name.
const INTERFACES: u32 = 64;
/// Interfaces that packets come from.
const INGRESS: u32 = 8;
/// Least share of executed instructions, in percent.
const COVERED: f64 = 90.0;

/// Interfaces apart from all others on one processor; nothing where there cannot be any.
fn apart() -> Option<(Sandbox, Pinned)> {
    if skipped() {
        return None;
    }
    let pinned = Pinned::to(0).expect("processor 0 is there");
    match Sandbox::enter(INTERFACES) {
        Ok(sandbox) => Some((sandbox, pinned)),
        Err(e) => {
            println!("skipped: {e}");
            None
        }
    }
}

#[test]
fn kernel_accepts_every_shipped_object() {
    if skipped() {
        return;
    }
    for program in shipped::all() {
        for path in &program.objects {
            let image = shipped::image(path);
            let kernel = Kernel::load(&image).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            assert!(!kernel.programs.is_empty());
            let insns: usize = image.programs.iter().map(|p| p.insns.len()).sum();
            let file = path.file_name().unwrap_or_default().to_string_lossy();
            println!("{file:24} {} programs, {insns:5} slots, {} maps", kernel.programs.len(), kernel.maps.len());
        }
    }
}

#[test]
fn kernel_scripts_do_the_same_in_the_kernel() {
    let Some(_apart) = apart() else { return };
    for program in shipped::all() {
        for script in &program.scripts {
            for steps in steps::steps(script) {
                let mut replay = Replay::default();
                for step in &steps {
                    replay.step(step).unwrap_or_else(|e| panic!("{}: {step:02x?}\n{e}", script.display()));
                }
                let file = script.file_name().unwrap_or_default().to_string_lossy();
                println!("{:14} {file:20} {} packets: the same", program.name, replay.packets);
            }
        }
    }
}

#[test]
fn kernel_programs_do_the_same_on_random_packets() {
    let Some(_apart) = apart() else { return };
    let mut rng = Rng::new(test_seed("kernel_programs"));
    let only = std::env::var("SLUICE_ONLY").ok();
    println!("program                packets  instructions   executed    %   s  verdicts");
    let mut problems = Vec::new();
    for program in shipped::all() {
        let rng = rng.fork();
        if only.as_ref().is_none_or(|o| *o == program.name) {
            compare(&program, rng, &mut problems);
        }
    }
    assert!(problems.is_empty(), "{problems:#?}");
}

/// Runs one program on random packets and prints its line.
fn compare(program: &shipped::Shipped, mut rng: Rng, problems: &mut Vec<String>) {
    let began = Instant::now();
    let scripts: Vec<Vec<Step>> = program.scripts.iter().flat_map(|s| steps::steps(s)).collect();
    let fed = program.compared().to_string_lossy().ends_with(".fed.o");
    let mut replay = Replay::default();
    let first = scripts.iter().flatten().find_map(|s| match s {
        Step::Load(load) => Some(load.clone()),
        _ => None,
    });
    let mut load = first.unwrap_or_else(|| panic!("{}: no script loads it", program.name));
    load.file = program.compared().to_path_buf();
    let failed = |step: &str, e: Difference| -> ! { panic!("{}: {step}\n{e}", program.name) };
    replay.step(&Step::Load(load)).unwrap_or_else(|e| failed("loading", e));
    for step in scripts.iter().flatten().filter(|s| matches!(s, Step::Routes(_))).take(1) {
        replay.step(step).unwrap_or_else(|e| failed("routes", e));
    }
    let mut traffic = Traffic::new(scripts, INGRESS, fed, rng.fork());
    let mut kinds: BTreeMap<Kind, usize> = BTreeMap::new();
    let mut given: BTreeMap<Verdict, usize> = BTreeMap::new();
    let mut packets = 0;
    while packets < PACKETS {
        match traffic.next() {
            Next::User(step) => replay.step(&step).unwrap_or_else(|e| failed(&format!("{step:02x?}"), e)),
            Next::Packet { ifindex, queue, metadata, frame, kind } => {
                let input = TestInput { frame: &frame, metadata: &metadata, ifindex, queue };
                // An object's other programs now and then get a packet of their own.
                let programs = replay.differential().image().programs.len();
                let result = match rng.chance(1, 8) {
                    true => replay.run_program(rng.index(programs), &input),
                    false => replay.run(&input),
                };
                let outcome = result.unwrap_or_else(|e| failed(&format!("packet {packets}, {kind:?}"), e));
                *kinds.entry(kind).or_default() += 1;
                *given.entry(outcome.verdict).or_default() += 1;
                packets += 1;
                if packets % LOOK_EVERY == 0 || std::env::var("SLUICE_EACH").is_ok() {
                    let looked = replay.step(&Step::Look);
                    looked.unwrap_or_else(|e| failed(&format!("maps after packet {packets}: {}", hex(&frame)), e));
                }
            }
        }
    }
    assert!(kinds.len() == 7, "{}: a kind of packets is missing: {kinds:?}", program.name);
    let differential = replay.differential();
    let image = differential.image();
    for (index, map) in image.maps.iter().enumerate() {
        // Where the kernel had to choose victims the comparison would mean nothing.
        let lru = matches!(map.kind, MapType::LruHash | MapType::LruPercpuHash);
        assert!(!lru || differential.contents(index).len() < map.max_entries as usize / 2, "{}", map.name);
    }
    let reasons = Reasons::parse(&program.name, &program.text("uncovered"));
    let stale = reasons.stale(&image.programs);
    if !stale.is_empty() {
        problems.push(format!("{}.uncovered names lines that are not there: {stale:#?}", program.name));
    }
    let mut possible = BTreeSet::new();
    let mut computed = false;
    for (index, p) in image.programs.iter().enumerate() {
        let covered = coverage(p, &differential.hits(index), &reasons);
        let returned = verdicts::returned(p);
        possible.extend(returned.verdicts);
        computed |= returned.computed;
        let names: Vec<String> = given.iter().map(|(v, n)| format!("{} {n}", v.name())).collect();
        println!(
            "{:20} {packets:9} {:13} {:10} {:5.1} {:3.1}  {}",
            p.name,
            covered.all,
            covered.executed,
            covered.percent(),
            began.elapsed().as_secs_f64(),
            names.join(", ")
        );
        for rest in &covered.rest {
            let reason = rest.reason.as_deref().unwrap_or("no packet came here in this run");
            println!("    not executed  {}: {}  {:?}  [{reason}]", rest.place, rest.text, rest.slots);
        }
        if covered.percent() < COVERED {
            problems.push(format!("{}: {:.1} % executed", p.name, covered.percent()));
        }
    }
    for verdict in possible.iter().filter(|v| !given.contains_key(v)) {
        match reasons.verdict(*verdict) {
            Some(reason) => println!("    never {}  [{reason}]", verdict.name()),
            None => problems.push(format!("{}: never {}, which its code can return", program.name, verdict.name())),
        }
    }
    if computed {
        println!("    some verdicts are computed: those that occurred are in the line above");
    }
}
