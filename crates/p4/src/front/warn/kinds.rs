//! What is warned of. The pages of the codes are docs/errors/E0771.md and on.

use crate::error::come_from;
use crate::front::source::{Sources, Span};
use sluice_packet::mistake::{Mistake, Problem};
use sluice_packet::text::{self, write_excerpt};
use std::fmt;

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident $word:literal $code:literal $text:literal { $($field:ident),* })*) => {
        /// What is warned of, without the place.
        #[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
        #[allow(missing_docs, reason = "the fields are the words of the message that stands above them")]
        #[non_exhaustive]
        pub enum Warned {
            $($(#[$doc])* #[error($text)] $kind { $($field: String),* },)*
        }

        impl Warned {
            /// Names of all kinds, as `-W` takes them, with their codes.
            pub const ALL: &[(&'static str, &'static str)] = &[$(($word, $code)),*];

            /// The name by which it is switched.
            pub fn name(&self) -> &'static str {
                match self { $(Self::$kind { .. } => $word),* }
            }
        }

        impl Problem for Warned {
            const CODE: &'static str = "E0771";

            fn code(&self) -> &'static str {
                match self { $(Self::$kind { .. } => $code),* }
            }
        }
    };
}

kinds! {
    /// A table that nothing applies.
    UnusedTable "unused-table" "E0771" "table `{name}` is never applied" { name }
    /// An action that nothing runs.
    UnusedAction "unused-action" "E0772" "action `{name}` is in no table, and nothing calls it" { name }
    /// A state that no way leads to.
    UnusedState "unused-state" "E0773" "no way from `start` leads to state `{name}`" { name }
    /// A variable that nobody reads.
    UnusedVariable "unused-variable" "E0774" "variable `{name}` is {what}" { name, what }
    /// A parameter that nobody reads.
    UnusedParameter "unused-parameter" "E0775" "parameter `{name}` of {owner} is never used" { name, owner }
    /// A state that ends without a transition.
    NoTransition "no-transition" "E0776" "state `{name}` has no transition: it ends in `reject`" { name }
    /// A read of what nothing was written to.
    Unwritten "uninitialized" "E0777" "`{name}` is read, and nothing was written to it before" { name }
    /// A read of a header that may be invalid.
    Invalid "invalid-header" "E0778" "header `{header}` {what} here, and `{name}` is read" { header, what, name }
    /// A constant that does not fit.
    Cut "overflow" "E0779" "constant {value} does not fit {ty}: {kept} is left" { value, ty, kept }
    /// A header that the deparser forgets.
    NotEmitted "not-emitted" "E0780" "header `{header}` is extracted, but {deparser} never emits it: it is gone from the packet" { header, deparser }
    /// No output port.
    NoEgressSpec "no-egress-spec" "E0781" "nothing sets `egress_spec`: all packets of {ingress} go to port 0" { ingress }
    /// No package.
    NoMain "no-main" "E0782" "the program has no `main`: it makes no package, so no target runs it" { }
    /// An entry or case that never matches.
    Unreachable "unreachable-entry" "E0783" "{what} never matches: {why}" { what, why }
    /// A property of a table that nothing reads.
    UnknownProperty "unknown-property" "E0785" "table `{table}` has a property `{name}`, which nothing reads{hint}" { name, table, hint }
    /// A table that gets a small part of its size.
    SmallTable "small-table" "E0784" "table `{table}`: entries reserved: {reserved}, asked for: {size}" { table, reserved, size }
}

/// A warning, where it is, and how the text there came into the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct P4Warning {
    /// What is warned of, with its line.
    pub mistake: Mistake<Warned>,
    /// Includes from that line outwards, in words.
    pub from: Vec<String>,
}

impl P4Warning {
    pub(crate) fn new(span: Span, warned: Warned, sources: &Sources) -> P4Warning {
        let text = sources.text(span.text);
        let inside = text::Span { start: span.start as usize, end: span.end as usize };
        P4Warning { mistake: Mistake::new(&text.name, &text.text, inside, warned), from: come_from(text, sources) }
    }

    /// Code by which it is explained.
    pub fn code(&self) -> &'static str {
        self.mistake.code()
    }

    /// Name by which it is switched.
    pub fn name(&self) -> &'static str {
        self.mistake.problem.name()
    }

    /// As it is shown: a warning, or an error where `-Werror` makes it one.
    pub fn text(&self, is_error: bool) -> String {
        struct Shown<'a>(&'a P4Warning, bool);
        impl fmt::Display for Shown<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let P4Warning { mistake, from } = self.0;
                let (word, flag) = if self.1 { ("error", "-Werror=") } else { ("warning", "-W") };
                writeln!(f, "{word}[{}]: {} [{flag}{}]", mistake.code(), mistake.problem, mistake.problem.name())?;
                let (line, width) = &mistake.excerpt;
                write_excerpt(f, &mistake.file, mistake.position, Some((line, *width)))?;
                from.iter().try_for_each(|step| write!(f, "\n  {step}"))
            }
        }
        Shown(self, is_error).to_string()
    }
}

impl fmt::Display for P4Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(false))
    }
}
