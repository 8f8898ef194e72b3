//! One file a rule of the language: what it refuses is said behind the line, and all else of the file is accepted.
//!
//! `// error: [E0723] found bool` is the code, and a part of the message. The file is printed, too, and reads back as the same.

use sluice_p4::{P4Error, Reader};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut all: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    all.retain(|path| path.extension().is_some_and(|e| e == "p4"));
    all.sort();
    assert!(!all.is_empty());
    all
}

/// Lines of a file with the code and the part of the message that they expect.
fn expected(text: &str) -> BTreeMap<usize, (String, String)> {
    let mut all = BTreeMap::new();
    for (i, line) in text.lines().enumerate() {
        let Some((_, mark)) = line.split_once("// error: [") else { continue };
        let (code, part) = mark.split_once(']').expect("a code in brackets");
        all.insert(i + 1, (code.to_string(), part.trim().to_string()));
    }
    all
}

fn differences(path: &Path, found: &[P4Error]) -> Vec<String> {
    let name = path.display().to_string();
    let mut left = expected(&std::fs::read_to_string(path).unwrap());
    let mut wrong = Vec::new();
    for error in found {
        // What stands in a macro counts for the line that uses it.
        let used = error.from.first().and_then(|from| from.rsplit_once("used at ")?.1.rsplit(':').nth(1)?.parse().ok());
        let line = used.unwrap_or(error.mistake.position.line);
        match left.remove(&line) {
            Some((code, part)) if code == error.code() && error.to_string().contains(&part) => {}
            Some((code, part)) => wrong.push(format!("{name}:{line}: expected [{code}] {part}, found\n{error}")),
            None => wrong.push(format!("{name}:{line}: not expected\n{error}")),
        }
    }
    wrong.extend(left.iter().map(|(line, (code, part))| format!("{name}:{line}: no error, expected [{code}] {part}")));
    wrong
}

#[test]
fn each_rule_accepts_and_refuses_what_its_file_says() {
    let mut wrong = Vec::new();
    for path in files("tests/files") {
        let found = Reader::new().check(&path).err().map_or_else(Vec::new, |errors| errors.0);
        wrong.extend(differences(&path, &found));
    }
    assert!(wrong.is_empty(), "{}\n{} differences", wrong.join("\n\n"), wrong.len());
}

#[test]
fn programs_are_accepted_and_print_as_programs_that_are_accepted() {
    for path in files("../../programs/p4") {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/p4/include");
        let reader = Reader::new().folder(folder).define("WIDTH", "16");
        let program = reader.check(&path).unwrap_or_else(|errors| panic!("{errors}"));
        let again = Reader::new().text("printed.p4", program.to_string()).check(Path::new("printed.p4"));
        let again = again.unwrap_or_else(|errors| panic!("{}: {errors}", path.display()));
        assert!(again == program, "{} prints as another program", path.display());
    }
}

#[test]
fn what_is_printed_reads_back_as_the_same_tree_and_prints_the_same() {
    for path in files("tests/files").into_iter().chain(files("../../programs/p4")) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/p4/include");
        // Those whose grammar is wrong have no tree.
        let Ok(program) = Reader::new().folder(folder).define("WIDTH", "16").parse(&path) else { continue };
        let text = program.to_string();
        let again = Reader::new().text("printed.p4", text.as_str()).parse(Path::new("printed.p4"));
        let again = again.unwrap_or_else(|errors| panic!("{}: {errors}\n{text}", path.display()));
        assert!(again == program, "{} prints as another tree:\n{text}", path.display());
        assert_eq!(again.to_string(), text, "{}", path.display());
    }
}

#[test]
fn every_code_has_a_file_that_shows_it() {
    let mut codes: Vec<String> = Vec::new();
    for path in files("tests/files") {
        codes.extend(expected(&std::fs::read_to_string(path).unwrap()).into_values().map(|(code, _)| code));
    }
    // What needs many files or much text is shown in tests/limits.rs, what the reference does not run in tests/run.rs,
    // what P4Info cannot say in tests/info.rs, and what the pipeline does not run in tests/model.rs.
    codes.extend(["E0701", "E0708", "E0750", "E0770", "E0794", "E0796", "E0798"].map(str::to_string));
    let source = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/error.rs")).unwrap();
    let all = source.split('"').filter(|word| word.len() == 5 && word.starts_with("E07"));
    let missing: Vec<&str> = all.filter(|code| !codes.iter().any(|shown| shown == code)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
