//! XDP programs as bundles for a core with several lanes: compiler, verifier and model.
//!
//! [`compile`] turns a validated program into [`Bundles`], [`Cores`] runs them on the state of
//! [`sluice_ebpf::Runtime`]. The specification is docs/design/hxdp.md.

pub mod alu;
pub mod bundle;
pub mod codes;
pub mod compile;
pub mod cycles;
pub mod effect;
pub mod encode;
pub mod error;
pub mod events;
pub mod frames;
pub mod gain;
pub mod listing;
pub mod locked;
pub mod loops;
pub mod model;
pub mod op;
pub mod pass;
pub mod plugin;
pub mod profile;
pub mod routes;
pub mod rows;
pub mod sections;
pub mod stored;
pub mod target;
pub mod verify;
pub mod visits;
pub mod warp;

pub use bundle::{Bundle, Bundles};
pub use codes::codes;
pub use compile::{Compiled, compile, compile_profiled, compile_with};
pub use cycles::{Engine, Executed, Trace};
pub use error::CompileError;
pub use model::Cores;
pub use op::{Op, Step};
pub use pass::set::{Pass, Passes};
pub use profile::Profile;
pub use stored::Stored;
pub use target::Target;
pub use visits::Visit;
