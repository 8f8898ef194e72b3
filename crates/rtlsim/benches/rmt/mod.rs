//! The rmt pipeline alone, compared with the model in every byte meanwhile.

mod cycles;
mod replacement;
mod writes;

pub use cycles::cycles;
pub use replacement::replacement;
pub use writes::writes;

use sluice_formats::rmt::target::Target;
use sluice_object::linker::rmt::Placer;
use sluice_rmt::fast::Fast;
use sluice_rtlsim::rmt::{Lockstep, RmtRtl, RowSink, Tenants};
use sluice_rtlsim::{RtlOptions, Variant};

/// The build that is measured: all assertions are on.
pub const VARIANT: Variant = Variant::Test;
/// Cycles of a microsecond at 250 MHz.
const CYCLES_A_MICROSECOND: f64 = 250.0;

/// An empty pipeline with its model.
fn open(target: &Target, seed: u64) -> (Lockstep<Fast>, Tenants) {
    let options = RtlOptions { seed, variant: VARIANT, ..RtlOptions::default() };
    let rtl = RmtRtl::open(target, &options).unwrap_or_else(|e| panic!("{e}"));
    let mut lockstep = Lockstep::new(rtl, Fast::new(*target));
    let tenants = Tenants::new(Placer::new(*target));
    let owners = tenants.placer().stage_owners();
    RowSink::write(&mut lockstep, &owners).expect("rows are written");
    (lockstep, tenants)
}
