//! The rows.

use crate::lab::{Pair, SoftirqThreads, enter, ip, received};
use crate::nic;
use clap::Parser;
use sluice_ports::{BusyPoll, Meta, Options, Port, PortKind, Sender, Wanted, open, thread, wait};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Frames that are asked for at once.
const BATCH: usize = 64;
/// Long enough for several batches to come, and short enough for a ring.
const PAUSE: Duration = Duration::from_micros(200);
/// Flows of the frames.
const FLOWS: u16 = 64;

#[derive(Parser)]
pub struct Arguments {
    /// Seconds of a row.
    #[arg(long, default_value_t = 2.0)]
    pub seconds: f64,
    /// Bytes of a frame without its checksum on the wire: 60 is the shortest there.
    #[arg(long, default_value_t = 60)]
    pub length: usize,
    /// MTU of the interfaces.
    #[arg(long, default_value_t = 1500)]
    pub mtu: u32,
    /// Slots of the port's rings.
    #[arg(long, default_value_t = 2048)]
    slots: u32,
    /// What the loop does when less than half a batch came.
    #[arg(long, default_value = "pause")]
    idle: Idle,
    /// Rows whose name has this in it.
    #[arg(long, default_value = "")]
    only: String,
    /// Cores of the loop and of the sender.
    #[arg(long, num_args = 2, default_values_t = [0, 1])]
    pub cores: Vec<usize>,
    /// The command `sluice`, for rows of the NIC itself.
    #[arg(long)]
    nic: Option<PathBuf>,
    #[arg(long)]
    json: bool,
    /// What cargo gives to each bench.
    #[arg(long, hide = true)]
    bench: bool,
}

/// One row: frames a second, and nanoseconds of CPU for a frame.
#[derive(serde::Serialize)]
pub struct Row {
    pub name: String,
    pub kind: String,
    pub offered_per_s: f64,
    pub frames_per_s: f64,
    /// Of the loop's thread; 0 where there is none.
    pub loop_ns: f64,
    /// Frames for a second of that.
    pub frames_per_loop_cpu_s: f64,
    /// Of the loop's thread, the sender's and the kernel's for softirqs.
    pub everybody_ns: f64,
    /// Frames in a batch that was not empty.
    pub batch: f64,
    pub drops: u64,
}

#[derive(Clone, Copy, PartialEq)]
enum What {
    Drop,
    SendBack,
}

/// What a loop does that has found little.
#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum Idle {
    /// Sleeps for so long that a batch comes: what a frame costs, and not a call.
    Pause,
    /// Waits for the next frame: what a frame costs that comes alone.
    Poll,
    /// Asks again.
    Spin,
}

/// What the loop has done.
#[derive(Default)]
struct Looped {
    frames: u64,
    batches: u64,
    cpu: Duration,
    drops: u64,
}

/// Receives and drops or sends back until it is told to stop.
fn run_loop(mut port: Port, what: What, core: usize, idle: Idle, stop: &AtomicBool) -> Looped {
    thread::pin(core).expect("the core is there");
    let (mut looped, before) = (Looped::default(), thread::cpu_time());
    let mut swapped = vec![[0u8; 12]; BATCH];
    // Frames are valid during the call alone, and the port is taken: what is sent back is copied once here.
    let mut bytes: Vec<u8> = Vec::with_capacity(BATCH * port.longest());
    let mut ends: Vec<usize> = Vec::with_capacity(BATCH);
    while !stop.load(Relaxed) {
        bytes.clear();
        ends.clear();
        let count = port
            .receive(BATCH, &mut |frame: &[u8], _: &Meta| {
                if what == What::SendBack {
                    let macs = &mut swapped[ends.len()];
                    macs[..6].copy_from_slice(&frame[6..12]);
                    macs[6..].copy_from_slice(&frame[..6]);
                    bytes.extend_from_slice(&frame[12..]);
                    ends.push(bytes.len());
                }
            })
            .expect("the port receives");
        let mut begin = 0;
        for (macs, end) in swapped.iter().zip(&ends) {
            port.send(&[macs, &bytes[begin..*end]]).expect("the port sends");
            begin = *end;
        }
        port.flush().expect("the port sends");
        looped.frames += count as u64;
        looped.batches += u64::from(count > 0);
        match idle {
            Idle::Pause if count < BATCH / 2 => std::thread::sleep(PAUSE),
            Idle::Poll if count == 0 => {
                let fds: Vec<_> = port.as_fd().into_iter().collect();
                wait(&fds, Duration::from_millis(10)).expect("poll");
            }
            _ => {}
        }
    }
    looped.cpu = thread::cpu_time() - before;
    looped.drops = port.drops().total();
    looped
}

/// A UDP frame of this length to nobody, of one of the flows.
fn frame(length: usize, flow: u16) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 9, 1, 2, 0, 0, 0, 9, 2, 8, 0];
    let total = length as u16 - 14;
    frame.extend([0x45, 0]);
    frame.extend(total.to_be_bytes());
    // Each flow goes to an address of its own, in 10.9.0.0/16.
    let [high, low] = flow.wrapping_mul(259).to_be_bytes();
    frame.extend([0, 0, 0x40, 0, 64, 17, 0, 0, 10, 8, 0, 1, 10, 9, high, low]);
    let sum: u32 = frame[14..34].chunks(2).map(|w| u32::from(w[0]) << 8 | u32::from(w[1])).sum();
    let checksum = !(((sum & 0xffff) + (sum >> 16)) as u16);
    frame[24..26].copy_from_slice(&checksum.to_be_bytes());
    frame.extend((1024 + flow).to_be_bytes());
    frame.extend([0, 53]);
    frame.extend((total - 20).to_be_bytes());
    frame.resize(length, 0);
    frame
}

