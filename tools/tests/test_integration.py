"""What others take of the RTL: lists from any directory, core files, wrappers, template, port tables."""

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))

from project import READ_SLANG, ROOT, captured  # noqa: E402

import integration  # noqa: E402

# Without the scheduling of the top behind it, a sixth of the time: the lint schedules each top once.
NO_TREE = ["--json-only-output", "/dev/null", "--json-only-meta-output", "/dev/null"]
ELABORATE = ["verilator", "--json-only", *NO_TREE, "-Wall"]


def test_every_source_is_in_its_list_and_the_written_files_are_current():
    assert integration.check_lists() == []
    assert integration.stale() == []


def test_a_source_that_no_list_names_and_a_stale_file_are_found(monkeypatch, tmp_path):
    lost = ROOT / "rtl" / "common" / "sluice_lost.sv"
    monkeypatch.setattr(integration, "rtl_files", lambda: [lost])
    assert [line.split(" is ")[0] for line in integration.check_lists()] == ["rtl/common/sluice_lost.sv"] * 2
    (tmp_path / "Bender.yml").write_text(integration.bender().replace("sluice_nic_top", "sluice_nic_tap"))
    assert "Bender.yml" in integration.stale(tmp_path)


def test_a_port_in_another_form_is_told(monkeypatch, tmp_path):
    import ports

    (tmp_path / "odd.sv").write_text("module odd #(parameter int N = 1) (\n    input wire clk_i\n);\nendmodule\n")
    monkeypatch.setattr(ports, "find_module", lambda _: tmp_path / "odd.sv")
    with pytest.raises(SystemExit, match="input wire clk_i"):
        ports.ports_of("odd")


@pytest.mark.parametrize("name", list(integration.LISTS))
def test_a_plain_lint_of_the_list_passes_from_another_directory(name, tmp_path):
    code, text = captured([*ELABORATE, "-F", str(integration.LISTS[name])], cwd=tmp_path)
    assert code == 0 and "%Warning" not in text, text


@pytest.mark.parametrize("target", [0, 1])
@pytest.mark.parametrize("name", list(integration.TOPS))
def test_the_flat_wrapper_is_verilog_2001_and_fits_its_top(name, target, tmp_path):
    wrapper = ROOT / "integration" / f"{integration.flat_name(name)}.v"
    command = [*ELABORATE, "+1364-2001ext+v", f"-GTARGET={target}", "--top-module", wrapper.stem]
    code, text = captured([*command, "-F", str(integration.LISTS[name]), str(wrapper)], cwd=tmp_path)
    assert code == 0 and "%Warning" not in text, text


@pytest.mark.parametrize("name", list(integration.TOPS))
def test_yosys_own_verilog_front_end_reads_the_flat_wrapper(name):
    wrapper = f"integration/{integration.flat_name(name)}.v"
    code, text = captured(["yosys", "-q", "-p", f"read_verilog -lib {wrapper}; read_verilog {wrapper}"])
    assert code == 0, text


@pytest.mark.parametrize("target", [0, 1])
def test_the_template_elaborates(target, tmp_path):
    template = str(ROOT / "integration" / "nic_template.sv")
    command = [*ELABORATE, f"-GTarget={target}", "--top-module", "nic_template"]
    code, text = captured([*command, "-F", str(integration.LISTS["nic"]), template], cwd=tmp_path)
    assert code == 0 and "%Warning" not in text, text


def test_the_drivers_example_compiles_as_it_stands(tmp_path):
    driver = ROOT / "integration" / "driver"
    options = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-c"]
    for name in ("example", "sluice_ring"):
        code, text = captured(["cc", *options, str(driver / f"{name}.c"), "-o", str(tmp_path / f"{name}.o")])
        assert code == 0, text


def test_yosys_reads_the_template_with_the_list_of_the_nic():
    files = " ".join(["integration/nic_template.sv", *integration.sources("nic")])
    # The lint reads what is in the top.
    script = f"{READ_SLANG} --top nic_template --blackboxed-module sluice_nic_top {files}"
    code, text = captured(["yosys", "-q", "-p", script])
    assert code == 0, text


@pytest.mark.parametrize("path", ["sluice_nic_flat.v", "sluice_rmt_flat.v", "nic_template.sv"])
def test_what_is_only_elaborated_has_no_processes(path):
    assert not re.search(r"\b(always\w*|initial|final|function|task)\b", (ROOT / "integration" / path).read_text())
