//! Several programs as one: packets meet one after the other (002 section 3.4).
//!
//! One program is made of two before it is compiled, and of more by adding one at a time. Parsers go side by side over the same bytes
//! (`joint`), so what both extract at one place has to be one header (`same`), and is one field of the joined headers. Metadata are each
//! program's own. Controls run one after the other; what one drops, the next ones do not see. Each name stays what it was in its file,
//! for the control plane with the program's name before it. What cannot be joined is said with both places (E0746).

mod assemble;
mod calls;
mod deparse;
mod flow;
mod glue;
mod joint;
mod names;
mod part;
mod rewrite;
mod same;
mod select;

pub(crate) use assemble::join;
pub(crate) use names::Words;

use crate::error::Problem;
use crate::front::source::Span;
use std::path::{Path, PathBuf};

/// What stands between the files of a sequence, with the end of the name before it.
const BETWEEN: &str = ".p4+";

/// Why two programs are no sequence: in the second one, and the place in the first that it is about.
pub(crate) struct Conflict {
    pub span: Span,
    pub what: String,
    pub first: Option<Span>,
}

impl Conflict {
    fn new(span: Span, what: impl Into<String>) -> Conflict {
        Conflict { span, what: what.into(), first: None }
    }

    fn with(span: Span, what: impl Into<String>, first: Span) -> Conflict {
        Conflict { span, what: what.into(), first: Some(first) }
    }

    /// As a mistake, with the other place in words.
    pub fn problem(self, sources: &crate::front::source::Sources) -> (Span, Problem) {
        let what = match self.first {
            Some(first) => format!("{}; the other is at {}", self.what, crate::error::place(first, sources)),
            None => self.what,
        };
        (self.span, Problem::Sequence { what })
    }
}

type Joined<T> = Result<T, Conflict>;

/// The files that a path names: `DIR/A.p4+B.p4` are `DIR/A.p4` and `DIR/B.p4`, in this order; all else is one file.
pub fn files(path: &Path) -> Vec<PathBuf> {
    let text = path.to_str().filter(|text| text.contains(BETWEEN) && text.ends_with(".p4") && !path.exists());
    let Some(text) = text else { return vec![path.to_path_buf()] };
    let mut names: Vec<String> = text.split(BETWEEN).map(|name| format!("{name}.p4")).collect();
    if let Some(last) = names.last_mut() {
        last.truncate(last.len() - ".p4".len());
    }
    let folder = Path::new(&names[0]).parent().unwrap_or(Path::new("")).to_path_buf();
    names.iter().enumerate().map(|(at, name)| if at == 0 { name.into() } else { folder.join(name) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_after_the_first_are_beside_it() {
        let found = |text: &str| files(Path::new(text));
        assert_eq!(found("x/a.p4+b.p4+../c.p4"), [Path::new("x/a.p4"), Path::new("x/b.p4"), Path::new("x/../c.p4")]);
        assert_eq!(found("a.p4+/t/b.p4"), [Path::new("a.p4"), Path::new("/t/b.p4")]);
        for one in ["a.p4", "a+b.p4", "a.p4+", "a.p4+b.rmt", ""] {
            assert_eq!(found(one), [Path::new(one)]);
        }
    }
}
