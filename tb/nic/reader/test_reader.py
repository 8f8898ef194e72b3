"""sluice_nic_reader.

Claims (docs/design/nic.md, "Queues"; docs/decisions/output-slots.md)
- the beats of a copy come out of its destination in order, with its sideband, first and last marked and their bytes
- a cell is given back with its last copy, once; a copy's release names its queue and its cells, with its last beat
- a beat is read in every cycle in which somebody wants one and has room
- a port that has copies is read for at its slots' rate, whatever is read for the seven others; a host queue at its own
- a blocked destination costs the others nothing
"""

from collections import defaultdict, deque

import cocotb
import pytest
from cocotb.triggers import FallingEdge, RisingEdge
from common.lookup_bench import start
from nic.nic_bench import PACKAGES, SIDEBAND, pack_fields
from sluice_tb import bench_rng, run_bench

DESTS, PORTS = 8, 4
CELLS, CELL_BITS, BYTES = 1024, 10, 32  # of target tiny
COUNT_BITS = 6
SIDEBAND_BITS = sum(SIDEBAND.values())
# Of 64 beats that all want: 15 of each port and one of each host queue.
ROUND, PORT_BEATS, HOST_BEATS = 64, 15, 1


class Bench:
    async def begin(self, dut, name):
        self.dut, self.rng = dut, bench_rng(name)
        inputs = [
            "clear_i",
            "clear_index_i",
            "copy_valid_i",
            "copy_cell_i",
            "copy_meta_i",
            "read_data_i",
            "read_link_i",
        ]
        await start(dut, limit=200_000, **dict.fromkeys([*inputs, "read_copies_i", "beat_ready_i"], 0))
        self.now, self.number = 0, 0
        self.free = deque(range(CELLS))
        self.cells = {}  # cell: (data, link, copies, copies still to come)
        self.waiting = defaultdict(deque)  # dest: (first cell, sideband)
        self.expected = defaultdict(deque)  # dest: (data, bytes, first, last, sideband)
        self.releases = defaultdict(deque)  # dest: (queue, high, cells, lengths)
        self.beats = [0] * DESTS
        self.reads = []
        self.asked = None
        return self

    def store(self, length, dests):
        """A packet for these destinations; False without room."""
        beats = -(-length // BYTES)
        if len(self.free) < beats:
            return False
        cells = [self.free.popleft() for _ in range(beats)]
        datas = [self.rng.getrandbits(8 * BYTES) for _ in cells]
        copies = dests.bit_count()
        for cell, link, data in zip(cells, [*cells[1:], 0], datas, strict=True):
            self.cells[cell] = [data, link, copies, copies]
        for d in (d for d in range(DESTS) if dests >> d & 1):
            values = {field: self.rng.getrandbits(bits) for field, bits in SIDEBAND.items()}
            values |= {"length": length, "module_id": self.rng.randrange(8), "id": self.number}
            side = pack_fields(SIDEBAND, **values)
            self.waiting[d].append((cells[0], side))
            queue = d << 3 | values["module_id"]
            self.releases[d].append((queue, int(values["egress_queue"] >= 4), beats))
            for i, data in enumerate(datas):
                last = i == beats - 1
                count = length - i * BYTES if last else BYTES
                self.expected[d].append((data, count, int(i == 0), int(last), side))
        self.number += 1
        return True

    async def cycle(self, ready):
        dut = self.dut
        valid = cells = metas = 0
        for d in (d for d in range(DESTS) if self.waiting[d]):
            cell, side = self.waiting[d][0]
            valid |= 1 << d
            cells |= cell << CELL_BITS * d
            metas |= side << SIDEBAND_BITS * d
        dut.copy_valid_i.value, dut.copy_cell_i.value, dut.copy_meta_i.value = valid, cells, metas
        data, link, copies, _ = self.cells[self.asked] if self.asked is not None else (0, 0, 0, 0)
        dut.read_data_i.value, dut.read_link_i.value, dut.read_copies_i.value = data, link, copies
        dut.beat_ready_i.value = ready
        await FallingEdge(dut.clk_i)
        taken = int(dut.copy_ready_o.value) & valid
        for d in (d for d in range(DESTS) if taken >> d & 1):
            self.waiting[d].popleft()
        self._outputs(ready)
        if dut.cell_freed_o.value:
            cell = int(dut.cell_freed_index_o.value)
            assert cell == self.asked and self.cells[cell][3] == 1, f"cell {cell} is free too early"
            self.free.append(cell)
        if self.asked is not None:
            self.cells[self.asked][3] -= 1
            assert bool(dut.cell_freed_o.value) == (self.cells[self.asked][3] == 0)
        if dut.release_valid_o.value:
            queue = int(dut.release_queue_o.value)
            found = (queue, int(dut.release_high_o.value), int(dut.release_cells_o.value))
            assert self.releases[queue >> 3].popleft() == found
        self.asked = int(dut.read_cell_o.value) if dut.read_o.value else None
        self.reads.append(self.asked is not None)
        await RisingEdge(dut.clk_i)
        self.now += 1

    def _outputs(self, ready):
        dut = self.dut
        valid = int(dut.beat_valid_o.value) & ready
        if not valid:
            return
        datas, counts = int(dut.beat_data_o.value), int(dut.beat_bytes_o.value)
        firsts, lasts, metas = (int(p.value) for p in (dut.beat_first_o, dut.beat_last_o, dut.beat_meta_o))
        for d in (d for d in range(DESTS) if valid >> d & 1):
            found = (
                datas >> 8 * BYTES * d & (1 << 8 * BYTES) - 1,
                counts >> COUNT_BITS * d & (1 << COUNT_BITS) - 1,
                firsts >> d & 1,
                lasts >> d & 1,
                metas >> SIDEBAND_BITS * d & (1 << SIDEBAND_BITS) - 1,
            )
            assert found == self.expected[d].popleft(), f"cycle {self.now}, destination {d}"
            self.beats[d] += 1

    async def drain(self, limit=6000):
        for _ in range(limit):
            if not any(self.expected.values()):
                break
            await self.cycle((1 << DESTS) - 1)
        assert not any(self.expected.values()) and not any(self.releases.values())
        assert len(self.free) == CELLS, f"{CELLS - len(self.free)} cells are lost"

    async def storm(self, dests, length, cycles, ready=(1 << DESTS) - 1):
        """Beats of each destination while each of these always has copies."""
        for _ in range(40):
            self._fill(dests, length)
            await self.cycle(ready)
        before, reads = list(self.beats), len(self.reads)
        for _ in range(cycles):
            self._fill(dests, length)
            await self.cycle(ready)
        assert all(self.reads[reads:]), "a cycle without a read"
        return [after - before for after, before in zip(self.beats, before, strict=True)]

    def _fill(self, dests, length):
        for d in (d for d in range(DESTS) if dests >> d & 1):
            if len(self.waiting[d]) < 3:
                self.store(length, 1 << d)


@cocotb.test()
async def copies_leave_whole_in_order_and_their_cells_come_back(dut):
    bench = await Bench().begin(dut, "reader_order")
    rng = bench.rng
    for _ in range(40):
        chance, readiness = rng.choice((0.05, 0.3, 1)), rng.choice((0.05, 0.5, 1))
        blocked = rng.getrandbits(8) & rng.getrandbits(8)
        for _ in range(60):
            if rng.random() < chance and (dests := rng.choice((1 << rng.randrange(DESTS), rng.getrandbits(DESTS)))):
                bench.store(rng.choice((14, 32, 33, 60, 64, 200)), dests)
            await bench.cycle(sum((rng.random() < readiness) << d for d in range(DESTS)) & ~blocked)
    await bench.drain()
    assert bench.number > 200


@cocotb.test()
async def a_port_has_its_beats_whatever_is_read_for_the_seven_others(dut):
    bench = await Bench().begin(dut, "reader_slots")
    for length in (32, 60, 200):
        beats = await bench.storm(0xFF, length, 4 * ROUND)
        for d, count in enumerate(beats):
            part = PORT_BEATS if d < PORTS else HOST_BEATS
            assert abs(count - 4 * part) <= 2, f"{length} bytes: {beats}"
        await bench.drain()


@cocotb.test()
async def what_a_blocked_or_idle_port_leaves_goes_round(dut):
    bench = await Bench().begin(dut, "reader_blocked")
    # Port 1 is blocked, ports 2 and 3 want nothing: port 0 has its slots and its turns, all host queues the same.
    beats = await bench.storm(0xF3, 60, 8 * ROUND, ready=0xFD)
    # A beat was read in each cycle; a few are in the outputs at either end.
    assert abs(sum(beats) - 8 * ROUND) <= DESTS and beats[1] == 0, beats
    assert beats[0] >= 8 * PORT_BEATS, beats
    assert max(beats[4:]) - min(beats[4:]) <= 4 and min(beats[4:]) > 8 * 8, beats
    await bench.drain()


@pytest.mark.parametrize("target", [1])
def test_reader(target):
    sources = ["rtl/nic/sluice_nic_reader.sv", "tb/nic/reader/nic_reader_target.sv"]
    run_bench("nic_reader_target", parameters={"Target": target}, packages=PACKAGES, sources=sources)
