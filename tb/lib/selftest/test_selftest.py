"""The bench library itself: it passes a right design and finds each planted fault."""

import cocotb
import pytest
from sluice_tb import (
    StreamMonitor,
    StreamSink,
    StreamSource,
    bench_rng,
    burst_stalls,
    cycles,
    random_stalls,
    run_bench,
    start,
)

WORDS = 300
SOURCES = ["tb/lib/selftest/selftest_pipe.sv"]


async def _pipe(dut, source_stalls=None, sink_stalls=None, limit=500_000):
    await start(dut, valid_i=0, data_i=0, ready_i=0, limit=limit)
    sink = StreamSink(
        dut.clk_i, valid=dut.valid_o, ready=dut.ready_i, data=dut.data_o, stalls=sink_stalls, reset=dut.rst_ni
    )
    source = StreamSource(dut.clk_i, valid=dut.valid_i, ready=dut.ready_o, data=dut.data_i, stalls=source_stalls)
    return source, sink


@cocotb.test()
async def words_arrive_once_and_in_order(dut):
    rng = bench_rng("words")
    source, sink = await _pipe(dut, random_stalls(rng, 0.3), burst_stalls(rng))
    words = [rng.getrandbits(8) for _ in range(WORDS)]
    source.send_all(words)
    await source.drain()
    await cycles(dut, 50)
    assert sink.items == words


@cocotb.test()
async def full_rate_is_one_word_a_cycle(dut):
    source, sink = await _pipe(dut)
    entry = StreamMonitor(dut.clk_i, valid=dut.valid_i, ready=dut.ready_o, data=dut.data_i)
    source.send_all(range(100))
    await sink.wait_for(100)
    assert sink.cycles[-1] - sink.cycles[0] == 99
    assert entry.cycles[-1] - entry.cycles[0] == 99
    assert entry.items == sink.items == list(range(100))


@cocotb.test()
async def nothing_comes_out_of_a_blocked_pipe(dut):
    source, sink = await _pipe(dut, limit=2_000)
    source.send_all(range(3))
    await source.drain()
    await sink.wait_for(3)


def test_a_right_design_passes():
    run_bench("selftest_pipe", sources=SOURCES, parameters={"Width": 8})


@pytest.mark.parametrize(
    "fault, test",
    [
        (1, "words_arrive_once_and_in_order"),
        (2, "words_arrive_once_and_in_order"),
        (3, "words_arrive_once_and_in_order"),
        (4, "words_arrive_once_and_in_order"),
        (5, "nothing_comes_out_of_a_blocked_pipe"),
    ],
)
def test_a_planted_fault_is_found(fault, test):
    with pytest.raises(AssertionError, match="selftest_pipe Fault=.* 1 of 1 failed"):
        run_bench("selftest_pipe", sources=SOURCES, parameters={"Fault": fault}, tests=test)


def test_no_test_is_no_pass():
    with pytest.raises(AssertionError, match="no cocotb test ran|stopped before its end"):
        run_bench("selftest_pipe", sources=SOURCES, parameters={"Width": 8}, tests="there_is_no_such_test")


def test_a_file_of_the_same_name_elsewhere_is_not_taken(tmp_path, monkeypatch):
    elsewhere = tmp_path / "test_selftest.py"
    elsewhere.write_text("import cocotb\n\n\n@cocotb.test()\nasync def words(dut):\n    assert False\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    run_bench("selftest_pipe", sources=SOURCES, parameters={"Width": 8}, tests="full_rate_is_one_word_a_cycle")
