//! Formats of the rmt pipeline: sizes, rows, tables. docs/design/rmt.md says what they mean.

pub mod codes;
mod events;
mod generated;
pub mod rows;
pub mod tables;
pub mod target;

use crate::engine::{EngineId, Folder};

impl EngineId {
    /// The pipeline of match-action stages.
    pub const RMT: EngineId = EngineId::new(1);
}

/// The folder in the registry.
pub(crate) static FOLDER: Folder = Folder {
    engine: Some(EngineId::RMT),
    name: "rmt",
    title: "rmt pipeline",
    prefix: "Rmt",
    everywhere: true,
    nodes: tables::NODES,
    tables: tables::TABLES,
    events: &[events::EVENTS],
    rows: rows::ROWS,
    codes: codes::CODES,
    generated: || {
        vec![
            ("rtl/gen/sluice_rmt_rows_pkg.sv", generated::package()),
            ("tb/rmt/codes.py", generated::module()),
            ("docs/design/rmt-rows.md", generated::page()),
        ]
    },
};

#[cfg(test)]
mod tests {
    use super::rows::*;
    use crate::row::{Row, RowError, Wide};

    #[test]
    fn rows_come_back_from_their_words() {
        let mut row = SelectRow { valid: true, offsets: [1, 2, 3, 4, 5, 6, 7, 127], ..SelectRow::default() };
        row.alternatives[7] = AlternativePart { valid: true, value: Wide([9; 8]), mask: Wide([0xff; 8]), to: 15 };
        assert_eq!(SelectRow::unpack(&row.pack().unwrap()), Ok(row));
        let action = ActionRow { owner: 63, mask6: [0xffff_ffff_ffff; 8], ..ActionRow::default() };
        assert_eq!(ActionRow::unpack(&action.pack().unwrap()), Ok(action));
    }

    #[test]
    fn the_first_element_has_the_lowest_bits() {
        let row = GroupRow { owner: 1, destinations: 2, tags: [3, 0, 0, 0, 0, 0, 0, 0] };
        assert_eq!(row.pack().unwrap()[0], 1 | 2 << 6 | 3 << 14);
    }

    #[test]
    fn values_and_rows_of_another_width_are_refused() {
        let row = GrantedRow { destinations: 1 };
        assert!(GrantedRow::unpack(&[0x100]).is_err());
        assert!(GrantedRow::unpack(&[]).is_err());
        assert!(row.pack().is_ok());
        let bad = KeyRow { set_bits: 16, ..KeyRow::default() };
        assert!(matches!(bad.pack(), Err(RowError::TooWide { field: "set_bits", .. })));
        let mut bad = KeyRow::default();
        bad.mask.0[24] = 4;
        assert!(matches!(bad.pack(), Err(RowError::TooWide { field: "mask", .. })));
    }

    #[test]
    fn the_action_row_has_the_width_that_the_design_page_says() {
        assert_eq!(ActionRow::width(), 2440);
    }
}
