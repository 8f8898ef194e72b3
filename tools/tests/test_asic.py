"""What `make synth-asic` counts, and what it refuses."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))

import asic  # noqa: E402

LIBERTY = """
library(small) {
  cell (NAND2X1) {
  area : 24;
    pin(A) { area : 7; }
  }
  cell (DFFPOSX1) {
    cell_footprint : "dff";
    area : 96;
  }
  cell (LATCH) {
  area : 0;
  }
}
"""


def counted(*kinds: str) -> asic.Area:
    memory = {"SIZE": f"{64:032b}", "WIDTH": f"{10:032b}"}
    cells = {f"c{i}": {"type": kind, "parameters": memory} for i, kind in enumerate(kinds)}
    return asic.area(cells, ["c0"], asic.cell_areas(LIBERTY))


def test_a_cell_has_the_area_of_the_library_and_a_memory_its_bits():
    assert asic.cell_areas(LIBERTY) == {"NAND2X1": 24, "DFFPOSX1": 96, "LATCH": 0}
    area = counted("sluice_box", "NAND2X1", "DFFPOSX1", "$mem_v2", "DFFPOSX1", "$scopeinfo")
    assert area == asic.Area(cells=24 + 2 * 96, flops=2 * 96, bits=640)


@pytest.mark.parametrize("kind", ["LATCH", "$_AND_", "sluice_other"])
def test_a_cell_that_is_neither_of_the_library_nor_a_memory_is_an_error(kind):
    with pytest.raises(ValueError, match=f"c1 is a .*{kind.strip('$')}"):
        counted("sluice_box", kind)


def test_without_the_library_it_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setattr(asic, "LIBRARY", tmp_path / "none.lib")
    monkeypatch.setattr("sys.argv", ["asic.py"])
    with pytest.raises(SystemExit, match="none.lib is not there; .*apt install qflow-tech-osu018"):
        asic.main()
