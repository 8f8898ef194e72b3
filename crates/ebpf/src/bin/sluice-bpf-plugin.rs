//! Runs one eBPF program for a conformance runner; see [`sluice_ebpf::plugin`].

use sluice_ebpf::plugin;
use std::io::Read;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let request = match plugin::parse(&args) {
        Ok(request) if request.help => {
            print!("{}", plugin::USAGE);
            return ExitCode::SUCCESS;
        }
        Ok(request) => request,
        Err(error) => return failed(&error),
    };
    let mut input = Vec::new();
    if request.program.is_none()
        && let Err(error) = std::io::stdin().read_to_end(&mut input)
    {
        return failed(&format!("standard input: {error}"));
    }
    let mut debug = String::new();
    let result = plugin::run(&request, &String::from_utf8_lossy(&input), &mut debug);
    eprint!("{debug}");
    match result {
        Ok(r0) => {
            println!("{r0:x}");
            ExitCode::SUCCESS
        }
        Err(error) => failed(&error),
    }
}

fn failed(error: &str) -> ExitCode {
    eprintln!("sluice-bpf-plugin: {error}");
    ExitCode::FAILURE
}
