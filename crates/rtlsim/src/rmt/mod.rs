//! The rmt pipeline's own top, `sluice_rmt_top`, as a plug-in: rows in, packets through, events out.

mod driver;
mod event;
mod lockstep;
mod passage;
mod tenants;

pub use driver::{RmtOffer, RmtRtl};
pub use event::{RmtEvent, RmtWhat, Route};
pub use lockstep::{Agreed, Lockstep, Model};
pub use passage::{End, Passage, Passages};
pub use tenants::{RowSink, Tenants};
