//! Why packets are dropped, and where it is counted: the events of all folders.

use crate::address::Table;
use crate::engine::{EngineId, FOLDERS};
use crate::named::{self, Named};

/// Why a packet was dropped: an event of a folder's [`Events`] that is a drop.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reason {
    code: u8,
    kind: u8,
}

/// What a table of events counts.
pub struct Events {
    /// The table; a row for each kind of each module (or queue).
    pub table: Table,
    /// Code of the reason of kind 0.
    pub first: u8,
    /// Rows that a module (or queue) has.
    pub kinds: u8,
    /// The events by rising kind.
    pub all: &'static [EventInfo],
}

/// One event.
pub struct EventInfo {
    /// Name in counters, scripts, JSON and docs.
    pub name: &'static str,
    /// Number among those of its table.
    pub kind: u8,
    /// It is the drop of a packet, and so a reason.
    pub drop: bool,
    /// What it means, for docs and `--help`.
    pub doc: &'static str,
}

const COUNT: usize = {
    let (mut count, mut f) = (0, 0);
    while f < FOLDERS.len() {
        let mut g = 0;
        while g < FOLDERS[f].events.len() {
            let mut e = 0;
            while e < FOLDERS[f].events[g].all.len() {
                count += FOLDERS[f].events[g].all[e].drop as usize;
                e += 1;
            }
            g += 1;
        }
        f += 1;
    }
    count
};

impl Reason {
    /// All reasons by rising code.
    pub const ALL: [Reason; COUNT] = {
        let mut all = [Reason::of(0, 0); COUNT];
        let (mut n, mut f) = (0, 0);
        while f < FOLDERS.len() {
            let mut g = 0;
            while g < FOLDERS[f].events.len() {
                let events = &FOLDERS[f].events[g];
                let mut e = 0;
                while e < events.all.len() {
                    if events.all[e].drop {
                        all[n] = Reason::of(events.first, events.all[e].kind);
                        n += 1;
                    }
                    e += 1;
                }
                g += 1;
            }
            f += 1;
        }
        all
    };

    pub(crate) const fn of(first: u8, kind: u8) -> Self {
        Self { code: first + kind, kind }
    }

    /// Code in traces and in SystemVerilog.
    pub const fn code(self) -> u8 {
        self.code
    }

    /// The reason with this code.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|r| r.code == code)
    }

    fn place(self) -> (Option<EngineId>, &'static Events, &'static EventInfo) {
        let mut all = FOLDERS.iter().flat_map(|f| f.events.iter().map(|e| (f.engine, e)));
        let first = self.code - self.kind;
        let found = all.find_map(|(engine, events)| {
            let event = events.all.iter().find(|e| events.first == first && e.kind == self.kind)?;
            Some((engine, events, event))
        });
        found.expect("reasons are made from the registry")
    }

    /// Name in counters, scripts, JSON and docs.
    pub fn name(self) -> &'static str {
        self.place().2.name
    }

    /// The reason of this name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|r| r.name() == name)
    }

    /// What it means, for docs and `--help`.
    pub fn doc(self) -> &'static str {
        self.place().2.doc
    }

    /// The engine that drops for it; none for ports and queues.
    pub fn engine(self) -> Option<EngineId> {
        self.place().0
    }

    /// Kind of counter: its number among the events of its table.
    pub const fn kind(self) -> u32 {
        self.kind as u32
    }

    /// Row of its counter for a module (or queue).
    pub fn row(self, owner: u32) -> u32 {
        owner * u32::from(self.place().1.kinds) + self.kind()
    }

    /// Table that counts the reason, at index `module * kinds + kind` (egress: `queue * kinds + kind`). Ingress reasons
    /// are counted by each port's node.
    pub fn table(self) -> Table {
        self.place().1.table
    }
}

impl Named for Reason {
    const TYPE: &'static str = "Reason";

    fn all() -> Vec<Self> {
        Self::ALL.to_vec()
    }
    fn name(&self) -> &'static str {
        (*self).name()
    }
}
named::serde!(Reason);

/// Events of a table: a static for the registry, and each that is a `drop` as a reason. With `enum`, the kinds of all of
/// them too.
macro_rules! events {
    (enum $(#[doc = $about:literal])+ $kinds_of:ident; $events:ident: $table:expr, $first:literal, $kinds:literal;
     $( $(#[doc = $long:literal])+ $name:ident $text:literal = $kind:literal, $how:ident, $doc:literal; )+) => {
        $(#[doc = $about])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $kinds_of { $( $(#[doc = $long])+ $name = $kind ),+ }

        impl $kinds_of {
            /// All by rising number.
            pub const ALL: [$kinds_of; $events.all.len()] = [$(Self::$name),+];

            /// Name in counters, scripts and docs.
            pub fn name(self) -> &'static str {
                match self { $( Self::$name => $text ),+ }
            }

            /// The event of this number.
            pub fn from_code(code: u8) -> Option<Self> {
                match code { $( $kind => Some(Self::$name), )+ _ => None }
            }

            /// The drop reason that it counts; none for those that are no drop.
            pub fn reason(self) -> Option<$crate::Reason> {
                $crate::Reason::from_code($first + self as u8)
            }
        }

        $crate::reason::events!($events: $table, $first, $kinds;
            $( $(#[doc = $long])+ $name $text = $kind, $how, $doc; )+);
    };
    ($events:ident: $table:expr, $first:literal, $kinds:literal;
     $( $(#[doc = $long:literal])+ $name:ident $text:literal = $kind:literal, $how:ident, $doc:literal; )+) => {
        pub(crate) const $events: $crate::reason::Events = $crate::reason::Events {
            table: $table,
            first: $first,
            kinds: $kinds,
            all: &[ $( $crate::reason::EventInfo {
                name: $text,
                kind: $kind,
                drop: $crate::reason::is_drop!($how),
                doc: $doc,
            } ),+ ],
        };

        $( $crate::reason::reason!($how, $name, $first, $kind; $($long)+); )+
    };
}
pub(crate) use events;

macro_rules! is_drop {
    (drop) => {
        true
    };
    (count) => {
        false
    };
}
pub(crate) use is_drop;

macro_rules! reason {
    (drop, $name:ident, $first:literal, $kind:literal; $($doc:literal)+) => {
        #[allow(non_upper_case_globals, reason = "reads as a variant of an enum to which folders add")]
        impl $crate::Reason {
            $(#[doc = $doc])+
            pub const $name: Self = Self::of($first, $kind);
        }
    };
    (count, $($rest:tt)+) => {};
}
pub(crate) use reason;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_is_found_by_code_and_name() {
        for r in Reason::ALL {
            assert_eq!((Reason::from_code(r.code()), Reason::by_name(r.name())), (Some(r), Some(r)));
        }
        assert!(Reason::ALL.is_sorted());
    }

    #[test]
    fn codes_of_one_table_do_not_reach_into_anothers() {
        let mut all: Vec<&Events> = FOLDERS.iter().flat_map(|f| f.events).collect();
        all.sort_by_key(|e| e.first);
        // Only what is dropped needs a code.
        let last =
            |events: &Events| events.first + events.all.iter().filter(|e| e.drop).map(|e| e.kind).max().unwrap_or(0);
        assert!(all.windows(2).all(|e| last(e[0]) < e[1].first));
        for events in all {
            assert!(events.all.is_sorted_by_key(|e| e.kind) && events.all.iter().all(|e| e.kind < events.kinds));
            // Six bits in traces.
            assert!(last(events) < 64);
        }
    }
}
