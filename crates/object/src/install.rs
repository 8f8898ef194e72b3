//! What a load puts into a generation beside rows: programs that no row describes. This file is the registry of them.

use crate::bytes::{Reader, Writer};
use crate::error::ObjectError;
use crate::load::Step;
use serde::{Deserialize, Serialize};
use sluice_formats::{EngineId, Node, Table};

/// What an engine's folder says of its install.
pub(crate) trait Installed: Sized {
    /// The engine.
    const ENGINE: EngineId;
    /// Refuses what nothing may be; whose it is does not matter here.
    fn check(&self) -> Result<(), ObjectError>;
    /// Writes the binary form.
    fn write(&self, w: &mut Writer);
    /// Reads it.
    fn read(r: &mut Reader) -> Result<Self, ObjectError>;
}

macro_rules! installs {
    ($($(#[$doc:meta])* $json:literal $variant:ident($install:ty),)*) => {
        /// A placed program of one engine.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Install { $($(#[$doc])* $variant(Box<$install>),)* }

        impl Install {
            /// The engine that takes it.
            pub fn engine(&self) -> EngineId {
                match self { $(Self::$variant(_) => <$install as Installed>::ENGINE,)* }
            }

            /// Refuses what nothing may be; whose it is does not matter here.
            pub fn check(&self) -> Result<(), ObjectError> {
                match self { $(Self::$variant(install) => Installed::check(&**install),)* }
            }

            pub(crate) fn write(&self, w: &mut Writer) {
                match self { $(Self::$variant(install) => install.write(w),)* }
            }

            /// The install of an engine; none if it has no installs.
            pub(crate) fn read(engine: EngineId, r: &mut Reader) -> Result<Option<Self>, ObjectError> {
                $(if engine == <$install as Installed>::ENGINE {
                    return Ok(Some(Self::$variant(Box::new(<$install as Installed>::read(r)?))));
                })*
                Ok(None)
            }
        }

        /// The JSON form of a step: an install has the name that its engine gives it.
        #[derive(Serialize, Deserialize)]
        #[serde(rename_all = "snake_case", deny_unknown_fields)]
        pub(crate) enum StepJson {
            Write { node: Node, table: Table, index: u32, words: Vec<u32> },
            Barrier,
            WaitDrained { module: u8, generation: u8 },
            Commit { module: u8, generation: u8 },
            WaitQueuesEmpty { module: u8 },
            $(#[serde(rename = $json)] $variant { module: u8, generation: u8, program: Option<Box<$install>> },)*
            /// For engines that install nothing.
            Remove { engine: EngineId, module: u8, generation: u8 },
        }

        impl From<Step> for StepJson {
            fn from(step: Step) -> Self {
                match step {
                    Step::Write { node, table, index, words } => Self::Write { node, table, index, words },
                    Step::Barrier => Self::Barrier,
                    Step::WaitDrained { module, generation } => Self::WaitDrained { module, generation },
                    Step::Commit { module, generation } => Self::Commit { module, generation },
                    Step::WaitQueuesEmpty { module } => Self::WaitQueuesEmpty { module },
                    $(Step::Install { module, generation, install: Some(Install::$variant(program)), .. } => {
                        Self::$variant { module, generation, program: Some(program) }
                    })*
                    $(Step::Install { engine: <$install as Installed>::ENGINE, module, generation, .. } => {
                        Self::$variant { module, generation, program: None }
                    })*
                    Step::Install { engine, module, generation, .. } => Self::Remove { engine, module, generation },
                }
            }
        }

        impl From<StepJson> for Step {
            fn from(step: StepJson) -> Self {
                match step {
                    StepJson::Write { node, table, index, words } => Self::Write { node, table, index, words },
                    StepJson::Barrier => Self::Barrier,
                    StepJson::WaitDrained { module, generation } => Self::WaitDrained { module, generation },
                    StepJson::Commit { module, generation } => Self::Commit { module, generation },
                    StepJson::WaitQueuesEmpty { module } => Self::WaitQueuesEmpty { module },
                    $(StepJson::$variant { module, generation, program } => {
                        let engine = <$install as Installed>::ENGINE;
                        Self::Install { engine, module, generation, install: program.map(Install::$variant) }
                    })*
                    StepJson::Remove { engine, module, generation } => {
                        Self::Install { engine, module, generation, install: None }
                    }
                }
            }
        }
    };
}
installs! {
    /// Programs of the XDP engine.
    "program" Xdp(crate::xdp::PlacedXdp),
}
