//! Ctrl-C: the first asks a run to end in order, the second ends the process.

use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);

/// Exit code of a run that was interrupted, as shells have it for SIGINT.
pub const EXIT_CODE: u8 = 130;

/// Listens from now on. Where the system has no such signal, nothing is listened for.
pub fn listen() {
    let _ = ctrlc::set_handler(|| {
        if ASKED.swap(true, Ordering::Relaxed) {
            std::process::exit(EXIT_CODE.into());
        }
        eprintln!("\nending: packets in flight are finished and outputs written; Ctrl-C again to stop at once");
    });
}

/// Whether the run is to end.
pub fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}
