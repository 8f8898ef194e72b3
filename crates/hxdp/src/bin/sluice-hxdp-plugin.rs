//! Runs one eBPF program as bundles for a conformance runner; see [`sluice_hxdp::plugin`].

use sluice_hxdp::plugin;
use std::io::Read;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args) {
        Ok(answer) => {
            println!("{answer}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("sluice-hxdp-plugin: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[String]) -> Result<String, String> {
    let (lanes, rest) = plugin::lanes(args)?;
    let request = sluice_ebpf::plugin::parse(rest)?;
    if request.help {
        return Ok(plugin::USAGE.to_owned() + sluice_ebpf::plugin::USAGE.trim_end());
    }
    let mut input = Vec::new();
    if request.program.is_none() {
        std::io::stdin().read_to_end(&mut input).map_err(|e| format!("standard input: {e}"))?;
    }
    let mut debug = String::new();
    let r0 = plugin::run(lanes, &request, &String::from_utf8_lossy(&input), &mut debug);
    eprint!("{debug}");
    r0.map(|r0| format!("{r0:x}"))
}
