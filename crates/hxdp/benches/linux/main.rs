//! Shipped and generated programs by the kernel's JIT, beside the engine in RTL: the sections `xdp-linux` and
//! `xdp-linux-rates` of docs/measurements.md.
//!
//!     cargo bench -p sluice-hxdp --bench linux                  # as root; both
//!     cargo bench -p sluice-hxdp --bench linux -- rates         # or `paths`: one
//!
//! The RTL's cycles are those that docs/measurements.md has from `measure -- xdp-paths` and `xdp-rates`.

mod kernel;
#[path = "../../tests/cycle_figures/path_list.rs"]
#[allow(dead_code)] // Others use more of it.
mod path_list;
#[path = "../../../rtlsim/benches/plot/mod.rs"]
#[allow(dead_code)] // This one draws lines only.
mod plot;
#[path = "../../tests/cycle_figures/rate_list.rs"]
mod rate_list;
mod rates;
#[path = "../../../ebpf/tests/kernel_programs/steps.rs"]
#[allow(dead_code)]
mod steps;

use path_list::PATHS;
use plot::{Axis, Look, Plot, Scale, Series};
use sluice_ebpf::kernel::{Pinned, Sandbox, available};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Interfaces of the sandbox, as many as a script may name.
const INTERFACES: u32 = 64;
/// Clocks that cycles are turned into time by: assumed, no synthesis has shown either.
const CLOCKS: [f64; 2] = [156.25, 250.0];
/// Its parts, and the section that each writes.
const PARTS: [(&str, &str); 2] = [("paths", "xdp-linux"), ("rates", "xdp-linux-rates")];

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/measurements.md")
}

fn command(program: &str, arguments: &[&str]) -> String {
    let run = std::process::Command::new(program).args(arguments).output();
    run.map(|out| String::from_utf8_lossy(&out.stdout).trim().to_owned()).unwrap_or_default()
}

/// Clock of a processor as the kernel says, in GHz.
fn clock() -> f64 {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("cpu MHz")).unwrap_or_default();
    line.split(':').nth(1).and_then(|mhz| mhz.trim().parse::<f64>().ok()).unwrap_or(0.0) / 1e3
}

fn main() {
    let named: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    if let Some(unknown) = named.iter().find(|n| PARTS.iter().all(|(name, _)| name != n)) {
        eprintln!("linux: no part `{unknown}`; there are paths, rates");
        std::process::exit(2);
    }
    if let Err(why) = available() {
        return println!("linux: skipped: {why}");
    }
    let jit = std::fs::read_to_string("/proc/sys/net/core/bpf_jit_enable").unwrap_or_default();
    if jit.trim() == "0" {
        return println!("linux: skipped: net.core.bpf_jit_enable is 0");
    }
    let _pinned = Pinned::to(0).expect("processor 0 is there");
    let _sandbox = Sandbox::enter(INTERFACES).unwrap_or_else(|e| panic!("{e}"));
    let head = format!(
        "{}, Linux {}, one processor of {:.2} GHz, others at work on the machine, net.core.bpf_jit_enable {}.",
        command("date", &["-u", "+%F"]),
        command("uname", &["-r"]),
        clock(),
        jit.trim(),
    );
    for (name, section) in PARTS.iter().filter(|(name, _)| named.is_empty() || named.iter().any(|n| n == name)) {
        let body = if *name == "paths" { paths(&head) } else { rates::section(&head) };
        println!("{body}");
        put(section, &body);
    }
}

/// The section of the paths, and its plot.
fn paths(head: &str) -> String {
    let mut body = format!(
        "## Shipped programs by the Linux JIT, beside the engine\n\n`cargo bench -p sluice-hxdp --bench linux -- paths`, {head}\n\n\
         The [paths of the aims](hxdp-cycles.md#the-paths-of-the-aims), as in hXDP's figures 4.5 and 4.7. *ns*: of the program alone, by `BPF_PROG_TEST_RUN`, without driver, PCIe and what a redirect \
         costs behind the verdict,\nall of which the published figures have; so Linux looks better here than on a wire. The median of the rounds. *again*: each run on what the one before left, where \
         that takes the\nsame path; *fresh*: one run a call on a fresh frame, less what `bare drop` takes that way, of which the timer is the most; both to a nanosecond only. In *again* the loop around the runs counts too: it is most of what `bare drop` takes. *Engine*: cycles of the RTL, at clocks that are \
         **assumed**: no synthesis has shown one.\n*Bytes*: machine code of the JIT, and rows of the engine's instruction memory, of all programs of the object. ([plot](plots/xdp_linux.svg))\n\n\
         | path | program | JIT, ns | how | million packets/s | engine, cycles | at 156.25 MHz | at 250 MHz | 250 MHz beside the JIT | JIT, bytes | rows, bytes |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"
    );
    let empty = kernel::empty().unwrap_or_else(|e| panic!("{e}"));
    let mut series = ["Linux JIT", "engine, 156.25 MHz", "engine, 250 MHz"].map(|name| (name, Vec::new()));
    for (at, path) in (1..).zip(&PATHS) {
        let (cycles, _) = path.of_rtl();
        let [slow, fast] = CLOCKS.map(|mhz| mhz / cycles);
        let fields = match kernel::measure(path, empty) {
            Ok(found) => {
                let rate = 1e3 / found.nanoseconds;
                series[0].1.push((f64::from(at), rate));
                format!(
                    "{:.1} | {} | {rate:.1} | {cycles:.1} | {slow:.1} | {fast:.1} | {:.2} | {} | {}",
                    found.nanoseconds,
                    if found.again { "again" } else { "fresh" },
                    fast / rate,
                    found.machine_code,
                    found.rows,
                )
            }
            Err(why) => format!("{why} | - | - | {cycles:.1} | {slow:.1} | {fast:.1} | - | - | -"),
        };
        series[1].1.push((f64::from(at), slow));
        series[2].1.push((f64::from(at), fast));
        let _ = writeln!(body, "| {} | {} | {fields} |", path.what, path.program);
    }
    Plot {
        title: "Paths in the order of the table: million packets a second".to_owned(),
        x: Axis { title: "path", scale: Scale::Linear, ticks: (1..=PATHS.len()).map(|n| n as f64).collect() },
        y: Axis { title: "million packets/s", scale: Scale::Log, ticks: vec![1.0, 3.0, 10.0, 30.0, 100.0, 300.0] },
        series: series.map(|(name, points)| Series { name: name.to_owned(), look: Look::Points, points }).into(),
        marks: Vec::new(),
    }
    .write("xdp_linux");
    body
}

/// Puts a section of the page in the place of the old one, or at the end.
fn put(name: &str, body: &str) {
    let old = std::fs::read_to_string(page()).expect("docs/measurements.md");
    let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->\n"));
    let section = format!("{begin}{body}{end}");
    let new = match old.split_once(&begin) {
        Some((before, rest)) => {
            let (_, after) = rest.split_once(&end).expect("a section that ends");
            format!("{before}{section}{after}")
        }
        None => format!("{old}\n{section}"),
    };
    std::fs::write(page(), new).expect("docs/measurements.md can be written");
}
