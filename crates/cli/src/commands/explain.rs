//! `sluice explain`: the pages of docs/errors.

use crate::failure::Failure;
use crate::output::Output;
use clap::Args;

/// Pages by code, compiled in.
const PAGES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/pages.rs"));

/// Explains an error code, with a wrong and a right example
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  sluice explain E0501")]
pub struct Explain {
    /// Code as errors show it, as in E0501
    #[arg(required_unless_present = "list")]
    code: Option<String>,
    /// List every code with its title
    #[arg(long, conflicts_with = "code")]
    list: bool,
}

impl Explain {
    /// Prints a page, or the list.
    pub fn run(&self, out: &mut Output) -> Result<(), Failure> {
        let Some(code) = &self.code else {
            for (_, page) in PAGES {
                out.line(title(page))?;
            }
            return Ok(());
        };
        let wanted = code.to_ascii_uppercase();
        match PAGES.iter().find(|(code, _)| *code == wanted) {
            Some((_, page)) => out.text(page),
            None => Err(Failure::input("E0507", format!("`{code}` is not a code of this program"))
                .help("sluice explain --list shows all of them")),
        }
    }
}

/// First line of a page without the mark of a heading.
fn title(page: &'static str) -> &'static str {
    page.lines().next().unwrap_or("").trim_start_matches(['#', ' '])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_begins_with_its_code() {
        assert!(!PAGES.is_empty());
        for (code, page) in PAGES {
            assert!(page.starts_with(&format!("# {code}: ")), "{code}.md begins with `{}`", title(page));
        }
    }
}
