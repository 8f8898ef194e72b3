"""The check of directions: it passes as things are, and finds what is planted."""

import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))

import layers  # noqa: E402
from project import ROOT  # noqa: E402


@pytest.fixture
def tree(tmp_path):
    """A copy of what the check reads."""
    shutil.copytree(ROOT / "rtl", tmp_path / "rtl")
    for manifest in (ROOT / "crates").glob("*/Cargo.toml"):
        copy = tmp_path / manifest.relative_to(ROOT)
        copy.parent.mkdir(parents=True)
        shutil.copy(manifest, copy)
    return tmp_path


def plant(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_the_project_reads_in_one_direction():
    assert layers.rtl() == []
    assert layers.crates() == []


@pytest.mark.parametrize(
    ("source", "old", "new", "found"),
    [
        ("rmt/sluice_rmt_refuse.sv", "import sluice_shell_pkg::*;", "import sluice_nic_pkg::*;", "sluice_nic_pkg"),
        ("nic/sluice_nic_egress.sv", "import sluice_engine_pkg::*;", "import sluice_rmt_pkg::*;", "sluice_rmt_pkg"),
        ("nic/sluice_nic_egress.sv", " clk_i", " sluice_rmt_rows_pkg::x_t x", "sluice_rmt_rows_pkg"),
        ("rmt/sluice_rmt_refuse.sv", "sluice_shell_extract u_", "sluice_nic_merge u_", "sluice_nic_merge"),
        ("shell/sluice_shell_stamp.sv", "  sluice_token_bucket #(", "  sluice_rmt_meter #(", "sluice_rmt_meter"),
        ("common/sluice_fifo.sv", "endmodule", "  sluice_shell_ring u_ring (.*);\nendmodule", "sluice_shell_ring"),
        ("shell/sluice_shell.f", "sluice_shell_pkg.sv", "../nic/sluice_nic_pkg.sv", "sluice_nic_pkg"),
        ("rmt/sluice_rmt_engine.f", "sluice_rmt_pkg.sv", "../nic/sluice_nic_pkg.sv", "sluice_nic_pkg"),
    ],
)  # fmt: skip
def test_a_planted_read_against_the_direction_is_found(tree, source, old, new, found):
    plant(tree / "rtl" / source, old, new)
    wrong = layers.rtl(tree)
    # A list that takes the planted one in is wrong, too.
    assert all(f" reads {found} of rtl/" in line for line in wrong)
    assert any(line.startswith(f"rtl/{source} ") for line in wrong)


def test_only_the_top_of_the_nic_and_its_parts_read_an_engine(tree):
    for part in ("", "_line"):
        shutil.copy(tree / f"rtl/nic/sluice_nic_top{part}.sv", tree / f"rtl/nic/sluice_nic_tap{part}.sv")
    wrong = {line.split(" ")[0] for line in layers.rtl(tree)}
    assert wrong == {"rtl/nic/sluice_nic_tap.sv", "rtl/nic/sluice_nic_tap_line.sv"}


def test_a_name_in_a_comment_is_no_read(tree):
    plant(tree / "rtl/rmt/sluice_rmt_refuse.sv", "endmodule", "// sluice_nic_pkg::fields_t\nendmodule")
    assert layers.rtl(tree) == []


@pytest.mark.parametrize("kind", ["dependencies", "dev-dependencies", "build-dependencies"])
@pytest.mark.parametrize(("user", "used"), [("formats", "packet"), ("rmt", "ebpf"), ("object", "nic"), ("nic", "cli")])
def test_a_planted_dependency_against_the_order_is_found(tree, user, used, kind):
    manifest = tree / "crates" / user / "Cargo.toml"
    text = manifest.read_text()
    line = f"sluice-{used} = {{ workspace = true }}\n"
    if f"[{kind}]\n" in text:
        manifest.write_text(text.replace(f"[{kind}]\n", f"[{kind}]\n{line}", 1))
    else:
        manifest.write_text(f"{text}\n[{kind}]\n{line}")
    assert [part.split(";")[0] for part in layers.crates(tree)] == [f"crates/{user}/Cargo.toml: depends on {used}"]


def test_a_crate_without_a_place_is_told(tree):
    (tree / "crates/loose").mkdir()
    (tree / "crates/loose/Cargo.toml").write_text('[package]\nname = "sluice-loose"\n')
    assert layers.crates(tree) == ["crates/loose/Cargo.toml: crate loose has no place in CRATES of tools/layers.py"]
