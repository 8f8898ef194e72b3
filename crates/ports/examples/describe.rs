//! Opens an interface and says what its ports are made of, and why of nothing better:
//!
//!     cargo run -p sluice-ports --example describe -- eth1 [auto|xdp|generic|packet|tap] [QUEUES]

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    use sluice_ports::{Options, Wanted, open};
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let kind = match arguments.get(1).map_or("auto", String::as_str) {
        "auto" => Wanted::Auto,
        "xdp" => Wanted::Xdp,
        "generic" => Wanted::XdpGeneric,
        "packet" => Wanted::Packet,
        "tap" => Wanted::Tap,
        other => {
            eprintln!("`{other}`: auto, xdp, generic, packet or tap");
            return std::process::ExitCode::from(2);
        }
    };
    let queues = arguments.get(2).and_then(|count| count.parse().ok());
    let Some(name) = arguments.first() else {
        eprintln!("which interface?");
        return std::process::ExitCode::from(2);
    };
    match open(name, &Options { kind, queues, ..Options::default() }) {
        Ok(ports) => {
            ports.iter().for_each(|port| println!("{}", port.described()));
            std::process::ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            std::process::ExitCode::FAILURE
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("ports are there on Linux alone");
}
