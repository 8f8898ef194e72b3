//! The relocatable `Object`, the linker/placer and the `Load` (contract 2).
//!
//! Compilers emit an [`Object`]; [`Linker`] places it for one tenant and returns a [`Load`]
//! of absolute writes. Formats: `docs/design/object.md`.

pub mod action;
pub mod binary;
mod bytes;
pub mod codes;
pub mod demand;
pub mod destination;
pub mod error;
mod hex;
pub mod install;
mod json;
pub mod key;
pub mod l7;
pub mod linker;
pub mod load;
mod load_file;
pub mod lower;
pub mod object;
pub mod part;
#[cfg(feature = "probe")]
pub mod probe;
pub mod ring;
pub mod rmt;
mod rows;
pub mod show;
mod text;
pub mod xdp;

pub use action::Action;
pub use codes::codes;
pub use demand::{Demands, Rate, Survives};
pub use destination::{Destination, Destinations};
pub use error::ObjectError;
pub use install::Install;
pub use key::{KeyBytes, KeyKind, KeySpec, Match};
pub use l7::{L7Application, L7Part};
pub use linker::{
    L7Given, LinkError, Linker, NicSettings, PortSettings, RingMemory, Secrets, TenantSpec, VlanGrant, Warning,
    XDP_WEIGHT, XdpShare,
};
pub use load::{Load, Step};
pub use object::{Entry, Object, Symbol, SymbolOf, TargetNeed};
pub use part::Parts;
pub use rmt::{Outer, OuterTag, RmtExact, RmtGroup, RmtPart, RmtStage, RmtTernary};
pub use xdp::{
    PlacedXdp, Xdp, XdpBound, XdpCode, XdpCompiler, XdpEntry, XdpInitial, XdpMap, XdpMemory, XdpProgram, XdpRefusal,
    XdpWarpRoom,
};
