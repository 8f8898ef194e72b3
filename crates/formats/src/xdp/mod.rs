//! The XDP engine.

use crate::address::{Table, counter, nodes, tables};
use crate::engine::{EngineId, Folder};
use crate::reason::events;

impl EngineId {
    /// Runs XDP programs.
    pub const XDP: EngineId = EngineId::new(0);
}

nodes! { Some(EngineId::XDP);
    /// The XDP engine, on devices that have one.
    Xdp "xdp" = 4;
}

tables! { Some(EngineId::XDP);
    Xdp {
        /// Packets dropped by XDP programs, by module * 8 + kind.
        XdpDrops "xdp_drops" = 0: counter(), |t| t.modules * 8, "packets dropped by programs, by module * 8 + kind";
    }
}

events! { EVENTS: Table::XdpDrops, 24, 8;
    /// The XDP program said drop.
    XdpDrop "xdp_drop" = 0, drop, "the XDP program said drop";
    /// The XDP program said aborted, or a fault ended it.
    XdpAborted "xdp_aborted" = 1, drop, "the XDP program said aborted, or a fault ended it";
    /// The XDP program made the frame longer than the NIC takes.
    XdpTooLong "xdp_too_long" = 2, drop, "the XDP program made the frame longer than the NIC takes";
}

/// The folder in the registry. Its names stand in the NIC's package and page.
pub(crate) static FOLDER: Folder = Folder {
    engine: Some(EngineId::XDP),
    name: "xdp",
    title: "XDP engine",
    prefix: "",
    everywhere: false,
    nodes: NODES,
    tables: TABLES,
    events: &[EVENTS],
    rows: &[],
    codes: &[],
    generated: Vec::new,
};
