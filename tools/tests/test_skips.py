"""The list of what was skipped: found in the output of every runner, and said once a reason."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import skips  # noqa: E402

RUST = """
running 2 tests
test kernel::one ... ok
test kernel::two ... ok

successes:

---- kernel::one stdout ----
skipped: bpftool: not found

---- kernel::two stdout ----
12 programs compared

test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 3 filtered out; finished in 0.00s
"""
PYTEST = "SKIPPED [1] tb/x/test_x.py:12: needs yosys\n1 passed, 1 skipped in 0.10s\n"


def test_each_runner_says_it_in_its_own_way():
    assert skips.of_text(RUST) == [("kernel::one", "bpftool: not found")]
    assert skips.of_text(PYTEST) == [("tb/x/test_x.py:12", "needs yosys")]
    assert skips.of_text("programs: skipped: no clang-16 here\n") == [("", "no clang-16 here")]
    assert skips.of_text("link: skipped: needs root\n") == [("", "needs root")]


def test_output_that_only_speaks_of_skips_is_none():
    assert skips.of_text("2 passed, 0 failed, 0 skipped\nassert 3 skipped: no\nx.pkt: skipped on compare: no queues\n") == []


def test_a_reason_is_said_once_with_all_its_tests():
    lines = skips.report([("rust a", RUST), ("rust b", RUST.replace("kernel::one", "other::one"))])
    assert lines == ["skipped on this machine: 2", "  bpftool: not found", "    kernel::one", "    other::one"]
    assert skips.report([("rust a", "12 passed")]) == ["skipped on this machine: nothing"]
