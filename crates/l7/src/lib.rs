//! Message dispatch: rules as tenants write them, what the NIC sees of a message, matcher programs and their models.
//! `docs/design/l7.md` is the specification.

mod came;
pub mod compile;
pub mod device;
pub mod engine;
pub mod explain;
pub mod fast;
pub mod follow;
pub mod host;
pub mod listing;
pub mod message;
pub mod object;
pub mod oracle;
pub mod placed;
pub mod port_rows;
pub mod published;
pub mod receive;
pub mod rules;
pub mod step;
pub mod table;
pub mod tables;
pub mod testing;
pub mod view;
