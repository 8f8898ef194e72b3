"""sluice_skid.

Claims
- words arrive once and in order under any stalls
- one word per cycle; a lone word is offered one cycle after it was taken
- a blocked buffer takes exactly two words and gives them back without a bubble
- a reset empties it at any filling
- ready_o and valid_o follow no input within a cycle
"""

import cocotb
import pytest
from common import queue_bench
from sluice_tb import run_bench

CAPACITY = 2


@cocotb.test()
async def words_arrive_once_and_in_order(dut):
    await queue_bench.words_arrive_once_and_in_order(dut)


@cocotb.test()
async def full_rate_is_one_word_a_cycle(dut):
    await queue_bench.full_rate_is_one_word_a_cycle(dut)


@cocotb.test()
async def a_lone_word_takes_one_cycle(dut):
    await queue_bench.a_lone_word_takes(dut, latency=1)


@cocotb.test()
async def a_blocked_queue_takes_exactly_two_words(dut):
    await queue_bench.a_blocked_queue_takes_exactly(dut, CAPACITY)


@cocotb.test()
async def reset_empties_it(dut):
    await queue_bench.reset_empties_it(dut, CAPACITY)


@cocotb.test()
async def handshakes_follow_no_input_within_a_cycle(dut):
    await queue_bench.handshakes_follow_no_input_within_a_cycle(dut, CAPACITY)


@pytest.mark.parametrize("width", [1, 70])
def test_skid(width):
    run_bench("sluice_skid", parameters={"Width": width})
