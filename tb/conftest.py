"""Draws the run's seed once, before pytest starts its workers, and prints it."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "lib"))

from sluice_tb.seed import base_seed  # noqa: E402

# cocotb needs the tools by name, also when pytest is called without an activated .venv.
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


def pytest_configure(config):
    base_seed()


def pytest_collection_modifyitems(config, items):
    """What is marked `long` runs with SLUICE_LONG, and then nothing else."""
    long = bool(os.environ.get("SLUICE_LONG"))
    other = [item for item in items if bool(item.get_closest_marker("long")) != long]
    config.hook.pytest_deselected(items=other)
    items[:] = [item for item in items if item not in other]


def pytest_report_header(config):
    return f"SLUICE_SEED={base_seed()}"


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(f"seed: SLUICE_SEED={base_seed()}")
