//! Progress of long captures, on a terminal only.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::Duration;

/// A bar on standard error.
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A bar for `total` packets, where they are known.
    pub fn new(device: &'static str, total: Option<u64>) -> Self {
        let bar = match total {
            Some(total) => ProgressBar::new(total),
            None => ProgressBar::no_length(),
        };
        if !std::io::stderr().is_terminal() {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        let form = if total.is_some() {
            "{msg:6} {wide_bar} {human_pos}/{human_len} packets {per_sec} {eta}"
        } else {
            "{msg:6} {spinner} {human_pos} packets {per_sec}"
        };
        if let Ok(style) = ProgressStyle::with_template(form) {
            bar.set_style(style);
        }
        bar.set_message(device);
        bar.enable_steady_tick(Duration::from_millis(250));
        Self { bar }
    }

    /// So many packets were offered.
    pub fn at(&self, packets: u64) {
        self.bar.set_position(packets);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
