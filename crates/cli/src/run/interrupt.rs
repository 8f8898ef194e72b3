//! Ctrl-C, SIGTERM and SIGHUP: the first asks a run to end in order, a later one ends the process. What has no run,
//! or waits for a description, object, script or state from a pipe, the first one ends.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use sluice_device::stop;
use sluice_packet::bounded;
use std::io::Write;
use std::process::ExitCode;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::{Duration, Instant};

/// The signal that asked; 0: none.
static ASKED: AtomicI32 = AtomicI32::new(0);
/// Whether a run is to end in order.
static IN_ORDER: AtomicBool = AtomicBool::new(false);
static WATCHING: Once = Once::new();

/// Signals within this time of the first are the same wish: a terminal that closes sends two, an impatient hand more.
const GRACE: Duration = Duration::from_secs(1);

/// So long after a signal what waits in a device may go on; then it is left where it is. With what a device does between two
/// looks, and the report, a command has ended within 3 seconds.
const TO_FINISH: Duration = Duration::from_secs(1);

/// From now on a signal asks for an end in order.
pub fn listen() {
    IN_ORDER.store(true, Ordering::Relaxed);
    watch();
}

/// From now on a signal ends the process with its exit code, after [`listen`] in order. A signal that is ignored when
/// the program starts (`nohup`) stays ignored.
pub fn watch() {
    WATCHING.call_once(|| {
        let ignored = ignored_from_the_start();
        let wanted = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
        // Where the system has no such signals, nothing is listened for.
        let Ok(mut signals) = Signals::new(wanted) else { return };
        std::thread::spawn(move || {
            let mut first = None;
            for signal in signals.forever() {
                let at_once = !IN_ORDER.load(Ordering::Relaxed) || bounded::is_waiting();
                match first {
                    None if at_once => std::process::exit(128 + signal),
                    None => {
                        first = Some(Instant::now());
                        ASKED.store(signal, Ordering::Relaxed);
                        stop::within(TO_FINISH);
                        // A terminal that has gone hears nothing more.
                        let text =
                            "\nending: packets in flight are finished and outputs written; again to stop at once";
                        let _ = writeln!(std::io::stderr(), "{text}");
                    }
                    Some(begun) if begun.elapsed() >= GRACE => std::process::exit(128 + signal),
                    Some(_) => {}
                }
            }
        });
    });
}

/// Whether the command is to end.
pub fn asked() -> bool {
    ASKED.load(Ordering::Relaxed) != 0
}

/// Exit code of a command that a signal ended, as shells have it: 130 for Ctrl-C, 143 for SIGTERM, 129 for SIGHUP;
/// otherwise `code`.
pub fn exit_code(code: ExitCode) -> ExitCode {
    match ASKED.load(Ordering::Relaxed) {
        0 => code,
        signal => ExitCode::from(128 + signal as u8),
    }
}

/// The mask of ignored signals, where /proc tells it; bit n is signal n + 1.
fn ignored_from_the_start() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
