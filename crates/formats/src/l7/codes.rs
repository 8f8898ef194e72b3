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
