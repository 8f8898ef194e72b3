"""sluice_nic_queues.

Claims (docs/design/nic.md, "Queues"; docs/decisions/queue-priority.md)
- every copy of a stored packet comes out once at each of its destinations, with its sideband and its own tag
- of one module at one destination a high packet goes before every low one but those chosen before it: at most 8, and
  never one that came later; each of the two queues keeps its order
- the turns of the modules do not see the two queues: beside a twin to which all packets are low, copies are valid in
  the same cycles and of the same modules
- turns are shared by quantum in bytes of whole beats
- each of the two queues holds queue_packets, at the same time
- a low queue whose high one is empty is served, a packet a cycle
"""

from collections import defaultdict, deque

import cocotb
import pytest
from cocotb.triggers import FallingEdge, RisingEdge
from common.lookup_bench import start
from nic.nic_bench import PACKAGES, SIDEBAND, fields, pack_fields
from sluice_tb import bench_rng, run_bench

DESTS = 8
CELLS, MODULES, QUEUE_PACKETS = 1024, 8, 16  # of target tiny
CELL_BITS = 10
AHEAD = 8
SIDEBAND_BITS = sum(SIDEBAND.values())
VERDICT_BITS = SIDEBAND_BITS + 16 * DESTS
# Cycles from stored to a choice that sees the packet.
SEEN = 2
QUANTA = {1: 500, 2: 1000, 3: 64, 5: 1500}
LENGTHS = {1: 64, 2: 700, 3: 200, 5: 1500}
# Turns are of whole beats, of 32 bytes.
COSTS = {module: -(-length // 32) * 32 for module, length in LENGTHS.items()}


class Bench:
    async def begin(self, dut, name, twins=True):
        self.dut, self.rng, self.twins = dut, bench_rng(name), twins
        inputs = ["clear_i", "clear_index_i", "stored_valid_i", "stored_cell_i", "stored_dests_i", "stored_module_i"]
        inputs += ["stored_high_i", "meta_i", "copy_ready_i", "quantum_write_i", "quantum_index_i", "quantum_i"]
        await start(dut, limit=200_000, **dict.fromkeys(inputs, 0))
        for module in range(MODULES):
            dut.clear_i.value, dut.clear_index_i.value = 1, module
            dut.quantum_write_i.value, dut.quantum_index_i.value = 1, module
            dut.quantum_i.value = QUANTA.get(module, 1500)
            await RisingEdge(dut.clk_i)
        dut.clear_i.value = dut.quantum_write_i.value = 0
        self.now = 0
        self.packets = {}  # cell: (module, high, dests, number)
        self.verdicts = {}  # cell: verdict
        self.numbers = iter(range(1 << 30))
        self.cells = deque(range(CELLS))
        self.copies = defaultdict(int)  # cell: copies that have to come, of both twins
        self.waiting = defaultdict(deque)  # (dest, module, high): (number, cycle stored)
        self.passed = defaultdict(int)  # (dest, module): low copies that passed the first high one
        self.asked = [None, None]
        self.taken = []  # (cycle, dest, module, high)
        self.most_passed = 0
        return self

    def room(self, module, high, dests):
        """Whether every queue takes one more; copies that are chosen count as waiting."""
        for d in (d for d in range(DESTS) if dests >> d & 1):
            both = [len(self.waiting[d, module, h]) for h in (0, 1)]
            if both[high] >= QUEUE_PACKETS or (self.twins and sum(both) >= QUEUE_PACKETS):
                return False
        return len(self.cells) > 0

    async def cycle(self, store=None, ready=(1 << DESTS) - 1):
        """One cycle in which a packet (module, high, dests) may be stored, if there is room."""
        dut = self.dut
        packet = store if store and self.room(*store) else None
        dut.stored_valid_i.value = 0 if packet is None else 3 if self.twins else 1
        if packet:
            module, high, dests = packet
            cell, number = self.cells.popleft(), next(self.numbers)
            self.packets[cell] = (*packet, number)
            values = {field: self.rng.getrandbits(bits) for field, bits in SIDEBAND.items()}
            queue = self.rng.randrange(4) + 4 * high
            values |= {"module_id": module, "length": LENGTHS[module], "id": number, "egress_queue": queue}
            tags = sum((number + d & 0xFFFF) << 16 * d for d in range(DESTS))
            self.verdicts[cell] = pack_fields(SIDEBAND, **values) | tags << SIDEBAND_BITS
            self.copies[cell] = dests.bit_count() * (2 if self.twins else 1)
            for d in range(DESTS):
                if dests >> d & 1:
                    self.waiting[d, module, high].append((number, self.now))
            dut.stored_cell_i.value, dut.stored_dests_i.value = cell, dests
            dut.stored_module_i.value, dut.stored_high_i.value = module, high
        metas = [self.verdicts.get(cell, 0) for cell in self.asked]
        dut.meta_i.value = metas[0] | metas[1] << VERDICT_BITS
        dut.copy_ready_i.value = ready
        await FallingEdge(dut.clk_i)
        valid = int(dut.copy_valid_o.value)
        first, twin = valid & 0xFF, valid >> DESTS
        assert not self.twins or first == twin, f"cycle {self.now}: copies {first:#04x}, of the twin {twin:#04x}"
        cells, metas = int(dut.copy_cell_o.value), int(dut.copy_meta_o.value)
        for d in (d for d in range(DESTS) if first & ready & 1 << d):
            modules = [self._take(i, d, cells, metas) for i in range(2 if self.twins else 1)]
            assert len(set(modules)) == 1, f"cycle {self.now}, destination {d}: modules {modules}"
        read, asked = int(dut.meta_read_o.value), int(dut.meta_cell_o.value)
        mask = CELLS - 1
        self.asked = [asked >> CELL_BITS * i & mask if read >> i & 1 else None for i in range(2)]
        await RisingEdge(dut.clk_i)
        self.now += 1
        return packet

    def _take(self, i, d, cells, metas):
        """A copy comes out of instance i at destination d; gives its module."""
        cell = cells >> CELL_BITS * (DESTS * i + d) & CELLS - 1
        side = metas >> SIDEBAND_BITS * (DESTS * i + d) & (1 << SIDEBAND_BITS) - 1
        module, high, _, number = self.packets[cell]
        wanted = fields(SIDEBAND, self.verdicts[cell] & (1 << SIDEBAND_BITS) - 1) | {"tag": number + d & 0xFFFF}
        assert fields(SIDEBAND, side) == wanted
        if i == 0:
            self._in_order(d, module, high, number)
            self.taken.append((self.now, d, module, high))
        self.copies[cell] -= 1
        assert self.copies[cell] >= 0, f"cell {cell} came out twice"
        if self.copies[cell] == 0:
            del self.packets[cell]
            self.cells.append(cell)
        return module

    def _in_order(self, d, module, high, number):
        first = self.waiting[d, module, high].popleft()[0]
        assert first == number, f"packet {number} before {first} of the same queue"
        if high:
            self.passed[d, module] = 0
            return
        for waiting, stored in list(self.waiting[d, module, 1])[:1]:
            assert number < waiting, f"low packet {number} before the high one {waiting} that came first"
            # Chosen before the high one was seen, and none since.
            self.passed[d, module] += stored + SEEN < self.now
            self.most_passed = max(self.most_passed, self.passed[d, module])
            assert self.passed[d, module] <= AHEAD, f"high packet {waiting} was passed by {self.passed[d, module]}"

    async def drain(self, limit=6000):
        for _ in range(limit):
            if not self.packets:
                return
            await self.cycle()
        raise AssertionError(f"{len(self.packets)} packets are left")


@cocotb.test()
async def high_packets_go_first_and_each_queue_keeps_its_order(dut):
    bench = await Bench().begin(dut, "queues_order")
    rng = bench.rng
    modules = list(QUANTA)
    for _ in range(60):
        chance, high, readiness = rng.choice((0.05, 0.5, 1)), rng.choice((0, 0.1, 0.5, 1)), rng.choice((0.05, 0.5, 1))
        blocked = rng.getrandbits(8) & rng.getrandbits(8)
        for _ in range(200):
            dests = rng.choice((1 << rng.randrange(DESTS), 1 << rng.randrange(2), rng.getrandbits(DESTS)))
            store = (rng.choice(modules), int(rng.random() < high), dests)
            ready = sum((rng.random() < readiness) << d for d in range(DESTS)) & ~blocked
            await bench.cycle(store if dests and rng.random() < chance else None, ready)
    await bench.drain()
    assert len(bench.taken) > 5000
    assert bench.most_passed > AHEAD // 2, "no high packet ever came to a full low queue"


@cocotb.test()
async def turns_are_those_of_a_twin_without_priority(dut):
    """One destination that is always wanted by all: who has how much, with and without high packets of module 2."""
    bench = await Bench().begin(dut, "queues_shares")
    rng = bench.rng
    modules = list(QUANTA)
    for i in range(12_000):
        module = modules[i % len(modules)]
        high = int(module == 2 and rng.random() < 0.7)
        await bench.cycle((module, high, 0x10), 0x10 if i % 4 == 0 else 0)
    shares = defaultdict(int)
    for cycle, _, module, _ in bench.taken:
        if 2000 < cycle < 11_500:
            shares[module] += COSTS[module]
    whole = sum(shares.values())
    quanta = sum(QUANTA.values())
    for module, quantum in QUANTA.items():
        # A turn and three packets of each, of the whole.
        bound = sum(QUANTA[m] + 3 * COSTS[m] for m in QUANTA) / whole
        assert abs(shares[module] / whole - quantum / quanta) < bound < 0.02, (module, dict(shares), bound)
    await bench.drain()


@cocotb.test()
async def both_queues_are_full_at_once(dut):
    bench = await Bench().begin(dut, "queues_full", twins=False)
    for module in (1, 5):
        for high in (0, 1):
            stored = 0
            for _ in range(200):
                stored += await bench.cycle((module, high, 0x81), 0) is not None
            assert stored == QUEUE_PACKETS
    for d in (0, 7):
        assert all(len(bench.waiting[d, m, h]) == QUEUE_PACKETS for m in (1, 5) for h in (0, 1))
    await bench.drain()
    assert len(bench.taken) == 8 * QUEUE_PACKETS


@cocotb.test()
async def a_low_queue_alone_is_served_a_packet_a_cycle(dut):
    bench = await Bench().begin(dut, "queues_rate")
    for high in (0, 1, 0):
        for _ in range(30):
            await bench.cycle()
        before = len(bench.taken)
        for _ in range(200):
            assert await bench.cycle((5, high, 0x04)) is not None
        for _ in range(10):
            await bench.cycle()
        cycles = [cycle for cycle, *_ in bench.taken[before:]]
        assert len(cycles) == 200 and cycles[-1] - cycles[0] == 199, cycles


@pytest.mark.parametrize("target", [1])
def test_queues(target):
    sources = ["rtl/nic/sluice_nic_queues.sv", "tb/nic/queues/nic_queues_twins.sv"]
    run_bench("nic_queues_twins", parameters={"Target": target}, packages=PACKAGES, sources=sources)
