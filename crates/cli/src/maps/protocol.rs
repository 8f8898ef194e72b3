//! What goes over the local socket of a running NIC: one JSON object a line, each way.

use super::MapInfo;
use serde::{Deserialize, Serialize};

/// Longest line that either side takes.
pub const MAX_LINE: u64 = 16 << 20;

/// A request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// All maps of all tenants.
    List,
    /// One entry.
    Lookup {
        /// Tenant.
        tenant: String,
        /// Map.
        id: u32,
        /// Hexadecimal.
        key: String,
    },
    /// Makes or changes one.
    Update {
        /// Tenant.
        tenant: String,
        /// Map.
        id: u32,
        /// Hexadecimal.
        key: String,
        /// Hexadecimal.
        value: String,
        /// `BPF_ANY`, `BPF_NOEXIST`, `BPF_EXIST`.
        flags: u64,
    },
    /// Removes one.
    Delete {
        /// Tenant.
        tenant: String,
        /// Map.
        id: u32,
        /// Hexadecimal.
        key: String,
    },
    /// All entries.
    Dump {
        /// Tenant.
        tenant: String,
        /// Map.
        id: u32,
    },
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Reply {
    /// The maps, and the values of a per-CPU entry.
    Maps {
        /// All maps.
        maps: Vec<MapInfo>,
        /// Processors.
        cpus: u32,
    },
    /// The value of an entry.
    Value(String),
    /// It was done.
    Done,
    /// Keys and values.
    Entries(Vec<(String, String)>),
    /// What bpf(2) would say.
    Errno(i32),
    /// A request that is none.
    Refused(String),
}
