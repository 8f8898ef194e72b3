"""sluice_xdp_outside, with a memory that answers late, in any order, and sometimes with errors.

Claims
- accesses to a line are done as they came, whoever asks: each finds what those before it left
- accesses to other lines of a block do not wait for them
- what was not written since its unit was cleared is zero, whatever memory, the cache and earlier owners hold
- a line that memory answers with an error ends the access that asked with a fault, and changes nothing
- who waits for memory holds up those of his line alone; a line that is there is answered in 5 cycles
- who needs a line waits for writes of it that were before him, not for those of other lines or that others put later
- loads of a line that is there are done one in 3 cycles
- the port keeps the rules of AXI4: what is offered holds, bursts stay in 4 KiB, writes have the beats that they say
"""

import cocotb
import pytest
from common.lookup_bench import parameter
from sluice_tb import run_bench
from xdp.outside_bench import ATOMIC, BLOCK, LOAD, PACKAGES, STORE, UNIT, access, filled, load, opened, waited


@cocotb.test()
async def accesses_are_done_as_they_came_while_units_are_cleared(dut):
    bench, rng = await opened(dut, "xdp_outside")
    units = bench.size // UNIT
    await bench.clear(0, units)
    cleared = 0
    for _ in range(120):
        bench.memory.pace = rng.choice(((1, 6, 1.0), (30, 150, 0.8), (1, 300, 0.3), (1, 1, 1.0)))
        bench.memory.read_errors = rng.choice((0.0, 0.0, 0.3))
        bench.done_ready = rng.choice((1.0, 0.4))
        # A few places that share lines, pages, blocks and places of the cache.
        one = rng.randrange(bench.size // 64) * 64
        near = [
            one,
            one ^ 64,
            one ^ 512,
            one ^ 1024,
            one ^ (1 << rng.randrange(11, 17)),
            one ^ UNIT,
            one + 56,
            one + 120,
        ]
        places = [place % bench.size for place in rng.sample(near, rng.randint(1, len(near)))]
        rate = rng.choice((1.0, 0.5, 0.1))
        for _ in range(rng.choice((100, 500))):
            enter = clear = None
            free = bench.free()
            if free and rng.random() < rate:
                asker, place = rng.choice(free), rng.choice(places)
                blocked = bench.clearing and bench.clearing[0] <= place // UNIT < sum(bench.clearing)
                enter = None if blocked else (asker, access(rng, place, asker, bench.putter))
            elif not bench.clearing and rng.random() < 0.03:
                first = rng.randrange(units)
                count = rng.randint(0, units - first)
                if not bench.values.busy_units() & set(range(first, first + count)):
                    clear, cleared = (first, count), cleared + 1
            await bench.cycle(enter, clear)
        while bench.clearing:
            await bench.cycle()
        await bench.settle()
    seen = bench.values.answers, bench.values.faults, cleared
    assert all(found > wanted for found, wanted in zip(seen, (1_500, 30, 100), strict=True)), seen
    assert bench.failed == [bench.values.faults, 0], (bench.failed, seen)
    assert bench.late == bench.write_late == int(dut.lost_o.value) == 0


@cocotb.test()
async def a_write_that_fails_is_told_and_read_again_behind_it(dut):
    bench, rng = await opened(dut, "xdp_outside_errors")
    await bench.clear(0, bench.size // UNIT)
    for round in range(1, 20):
        bench.memory.write_errors = 1.0
        await bench.cycle((0, {"op": STORE, "place": 0, "bytes": 8, "data": round}))
        await bench.settle()
        assert bench.failed == [0, round]
        bench.memory.write_errors = 0.0
        # Neither the port nor the page waits for ever.
        await bench.cycle((0, {"op": STORE, "place": 0, "bytes": 8, "data": rng.getrandbits(64)}))
        await bench.cycle((1, {"op": LOAD, "place": 0, "bytes": 8}))
        await bench.settle()


@cocotb.test()
async def a_line_that_is_there_is_answered_in_5_cycles_beside_one_that_is_not(dut):
    bench, rng = await opened(dut, "xdp_outside_hits")
    await bench.clear(0, bench.size // UNIT)
    here, far = 0, 9 * BLOCK
    for place in (here, far):
        await bench.cycle((0, {"op": STORE, "place": place, "bytes": 8, "data": 5}))
        await bench.settle()
    await bench.cycle((0, {"op": LOAD, "place": here, "bytes": 8}))
    await bench.settle()
    assert bench.memory.read_lines == 1
    bench.memory.pace = (200, 200, 1.0)
    await bench.cycle((1, {"op": LOAD, "place": far, "bytes": 8}))
    for _ in range(20):
        await bench.cycle((0, {"op": ATOMIC, "place": here, "bytes": 8, "data": 1}))
        waited = 0
        while 0 in bench.values.of:
            await bench.cycle()
            waited += 1
        assert waited == 5
    assert 1 in bench.values.of
    await bench.settle()
    assert bench.memory.read_lines == 2


@cocotb.test()
async def no_line_of_the_cache_outlives_its_unit(dut):
    bench, _ = await opened(dut, "xdp_outside_lines")
    lines = parameter(dut, "Lines")
    for _ in range(2):
        await bench.clear(0, 1)
        for line in range(lines):
            await bench.cycle((0, {"op": STORE, "place": 64 * line, "bytes": 8, "data": line + 1}))
            await bench.settle()
            await bench.cycle((0, {"op": LOAD, "place": 64 * line, "bytes": 8}))
            await bench.settle()
        await bench.clear(0, 1)
        # The pages are written again, but for these lines.
        for line in range(lines):
            await bench.cycle((0, {"op": STORE, "place": 64 * line + 32, "bytes": 1, "data": 0}))
            await bench.settle()
        for line in range(lines):
            await bench.cycle((0, {"op": LOAD, "place": 64 * line, "bytes": 8}))
            await bench.settle()


@cocotb.test()
async def other_lines_of_a_block_wait_for_none_of_them_but_for_one_over_both(dut):
    bench, _ = await opened(dut, "xdp_outside_block")
    await filled(bench, 16)
    bench.memory.pace = (200, 200, 1.0)
    for line in range(3):
        await bench.cycle((line, load(line)))
    for _ in range(8):
        await bench.cycle()
    assert bench.memory.read_lines == 3
    await bench.settle()
    # One over the end of a line waits for both.
    bench.memory.read_lines = 0
    await bench.cycle((0, load(4)))
    await bench.cycle((1, {"op": LOAD, "place": 64 * 5 - 4, "bytes": 8}))
    await bench.cycle((2, load(5)))
    await bench.cycle((3, load(8)))
    for _ in range(8):
        await bench.cycle()
    assert bench.memory.read_lines == 2
    await bench.settle()


@cocotb.test()
async def a_line_waits_for_no_writes_that_others_put_meanwhile(dut):
    bench, rng = await opened(dut, "xdp_outside_pending")
    await filled(bench, 16)
    bench.memory.pace = (100, 100, 1.0)
    # One stores to the line's page all the time.
    longest = 0
    for line in range(8, 14):
        since = None
        for cycle in range(600):
            enter = None
            if cycle == 300:
                enter, since = (1, load(line)), bench.memory.now
            elif 0 in bench.free():
                enter = 0, {"op": STORE, "place": 8 * rng.randrange(8), "bytes": 8, "data": cycle}
            await bench.cycle(enter)
            if since is not None and 1 not in bench.values.of:
                longest = max(longest, bench.memory.now - since)
                since = None
        assert since is None
    # The answers of those before it, and memory's.
    assert longest < 330, longest
    await bench.settle()


@cocotb.test()
async def a_line_waits_for_no_write_of_another_line_of_its_page(dut):
    bench, _ = await opened(dut, "xdp_outside_page")
    await filled(bench, 16)
    bench.memory.pace = (200, 200, 1.0)
    await bench.cycle((0, {"op": STORE, "place": 0, "bytes": 8, "data": 1}))
    for _ in range(20):
        await bench.cycle()
    cycles, fault = await waited(bench, 1, load(3))
    assert cycles < 240 and not fault, cycles
    await bench.settle()
    # One of its own is waited for.
    await bench.cycle((0, {"op": STORE, "place": 64 * 4, "bytes": 8, "data": 1}))
    for _ in range(20):
        await bench.cycle()
    cycles, fault = await waited(bench, 1, load(4))
    assert cycles > 360 and not fault, cycles
    await bench.settle()


@cocotb.test()
async def loads_of_a_line_that_is_there_are_3_cycles_apart(dut):
    bench, _ = await opened(dut, "xdp_outside_loads")
    await filled(bench, 1)
    await waited(bench, 0, load(0))
    bench.answered.clear()
    loads = bench.askers - 2
    for asker in range(loads):
        await bench.cycle((asker, load(0)))
    for _ in range(2 * loads + 3):
        await bench.cycle()
    assert not bench.values.of


@pytest.mark.parametrize("place_bits, lines, askers", [(18, 16, 6), (20, 32, 20)])
def test_xdp_outside(place_bits, lines, askers):
    parameters = {"PlaceBits": place_bits, "Lines": lines, "Askers": askers, "Putter": askers - 2}
    run_bench("sluice_xdp_outside", parameters=parameters, packages=PACKAGES)
