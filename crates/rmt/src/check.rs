//! What a program may be; docs/design/rmt.md, "What the checker refuses".
//!
//! A program that passes runs on every packet without a panic: all rows that it names are
//! there, and no byte from outside window, packet or container is ever asked for.

mod actions;
mod deparse;
mod tables;

use crate::parser::{Known, Parser, Select};
use crate::phv::{CONTAINERS, Container};
use crate::program::Program;
use crate::target::{MODULE_PAGES, NODES, PAGE_WORDS, PATHS, SELECTORS, Target, WINDOW};
use std::fmt::Display;

/// A rule that a program breaks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{at}: found {found}, allowed: {allowed}")]
pub struct Problem {
    /// Where in the program: `parser.paths[3].least`.
    pub at: String,
    /// Found there.
    pub found: String,
    /// Allowed there.
    pub allowed: String,
}

/// Whose program it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The system module: any stage.
    System,
    /// A tenant: no system stages.
    Tenant,
}

pub(crate) type Checked = Result<(), Problem>;

/// A problem unless `good`.
pub(crate) fn ensure(good: bool, at: impl Display, found: impl Display, allowed: impl Display) -> Checked {
    if good {
        return Ok(());
    }
    Err(Problem { at: at.to_string(), found: found.to_string(), allowed: allowed.to_string() })
}

/// A count or number of at most `most`.
pub(crate) fn at_most(at: impl Display, found: usize, most: usize) -> Checked {
    ensure(found <= most, at, found, format!("at most {most}"))
}

/// A container that is there.
pub(crate) fn container(at: impl Display, c: Container) -> Checked {
    ensure(usize::from(c.0) < CONTAINERS, at, format!("container {}", c.0), "containers 0 to 23")
}

/// Whether the program may run on the target in this role.
pub fn check(program: &Program, target: &Target, role: Role) -> Checked {
    parser(&program.parser)?;
    deparse::check(&program.deparser, &program.parser, target)?;
    at_most("stages", program.stages.len(), target.stages)?;
    for (number, stage) in program.stages.iter().enumerate() {
        let Some(stage) = stage else { continue };
        let at = format!("stages[{number}]");
        let allowed = role == Role::System || !target.is_system(number);
        ensure(allowed, &at, "a tenant's rows", "the system module's only")?;
        tables::check(&at, stage, target)?;
        at_most(format!("{at}.actions"), stage.actions.len(), target.actions)?;
        let pages = (target.words / PAGE_WORDS).min(MODULE_PAGES);
        at_most(format!("{at}.pages"), usize::from(stage.pages), pages)?;
        for (i, action) in stage.actions.iter().enumerate() {
            actions::check(&format!("{at}.actions[{i}]"), action, target.is_system(number))?;
        }
    }
    Ok(())
}

fn select(at: &str, row: &Select, leads_to: usize) -> Checked {
    for (k, &offset) in row.offsets.iter().enumerate() {
        at_most(format!("{at}.offsets[{k}]"), offset.into(), WINDOW - 1)?;
    }
    at_most(format!("{at}.alternatives"), row.alternatives.len(), SELECTORS)?;
    for (i, a) in row.alternatives.iter().enumerate() {
        let at = format!("{at}.alternatives[{i}]");
        let inside = (0..SELECTORS).all(|k| a.value[k] & !a.mask[k] == 0);
        ensure(inside, format!("{at}.value"), "bits outside the mask", "values within the mask")?;
        let there = usize::from(a.to) < leads_to;
        ensure(there, format!("{at}.to"), a.to, format!("below {leads_to}, what the parser has"))?;
        at_most(format!("{at}.least"), a.least.into(), WINDOW)?;
    }
    Ok(())
}

