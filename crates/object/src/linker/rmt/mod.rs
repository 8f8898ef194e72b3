//! Placement and admission of programs for the rmt pipeline.
//!
//! [`Placer`] owns the free space of a whole pipeline: what each module was given, where each row lies. It
//! returns rows, in no order but the one it names. [`crate::Linker`] makes loads of them.

mod admit;
pub(in crate::linker) mod change;
pub(in crate::linker) mod check;
pub(in crate::linker) mod engine;
pub(in crate::linker) mod entries;
pub mod error;
mod groups;
mod hits;
mod live;
mod place;
pub mod placer;
pub mod quota;
mod space;
mod widen;
mod window;

pub(in crate::linker) use engine::quota_of;
pub use entries::{Batches, EntryAt, EntryKey, EntryLeads};
pub use error::RmtError;
pub use hits::EntryHits;
pub use place::{Placed, RowWrite};
pub use placer::{Placer, StageLeft};
pub use quota::{Quota, StageQuota};
pub use window::{Stages, Window};
pub(in crate::linker) use window::{stages_of_tenants, windows};

use crate::rmt::part::RmtKey;

/// A key as people read it in errors: all bytes, the highest first, without leading zeros.
fn hex(key: &RmtKey) -> String {
    let digits: String = key.0.iter().rev().map(|b| format!("{b:02x}")).collect();
    format!("0x{:0>1}", digits.trim_start_matches('0'))
}
