//! The l7 engine alone: how long a decision takes, how many there are, and who waits for whom.

mod attack;
mod engine;
mod latency;
mod lengths;
mod messages;
mod rates;
mod shares;

pub use attack::table as attack;
pub use engine::Build;
pub use latency::table as latency;
pub use lengths::{BUILDS as LENGTHS_BUILDS, table as lengths};
pub use rates::{MATCHERS, table as rates};
pub use shares::table as shares;

use sluice_rtlsim::Variant;

/// Kind of the plug-ins.
pub const VARIANT: Variant = Variant::Bench;
