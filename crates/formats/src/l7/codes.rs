//! What numbers in rows of the l7 engine stand for.

use crate::codes::codes;

codes! {
    /// Where a step of a matcher goes.
    L7Goal, "l7_goal", "L7Goal", 3 {
        /// The application's default.
        Default "default" = 0,
        /// A queue.
        Queue "queue" = 1,
        /// A group of queues.
        Group "group" = 2,
        /// The message is dropped.
        Drop "drop" = 3,
        /// A row.
        Row "row" = 4,
        /// One of 2^log rows, by a hash.
        Rows "rows" = 5,
    }
}

codes! {
    /// What becomes of the messages of a ring: kinds of its counters.
    L7RingEvent, "l7_ring_event", "L7RingEvent", 2 {
        /// It took a descriptor.
        Started "started" = 0,
        /// All of its packets are in memory; its completion is on its way.
        Whole "whole" = 1,
        /// A packet did not come in time; its completion is on its way.
        Expired "expired" = 2,
        /// There was no descriptor for it.
        NoDescriptor "no_descriptor" = 3,
    }
}

codes! {
    /// How a message ended, in its completion.
    L7Status, "l7_status", "L7Status", 8 {
        /// It is in its buffer.
        Whole "whole" = 0,
        /// A packet did not come in time. The buffer has parts of it.
        Expired "expired" = 1,
    }
}

codes! {
    /// What a UDP port is.
    L7PortKind, "l7_port_kind", "L7PortKind", 2 {
        /// An application whose messages have QNP headers and fields.
        Application "application" = 0,
        /// A process's port for acknowledgements and responses, without rules.
        Endpoint "endpoint" = 1,
        /// An application that knows nothing of QNP: a packet is a message, its payload is field 1.
        Raw "raw" = 2,
    }
}
