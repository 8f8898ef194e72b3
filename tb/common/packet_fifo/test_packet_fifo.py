"""sluice_packet_fifo.

Every test compares all outputs with the model of model.py in every cycle: contents, order, level,
result pulses, and the exact cycle in which a descriptor or a beat shows.

Claims
- under random traffic, drops and stalls, packets come out whole and in order, and each gets one result
- full rate is one beat per cycle in and out, single-beat packets included: nothing overflows, no bubble
- the queue fills to its last slot, wherever the pointers stand: a packet of Depth beats fits, the next
  beat overflows, and what an overflow or a drop takes back is free in the next cycle
- a full descriptor queue overflows the packet; descriptors and data leave independently
- room is checked before drop_i
- a reset in the middle of packets empties it
"""

import cocotb
import pytest
from common.packet_fifo.model import Driver
from sluice_tb import bench_rng, burst_stalls, cycles, never, random_stalls, run_bench, start


async def begin(dut, name):
    inputs = ["valid_i", "data_i", "last_i", "drop_i", "desc_i", "ready_i", "desc_ready_i"]
    await start(dut, limit=100_000, **dict.fromkeys(inputs, 0))
    return Driver(dut, bench_rng(name))


@cocotb.test()
async def random_traffic_comes_out_whole_and_in_order(dut):
    driver = await begin(dut, "random")
    rng, depth = driver.rng, driver.model.depth
    for phase in range(40):
        longest = rng.choice([1, 2, 3, depth // 2, depth, depth + 2])
        drop_rate = rng.choice([0, 0.1, 0.5])
        gaps, data_stalls, desc_stalls = (
            rng.choice([never(), random_stalls(rng, 0.3), random_stalls(rng, 0.8), burst_stalls(rng, 3 * depth)])
            for _ in range(3)
        )
        left = rng.randint(1, longest)
        for _ in range(100):
            beat = None
            if not next(gaps):
                left -= 1
                beat = driver.beat(left == 0, rng.random() < drop_rate)
                if left == 0:
                    left = rng.randint(1, longest)
            await driver.cycle(beat, ready=not next(data_stalls), desc_ready=not next(desc_stalls))
        # The packet that the phase has left open ends here.
        await driver.packet(1, drop=phase % 2 == 0)
    await driver.drain()
    counts = driver.model.counts
    dut._log.info(f"{dict(counts)}, {driver.beats_out} beats out")
    assert min(counts[name] for name in ("accepted", "overflow", "dropped")) >= 50
    assert driver.descs_out == counts["accepted"]


@cocotb.test()
async def full_rate_is_one_beat_a_cycle(dut):
    driver = await begin(dut, "rate")
    depth = driver.model.depth
    # Store and forward with this latency: a packet and its successor fit if both are short.
    for length in [1, 2, (depth - 3) // 2] if depth >= 9 else [1]:
        packets = 5 * depth
        for _ in range(packets):
            await driver.packet(length)
        await driver.drain()
        assert driver.model.counts == {"accepted": packets}
        assert driver.beats_out == packets * length
        driver.model.counts.clear()
        driver.beats_out = 0


@cocotb.test()
async def it_fills_to_the_last_slot(dut):
    driver = await begin(dut, "full")
    depth, blocked = driver.model.depth, {"ready": False, "desc_ready": True}
    for _ in range(depth + 1):
        await driver.packet(depth, **blocked)
        await driver.packet(1, **blocked)
        await driver.packet(2, **blocked)
        await driver.drain()
        # One beat too long; its space serves the next packet at once.
        await driver.packet(depth + 1, **blocked)
        await driver.packet(depth, drop=True, **blocked)
        await driver.packet(depth - 1, **blocked)
        await driver.packet(2, **blocked)
        await driver.packet(1, **blocked)
        await driver.drain()
        # The pointers start one slot further in the next round.
        await driver.packet(1)
        await driver.drain()
    assert driver.model.counts == {"accepted": 4 * (depth + 1), "overflow": 4 * (depth + 1), "dropped": depth + 1}


@cocotb.test()
async def single_beats_fill_it_back_to_back(dut):
    driver = await begin(dut, "singles")
    depth, desc_depth = driver.model.depth, driver.model.desc_depth
    for _ in range(5):
        for _ in range(depth + 3):
            await driver.packet(1, ready=False, desc_ready=True)
        await driver.drain()
    assert driver.model.counts == {"accepted": 5 * depth, "overflow": 5 * 3}
    driver.model.counts.clear()
    # Data leaves, descriptors do not: now these are the limit.
    for _ in range(5):
        for _ in range(desc_depth + 3):
            await driver.packet(1, ready=True, desc_ready=False)
        await driver.idle(5, ready=True, desc_ready=False)
        assert not driver.model.stored
        await driver.drain()
    assert driver.model.counts == {"accepted": 5 * desc_depth, "overflow": 5 * 3}


@cocotb.test()
async def room_is_checked_before_drop(dut):
    driver = await begin(dut, "order")
    depth = driver.model.depth
    await driver.packet(depth, ready=False)
    await driver.packet(1, drop=True, ready=False)
    assert driver.model.result == "overflow"
    await driver.packet(3, drop=True, ready=False)
    assert driver.model.result == "overflow"
    await driver.drain()
    await driver.packet(3, drop=True, ready=False)
    assert driver.model.result == "dropped"
    await driver.drain()


@cocotb.test()
async def reset_in_the_middle_empties_it(dut):
    driver = await begin(dut, "reset")
    rng, depth = driver.rng, driver.model.depth
    for _ in range(20):
        # Committed packets, an open one (often a lost one), some of it under way to the output.
        for _ in range(rng.randint(0, 3)):
            await driver.packet(rng.randint(1, depth // 2), ready=rng.random() < 0.5, desc_ready=rng.random() < 0.5)
        for _ in range(rng.randint(0, depth + 2)):
            await driver.cycle(driver.beat(False), ready=False)
        dut.valid_i.value = 0
        dut.rst_ni.value = 0
        await cycles(dut, rng.randint(1, 3))
        dut.rst_ni.value = 1
        driver = Driver(dut, rng)
        await driver.packet(depth, ready=False)
        await driver.drain()
        assert driver.model.counts == {"accepted": 1}


@pytest.mark.parametrize("depth, desc_depth, data_width", [(4, 2, 1), (7, 3, 16), (32, 40, 520)])
def test_packet_fifo(depth, desc_depth, data_width):
    parameters = {"Depth": depth, "DescDepth": desc_depth, "DataWidth": data_width, "DescWidth": 20}
    run_bench("sluice_packet_fifo", parameters=parameters)
