//! What can be wrong with a capture.

use std::fmt;

use crate::layers::MAX_PACKET_BYTES;

/// What is wrong with a capture, and where.
#[derive(Debug, thiserror::Error)]
pub struct CaptureError {
    /// Name of the file, or of what was read instead.
    pub file: String,
    /// Number of the packet, from 1, as other tools count.
    pub packet: Option<u64>,
    /// Offset in the file of the header, record or block at fault.
    pub offset: Option<u64>,
    /// What is wrong.
    #[source]
    pub problem: CaptureProblem,
}

impl CaptureError {
    pub(super) fn of_file(file: &str, problem: CaptureProblem) -> CaptureError {
        CaptureError { file: file.to_string(), packet: None, offset: None, problem }
    }

    /// What the operating system says of a capture, `file` by name.
    pub fn io(file: &str, error: std::io::Error) -> CaptureError {
        Self::of_file(file, CaptureProblem::Io(error))
    }

    /// Whether this is no mistake: reading was told to stop while it waited (`CaptureReader::open_until`).
    pub fn was_stopped(&self) -> bool {
        matches!(&self.problem, CaptureProblem::Io(error) if super::awaited::was_stopped(error))
    }

    /// Code by which the problem is explained.
    pub fn code(&self) -> &'static str {
        self.problem.code()
    }
}

impl fmt::Display for CaptureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}] {}: ", self.code(), self.file)?;
        if let Some(packet) = self.packet {
            write!(f, "packet {packet}")?;
            f.write_str(if self.offset.is_some() { " " } else { ": " })?;
        }
        if let Some(offset) = self.offset {
            write!(f, "at byte {offset}: ")?;
        }
        write!(f, "{}", self.problem)
    }
}

/// What is wrong with a capture, without the place.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CaptureProblem {
    /// The operating system reports an error.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// The file does not begin as a capture.
    #[error("the file begins with {found}, expected the magic number of pcap or pcapng{hint}")]
    Magic {
        /// Its first bytes in hexadecimal.
        found: String,
        /// What it may be instead.
        hint: &'static str,
    },
    /// The version of the format is not known.
    #[error("{format} version {major}.{minor}, expected {expected}")]
    Version {
        /// Name of the format.
        format: &'static str,
        /// Its major version.
        major: u16,
        /// Its minor version.
        minor: u16,
        /// What is read.
        expected: &'static str,
    },
    /// The packets are no Ethernet frames.
    #[error("link type {found}, allowed is only 1 (ETHERNET)")]
    LinkType {
        /// Number and name.
        found: String,
    },
    /// The file ends within a header, record or block.
    #[error("the file ends in {what}: {found} bytes are left, {needed} are needed")]
    CutShort {
        /// What is cut.
        what: &'static str,
        /// Bytes it has.
        needed: u64,
        /// Bytes there are.
        found: u64,
    },
    /// A packet was captured only in part.
    #[error("truncated: {captured} of {wire} bytes were captured, expected whole packets")]
    Truncated {
        /// Bytes there are.
        captured: u32,
        /// Bytes on the wire.
        wire: u32,
    },
    /// Lengths that cannot be.
    #[error("{what} is {found}, expected {expected}")]
    Length {
        /// Which length.
        what: &'static str,
        /// Its value.
        found: u64,
        /// What it may be.
        expected: String,
    },
    /// The stamp does not fit nanoseconds since 1970 in 64 bits, or its fraction is a second.
    #[error("the stamp is {found}, expected {expected}")]
    Stamp {
        /// The stamp as it stands in the file.
        found: String,
        /// What it may be.
        expected: &'static str,
    },
    /// A packet of an interface that was not described.
    #[error("interface {found}, described are {count} interfaces from 0")]
    UnknownInterface {
        /// The number.
        found: u32,
        /// How many there are.
        count: usize,
    },
    /// A block of a pcapng file is not as it must be.
    #[error("{what} is {found}, expected {expected}")]
    Block {
        /// What in it.
        what: &'static str,
        /// What was found.
        found: String,
        /// What is allowed.
        expected: String,
    },
    /// The name to write to has no known extension.
    #[error("the extension is `{found}`, allowed are `pcap` and `pcapng`")]
    Extension {
        /// The extension.
        found: String,
    },
    /// The format to be written cannot hold this.
    #[error("{what} is {found}, a pcap file holds {allowed}; pcapng holds more")]
    DoesNotFit {
        /// What.
        what: &'static str,
        /// Its value.
        found: u64,
        /// What fits.
        allowed: String,
    },
}

impl CaptureProblem {
    /// Code by which the problem is explained.
    pub fn code(&self) -> &'static str {
        match self {
            CaptureProblem::Io(_) => "E0150",
            CaptureProblem::Magic { .. } => "E0151",
            CaptureProblem::Version { .. } => "E0152",
            CaptureProblem::LinkType { .. } => "E0153",
            CaptureProblem::CutShort { .. } => "E0154",
            CaptureProblem::Truncated { .. } => "E0155",
            CaptureProblem::Length { .. } => "E0156",
            CaptureProblem::Stamp { .. } => "E0157",
            CaptureProblem::UnknownInterface { .. } => "E0158",
            CaptureProblem::Block { .. } => "E0159",
            CaptureProblem::Extension { .. } => "E0160",
            CaptureProblem::DoesNotFit { .. } => "E0161",
        }
    }

    /// Checks the lengths that a record states.
    pub(super) fn check_lengths(captured: u32, wire: u32) -> Result<(), CaptureProblem> {
        let bad =
            |what, found: u32, expected: String| CaptureProblem::Length { what, found: u64::from(found), expected };
        if captured as usize > MAX_PACKET_BYTES {
            let expected = format!("at most {MAX_PACKET_BYTES}");
            return Err(bad("the captured length", captured, expected));
        }
        if captured > wire {
            let expected = format!("at most the length on the wire, {wire}");
            return Err(bad("the captured length", captured, expected));
        }
        Ok(())
    }
}
