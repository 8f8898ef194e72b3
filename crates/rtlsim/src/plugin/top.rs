//! The tops of the RTL: what of a NIC each of them has.

use sluice_formats::l7::rows::L7TraceRow;
use sluice_formats::limits::{DESTINATIONS, MIN_FRAME_BYTES};
use sluice_formats::row::Row;
use sluice_formats::rows::{LeaveTraceRow, MergeTraceRow, PortTraceRow, QueueTraceRow, SidebandRow, VerdictTraceRow};
use sluice_formats::xdp::rows::XdpStepTraceRow;
use sluice_formats::xdp::target::STEPS;
use sluice_formats::{EngineId, Node, Target};
use sluice_nic::engines;

use crate::plugin::boundary::RawLayout;

/// A top. What it does not have of a NIC stands around it in software ([`crate::around`]).
#[derive(Debug, PartialEq, Eq)]
pub struct Top {
    /// What the names of its plug-ins have before the target's.
    pub prefix: &'static str,
    /// Models of the engines that packets meet in it, in their order.
    pub engines: engines::Models,
    /// It has the ports, the merge, the queues and the egress of a NIC, with their nodes and traces. Otherwise packets go
    /// in with a sideband as one stream, and come out as one stream with their routes.
    pub is_nic: bool,
    /// It tells the steps of its XDP engine: in which order packets reach what they share.
    pub tells_steps: bool,
    /// It tells the decisions of its l7 engine.
    pub tells_decisions: bool,
    /// Bytes of the shortest frame that its ports take, in it or around it.
    pub shortest_frame: u32,
}

/// The whole NIC, `sluice_nic_top`.
pub static NIC: Top = nic("", engines::ALL);

/// The bare NIC, with the match-action pipeline as its only engine.
pub static BARE: Top = nic("bare_", engines::BARE);

/// The NIC without l7.
pub static WITH_XDP: Top = nic("with_xdp_", engines::WITH_XDP);

/// The NIC without XDP.
pub static WITH_L7: Top = nic("with_l7_", engines::WITH_L7);

/// `sluice_nic_top` with these engines. It has the trace of decisions in any case.
const fn nic(prefix: &'static str, engines: engines::Models) -> Top {
    Top { prefix, engines, is_nic: true, tells_steps: false, tells_decisions: true, shortest_frame: MIN_FRAME_BYTES }
}

/// The NIC with these engines.
pub fn with(models: engines::Models) -> &'static Top {
    [&NIC, &BARE, &WITH_XDP, &WITH_L7].into_iter().find(|top| top.engines == models).unwrap_or(&NIC)
}

/// The match-action pipeline alone, `sluice_rmt_top`.
pub static RMT: Top = Top {
    prefix: "rmt_",
    engines: &[&engines::RMT],
    is_nic: false,
    tells_steps: false,
    tells_decisions: false,
    shortest_frame: 1,
};

/// The XDP engine alone, `sluice_xdp_top`.
pub static XDP: Top = Top {
    prefix: "xdp_",
    engines: &[&engines::XDP],
    is_nic: false,
    tells_steps: true,
    tells_decisions: false,
    shortest_frame: MIN_FRAME_BYTES,
};

/// The l7 engine alone, `sluice_l7_top`. It has no model yet that the software NIC could run.
pub static L7: Top = Top {
    prefix: "l7_",
    engines: &[],
    is_nic: false,
    tells_steps: false,
    tells_decisions: true,
    shortest_frame: MIN_FRAME_BYTES,
};

/// Bits of the tags of all destinations, above the sideband of what leaves an engine.
pub(crate) const TAGS_BITS: u32 = 16 * DESTINATIONS;

impl Top {
    /// What its plug-ins for a target are called.
    pub fn config(&self, target: &str) -> String {
        format!("{}{target}", self.prefix)
    }

    /// Its engines.
    pub fn engine_ids(&self) -> Vec<EngineId> {
        self.engines.iter().map(|model| model.id).collect()
    }

    /// How many of its engines packets meet one behind the other, before the queues.
    pub fn in_line(&self) -> usize {
        self.engines.iter().filter(|model| !model.behind).count()
    }

    /// Whether an engine stands behind its last host queue.
    pub fn is_behind(&self) -> bool {
        self.in_line() < self.engines.len()
    }

    /// Whether a node is on its ring.
    pub fn has(&self, node: Node) -> bool {
        let engine = node.engine().is_none_or(|engine| self.engine_ids().contains(&engine));
        self.is_nic || engine && !(node.is_like(Node::Port(0)) || node.is_like(Node::Egress))
    }

    /// What the shim checks against the widths of the top's ports.
    pub(crate) fn layout(&self, target: &Target) -> RawLayout {
        let common = RawLayout {
            bus_bytes: target.bus_bytes,
            merge_trace_bits: MergeTraceRow::width(),
            verdict_trace_bits: VerdictTraceRow::width(),
            // The ports of a NIC are the same whatever engines it has.
            engines: if self.is_nic { NIC.in_line() } else { self.in_line().max(1) } as u32,
            steps: if self.tells_steps { STEPS as u32 } else { 3 * u32::from(self.tells_decisions) },
            step_trace_bits: if self.tells_decisions { L7TraceRow::width() } else { XdpStepTraceRow::width() },
            ..RawLayout::default()
        };
        if !self.is_nic {
            return RawLayout {
                ports: 1,
                destinations: 1,
                sideband_bits: SidebandRow::width() + TAGS_BITS,
                input_user_bits: SidebandRow::width(),
                ..common
            };
        }
        RawLayout {
            ports: target.ports,
            destinations: target.destinations(),
            sideband_bits: SidebandRow::width(),
            port_trace_bits: PortTraceRow::width(),
            queue_trace_bits: QueueTraceRow::width(),
            leave_trace_bits: LeaveTraceRow::width(),
            ..common
        }
    }
}
