"""sluice_xdp_outside, with a memory that does not answer.

Claims
- an access that memory does not answer ends with a fault, after LateCycles at the least and twice as many at the most,
  and others go on; what comes later of it is nobody's
- where memory takes nothing, or owes half of all IDs, or a write of a page has no answer, what needs it ends at once,
  until memory answers again
"""

import cocotb
import pytest
from common.lookup_bench import parameter
from sluice_tb import run_bench
from xdp.outside_bench import LOAD, PACKAGES, STORE, UNIT, access, filled, load, opened, waited

# Cycles from an access that is late to its answer, where all are late.
SOON = 150


def is_owed(bench, access):
    """Whether memory has not answered what this access needs."""
    age, late = bench.memory.now - access["since"], bench.late_cycles
    page = (access["place"] >> 10 ^ access["place"] >> 16) & 63
    lost = sum(read["lost"] is not None for read in bench.memory.reads)
    return age >= late or lost >= 32 or bench.memory.owes(bench.memory.writes, late - SOON, id=page)


@cocotb.test()
async def what_is_not_answered_in_time_is_a_fault_and_what_comes_later_is_nobodys(dut):
    bench, rng = await opened(dut, "xdp_outside_late")
    bench.late_cycles, bench.values.stores_fail = parameter(dut, "LateCycles"), True
    await bench.clear(0, bench.size // UNIT)
    late = clean = 0
    for _ in range(60):
        bench.memory.pace = rng.choice(((1, 6, 1.0), (10, 40, 0.8)))
        bench.memory.lost_reads = rng.choice((0.0, 0.1, 0.5))
        bench.memory.lost_writes = rng.choice((0.0, 0.02, 0.02))
        bench.done_ready = rng.choice((1.0, 0.6))
        places = [rng.randrange(bench.size // 64) * 64 for _ in range(rng.randint(1, 8))]
        for _ in range(rng.choice((400, 1_500))):
            free = [asker for asker in bench.free() if asker != bench.putter]
            enter = None
            if free and rng.random() < 0.3:
                asker = rng.choice(free)
                enter = asker, access(rng, rng.choice(places), asker, bench.putter)
            await bench.cycle(enter)
            for one, fault in bench.answered:
                assert not fault or is_owed(bench, one), one
                assert bench.memory.now - one["since"] <= 2 * bench.late_cycles + SOON, one
            bench.answered.clear()
        late += bench.values.faults
        bench.memory.release()
        await bench.settle()
        # What came too late has gone, and its IDs are free.
        for _ in range(200):
            await bench.cycle()
        assert int(dut.lost_o.value) == 0
        bench.answered.clear()
        before = bench.values.faults
        for place in places:
            await bench.cycle((0, access(rng, place, 0, bench.putter)))
            await bench.settle()
            clean += 1
        assert bench.values.faults == before
    assert bench.failed == [0, 0]
    assert bench.late == bench.values.faults
    assert late > 200 and bench.write_late > 5 and clean > 100, (late, bench.write_late, clean)


@cocotb.test()
async def a_memory_that_owes_half_of_all_ids_is_asked_no_more(dut):
    bench, _ = await opened(dut, "xdp_outside_gone")
    late = parameter(dut, "LateCycles")
    await filled(bench, 64)
    await waited(bench, 0, load(0))
    bench.memory.lost_reads = 1.0
    line = 1
    for round in range(1, 33):
        cycles, fault = await waited(bench, 0, load(line))
        assert fault and late <= cycles <= 2 * late + SOON, cycles
        assert int(dut.lost_o.value) == round
        # Lines of other blocks are not held up, and their places of the cache are not lost.
        assert await waited(bench, 1, load(0)) == (5, 0)
        line = 1 + line % 15
    asked = bench.memory.read_lines
    cycles, fault = await waited(bench, 0, load(20))
    assert fault and cycles == 5
    assert await waited(bench, 1, load(0)) == (5, 0)
    assert bench.memory.read_lines == asked
    assert bench.late == 33 and bench.failed == [0, 0]
    # One that comes is enough.
    bench.memory.reads[0]["lost"] = None
    bench.memory.lost_reads = 0.0
    for _ in range(100):
        await bench.cycle()
    assert int(dut.lost_o.value) == 31
    _, fault = await waited(bench, 0, load(20))
    assert not fault
    bench.memory.release()
    for _ in range(1_000):
        await bench.cycle()
    assert int(dut.lost_o.value) == 0
    for line in range(64):
        _, fault = await waited(bench, line % 2, load(line))
        assert not fault


@cocotb.test()
async def a_line_that_came_in_part_is_not_taken_for_the_one_that_it_overwrote(dut):
    bench, rng = await opened(dut, "xdp_outside_part")
    lines = parameter(dut, "Lines")
    await filled(bench, 2 * lines)
    for _ in range(12):
        line = rng.randrange(lines)
        _, fault = await waited(bench, 0, load(line))
        assert not fault
        bench.memory.lost = lambda chance, beats: 2 if chance else None
        bench.memory.lost_reads = 1.0
        _, fault = await waited(bench, 0, load(line + lines))
        assert fault
        bench.memory.lost_reads = 0.0
        for word in range(8):
            _, fault = await waited(bench, 0, {"op": LOAD, "place": 64 * line + 8 * word, "bytes": 8})
            assert not fault
        bench.memory.release()
        await bench.settle()
    assert bench.late == 12


@cocotb.test()
async def a_memory_that_takes_nothing_is_a_fault_and_then_one_at_once(dut):
    bench, _ = await opened(dut, "xdp_outside_deaf")
    late = parameter(dut, "LateCycles")
    bench.values.stores_fail = True
    await filled(bench, 64)
    await waited(bench, 0, load(0))
    # No addresses of reads.
    bench.memory.deaf = {"ar_ready"}
    assert (await waited(bench, 0, load(20)))[1]
    for _ in range(2 * late):
        await bench.cycle()
    assert await waited(bench, 0, load(21)) == (5, 1)
    assert await waited(bench, 1, load(0)) == (5, 0)
    bench.memory.deaf = set()
    for _ in range(60):
        await bench.cycle()
    assert int(dut.lost_o.value) == 0
    assert not (await waited(bench, 0, load(21)))[1]
    # No writes: they are posted until there is no room.
    for channel in ("aw_ready", "w_ready"):
        bench.memory.deaf = {channel}
        stores = 0
        while True:
            place = 8 if stores else 64 * 3
            cycles, fault = await waited(bench, 0, {"op": STORE, "place": place, "bytes": 8, "data": stores})
            if fault:
                break
            stores += 1
        assert 10 < stores < 20 and late <= cycles <= 2 * late + SOON
        for _ in range(2 * late):
            await bench.cycle()
        assert await waited(bench, 0, {"op": STORE, "place": 8, "bytes": 8, "data": 99}) == (5, 1)
        assert await waited(bench, 1, load(0)) == (5, 0)
        # A posted store of the putter is lost, and counted.
        before = bench.late
        await bench.cycle((bench.putter, {"op": STORE, "place": 8, "bytes": 8, "data": 77}))
        for _ in range(10):
            await bench.cycle()
        assert bench.late == before + 1 and not bench.busy
        assert bench.values.blocks[0].pop()["asker"] == bench.putter
        # A line of which a write is not answered is not read, and the answer is not waited for.
        assert await waited(bench, 2, load(3)) == (5, 1)
        bench.memory.deaf = set()
        await bench.settle()
        assert not (await waited(bench, 2, load(3)))[1]
        assert not (await waited(bench, 2, {"op": LOAD, "place": 8, "bytes": 8}))[1]
        # Its line goes.
        await waited(bench, 0, load(3 + parameter(dut, "Lines")))
    assert bench.write_late > 1


@pytest.mark.parametrize("askers", [6, 20])
def test_xdp_outside_late(askers):
    parameters = {"PlaceBits": 18, "Lines": 16, "Askers": askers, "Putter": askers - 2, "LateCycles": 256}
    run_bench("sluice_xdp_outside", parameters=parameters, packages=PACKAGES)
