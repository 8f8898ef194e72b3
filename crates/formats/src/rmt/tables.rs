//! Nodes and tables of the rmt pipeline.

use super::rows::*;
use super::target::{self, MODULE_PAGES, NODES as SELECT_NODES, NUMBERS, PATHS, PATTERNS};
use crate::EngineId;
use crate::address::{Node, counter, nodes, row, tables};
use crate::target::Target;

pub use super::events::Event;

nodes! { Some(EngineId::RMT);
    /// The parser of the rmt pipeline.
    Parser "parser" = 5;
    /// Groups, grants, deparser and events of the rmt pipeline.
    Deparser "deparser" = 6;
    /// A stage of the rmt pipeline.
    Stage(stage) "stage" = 32, |t| t.rmt.stages as u32;
}

/// Both generations of every module.
fn banks(target: &Target) -> u32 {
    2 * target.modules
}

tables! { Some(EngineId::RMT);
    Parser {
        /// First `SelectRow` by 2 * module + generation.
        First "first" = 0: row::<SelectRow>(), banks, "`rmt_select_row`";
        /// Node `SelectRow` by 4 * (2 * module + generation) + node.
        Node "node" = 1: row::<SelectRow>(), |t| SELECT_NODES as u32 * banks(t), "`rmt_select_row`";
        /// `PathRow` by 16 * (2 * module + generation) + path.
        Path "path" = 2: row::<PathRow>(), |t| PATHS as u32 * banks(t), "`rmt_path_row`";
    }
    Stage {
        /// `StageOwnerRow`, index 0.
        StageOwner "stage_owner" = 0: row::<StageOwnerRow>(), |_| 1, "`rmt_stage_owner_row`";
        /// `KeyRow` by 2 * module + generation.
        Key "key" = 1: row::<KeyRow>(), banks, "`rmt_key_row`";
        /// `ExactRow` by set, way 0 to 3.
        Exact(exact) "exact" ["exact0", "exact1", "exact2", "exact3"] = 2:
            row::<ExactRow>(), |t| t.rmt.sets() as u32, "`rmt_exact_row` by set";
        /// `TernaryRow` by entry.
        Ternary "ternary" = 6: row::<TernaryRow>(), |t| t.rmt.ternary as u32, "`rmt_ternary_row` by entry";
        /// `DataRow`.
        Data "data" = 7: row::<DataRow>(), |t| (t.rmt.exact + t.rmt.ternary) as u32 + banks(t), "`rmt_data_row`";
        /// `ActionRow` by action row.
        Action "action" = 8: row::<ActionRow>(), |t| t.rmt.actions as u32, "`rmt_action_row` by action row";
        /// `PageRow` by 64 * (2 * module + generation) + page of the module.
        Page "page" = 9: row::<PageRow>(), |t| MODULE_PAGES as u32 * banks(t), "`rmt_page_row`";
        /// `StateWordRow` by word.
        StateWord "state_word" = 10: row::<StateWordRow>(), |t| t.rmt.words as u32, "`rmt_state_word_row` by word";
        /// `ZeroPageRow` by page of the stage.
        ZeroPage "zero_page" = 11: row::<ZeroPageRow>(), |t| t.rmt.pages() as u32, "`rmt_zero_page_row` by page";
        /// Packets that met an entry, by hits_base + number.
        Hits "hits" = 12: counter(), |_| NUMBERS as u32, "packets that met an entry, by hits_base + number";
        /// State accesses that were not done, by module.
        StateRange "state_range" = 13: counter(), |t| t.modules, "state accesses that were not done, by module";
    }
    Deparser {
        /// `PatternsRow` by 2 * module + generation.
        Patterns "patterns" = 0: row::<PatternsRow>(), banks, "`rmt_patterns_row`";
        /// `DeparseRow` by beats * (16 * (2 * module + generation) + row) + beat.
        Deparse "deparse" = 1:
            row::<DeparseRow>(), |t| (t.rmt.window_beats() * PATTERNS) as u32 * banks(t), "`rmt_deparse_row`";
        /// `GroupRow` by group.
        Group "group" = 2: row::<GroupRow>(), |t| t.rmt.groups as u32, "`rmt_group_row` by group";
        /// `GrantedRow` by module.
        Granted "granted" = 3: row::<GrantedRow>(), |t| t.modules, "`rmt_granted_row` by module";
        /// Drops and copies of the rmt pipeline by module * 16 + kind (`rmt::tables::Event`).
        Events "events" = 4: counter(), |t| t.modules * 16, "drops and copies, by module * 16 + kind";
        /// `GroupNameRow` by module.
        GroupName "group_name" = 5: row::<GroupNameRow>(), |t| t.modules, "`rmt_group_name_row` by module";
    }
}

/// Nodes of the pipeline: the stamp, the parser, the stages, the deparser.
pub fn nodes(target: &target::Target) -> Vec<Node> {
    let stages = (0..target.stages as u8).map(Node::Stage);
    [Node::Stamp, Node::Parser].into_iter().chain(stages).chain([Node::Deparser]).collect()
}
