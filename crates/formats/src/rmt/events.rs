//! Drops and copies of the rmt pipeline.

use crate::Reason;
use crate::address::Table;
use crate::reason::events;

events! { enum
    /// Kind of `Table::Events`, and the drop reason that a packet carries through the pipeline.
    Event;
    EVENTS: Table::Events, 32, 16;
    /// Above the module's rate limit.
    Rate "rate" = 0, drop, "above the module's rate limit";
    /// A reconfiguration packet (UDP port 0xf1f2) from a port.
    Reconfig "reconfig" = 1, drop, "a reconfiguration packet (UDP port 0xf1f2) from a port";
    /// The module has no program in the packet's generation.
    NoModule "no_module" = 2, drop, "the module has no program in the packet's generation";
    /// No alternative of the parser matched.
    ParseReject "parse_reject" = 3, drop, "no alternative of the parser matched";
    /// Shorter than its parse path needs.
    ParseShort "parse_short" = 4, drop, "shorter than its parse path needs";
    /// An action row or group of another module.
    RmtFault "rmt_fault" = 5, drop, "an action row of another module, or a group beyond the table";
    /// The program, or the table's entry or default, said drop.
    Discard "discard" = 6, drop, "the program, or the table's entry or default, said drop";
    /// No granted destination is left, or an XDP program's redirect leads nowhere.
    NoDestination "no_destination" = 7, drop, "no granted destination is left, or a program's redirect leads nowhere";
    /// No deparse pattern for path and headers.
    DeparseReject "deparse_reject" = 8, drop, "no deparse pattern for path and headers";
    /// The outgoing packet is shorter than its deparse row says.
    DeparseShort "deparse_short" = 9, drop, "the outgoing packet is shorter than its deparse row says";
    /// The outgoing packet is longer than the longest frame.
    DeparseLong "deparse_long" = 10, drop, "the outgoing packet is longer than the longest frame";
    /// The sideband's length is 0, above the longest frame or not that of what came, found within the window.
    BadLength "bad_length" = 11, drop, "the packet is not as long as its sideband says";
    /// What came ended before or behind the sideband's length, found behind the window: filled up or cut; no drop.
    Misfit "misfit" = 12, count, "the packet ended elsewhere behind the window: filled up or cut";
    /// Copies beyond the first; no drop.
    Copies "copies" = 15, count, "copies beyond the first";
}

impl Reason {
    /// The rmt pipeline's kind of the reason, if it is one of its own.
    pub fn event(self) -> Option<Event> {
        self.code().checked_sub(EVENTS.first).filter(|kind| *kind < EVENTS.kinds).and_then(Event::from_code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_of_the_rmt_pipeline_are_its_events() {
        let events = Event::ALL.into_iter().filter_map(Event::reason);
        let mut reasons: Vec<Reason> = events.inspect(|r| assert_eq!(r.event().unwrap().name(), r.name())).collect();
        reasons.sort();
        let own = |r: &Reason| r.table() == Table::Events;
        assert_eq!(reasons, Reason::ALL.into_iter().filter(own).collect::<Vec<_>>());
        assert_eq!((Event::Copies.reason(), Event::Misfit.reason()), (None, None));
    }
}
