//! Verilated tops as run-time plug-ins behind the `Device` trait.
//!
//! `cargo build` needs no Verilator: the plug-ins are built by `make plugins` and loaded when
//! an [`RtlNic`] is opened. [`Comparison`] runs the RTL and the model in lockstep.

pub mod device;
pub mod l7;
pub mod lockstep;
pub mod plugin;
pub mod xdp;

pub use device::RtlNic;
pub use lockstep::Comparison;
pub use lockstep::follow::Compared;
pub use plugin::boundary::Plugin;
pub use plugin::error::RtlError;
pub use plugin::fault::Faults;
pub use plugin::locate::{self, Variant};
pub use plugin::options::{Ready, RtlOptions, Stalls, Waves};
pub use plugin::top::{self, Top};
pub use xdp::lone::Lone;
