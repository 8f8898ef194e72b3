//! Two interfaces as one wire: what comes from the one goes to the other, until it is killed.
//!
//!     cargo run --release -p sluice-ports --example forward -- eth1 eth2 [auto|packet|generic]

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    use sluice_ports::{Meta, Options, Port, Wanted, open, wait};
    use std::time::{Duration, Instant};

    /// Frames that are asked for at once.
    const BATCH: usize = 64;

    /// One batch; how many frames it had.
    fn forward(from: &mut Port, to: &mut Port) -> Result<usize, sluice_ports::PortError> {
        let mut failed = None;
        let count = from.receive(BATCH, &mut |frame: &[u8], _: &Meta| {
            if let Err(error) = to.send(&[frame]) {
                failed = Some(error);
            }
        })?;
        to.flush()?;
        for port in [from, to] {
            if let Some(state) = port.look() {
                eprintln!("{}: {state:?}", port.name());
            }
        }
        failed.map_or(Ok(count), Err)
    }

    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [first, second, ..] = arguments.as_slice() else { return Err("two interfaces are needed".into()) };
    let kind = match arguments.get(2).map_or("auto", String::as_str) {
        "packet" => Wanted::Packet,
        "generic" => Wanted::XdpGeneric,
        _ => Wanted::Auto,
    };
    // One queue: all that an interface receives comes by one port here.
    let options = Options { kind, queues: Some(1), ..Options::default() };
    let (mut left, mut right) = (open(first, &options)?.remove(0), open(second, &options)?.remove(0));
    eprintln!("{}\n{}", left.described(), right.described());
    let mut idle_since = Instant::now();
    loop {
        let count = forward(&mut left, &mut right)? + forward(&mut right, &mut left)?;
        if count > 0 {
            idle_since = Instant::now();
        } else if idle_since.elapsed() > Duration::from_micros(50) {
            // Whoever answers soon is answered soon; else the core is others'.
            let fds: Vec<_> = [&left, &right].into_iter().filter_map(Port::as_fd).collect();
            wait(&fds, Duration::from_millis(100))?;
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("ports are there on Linux alone");
}
