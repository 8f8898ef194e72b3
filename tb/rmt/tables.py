"""Tables of the pipeline that decide over packets, and the stamp's: what a reset clears (docs/design/nic.md)."""

from dataclasses import dataclass

from rmt.pipeline import DEPARSER, PARSER, STAGE0, STAMP, Ring
from rmt.rows import words_of_layout

EXACT_WAYS, MODULE_PAGES, WINDOW = 4, 64, 128
RATE_WORDS = 2
SIZES = {
    0: {"modules": 64, "stages": 5, "beats": 2, "sets": 256, "ternary": 64, "actions": 512, "groups": 256},
    1: {"modules": 8, "stages": 3, "beats": 4, "sets": 16, "ternary": 8, "actions": 32, "groups": 16},
}


@dataclass(frozen=True)
class Table:
    name: str
    node: int
    table: int
    rows: int
    words: int


def rmt_tables(target: int):
    """All of a target; the generations' rows are counted among them, for they are 0 behind a reset."""
    size = SIZES[target]
    banks = 2 * size["modules"]
    yield Table("rate", STAMP, 0, size["modules"], RATE_WORDS)
    yield Table("generation", STAMP, 1, size["modules"], 1)
    select = words_of_layout("rmt_select_row")
    yield Table("first", PARSER, 0, banks, select)
    yield Table("node", PARSER, 1, 4 * banks, select)
    yield Table("path", PARSER, 2, 16 * banks, words_of_layout("rmt_path_row"))
    for stage in range(size["stages"]):
        node = STAGE0 + stage
        yield Table(f"key {stage}", node, 1, banks, words_of_layout("rmt_key_row"))
        for way in range(EXACT_WAYS):
            yield Table(f"exact {stage}.{way}", node, 2 + way, size["sets"], words_of_layout("rmt_exact_row"))
        yield Table(f"ternary {stage}", node, 6, size["ternary"], words_of_layout("rmt_ternary_row"))
        data = EXACT_WAYS * size["sets"] + size["ternary"] + banks
        yield Table(f"data {stage}", node, 7, data, words_of_layout("rmt_data_row"))
        yield Table(f"action {stage}", node, 8, size["actions"], words_of_layout("rmt_action_row"))
        yield Table(f"page {stage}", node, 9, MODULE_PAGES * banks, words_of_layout("rmt_page_row"))
    yield Table("patterns", DEPARSER, 0, banks, words_of_layout("rmt_patterns_row"))
    yield Table("deparse", DEPARSER, 1, 16 * size["beats"] * banks, words_of_layout("rmt_deparse_row"))
    yield Table("group", DEPARSER, 2, size["groups"], words_of_layout("rmt_group_row"))
    yield Table("granted", DEPARSER, 3, size["modules"], words_of_layout("rmt_granted_row"))


def clear_cycles(target: int) -> int:
    """Rows of the longest table of the pipeline."""
    return max(table.rows for table in rmt_tables(target))


def indices(rng, table: Table, at_most: int):
    """The first and the last row, and any others: all if they are not more."""
    if table.rows <= at_most:
        return range(table.rows)
    return sorted({0, table.rows - 1, *rng.sample(range(table.rows), at_most)})


def left_over(ring: Ring, rng, tables, at_most: int):
    """Rows that are not zero."""
    return [
        (table.name, index)
        for table in tables
        for index in indices(rng, table, at_most)
        if ring.read(table.node, table.table, index, table.words)
    ]
