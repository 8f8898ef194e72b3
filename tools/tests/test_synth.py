"""How docs/synth.md is put together, and variants of sources for blocks beside published ones."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))

import beside  # noqa: E402
import whole  # noqa: E402
from project import find_module  # noqa: E402

import synth  # noqa: E402

ORDER = ["First", "Second", "Third"]


def test_a_section_that_was_not_measured_keeps_its_day_and_text() -> None:
    document = "intro\n\n## First\n\nMeasured on 2026-01-01.\n\n| a |\n\n### Part\n\n| b |\n"
    made = synth.written(document, {"Second": "\n| c |\n"}, ORDER)
    assert "## First\n\nMeasured on 2026-01-01.\n\n| a |\n\n### Part\n\n| b |\n" in made
    assert made.index("## First") < made.index("## Second")
    assert "## Third" not in made


def test_the_committed_document_is_what_the_tool_writes() -> None:
    document = synth.DOC.read_text()
    assert synth.written(document, {}, list(synth.sections([], 1))) == document


def test_a_variant_changes_its_source_alone_and_a_text_that_is_not_there_stops() -> None:
    files = [find_module("sluice_xdp_rows_pkg"), find_module("sluice_xdp_pkg")]
    change = ("sluice_xdp_rows_pkg", "xdp_lane_t [1:0] lanes", "xdp_lane_t [3:0] lanes")
    first, second = beside.changed(files, (change,))
    assert second == files[1]
    assert first.read_text() == files[0].read_text().replace(change[1], change[2])
    with pytest.raises(SystemExit):
        beside.changed(files, (("sluice_xdp_pkg", "no such text", ""),))


def test_every_row_beside_a_published_one_has_sources_and_known_rows() -> None:
    known: set[str] = set()
    for row in beside.rows():
        assert set(row.difference) | set(row.sum) <= known
        if row.top:
            beside.changed(synth.closure(row.top), row.replace)
        known.add(row.what)


def test_a_configuration_is_changed_by_the_fields_of_its_own_engine() -> None:
    fields = whole.config_fields("xdp")
    bits = "".join(f"{number:032b}" for number in range(len(fields)))
    piece = whole.changed(whole.Piece("sluice_xdp", (("Cfg", bits),)), {"Cfg": {"modules": 1000}})
    words = [int(piece.values[0][1][at : at + 32], 2) for at in range(0, len(bits), 32)]
    assert words == [1000 if field == "modules" else at for at, field in enumerate(fields)]
