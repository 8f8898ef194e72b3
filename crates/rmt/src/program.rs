//! What one module runs in one generation.

use crate::action::Action;
use crate::deparser::Deparser;
use crate::parser::Parser;
use crate::stage::{KeySpec, Tables};

/// One module's part of a stage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stage {
    /// Key and conditions.
    pub key: KeySpec,
    /// Tables.
    pub tables: Tables,
    /// Actions, by position.
    pub actions: Vec<Action>,
    /// Pages of state words.
    pub pages: u16,
}

/// Parser, stages, deparser. The system module's parser and deparser are those of its own packets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// Parser rows.
    pub parser: Parser,
    /// By stage of the target; none leaves the PHV as it is.
    pub stages: Vec<Option<Stage>>,
    /// Deparser rows.
    pub deparser: Deparser,
}
