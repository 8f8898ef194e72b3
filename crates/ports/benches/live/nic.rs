//! Rows of the NIC itself: the command between the sender and nobody, on the core where else the loop runs.

use crate::lab::Pair;
use crate::run::{Arguments, Row, run_sender};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// What a tenant runs on the frames: the end of a description.
pub const PROGRAMS: [(&str, &str); 4] = [
    ("sluice XDP drop", "xdp = \"PROGRAMS/xdp/drop/drop.o\"\npass = \"host0\"\n"),
    ("sluice XDP back", "xdp = \"PROGRAMS/xdp/swap/swap.o\"\npass = \"host0\"\n"),
    ("sluice table forward", "[tenant.table]\nkey = \"none\"\ndefault = { to = [\"port1\"] }\n"),
    ("sluice 1,024 routes", "object = \"PROGRAMS/p4/basic.p4\"\nentries = \"ROUTES\"\n"),
];

/// 1,024 routes of four lengths; frames of this bench find those within 10.9.0.0/16.
fn routes() -> String {
    let line = |n: u32| {
        let (a, kind) = (n / 4, n % 4);
        let (prefix, length) = match kind {
            0 => (0x0a09_0000 | a << 8, 24),
            1 => (0x0a09_0040 | a << 8, 26),
            2 => (0x0a09_0080 | a << 8, 28),
            _ => (0xac10_0000 | a << 12, 20),
        };
        format!("add routes hdr.ipv4.dst:{prefix:#010x}/{length} forward(next_hop:0x020000000000, port:1)\n")
    };
    (0..1024).map(line).collect()
}

const DESCRIPTION: &str = r#"[device]
target = "TARGET"
[[port]]
number = 0
iface = "nic0"
socket = "SOCKET"
untagged = "red"
[[port]]
number = 1
iface = "nic1"
socket = "SOCKET"
untagged = "red"
[[tenant]]
name = "red"
id = 1
vlans = []
queues = { port0 = 1024, port1 = 1024, host0 = 256 }
"#;

/// User and system time of a process so far.
fn cpu_time(process: u32) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The second field is a name in brackets and may have spaces; the clock has 100 ticks a second on every Linux.
    let after = stat.rsplit(')').next().unwrap_or_default();
    let ticks: u64 = after.split_ascii_whitespace().skip(11).take(2).filter_map(|t| t.parse::<u64>().ok()).sum();
    Duration::from_millis(10 * ticks)
}

/// Runs the command `nic` with a program, while frames come.
pub fn row(name: &str, program: &str, socket: &str, arguments: &Arguments, nic: &Path) -> Row {
    let (_first, _second) = (Pair::new(0, arguments.mtu), Pair::new(1, arguments.mtu));
    let programs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../programs");
    let file = std::env::temp_dir().join(format!("sluice-live-{}.toml", std::process::id()));
    // Hardware has no room for so many routes.
    let target = if program.contains("ROUTES") { "soft" } else { "default" };
    let entries = file.with_extension("entries");
    let program = program.replace("PROGRAMS", programs).replace("ROUTES", &entries.display().to_string());
    let text = DESCRIPTION.replace("SOCKET", socket).replace("TARGET", target) + &program;
    std::fs::write(&file, text).expect("the description is written");
    std::fs::write(&entries, routes()).expect("the routes are written");
    let core = arguments.cores[0].to_string();
    let mut command = Command::new("taskset");
    command.args(["-c", &core]).arg(nic).args(["run", "--json", "--config"]).arg(&file);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the NIC starts");
    let mut said = BufReader::new(child.stderr.take().expect("is piped")).lines();
    let opened: Vec<String> = said.by_ref().take(2).map_while(Result::ok).collect();
    assert!(opened.len() == 2 && opened[0].starts_with("nic0: "), "{opened:?}");
    let kind = opened[0].trim_start_matches("nic0: ").split(',').next().unwrap_or_default().to_owned();
    let (stop, before, begun) = (AtomicBool::new(false), cpu_time(child.id()), Instant::now());
    let (offered, sender_cpu) = std::thread::scope(|scope| {
        let sending = scope.spawn(|| run_sender("wire0", arguments.length, arguments.cores[1], &stop));
        std::thread::sleep(Duration::from_secs_f64(arguments.seconds));
        stop.store(true, Relaxed);
        sending.join().expect("the sender ends")
    });
    let seconds = begun.elapsed().as_secs_f64();
    let cpu = cpu_time(child.id()) - before;
    Command::new("kill").args(["-TERM", &child.id().to_string()]).status().expect("kill runs");
    let mut report = String::new();
    child.stdout.take().expect("is piped").read_to_string(&mut report).expect("the NIC reports");
    child.wait().expect("the NIC ends");
    [&file, &entries].into_iter().for_each(|file| drop(std::fs::remove_file(file)));
    let report: serde_json::Value = serde_json::from_str(&report).expect("the report is JSON");
    let count = |key: &str| report["live"][key].as_u64().unwrap_or(0);
    // What was sent, or what its program has dropped: not what found its lane full and cost next to nothing.
    let dropped = report["tenants"].as_array().into_iter().flatten().filter_map(|t| t["dropped"]["xdp_drop"].as_u64());
    let frames = (count("sent") + dropped.sum::<u64>()).max(1) as f64;
    Row {
        name: name.to_owned(),
        kind,
        offered_per_s: offered as f64 / seconds,
        frames_per_s: frames / seconds,
        loop_ns: cpu.as_secs_f64() * 1e9 / frames,
        frames_per_loop_cpu_s: frames / cpu.as_secs_f64().max(1e-9),
        everybody_ns: (cpu + sender_cpu).as_secs_f64() * 1e9 / frames,
        batch: 0.0,
        drops: count("missed") + count("refused"),
    }
}
