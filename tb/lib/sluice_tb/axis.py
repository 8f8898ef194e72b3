"""cocotbext-axi's AXI-Stream source, sink and monitor on the project's names and reset."""

import logging
from collections.abc import Iterator

from cocotbext.axi import AxiStreamBus, AxiStreamMonitor, AxiStreamSink, AxiStreamSource


def _make(kind, dut, prefix: str, stalls: Iterator[bool] | None = None, **options):
    # Every frame is logged otherwise, which buries the failure that one looks for.
    logging.getLogger(f"cocotb.{dut._name}.{prefix}").setLevel(logging.WARNING)
    bus = AxiStreamBus.from_prefix(dut, prefix)
    agent = kind(bus, dut.clk_i, dut.rst_ni, reset_active_level=False, **options)
    if stalls is not None:
        agent.set_pause_generator(stalls)
    return agent


def axis_source(dut, prefix: str = "s_axis", stalls: Iterator[bool] | None = None, **options) -> AxiStreamSource:
    """Sends frames into the DUT's `prefix`_t* ports."""
    return _make(AxiStreamSource, dut, prefix, stalls, **options)


def axis_sink(dut, prefix: str = "m_axis", stalls: Iterator[bool] | None = None, **options) -> AxiStreamSink:
    """Takes frames from the DUT's `prefix`_t* ports and drives tready."""
    return _make(AxiStreamSink, dut, prefix, stalls, **options)


def axis_monitor(dut, prefix: str, **options) -> AxiStreamMonitor:
    """Watches a bus without driving it."""
    return _make(AxiStreamMonitor, dut, prefix, **options)
