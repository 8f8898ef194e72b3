//! Codes: what the numbers in fields of rows and messages stand for.

/// What a field's numbers stand for.
pub struct CodeList {
    /// Name of the type in Rust and in Python.
    pub type_name: &'static str,
    /// Name; in SystemVerilog with `_e`.
    pub name: &'static str,
    /// What the names of its codes begin with in SystemVerilog.
    pub prefix: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// Bits of the field.
    pub bits: u32,
    /// The codes by rising number.
    pub all: &'static [Code],
}

/// One code.
pub struct Code {
    /// Name.
    pub name: &'static str,
    /// Number.
    pub number: u8,
    /// What it means.
    pub doc: &'static str,
}

/// Declares a list of codes: an enum of them and `LIST` for the registry. Behind the type: name of the list, prefix in
/// SystemVerilog, bits.
macro_rules! codes {
    ($(#[doc = $doc:literal])+ $(#[derive($($more:path),+)])? $type:ident, $list:literal, $prefix:literal, $bits:literal {
        $( #[doc = $cdoc:literal] $code:ident $text:literal = $number:literal ),+ $(,)?
    }) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        $(#[derive($($more),+)] #[serde(rename_all = "snake_case")])?
        pub enum $type { $( #[doc = $cdoc] $code = $number ),+ }

        impl $type {
            /// What the generators take.
            pub(crate) const LIST: $crate::codes::CodeList = $crate::codes::CodeList {
                type_name: stringify!($type),
                name: $list,
                prefix: $prefix,
                doc: concat!($($doc),+),
                bits: $bits,
                all: &[ $( $crate::codes::Code { name: $text, number: $number, doc: $cdoc } ),+ ],
            };

            /// All by rising number.
            pub const ALL: [$type; Self::LIST.all.len()] = [ $( Self::$code ),+ ];

            /// The number in rows.
            pub const fn code(self) -> u8 {
                self as u8
            }

            /// What a number stands for.
            #[inline]
            pub const fn from_code(code: u8) -> Option<Self> {
                match code { $( $number => Some(Self::$code), )+ _ => None }
            }

            /// Name in docs.
            pub const fn name(self) -> &'static str {
                match self { $( Self::$code => $text ),+ }
            }
        }
    };
}
pub(crate) use codes;

#[cfg(test)]
mod tests {
    use crate::engine::FOLDERS;
    use crate::rmt::codes::{AluOp, Cross};

    #[test]
    fn codes_rise_and_fit_their_field() {
        for list in FOLDERS.iter().flat_map(|f| f.codes) {
            assert!(list.all.windows(2).all(|c| c[0].number < c[1].number), "{}", list.name);
            assert!(list.all.iter().all(|c| u32::from(c.number) >> list.bits == 0), "{}", list.name);
        }
    }

    #[test]
    fn a_code_is_found_by_its_number() {
        for op in AluOp::ALL {
            assert_eq!(AluOp::from_code(op.code()), Some(op));
        }
        assert_eq!((AluOp::from_code(10), Cross::from_code(23), Cross::Hash.code()), (None, None, 40));
        assert_eq!((AluOp::AndNot.name(), AluOp::ALL.len()), ("and_not", 10));
    }
}
