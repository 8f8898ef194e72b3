//! `sluice explain`: the pages of docs/errors, and why packets are dropped.

use crate::failure::Failure;
use crate::output::Output;
use clap::Args;
use sluice_formats::{EngineId, Reason};

/// Pages by code, compiled in.
const PAGES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/pages.rs"));

/// Explains an error code, with a wrong and a right example, or the reason of a drop
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  sluice explain E0501\n  sluice explain tail_limit")]
pub struct Explain {
    /// Code as errors show it, as in E0501, or a reason as reports and scripts have it, as in tail_limit
    #[arg(required_unless_present = "list")]
    code: Option<String>,
    /// List every code with its title, and every reason
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
            for reason in Reason::ALL {
                out.line(format!("{}: {}", reason.name(), reason.doc()))?;
            }
            return Ok(());
        };
        if let Some(reason) = Reason::by_name(code) {
            return out.text(&about(reason));
        }
        let wanted = code.to_ascii_uppercase();
        match PAGES.iter().find(|(code, _)| *code == wanted) {
            Some((_, page)) => out.text(page),
            None => {
                Err(Failure::input("E0507", format!("`{code}` is not a code of this program, nor a reason of drops"))
                    .help("sluice explain --list shows all of them"))
            }
        }
    }
}

/// What a reason means, who drops for it, and where it is counted.
fn about(reason: Reason) -> String {
    let who = match reason.engine() {
        Some(EngineId::RMT) => "the match-action pipeline".to_owned(),
        Some(EngineId::XDP) => "the XDP engine".to_owned(),
        Some(EngineId::L7) => "message dispatch".to_owned(),
        Some(engine) => format!("the engine {engine}"),
        None if reason.table().name() == "port_drops" => "a port, before the packet is stored".to_owned(),
        None => "a queue of a destination, for this copy of the packet alone".to_owned(),
    };
    let (name, doc, table) = (reason.name(), reason.doc(), reason.table().name());
    format!(
        "# {name}: {doc}\n\nThe reason of a drop. Who drops: {who}. Counted for the packet's tenant in the table `{table}`: reports \
         show it as `dropped by reason`, scripts ask for it with `drop reason={name}`.\n"
    )
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