fn parser(parser: &Parser) -> Checked {
    at_most("parser.nodes", parser.nodes.len(), NODES)?;
    at_most("parser.paths", parser.paths.len(), PATHS)?;
    select("parser.first", &parser.first, parser.nodes.len())?;
    for (i, node) in parser.nodes.iter().enumerate() {
        select(&format!("parser.nodes[{i}]"), node, parser.paths.len())?;
    }
    for (i, path) in parser.paths.iter().enumerate() {
        let at = format!("parser.paths[{i}]");
        at_most(format!("{at}.least"), path.least.into(), WINDOW)?;
        for (n, offset) in path.extract.iter().enumerate() {
            let Some(offset) = *offset else { continue };
            let end = usize::from(offset) + Container(n as u8).bytes();
            ensure(end <= WINDOW, format!("{at}.extract[{n}]"), format!("an end at {end}"), "at most 128")?;
        }
        for (i, known) in path.known.iter().enumerate() {
            let free = known.is_none() || path.extract[i].is_none();
            ensure(free, format!("{at}.known[{i}]"), "a container that is taken too", "one of both")?;
        }
        let used = path.constant == 0 || path.known.contains(&Some(Known::Constant));
        ensure(used, format!("{at}.constant"), format!("{:#x}, which no container holds", path.constant), "0 there")?;
        if let Some(span) = path.verify {
            let end = usize::from(span.start) + 2 * usize::from(span.words);
            let good = end <= WINDOW && (1..=63).contains(&span.words);
            ensure(
                good,
                format!("{at}.verify"),
                format!("{} words up to {end}", span.words),
                "1 to 63 words, end 128",
            )?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parser::{Alternative, Path, Span};
    use crate::program::Stage;
    use crate::target::DEFAULT;

    fn of_parser(parser: Parser) -> String {
        let program = Program { parser, ..Program::default() };
        check(&program, &DEFAULT, Role::Tenant).unwrap_err().to_string()
    }

    #[test]
    fn an_empty_program_and_a_single_path_pass() {
        assert_eq!(check(&Program::default(), &DEFAULT, Role::Tenant), Ok(()));
        let parser = Parser::single(Path { least: 128, ..Path::default() });
        assert_eq!(check(&Program { parser, ..Program::default() }, &DEFAULT, Role::Tenant), Ok(()));
    }

    #[test]
    fn parser_rules_name_the_row() {
        let single = |path| Parser::single(path);
        let mut p = single(Path::default());
        p.first.offsets[2] = 128;
        assert_eq!(of_parser(p), "parser.first.offsets[2]: found 128, allowed: at most 127");
        let mut p = single(Path::default());
        p.nodes[0].alternatives[0].to = 1;
        assert_eq!(of_parser(p), "parser.nodes[0].alternatives[0].to: found 1, allowed: below 1, what the parser has");
        let mut p = single(Path::default());
        p.first.alternatives[0] = Alternative { value: [1; 8], ..Alternative::default() };
        assert!(of_parser(p).contains("bits outside the mask"));
        let mut p = single(Path::default());
        p.first.alternatives = vec![Alternative::default(); 9];
        assert_eq!(of_parser(p), "parser.first.alternatives: found 9, allowed: at most 8");
        let mut path = Path::default();
        path.extract[23] = Some(123);
        assert_eq!(of_parser(single(path)), "parser.paths[0].extract[23]: found an end at 129, allowed: at most 128");
        let verify = Some(Span { start: 109, words: 10 });
        assert!(of_parser(single(Path { verify, ..Path::default() })).starts_with("parser.paths[0].verify"));
        assert!(of_parser(single(Path { least: 129, ..Path::default() })).contains("least"));
        let mut p = single(Path::default());
        p.nodes[0].alternatives[0].least = 129;
        assert_eq!(of_parser(p), "parser.nodes[0].alternatives[0].least: found 129, allowed: at most 128");
        let mut path = Path { constant: 0x12, ..Path::default() };
        let found = "parser.paths[0].constant: found 0x12, which no container holds, allowed: 0 there";
        assert_eq!(of_parser(single(path.clone())), found);
        (path.known[3], path.extract[3]) = (Some(Known::Constant), Some(0));
        let found = "parser.paths[0].known[3]: found a container that is taken too, allowed: one of both";
        assert_eq!(of_parser(single(path)), found);
        let p = Parser { paths: vec![Path::default(); 17], ..Parser::default() };
        assert_eq!(of_parser(p), "parser.paths: found 17, allowed: at most 16");
    }

    #[test]
    fn a_tenant_has_no_part_in_a_system_stage_and_the_system_module_has() {
        let program = Program { stages: vec![Some(Stage::default())], ..Program::default() };
        let problem = check(&program, &DEFAULT, Role::Tenant).unwrap_err();
        assert_eq!(problem.to_string(), "stages[0]: found a tenant's rows, allowed: the system module's only");
        assert_eq!(check(&program, &DEFAULT, Role::System), Ok(()));
        let program = Program { stages: vec![None; 6], ..Program::default() };
        assert!(check(&program, &DEFAULT, Role::System).is_err());
    }
}
