//! What a device refuses or cannot do.

use sluice_formats::{EngineId, Node, Status, Table};

/// What is wrong with a step of a load.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StepError {
    /// No such module.
    #[error("module {found} does not exist, 0 to {max} do")]
    Module {
        /// Found.
        found: u8,
        /// Highest.
        max: u32,
    },
    /// No such generation.
    #[error("generation {found} does not exist, 0 and 1 do")]
    Generation {
        /// Found.
        found: u8,
    },
    /// A row was answered with a status.
    #[error("{}: {node:?} {} row {index}", .status.name(), .table.name())]
    Row {
        /// Node.
        node: Node,
        /// Table.
        table: Table,
        /// Row.
        index: u32,
        /// The answer.
        status: Status,
    },
    /// An engine does not take a program.
    #[error(transparent)]
    Install(#[from] crate::engine::InstallError),
    /// What came back over the configuration ring, or did not.
    #[error("{0}")]
    Ring(String),
}

/// Why a row cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The answer.
    #[error("{}", .0.name())]
    Status(Status),
    /// The ring did not carry it.
    #[error("{0}")]
    Ring(String),
}

/// What a device was waited for to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Waited {
    /// A load.
    #[error("load `{0}`")]
    Load(String),
    /// Packets behind a merge that a control register holds.
    #[error("packets behind the held merge")]
    HeldMerge,
    /// An answer, or what is under way, as the device says it.
    #[error("{0}")]
    Device(String),
}

/// What a device refuses or cannot do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// The load is for another format.
    #[error("load `{label}` has format version {found}, the device takes {allowed}")]
    Version {
        /// The load's label.
        label: String,
        /// Found.
        found: u32,
        /// Allowed.
        allowed: u32,
    },
    /// The load is for another target.
    #[error("load `{label}` is placed for target {found:08x}, the device is {allowed:08x}")]
    TargetMismatch {
        /// The load's label.
        label: String,
        /// Found.
        found: u32,
        /// Allowed.
        allowed: u32,
    },
    /// No such port.
    #[error("port {found} does not exist, the device has ports 0 to {max}")]
    NoPort {
        /// Found.
        found: u8,
        /// Highest.
        max: u8,
    },
    /// No such destination.
    #[error("destination {found} does not exist, the device has destinations 0 to {max}")]
    NoDestination {
        /// Found.
        found: u8,
        /// Highest.
        max: u8,
    },
    /// No queues stand behind its engines.
    #[error("the device `{device}` has no queues: no destination can be blocked")]
    NoQueues {
        /// Its kind.
        device: &'static str,
    },
    /// A frame that cannot be offered at all.
    #[error("frame of {found} bytes cannot be offered, 1 to {max} are possible")]
    FrameLength {
        /// Found.
        found: usize,
        /// Longest frame an interface carries.
        max: usize,
    },
    /// A step that the device could not do.
    #[error("load `{label}`, step {step}: {error}")]
    Step {
        /// The load's label.
        label: String,
        /// Step, from 0.
        step: usize,
        /// What was wrong with it.
        error: StepError,
    },
    /// A row that cannot be read.
    #[error("row {index} of table `{table}` at {node:?} cannot be read: {error}")]
    Read {
        /// Node.
        node: Node,
        /// Table.
        table: &'static str,
        /// Index.
        index: u32,
        /// What was wrong.
        error: ReadError,
    },
    /// Routes that cannot be read.
    #[error("routes: {what}")]
    Routes {
        /// Line and mistake.
        what: String,
        /// Code for `sluice explain`.
        code: &'static str,
    },
    /// The device did not answer or did not come to rest.
    #[error("{what} did not end within {ticks} ticks")]
    Timeout {
        /// What was waited for.
        what: Waited,
        /// How long.
        ticks: u64,
    },
    /// The load holds rows or a program for an engine that the device does not have.
    #[error(
        "load `{label}`, step {step}: found {what} for the engine {engine}, which the device `{device}` does not have; it has {has}"
    )]
    NoEngine {
        /// The load's label.
        label: String,
        /// Step, from 0.
        step: usize,
        /// "a row" or "a program".
        what: &'static str,
        /// The engine.
        engine: EngineId,
        /// Kind of the device.
        device: &'static str,
        /// Engines that it has.
        has: String,
    },
    /// No engine of the device has maps.
    #[error("no engine of the device `{device}` has maps")]
    NoMaps {
        /// Kind of the device.
        device: &'static str,
    },
    /// No engine of the device has rings.
    #[error("the device `{device}` has no rings: no engine of it writes messages into host memory")]
    NoRings {
        /// Kind of the device.
        device: &'static str,
    },
    /// A ring that cannot be used so.
    #[error(transparent)]
    Ring(#[from] crate::rings::RingError),
    /// A map or routes of a module that runs no program with maps.
    #[error("module {module} runs no XDP program")]
    NoProgram {
        /// Module.
        module: u8,
    },
    /// An operation on a map, refused as Linux refuses it.
    #[error("map {map}: {operation}: errno {errno}")]
    Map {
        /// "lookup", "update", "delete", "next key".
        operation: &'static str,
        /// Its ID.
        map: u32,
        /// Linux' error number, positive.
        errno: i32,
    },
    /// An operation on a map that the engine in hardware has not.
    #[error("map {map}: the XDP engine in hardware has no {what}; the software NIC does it")]
    MapLacks {
        /// Its ID.
        map: u32,
        /// What it has not.
        what: &'static str,
    },
    /// The device is not there.
    #[error("{0}")]
    Unavailable(String),
}

impl DeviceError {
    /// Code for `sluice explain`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Routes { code, .. } => code,
            Self::Step { error: StepError::Install(refused), .. } => refused.code.unwrap_or("E0307"),
            Self::MapLacks { .. } => "E0805",
            Self::NoEngine { .. } => "E0309",
            Self::Ring(error) => error.code(),
            _ => "E0307",
        }
    }

    /// Whether it was asked for what the device does not have or take: nothing went wrong in it.
    pub fn is_refusal(&self) -> bool {
        match self {
            Self::Version { .. }
            | Self::TargetMismatch { .. }
            | Self::NoPort { .. }
            | Self::NoDestination { .. }
            | Self::NoQueues { .. }
            | Self::FrameLength { .. }
            | Self::Routes { .. }
            | Self::NoEngine { .. }
            | Self::NoMaps { .. }
            | Self::NoRings { .. }
            | Self::NoProgram { .. }
            | Self::MapLacks { .. }
            | Self::Step { error: StepError::Install(_), .. } => true,
            Self::Ring(error) => error.is_refusal(),
            Self::Step { .. } | Self::Read { .. } | Self::Timeout { .. } | Self::Map { .. } | Self::Unavailable(_) => {
                false
            }
        }
    }
}
