//! Why the pipeline dropped a packet: `docs/design/rmt.md`, "Drop reasons".

pub use sluice_formats::Reason;
