"""sluice_fifo_ram.

Claims
- words arrive once and in order under any stalls; level_o is exact in every cycle
- one word per cycle, down to the smallest Depth; a lone word is offered three cycles after it was taken
- a blocked queue takes exactly Depth words, wherever its pointers stand (Depth no power of two, too),
  and gives them back without a bubble
- a reset empties it at any filling
- ready_o and valid_o follow no input within a cycle
"""

import cocotb
import pytest
from common import queue_bench
from sluice_tb import run_bench


def depth(dut) -> int:
    return int(dut.Depth.value)


@cocotb.test()
async def words_arrive_once_and_in_order(dut):
    await queue_bench.words_arrive_once_and_in_order(dut)


@cocotb.test()
async def full_rate_is_one_word_a_cycle(dut):
    await queue_bench.full_rate_is_one_word_a_cycle(dut)


@cocotb.test()
async def a_lone_word_takes_three_cycles(dut):
    await queue_bench.a_lone_word_takes(dut, latency=3)


@cocotb.test()
async def a_blocked_queue_takes_exactly_depth_words(dut):
    await queue_bench.a_blocked_queue_takes_exactly(dut, depth(dut))


@cocotb.test()
async def reset_empties_it(dut):
    await queue_bench.reset_empties_it(dut, depth(dut))


@cocotb.test()
async def handshakes_follow_no_input_within_a_cycle(dut):
    await queue_bench.handshakes_follow_no_input_within_a_cycle(dut, depth(dut))


@pytest.mark.parametrize("width, depth", [(8, 4), (1, 7), (70, 32)])
def test_fifo_ram(width, depth):
    run_bench("sluice_fifo_ram", parameters={"Width": width, "Depth": depth})
