"""Lists of mutants and their table, and which proofs are short: what is wrong in them is found."""

import sys
from datetime import date
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))

import mutants  # noqa: E402
from mutants import FOUND, LISTED, Result  # noqa: E402
from project import ROOT  # noqa: E402

import formal  # noqa: E402

DAY = date(2026, 1, 2)
GOOD = {"of": "fifo depth5", "file": "rtl/common/sluice_fifo.sv", "breaks": "never | full", "text": "b", "becomes": "c"}


@pytest.fixture
def tree(tmp_path):
    """A block with a proof."""
    for name, text in (("rtl/common/sluice_fifo.sv", "a b a"), ("formal/common/fifo.sby", "[tasks]\ndepth5 prove\n")):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def listed(tree, **changes):
    entry = {name: value for name, value in (GOOD | changes).items() if value is not None}
    lines = [f"{name} = {value if isinstance(value, int) else f'{value!r}'}" for name, value in entry.items()]
    (tree / "formal/common/mutants.toml").write_text("[[mutant]]\n" + "\n".join(lines) + "\n")
    return mutants.load(tree)


def result(mutant, status=FOUND):
    return Result(mutant, status, ("NothingIsLost_A",), 1.6)


def test_every_mutant_of_the_project_can_be_planted():
    assert mutants.misfits(mutants.load()) == []


def test_every_proof_has_mutants():
    blocks = {mutant.block for mutant in mutants.load() if mutant.is_proof}
    proofs = {str(path.relative_to(ROOT).with_suffix("")) for path in ROOT.glob("formal/*/*.sby")}
    assert proofs - blocks == set()


def test_a_mutant_of_a_list_is_planted_in_its_block(tree):
    (mutant,) = listed(tree)
    assert (mutant.label, mutant.depth, mutants.misfits([mutant], tree)) == ("formal/common/fifo (depth5)", 16, [])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"text": "x"}, "has 'x' 0 times, expected once"),
        ({"text": "a"}, "has 'a' 2 times, expected once"),
        ({"becomes": "b"}, "nothing changes"),
        ({"file": "rtl/common/sluice_none.sv"}, "sluice_none.sv does not exist"),
        ({"of": "skid prove"}, "skid.sby does not exist"),
        ({"of": "fifo depth6"}, "fifo.sby has no depth6"),
    ],
)
def test_a_mutant_that_cannot_be_planted_is_told(tree, changes, message):
    (wrong,) = mutants.misfits(listed(tree, **changes), tree)
    assert wrong.endswith(message)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"depth": "4"}, "has depth = '4', allowed are of, file"),
        ({"colour": "red"}, "has colour = 'red'"),
        ({"becomes": None}, "is without becomes"),
        ({"of": "fifo"}, "is of 'fifo', expected `BLOCK TASK`"),
    ],
)
def test_a_wrong_entry_ends_the_run(tree, changes, message):
    with pytest.raises(SystemExit, match="mutant 1 .never . full.*" + message.replace("`", ".")):
        listed(tree, **changes)


def test_the_table_has_a_row_for_each_mutant(tree):
    (mutant,) = listed(tree)
    text = mutants.table([mutant], [result(mutant)], "", DAY)
    assert "2026-01-02,formal/common/fifo (depth5),never | full,NothingIsLost_A,2,found" in text.splitlines()
    page = mutants.page([mutant], text)
    assert "| formal/common | 1 | 1 | 2026-01-02 to 2026-01-02 |" in page
    assert page.endswith("\n1 of 1 found.\n")
    assert mutants.stale([mutant], text) == []


def test_a_table_of_other_mutants_is_stale(tree):
    (mutant,) = listed(tree)
    text = mutants.table([mutant], [result(mutant)], "", DAY)
    (other,) = listed(tree, breaks="never empty")
    assert mutants.stale([other], text) == [
        "no row for 'formal/common/fifo (depth5) never empty'",
        "no mutant for the row 'formal/common/fifo (depth5) never | full'",
    ]


def test_a_part_of_the_mutants_leaves_the_rows_of_the_others(tree):
    (first,) = listed(tree)
    (second,) = listed(tree, breaks="never empty", survives="nobody can see it")
    old = mutants.table([first], [result(first)], "", DAY)
    text = mutants.table([first, second], [result(second, LISTED)], old, date(2026, 1, 3))
    assert "2026-01-02,formal/common/fifo (depth5),never | full," in text
    assert "2026-01-03,formal/common/fifo (depth5),never empty,NothingIsLost_A,2,survives: nobody" in text
    page = mutants.page([first, second], text)
    assert "\n1 of 2 found.\n" in page
    assert page.endswith("- formal/common/fifo (depth5): never empty: survives: nobody can see it\n")
    assert "never | full" not in mutants.table([second], [], text, DAY)


def test_a_bounded_check_has_no_help_of_the_inside():
    script = "[options]\nprove: mode prove\nprove: depth 3\n[script]\nread_slang --no-synthesis-define a.sv\n"
    assert mutants.bounded(script, "depth5", 16) == (
        "[options]\nprove: mode bmc\nprove: depth 16\n[script]\nread_slang -D PROOF a.sv\n"
    )
    assert "--no-synthesis-define" in mutants.bounded(script, "simulation_nine", 16)
    harness = "assert property (a);\n// Strengthening:\nassert property (b);"
    assert mutants.only_claims(harness) == "assert property (a);\n// Strengthening:\ncover property (b);"


def test_short_proofs_are_those_whose_rows_say_so():
    def job(block, task):
        return formal.Job(ROOT / "formal" / f"{block}.sby", task)

    rows = "".join(
        f"| {name} | what | prove | 3 | smtbmc | 1 | {status} | {seconds} |\n"
        for name, status, seconds in (
            ("common/fifo (depth5)", "pass", 4), ("rmt/atom", "pass", 1), ("rmt/atom", "pass", 5),
            ("rmt/hash (synthesis)", "pass", 4), ("common/skid", "fail", 1),
        )
    )  # fmt: skip
    jobs = [
        job("common/fifo", "depth5"),
        job("rmt/atom", "prove"),
        job("rmt/hash", "synthesis"),
        job("common/skid", ""),
    ]
    # Not: of five seconds, failed, never run. Isolation first.
    assert formal.short([*jobs, job("common/new", "")], rows) == [jobs[2], jobs[0]]
    many = [job("common/fifo", "depth5")] * 40
    assert len(formal.short(many, rows)) == formal.SHORT_SUM_SECONDS // 4
