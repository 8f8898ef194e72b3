//! What README.md shows is what the program prints.

use crate::common::{Folder, root};

/// Commands of the blocks marked `console`, each with its output.
fn shown(readme: &str) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::new();
    for block in readme.split("```console\n").skip(1) {
        let block = block.split("```").next().unwrap_or("");
        for line in block.lines() {
            match (line.strip_prefix("$ target/release/"), all.last_mut()) {
                (Some(command), _) => all.push((command.to_owned(), String::new())),
                (None, Some((_, output))) => *output += &format!("{line}\n"),
                (None, None) => panic!("`{line}` belongs to no command"),
            }
        }
    }
    all
}

#[test]
fn commands_of_the_readme_print_what_it_says() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let commands = shown(&readme);
    assert!(commands.len() >= 3);
    let folder = Folder::new();
    for (command, output) in commands {
        assert_eq!(folder.shell(&command).ok(), output, "{command}");
    }
}
