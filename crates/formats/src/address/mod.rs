//! Configuration address map: nodes on the ring, their tables, who may write them.
//!
//! An index has the row in bits 15:0. A write carries the whole row in one message. Rows of the rmt pipeline are read
//! in slices of 8 words, the first of which is 8 times bits 22:16. Bit 23 of a counter reads its value at the last
//! snapshot.

mod node;
mod table;

pub use crate::nic::{control, info};
pub use node::{Node, NodeInfo};
pub use table::{Access, Shape, Table, TableInfo, counter, read_only, read_row, register, row, write_row};

pub(crate) use node::{count, nodes};
pub(crate) use table::tables;

/// Index bit that selects a counter's value at the last snapshot.
pub const SNAPSHOT_INDEX_BIT: u32 = 23;
/// First bit of an index that says which 8 words of a row are read.
pub const SLICE_INDEX_BIT: u32 = 16;
/// Words of a row that one read answers with.
pub const SLICE_WORDS: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EngineId;
    use crate::limits::{MESSAGE_DATA_WORDS, MOST_ROW_WORDS};
    use crate::named::camel;
    use crate::target;

    #[test]
    fn every_table_is_found_again_by_its_number() {
        for target in target::ALL {
            for node in Node::every(&target) {
                assert_eq!(Node::from_number(node.number(), &target), Some(node));
                for table in Table::ALL.into_iter().filter(|t| t.is_of(node)) {
                    assert_eq!(Table::from_number(node, table.number()), Some(table));
                    assert_eq!(table.engine(), node.engine());
                }
            }
        }
        for number in [12, 37, 255] {
            assert_eq!(Node::from_number(number, &target::DEFAULT), None);
        }
    }

    #[test]
    fn every_row_fits_one_message_and_every_table_the_index() {
        for table in Table::ALL {
            assert!(table.words() <= if table.engine().is_none() { MESSAGE_DATA_WORDS } else { MOST_ROW_WORDS });
            for target in target::ALL {
                // The row's number has 24 bits; with slices they stand above it.
                let bits = if table.words() > SLICE_WORDS { SLICE_INDEX_BIT } else { 24 };
                assert!(table.rows(&target) <= 1 << bits, "{}", table.name());
            }
        }
    }

    #[test]
    fn names_say_what_the_constants_say() {
        let ways = Table::ALL.into_iter().filter_map(Table::exact);
        assert_eq!(ways.collect::<Vec<_>>(), [0, 1, 2, 3]);
        assert_eq!((Table::Exact(2).name(), Table::Exact(2).number()), ("exact2", 4));
        assert_eq!((Node::Stage(4).stage(), Node::Port(4).stage()), (Some(4), None));
        assert_eq!((Table::Hits.engine(), Node::Xdp.engine()), (Some(EngineId::RMT), Some(EngineId::XDP)));
        for table in Table::ALL.into_iter().filter(|t| t.exact().is_none()) {
            assert_eq!(format!("{table:?}"), camel(table.name()));
        }
    }

    #[test]
    fn nodes_that_only_some_devices_have_are_not_among_all() {
        for target in target::ALL {
            let all = Node::all(&target);
            assert!(!all.contains(&Node::Xdp) && all.is_sorted_by_key(|n| n.number()));
            assert_eq!(all.len(), 5 + target.ports as usize + target.rmt.stages);
        }
    }
}
