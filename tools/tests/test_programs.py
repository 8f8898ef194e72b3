"""The committed XDP objects, their record and their page say the same as the sources."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))

import program_docs  # noqa: E402

import programs  # noqa: E402

SOURCE = """// first
// Counts things. And more.
#define MOST 4

enum counter {
    GOOD,
    // Why not.
    BAD,
    COUNTERS,
};

struct pair {
    __u32 a;
    __u32 b;
};

// Pairs
// by number.
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 2 * MOST + COUNTERS);
    __type(key, __u32);
    __type(value, struct pair);
} pairs SEC(".maps");
"""


def test_every_object_is_recorded_and_the_page_is_current():
    lines = programs.RECORD.read_text().splitlines()
    for target in programs.objects([]):
        assert programs.record_line(target) in lines, f"{target.name}: run `make programs`"
    assert programs.page() == programs.PAGE.read_text(), "run `make programs`"


def test_no_object_holds_a_path_of_the_machine_that_built_it():
    for target in programs.objects([]):
        data = target.path.read_bytes()
        for word in (b"/home", b"/tmp", b"/root", b"/usr/", str(programs.ROOT).encode()):
            assert word not in data, f"{target.name}: {word}"


def test_an_object_with_fed_values_exists_exactly_where_the_source_asks_for_them():
    fed = {target.source.stem for target in programs.objects([]) if target.fed}
    assert {"firewall", "nat", "rate_limit"} <= fed
    assert not {"drop", "router"} & fed


def test_a_map_is_read_with_its_comment_and_its_computed_size():
    (found,) = program_docs.maps(SOURCE)
    assert found == program_docs.Map("pairs", "hash", "__u32", "struct pair", "10", "Pairs by number.")
    assert program_docs.layouts(SOURCE, "", [found]).startswith("struct pair {")


def test_a_size_that_cannot_be_computed_is_an_error():
    with pytest.raises(ValueError, match="UNKNOWN"):
        program_docs.number("UNKNOWN * 2", SOURCE)


def test_a_program_without_its_place_on_the_page_is_an_error():
    with pytest.raises(ValueError, match="overview"):
        program_docs.updated("# XDP programs\n", [])
