//! The examples in every `--help` work as they stand.

use crate::common::{Folder, has_plugin};

const COMMANDS: [&[&str]; 30] = [
    &[],
    &["run"],
    &["script"],
    &["object"],
    &["object", "show"],
    &["object", "build"],
    &["object", "check"],
    &["object", "shares"],
    &["generate"],
    &["explain"],
    &["completions"],
    &["xdp", "run"],
    &["xdp", "bench"],
    &["xdp", "check"],
    &["xdp", "disasm"],
    &["xdp", "compile"],
    &["map"],
    &["rmt", "check"],
    &["rmt", "build"],
    &["rmt", "show"],
    &["rmt", "run"],
    &["l7", "check"],
    &["l7", "explain-match"],
    &["p4", "check"],
    &["p4", "compile"],
    &["p4", "graph"],
    &["p4", "print"],
    &["p4", "run"],
    &["p4", "test"],
    &["p4", "info"],
];

/// Lines behind "Example:", with continued lines joined.
fn examples(help: &str) -> Vec<String> {
    let text = help.split_once("Example").map_or("", |(_, rest)| rest);
    let joined = text.replace("\\\n", " ");
    joined.lines().map(str::trim).filter(|l| l.starts_with("sluice ")).map(str::to_owned).collect()
}

#[test]
fn every_command_has_examples_and_they_run() {
    let folder = Folder::new();
    for command in COMMANDS {
        let help = folder.sluice(&[command, &["--help"]].concat()).ok();
        let examples = examples(&help);
        assert!(!examples.is_empty(), "{command:?} has no example:\n{help}");
        for line in examples {
            // These need interfaces, or a NIC that runs.
            if line.contains("--iface") || line.contains("--socket") {
                continue;
            }
            let plugin = if line.contains("--engines rmt") { "bare_default" } else { "rmt_default" };
            if line.contains("--device both") && !has_plugin(plugin) {
                let called = folder.shell(&line);
                assert_eq!(called.code, 2, "{line}\n{}", called.err);
                assert!(called.err.contains("make plugins"), "{}", called.err);
                continue;
            }
            let called = folder.shell(&line);
            assert_eq!(called.code, 0, "{line}\n{}{}", called.out, called.err);
        }
    }
}

#[test]
fn the_version_names_the_format_and_commands_are_what_help_lists() {
    let folder = Folder::new();
    let version = folder.sluice(&["--version"]).ok();
    assert!(version.starts_with("sluice ") && version.contains("format version 7"), "{version}");
    let help = folder.sluice(&["--help"]).ok();
    for command in COMMANDS.iter().filter(|c| c.len() == 1) {
        assert!(help.contains(&format!("  {}", command[0])), "{help}");
    }
}

#[test]
fn completions_of_each_shell_know_the_commands() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish"] {
        let text = folder.sluice(&["completions", shell]).ok();
        assert!(text.contains("explain") && text.contains("generate"), "{shell}");
    }
}
