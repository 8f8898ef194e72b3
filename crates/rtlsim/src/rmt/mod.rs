//! The rmt pipeline's own top, `sluice_rmt_top`, as a plug-in: rows in, packets through, events out.

mod driver;
mod lockstep;
mod module_file;
mod passage;
mod session;
mod tenants;

pub use driver::{RmtOffer, RmtRtl};
pub use lockstep::{Agreed, Lockstep, Model};
pub use module_file::{ModuleError, ModuleFile};
pub use passage::{End, Passage, Passages};
pub use session::{Cycles, Finished, Leaving, Runs, Session, SessionError, take_tag};
pub use tenants::{RowSink, Tenants};
