"""The tests of a crate as one executable: what is in it, and files that nobody named."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import rust_tests  # noqa: E402

TEST = "#[test]\nfn works() {}\n"


def test_the_tests_of_an_executable_are_told_by_the_module_of_the_crate(tmp_path):
    executable = tmp_path / "all"
    listed = "object::is_read: test", "object::deep::is_read: test", "fast: benchmark", "refused::is_read: test", ""
    executable.write_text("#!/bin/sh\ncat <<END\n" + "\n".join(listed) + "\nEND\n")
    executable.chmod(0o755)
    expected = {"object": ["object::is_read", "object::deep::is_read"], "refused": ["refused::is_read"]}
    assert rust_tests.by_module(executable) == expected


def test_a_file_and_a_folder_of_tests_that_main_rs_does_not_name_are_found(tmp_path):
    tests = tmp_path / "crates" / "some" / "tests"
    for name in ("named.rs", "lost.rs", "folder/mod.rs", "lost_folder/mod.rs"):
        (tests / name).parent.mkdir(parents=True, exist_ok=True)
        (tests / name).write_text(TEST)
    (tests / "shared").mkdir()
    (tests / "shared" / "mod.rs").write_text("pub fn no_test() {}\n")
    (tests / "main.rs").write_text("mod folder;\nmod named;\n")
    lost = [line.split(" has ")[0] for line in rust_tests.unlisted(tmp_path)]
    assert lost == ["crates/some/tests/lost.rs", "crates/some/tests/lost_folder/mod.rs"]
    (tests / "main.rs").write_text("mod folder;\nmod lost;\nmod lost_folder;\nmod named;\n")
    assert rust_tests.unlisted(tmp_path) == []


def test_every_file_of_tests_here_is_in_an_executable():
    assert rust_tests.unlisted() == []


def test_an_example_that_does_not_run_is_found(tmp_path):
    source = tmp_path / "crates/rmt/src/lib.rs"
    source.parent.mkdir(parents=True)
    source.write_text("//! ```text\n//! a\n//! ```\n")
    assert rust_tests.unlisted(tmp_path) == []
    source.write_text("//! ```text\n//! a\n//! ```\n/// ```\n/// assert!(true);\n/// ```\nfn f() {}\n")
    assert rust_tests.unlisted(tmp_path) == [
        "crates/rmt/src/lib.rs has an example that does not run: `rmt` is not in DOCUMENTED"
    ]
