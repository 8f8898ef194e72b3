//! What goes over the local socket of a running NIC: one JSON object a line, each way.

use super::MapInfo;
use serde::{Deserialize, Serialize};

/// Longest line that either side takes.
pub const MAX_LINE: u64 = 16 << 20;

/// Bytes of keys and values after which an answer to a dump ends; it has one entry at least.
pub const PAGE_BYTES: usize = 128 << 10;

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
    /// Takes an element out of a queue or stack.
    Pop {
        /// Tenant.
        tenant: String,
        /// Map.
        id: u32,
    },
    /// Entries, as many as an answer holds; all elements of a queue or stack.
    Dump {
        /// Tenant.
        tenant: String,
        /// Map.
        id: u32,
        /// The key behind which they begin, hexadecimal; without it the first one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<String>,
        /// The order that the answer with that key told.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        order: Option<u64>,
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
    Page {
        /// In the map's order.
        entries: Vec<(String, String)>,
        /// Where there are more, for the next request: a key that went and came again may be at another place.
        order: u64,
        /// The key behind which there are more; none at the end. Its place may hold nothing.
        behind: Option<String>,
    },
    /// The key behind which a dump was to go on is not there any more.
    Gone,
    /// The map has changed its order: a dump would skip entries or repeat them.
    Moved,
    /// What bpf(2) would say.
    Errno(i32),
    /// A request that is none.
    Refused(String),
}
