//! What of a program its user allows to be had in part: each is a flag of `sluice p4`, and both the reference and the pipeline then do
//! the same.

use std::collections::BTreeMap;

/// What may be had in part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allowed {
    bound: Names,
    cells: Names,
    pub(crate) target_hash: bool,
    pub(crate) power_of_two: bool,
}

/// Numbers by names of a program, or by what stands behind a dot of them, of two the longer one; and whether the program has one.
type Names = BTreeMap<String, (u32, bool)>;

impl Allowed {
    /// All at once: elements of stacks and cells of registers and counters by name, and the two that are said or not.
    pub fn of<'n>(
        bound: impl IntoIterator<Item = (&'n String, u32)>,
        cells: impl IntoIterator<Item = (&'n String, u32)>,
        target_hash: bool,
        power_of_two: bool,
    ) -> Allowed {
        let named = |(name, number): (&String, u32)| (name.clone(), (number, false));
        let bound = bound.into_iter().map(named).collect();
        Allowed { bound, cells: cells.into_iter().map(named).collect(), target_hash, power_of_two }
    }

    /// A stack of headers has so many elements at most: a packet with more of them is dropped in the parser.
    #[must_use]
    pub fn with_bound(mut self, stack: impl Into<String>, elements: u32) -> Allowed {
        self.bound.insert(stack.into(), (elements, false));
        self
    }

    /// A register or counter has so many cells at most.
    #[must_use]
    pub fn with_cells(mut self, object: impl Into<String>, cells: u32) -> Allowed {
        self.cells.insert(object.into(), (cells, false));
        self
    }

    /// `hash` is the target's, CRC-32C over the key of a stage, in place of the algorithms `crc16` and `crc32`.
    #[must_use]
    pub fn with_target_hash(mut self) -> Allowed {
        self.target_hash = true;
        self
    }

    /// The last argument of `hash` may come from an entry, whose value is then a power of two.
    #[must_use]
    pub fn with_power_of_two(mut self) -> Allowed {
        self.power_of_two = true;
        self
    }

    pub(crate) fn bound(&mut self, stack: &str) -> Option<u32> {
        named(&mut self.bound, stack)
    }

    pub(crate) fn cells(&mut self, object: &str) -> Option<u32> {
        named(&mut self.cells, object)
    }

    /// A name that nothing in the program has.
    pub(crate) fn unknown(&self) -> Option<String> {
        let of = |all: &Names, what| {
            let unknown = all.iter().find(|(_, (_, known))| !known);
            unknown.map(|(name, _)| format!("a bound for `{name}`, and there is no {what} of this name"))
        };
        of(&self.bound, "stack whose `next` is extracted").or_else(|| of(&self.cells, "register or counter"))
    }
}

fn named(all: &mut Names, name: &str) -> Option<u32> {
    let is = |given: &str| name == given || name.strip_suffix(given).is_some_and(|before| before.ends_with('.'));
    let mut found: Option<(usize, u32)> = None;
    for (given, (number, known)) in all.iter_mut().filter(|(given, _)| is(given)) {
        *known = true;
        // The longer one says better which is meant.
        if found.is_none_or(|(length, _)| length < given.len()) {
            found = Some((given.len(), *number));
        }
    }
    found.map(|(_, number)| number)
}
