//! What every NIC has: system node, ports, stamp, egress; their rows and traces.

mod events;
mod generated;
pub mod rows;
mod tables;

pub use tables::{control, info};

use crate::engine::Folder;
use crate::message::{Op, Status};

/// The folder in the registry.
pub(crate) static FOLDER: Folder = Folder {
    engine: None,
    name: "nic",
    title: "NIC",
    prefix: "",
    everywhere: true,
    nodes: tables::NODES,
    tables: tables::TABLES,
    events: &[events::PORT, events::QUEUE],
    rows: rows::ROWS,
    codes: &[Op::LIST, Status::LIST],
    generated: || {
        vec![
            ("rtl/gen/sluice_pkg.sv", generated::package()),
            ("tb/nic/codes.py", generated::module()),
            ("docs/design/formats.md", generated::page()),
        ]
    },
};
