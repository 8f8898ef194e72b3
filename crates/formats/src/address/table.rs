//! Tables behind the nodes.

use super::Node;
use crate::engine::{EngineId, FOLDERS, folder};
use crate::named::{self, Named};
use crate::row::Row;
use crate::target::Target;

/// A table behind a node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Table {
    engine: Option<EngineId>,
    /// Place in the folder's list.
    at: u8,
    pub(crate) index: u8,
}

/// Who may write a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Written and read back.
    ReadWrite,
    /// Read only; a write answers `read_only`.
    ReadOnly,
    /// Written only; a read answers `write_only`.
    WriteOnly,
    /// A 48-bit counter; read only. Index bit 23 reads the value of the last snapshot.
    Counter,
}

impl Access {
    /// Whether the host writes it.
    pub fn is_written(self) -> bool {
        matches!(self, Access::ReadWrite | Access::WriteOnly)
    }

    /// The word for it in docs.
    pub fn text(self) -> &'static str {
        match self {
            Access::ReadWrite => "read, write",
            Access::ReadOnly => "read",
            Access::WriteOnly => "write",
            Access::Counter => "counter",
        }
    }
}

/// What one row of a table is.
pub struct Shape {
    /// 32-bit words.
    pub words: fn() -> usize,
    /// Who may write it.
    pub access: Access,
}

/// A row that the host writes.
pub const fn row<R: Row>() -> Shape {
    Shape { words: R::words, access: Access::ReadWrite }
}

/// One word that the host writes.
pub const fn register() -> Shape {
    Shape { words: || 1, access: Access::ReadWrite }
}

/// A row that is only read.
pub const fn read_row<R: Row>() -> Shape {
    Shape { words: R::words, access: Access::ReadOnly }
}

/// A row that the host writes and nobody reads back.
pub const fn write_row<R: Row>() -> Shape {
    Shape { words: R::words, access: Access::WriteOnly }
}

/// Two words that are only read.
pub const fn read_only() -> Shape {
    Shape { words: || 2, access: Access::ReadOnly }
}

/// A counter of 48 bits.
pub const fn counter() -> Shape {
    Shape { words: || 2, access: Access::Counter }
}

/// What there is to say of a table, or of several that are alike.
pub struct TableInfo {
    /// Name in JSON.
    pub name: &'static str,
    /// The names in docs, messages and SystemVerilog, where there are several.
    pub each: &'static [&'static str],
    /// Place of its node in the folder's list.
    pub node: u8,
    /// Number within the node, of the first.
    pub number: u8,
    /// What a row is.
    pub shape: Shape,
    /// Rows on a target.
    pub rows: fn(&Target) -> u32,
    /// What a row is, for the generated docs.
    pub doc: &'static str,
}

impl TableInfo {
    const fn count(&self) -> u8 {
        if self.each.is_empty() { 1 } else { self.each.len() as u8 }
    }
}

const COUNT: usize = {
    let (mut count, mut f) = (0, 0);
    while f < FOLDERS.len() {
        let mut at = 0;
        while at < FOLDERS[f].tables.len() {
            count += FOLDERS[f].tables[at].count() as usize;
            at += 1;
        }
        f += 1;
    }
    count
};

impl Table {
    /// All tables in the order of the registry.
    pub const ALL: [Table; COUNT] = {
        let mut all = [Table::place(None, 0, 0); COUNT];
        let (mut n, mut f) = (0, 0);
        while f < FOLDERS.len() {
            let mut at = 0;
            while at < FOLDERS[f].tables.len() {
                let mut index = 0;
                while index < FOLDERS[f].tables[at].count() {
                    all[n] = Table::place(FOLDERS[f].engine, at as u8, index);
                    (n, index) = (n + 1, index + 1);
                }
                at += 1;
            }
            f += 1;
        }
        all
    };

    pub(crate) const fn place(engine: Option<EngineId>, at: u8, index: u8) -> Self {
        Self { engine, at, index }
    }

    fn info(self) -> &'static TableInfo {
        &folder(self.engine).tables[usize::from(self.at)]
    }

    /// The engine whose table it is; none for the NIC's own.
    pub fn engine(self) -> Option<EngineId> {
        self.engine
    }

    /// Number within its node.
    pub fn number(self) -> u8 {
        self.info().number.saturating_add(self.index)
    }

    /// The node that holds it, of several the first.
    pub fn node(self) -> Node {
        Node::place(self.engine, self.info().node, 0)
    }

    /// Whether `node` holds this table.
    pub fn is_of(self, node: Node) -> bool {
        self.node().is_like(node)
    }

    /// The table of this number behind `node`.
    pub fn from_number(node: Node, number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|t| t.is_of(node) && t.number() == number)
    }

    /// Rows on `target`.
    pub fn rows(self, target: &Target) -> u32 {
        (self.info().rows)(target)
    }

    /// Who may write it.
    pub fn access(self) -> Access {
        self.info().shape.access
    }

    /// 32-bit words of one row (`Info` rows and counters have two).
    pub fn words(self) -> usize {
        (self.info().shape.words)()
    }

    /// Name in docs, messages and SystemVerilog (`Table` and the folder's prefix before it, camel case).
    pub fn name(self) -> &'static str {
        let info = self.info();
        info.each.get(usize::from(self.index)).or(info.each.last()).unwrap_or(&info.name)
    }

    /// What a row is, for the generated docs.
    pub fn row_doc(self) -> &'static str {
        self.info().doc
    }
}

impl Named for Table {
    const TYPE: &'static str = "Table";

    fn all() -> Vec<Self> {
        Self::ALL.into_iter().filter(|t| t.index == 0).collect()
    }
    fn name(&self) -> &'static str {
        self.info().name
    }
    fn index(&self) -> Option<u8> {
        (!self.info().each.is_empty()).then_some(self.index)
    }
    fn with_index(self, index: u8) -> Self {
        Self { index, ..self }
    }
}
named::serde!(Table);

/// The tables of a folder by node: `TABLES` for the registry and a name each in `Table`. Behind the name: number within
/// the node, what a row is, how many a target has, and what docs say. Of several that are alike: how to ask a table
/// for its number, and the name of each.
macro_rules! tables {
    ($engine:expr; $( $node:ident { $(
        $(#[doc = $about:literal])+
        $name:ident $(($get:ident))? $text:literal $([$($each:literal),+])? = $number:literal: $shape:expr, $rows:expr, $doc:literal;
    )+ } )+) => {
        // An engine's tables may all begin with its name.
        #[allow(clippy::enum_variant_names)]
        enum TableAt { $( $( $name, )+ )+ }

        pub(crate) static TABLES: &[$crate::address::TableInfo] = &[ $( $(
            $crate::address::TableInfo {
                name: $text,
                each: &[$($($each),+)?],
                node: NodeAt::$node as u8,
                number: $number,
                shape: $shape,
                rows: $rows,
                doc: $doc,
            },
        )+ )+ ];

        $( $( $crate::named::name!(Table, $engine, TableAt::$name as u8, $name $(, $get)?; $($about)+); )+ )+
    };
}
pub(crate) use tables;
