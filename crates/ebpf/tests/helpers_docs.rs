//! docs/design/xdp-helpers.md and the pages of the routes file's codes, against the code.

use sluice_ebpf::helper::routes::Routes;
use sluice_ebpf::helper::{ALL, Arg, Ret};
use sluice_ebpf::map::Class;

const PAGE: &str = include_str!("../../../docs/design/xdp-helpers.md");

fn argument(arg: &Arg) -> String {
    match arg {
        Arg::Map => "map".into(),
        Arg::Key => "key".into(),
        Arg::Value => "value".into(),
        Arg::Context => "context".into(),
        Arg::WriteValue => "written value".into(),
        Arg::Read => "memory".into(),
        Arg::Write => "written memory".into(),
        Arg::WriteExact(bytes) => format!("{bytes} written bytes"),
        Arg::Text => "text".into(),
        Arg::Size => "size".into(),
        Arg::Number => "number".into(),
        Arg::Callback => "callback".into(),
        Arg::Any => "any".into(),
        Arg::Record => "record".into(),
        Arg::Lock => "lock".into(),
        Arg::Iterator => "iterator".into(),
    }
}

#[test]
fn the_table_of_helpers_is_that_of_the_code() {
    let rows: Vec<Vec<&str>> = PAGE
        .lines()
        .filter(|l| l.starts_with("| ") && l.as_bytes()[2].is_ascii_digit())
        .map(|l| l.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    assert_eq!(rows.len(), ALL.len());
    for (row, helper) in rows.iter().zip(ALL) {
        let ret = match helper.ret {
            Ret::Number => "number",
            Ret::Value => "value",
            Ret::Record => "record",
            Ret::Iterated => "number's address",
        };
        let class = match helper.class {
            Class::Exact => "exact",
            Class::SetEqual => "set-equal",
            Class::Property => "property",
            Class::Fed => "fed",
        };
        let expected = [
            helper.id.to_string(),
            format!("`{}`", helper.name),
            helper.args.iter().map(argument).collect::<Vec<_>>().join(", "),
            ret.into(),
            class.into(),
            if helper.moves_packet { "packet".into() } else { String::new() },
        ];
        assert_eq!(row[..6], expected, "{}", helper.name);
    }
}

#[test]
fn routes_on_the_pages_give_their_codes() {
    let links = "link eth1 index 1 address 02:00:00:00:00:01\n";
    for code in ["E0460", "E0461", "E0462", "E0463", "E0464", "E0465"] {
        let (_, page) = sluice_ebpf::codes::codes().iter().find(|(c, _)| *c == code).expect("the code is listed");
        assert!(page.starts_with(&format!("# {code}: ")));
        let blocks: Vec<&str> = page.split("```").skip(1).step_by(2).map(|b| b.split_once('\n').unwrap().1).collect();
        assert_eq!(blocks.len(), 2, "{code}");
        if code == "E0465" {
            continue; // A million lines: routes/tests.rs has them.
        }
        let parse = |text: &str| {
            let text = if text.contains("link ") { text.into() } else { format!("{links}{text}") };
            Routes::parse(&text).map_err(|e| e.code())
        };
        assert_eq!(parse(blocks[0]).err(), Some(code));
        assert!(parse(blocks[1]).is_ok(), "{code}");
    }
}
