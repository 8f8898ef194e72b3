//! The packet notation: one line a packet, `eth/vlan(vid=7)/ipv4(ttl=1)/udp/payload(len=9)`.

mod diff;
mod error;
mod parse;
mod pattern;
mod print;
mod reference;
mod value;

pub use diff::diff;
pub use error::{NotationError, Problem};
pub use parse::{Written, parse};
pub use pattern::Pattern;
pub use reference::reference;

pub(crate) use parse::parse_at;

/// Parses `text` and builds the packet.
///
/// ```
/// let packet = sluice_packet::notation::packet("eth/vlan(vid=7)/ipv4(ttl=1)/udp").unwrap();
/// assert_eq!(packet.len(), 46);
/// ```
pub fn packet(text: &str) -> Result<Vec<u8>, NotationError> {
    let spec = parse(text)?;
    spec.build().map_err(|error| NotationError {
        span: crate::text::Span { start: 0, end: text.len() },
        problem: Problem::Build(error),
    })
}

/// Writes any packet in the notation, such that parsing gives the same bytes again.
pub fn print_packet(packet: &[u8]) -> String {
    crate::layers::dissect(packet).to_string()
}