/// Sends until it is told to stop: frames, and CPU time.
pub fn run_sender(into: &str, length: usize, core: usize, stop: &AtomicBool) -> (u64, Duration) {
    thread::pin(core).expect("the core is there");
    let mut sender = Sender::open(into, 512).expect("the sender opens");
    let frames: Vec<_> = (0..FLOWS).map(|flow| frame(length, flow)).collect();
    let (mut sent, before) = (0, thread::cpu_time());
    while !stop.load(Relaxed) {
        sent += frames.iter().take_while(|frame| sender.send(frame)).count() as u64;
        sender.flush().expect("the sender sends");
    }
    (sent, thread::cpu_time() - before)
}

/// Runs a row; `done` counts the frames where there is no loop.
fn row(name: &str, arguments: &Arguments, port: Option<Port>, what: What, done: impl Fn() -> u64) -> Row {
    // What is sent into a TAP device comes out at its reader.
    let into = if port.as_ref().is_some_and(|port| port.kind() == PortKind::Tap) { "tap0" } else { "wire0" };
    let (stop, softirqs) = (AtomicBool::new(false), SoftirqThreads::find());
    let kind = port.as_ref().map_or_else(|| "kernel".to_owned(), |port| port.kind().to_string());
    let (softirq_before, done_before, begun) = (softirqs.cpu_time(), done(), Instant::now());
    let (looped, (offered, sender_cpu)) = std::thread::scope(|scope| {
        let stop = &stop;
        let (loop_core, sender_core) = (arguments.cores[0], arguments.cores[1]);
        let looping = port.map(|port| scope.spawn(move || run_loop(port, what, loop_core, arguments.idle, stop)));
        let sending = scope.spawn(move || run_sender(into, arguments.length, sender_core, stop));
        std::thread::sleep(Duration::from_secs_f64(arguments.seconds));
        stop.store(true, Relaxed);
        let sent = sending.join().expect("the sender ends");
        (looping.map(|thread| thread.join().expect("the loop ends")), sent)
    });
    let seconds = begun.elapsed().as_secs_f64();
    let frames = looped.as_ref().map_or_else(|| done() - done_before, |looped| looped.frames).max(1) as f64;
    let looped = looped.unwrap_or_default();
    let everybody = looped.cpu + sender_cpu + (softirqs.cpu_time() - softirq_before);
    let loop_s = looped.cpu.as_secs_f64();
    Row {
        name: name.to_owned(),
        kind,
        offered_per_s: offered as f64 / seconds,
        frames_per_s: frames / seconds,
        loop_ns: loop_s * 1e9 / frames,
        frames_per_loop_cpu_s: if loop_s > 0.0 { frames / loop_s } else { 0.0 },
        everybody_ns: everybody.as_secs_f64() * 1e9 / frames,
        batch: looped.frames as f64 / looped.batches.max(1) as f64,
        drops: looped.drops,
    }
}

pub fn main() {
    let arguments = Arguments::parse();
    if let Some(code) = enter() {
        std::process::exit(if code == std::process::ExitCode::SUCCESS { 0 } else { 1 });
    }
    let mut rows = Vec::new();
    let mut add = |name: &str, run: &dyn Fn(&str) -> Row| {
        if !name.contains(&arguments.only) {
            return;
        }
        let row = run(name);
        if !arguments.json {
            println!(
                "{:<24} {:<15} offered {:>9.0}/s  done {:>9.0}/s  loop {:>6.0} ns  {:>9.0}/CPU s  everybody {:>6.0} ns  batch {:>5.1}  drops {}",
                row.name,
                row.kind,
                row.offered_per_s,
                row.frames_per_s,
                row.loop_ns,
                row.frames_per_loop_cpu_s,
                row.everybody_ns,
                row.batch,
                row.drops
            );
        }
        rows.push(row);
    };
    let kinds = [
        ("AF_XDP", Wanted::Xdp, None),
        ("AF_XDP busy", Wanted::Xdp, Some(BusyPoll { microseconds: 20, frames: 64 })),
        ("AF_XDP generic", Wanted::XdpGeneric, None),
        ("AF_PACKET", Wanted::Packet, None),
        ("TAP", Wanted::Tap, None),
    ];
    for (name, wanted, busy_poll) in kinds {
        for (what, suffix) in [(What::Drop, "drop"), (What::SendBack, "back")] {
            add(&format!("{name} {suffix}"), &|name| {
                let _pair = Pair::new(0, arguments.mtu);
                let options = Options { kind: wanted, busy_poll, slots: arguments.slots, ..Options::default() };
                let interface = if wanted == Wanted::Tap { "tap0" } else { "nic0" };
                let port = open(interface, &options).unwrap_or_else(|e| panic!("{e}")).remove(0);
                row(name, &arguments, Some(port), what, || 0)
            });
        }
    }
    add("sender alone", &|name| {
        let _pair = Pair::new(0, arguments.mtu);
        row(name, &arguments, None, What::Drop, || received("nic0"))
    });
    add("bridge", &|name| {
        let (_first, _second) = (Pair::new(0, arguments.mtu), Pair::new(1, arguments.mtu));
        ip("link add br0 type bridge");
        ip("link set nic0 master br0");
        ip("link set nic1 master br0");
        ip("link set br0 up");
        let row = row(name, &arguments, None, What::Drop, || received("wire1"));
        ip("link del br0");
        row
    });
    if let Some(path) = &arguments.nic {
        for (name, program) in nic::PROGRAMS {
            for (socket, suffix) in [("xdp", ""), ("packet", " AF_PACKET")] {
                add(&format!("{name}{suffix}"), &|name| nic::row(name, program, socket, &arguments, path));
            }
        }
    }
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&rows).expect("rows are JSON"));
    }
}
