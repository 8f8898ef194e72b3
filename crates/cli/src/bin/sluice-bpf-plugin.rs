//! Runs one eBPF program for a conformance runner, on the device that `--device` names; see [`sluice_ebpf::plugin`].

use sluice_ebpf::plugin::{self, Request};
use sluice_formats::xdp::target::MOST_WORK;
use sluice_formats::{Reason, target};
use sluice_hxdp::plugin::{called, run as run_bundles};
use sluice_rtlsim::Lone;
use sluice_rtlsim::xdp::lone::Fate;
use std::io::Read;
use std::process::ExitCode;

/// What runs the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Device {
    /// The interpreter.
    Model,
    /// The model of bundles, with so many lanes.
    Bundles(usize),
    /// The engine in simulation.
    Rtl,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args) {
        Ok(answer) => {
            print!("{answer}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("sluice-bpf-plugin: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[String]) -> Result<String, String> {
    let (device, rest) = device(args)?;
    let request = plugin::parse(&rest)?;
    if request.help {
        return Ok(plugin::USAGE.to_owned());
    }
    let mut input = Vec::new();
    if request.program.is_none() {
        std::io::stdin().read_to_end(&mut input).map_err(|e| format!("standard input: {e}"))?;
    }
    let input = String::from_utf8_lossy(&input);
    let mut debug = String::new();
    let r0 = match device {
        Device::Model => plugin::run(&request, &input, &mut debug),
        Device::Bundles(lanes) => run_bundles(lanes, &request, &input, &mut debug),
        Device::Rtl => run_rtl(&request, &input),
    };
    eprint!("{debug}");
    r0.map(|r0| format!("{r0:x}\n"))
}

/// The device, and the arguments without it. A runner gives several options in one argument.
fn device(args: &[String]) -> Result<(Device, Vec<String>), String> {
    let (mut rest, mut name, mut lanes) = (Vec::new(), None, None);
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if arg == "--program" || !arg.trim_start().starts_with("--") {
            rest.push(arg.clone());
            rest.extend((arg == "--program").then(|| args.next().cloned()).flatten());
            continue;
        }
        let mut words = arg.split_whitespace();
        while let Some(word) = words.next() {
            let place = match word {
                "--device" => &mut name,
                "--lanes" => &mut lanes,
                other => {
                    rest.push(other.to_owned());
                    continue;
                }
            };
            let value = words.next().map(str::to_owned).or_else(|| args.next().cloned());
            *place = Some(value.ok_or_else(|| format!("{word} takes a value"))?);
        }
    }
    let number = |lanes: String| lanes.parse().map_err(|_| format!("--lanes {lanes}: expected 1, 2 or 4"));
    let lanes: Option<usize> = lanes.map(number).transpose()?;
    let device = match name.as_deref().unwrap_or("model") {
        "bundles" => Device::Bundles(lanes.unwrap_or(2)),
        _ if lanes.is_some() => return Err("--lanes is for --device bundles".to_owned()),
        "model" => Device::Model,
        "rtl" => Device::Rtl,
        other => return Err(format!("--device {other}: allowed are model, bundles and rtl")),
    };
    Ok((device, rest))
}

/// On the engine of the small configuration.
fn run_rtl(request: &Request, input: &str) -> Result<u64, String> {
    if request.debug {
        return Err("--debug shows instructions of model and bundles; the device rtl has none to show".to_owned());
    }
    let called = called(request, input)?;
    let mut engine = Lone::open(&target::TINY, 0).map_err(|e| e.to_string())?;
    engine.load(&called.code, MOST_WORK).map_err(|e| e.to_string())?;
    match engine.run(&called.frame).map_err(|e| e.to_string())? {
        Fate::Left(bytes) => called.r0(&bytes).ok_or_else(|| "the packet left without r0".to_owned()),
        Fate::Dropped(Reason::XdpAborted) => Err("the program faulted, or did more work than it may".to_owned()),
        Fate::Dropped(Reason::XdpDrop) => Err("the packet has no room for r0 behind it".to_owned()),
        Fate::Dropped(reason) => Err(format!("the packet was dropped, {}", reason.name())),
    }
}
