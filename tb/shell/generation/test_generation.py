"""sluice_shell_generation.

Every test compares all outputs with plain counters in every cycle.

Claims
- a packet is stamped with the generation that is current in its cycle; a commit serves the next cycle's packets
- the counts of both generations follow enters and leaves, also when both fall into one cycle; they are shown three
  cycles after the packet, for the module asked for a cycle ago
- a commit to the other generation while one of its packets is in flight answers busy and changes nothing, in
  the cycle of the last leave and the next one too; without one it is busy only where the generation is read elsewhere
- a commit to the current generation is never busy and changes nothing
- MaxInFlight packets of one module fit into its count
- with System each packet has module 0's generation too, and counts for module 0 by it, its own ones once
"""

from collections import deque

import cocotb
import pytest
from cocotb.triggers import FallingEdge, RisingEdge
from sluice_tb import bench_rng, run_bench, start

INPUTS = [
    "enter_valid_i",
    "enter_module_i",
    "leave_valid_i",
    "leave_module_i",
    "leave_generation_i",
    "leave_system_generation_i",
    "commit_valid_i",
    "commit_module_i",
    "commit_generation_i",
    "commit_some_i",
]


class Bench:
    """Modules' generations and counts, and the packets in flight."""

    def __init__(self, dut, rng):
        self.dut, self.rng = dut, rng
        self.modules, self.most = int(dut.Modules.value), int(dut.MaxInFlight.value)
        self.system = int(dut.System.value)
        self.current = [0] * self.modules
        self.count = [[0, 0] for _ in range(self.modules)]
        self.flying = deque()
        self.forget()
        self.seen = {"busy": 0, "done": 0, "same": 0, "with_enter": 0, "with_leave": 0}

    async def begin(self):
        await start(self.dut, **dict.fromkeys(INPUTS, 0))
        return self

    def forget(self):
        """Nothing was asked for and nothing left in the cycle before; the counts were 0 for two cycles."""
        self.left = None
        self.shown, self.past = None, deque([[[0, 0]] * self.modules] * 2)

    def counts(self, packet, module, generation):
        """Whether the packet is one that a commit of the module to the generation waits for."""
        return packet is not None and (
            packet[:2] == (module, generation) or bool(self.system) and (module, generation) == (0, packet[2])
        )

    def add(self, packet, amount):
        """Counts a packet (module, its generation, the system's) where it counts."""
        module, own, system = packet
        self.count[module][own] += amount
        if self.system and module != 0:
            self.count[0][system] += amount

    async def cycle(self, enter=None, leave=False, commit=None, look=None, elsewhere=0):
        """`enter`: module; `leave`: the oldest packet; `commit`: (module, generation); `look`: module to read;
        `elsewhere`: generations that are read elsewhere."""
        dut, rng = self.dut, self.rng
        leaving = self.flying.popleft() if leave else None
        noise = rng.randrange(self.modules)
        dut.enter_valid_i.value = enter is not None
        dut.enter_module_i.value = noise if enter is None else enter
        dut.leave_valid_i.value = leave
        gone = leaving or (noise, rng.getrandbits(1), rng.getrandbits(1))
        dut.leave_module_i.value, dut.leave_generation_i.value, dut.leave_system_generation_i.value = gone
        shown, to = commit or (noise if look is None else look, rng.getrandbits(1))
        dut.commit_valid_i.value = commit is not None
        dut.commit_module_i.value, dut.commit_generation_i.value = shown, to
        dut.commit_some_i.value = elsewhere
        await FallingEdge(dut.clk_i)
        current, count = self.current[shown], self.count[shown]
        assert int(dut.current_o.value) == current
        before = self.past.popleft()
        if self.shown is not None:
            assert [int(dut.in_flight_0_o.value), int(dut.in_flight_1_o.value)] == before[self.shown]
        self.shown = shown
        self.past.append([list(pair) for pair in self.count])
        if enter is not None:
            assert int(dut.generation_o.value) == self.current[enter]
            assert int(dut.system_generation_o.value) == self.current[0]
        flying = count[to] != 0 or self.counts(self.left, shown, to)
        busy = commit is not None and to != current and (flying or bool(elsewhere >> to & 1))
        if commit is not None:
            assert int(dut.commit_busy_o.value) == busy
            self.seen["busy" if busy else "same" if to == current else "done"] += 1
            self.seen["with_enter"] += enter == shown and to != current
            self.seen["with_leave"] += leaving is not None and leaving[:2] == (shown, to) and to != current
        if enter is not None:
            entering = (enter, self.current[enter], self.current[0])
            self.flying.append(entering)
            self.add(entering, 1)
        if leave:
            self.add(leaving, -1)
        self.left = leaving
        if commit is not None and not busy:
            self.current[shown] = to
        await RisingEdge(dut.clk_i)
        return busy


@cocotb.test()
async def random_packets_and_commits_obey_the_rules(dut):
    rng = bench_rng("generation")
    bench = await Bench(dut, rng).begin()
    for _ in range(300):
        few = [rng.randrange(bench.modules) for _ in range(2)]
        enters, leaves, commits = rng.choice((0, 0.3, 0.9)), rng.choice((0.2, 0.6, 0.95)), rng.choice((0.1, 0.8))
        for _ in range(60):
            # What leaves was there before; in a full NIC one may enter as one leaves.
            leave = bool(bench.flying) and rng.random() < leaves
            room = len(bench.flying) - leave < bench.most
            enter = rng.choice(few) if room and rng.random() < enters else None
            commit = (rng.choice(few), rng.getrandbits(1)) if rng.random() < commits else None
            await bench.cycle(enter, leave, commit, elsewhere=rng.choice((0, 0, 0, rng.randrange(4))))
    assert min(bench.seen.values()) > 20, bench.seen


@cocotb.test()
async def a_commit_under_packets_is_busy_and_changes_nothing(dut):
    bench = await Bench(dut, bench_rng("busy")).begin()
    m = bench.modules - 1
    await bench.cycle(enter=m)
    # To generation 1, which has no packet; the stamp of the same cycle is still 0.
    assert not await bench.cycle(enter=m, commit=(m, 1))
    for _ in range(5):
        assert await bench.cycle(commit=(m, 0))
        await bench.cycle(look=m)
    await bench.cycle(enter=m)
    await bench.cycle(leave=True)
    # The last packet of generation 0 leaves in the very cycle: it counts in this one and the next.
    assert await bench.cycle(leave=True, commit=(m, 0))
    assert not await bench.cycle(commit=(m, 1))
    assert not await bench.cycle(commit=(m, 0))
    assert bench.current[m] == 0 and bench.count[m] == [0, 1]
    assert await bench.cycle(commit=(m, 1), leave=True)
    assert await bench.cycle(commit=(m, 1))
    assert not await bench.cycle(commit=(m, 1))


@cocotb.test()
async def the_count_holds_all_packets(dut):
    bench = await Bench(dut, bench_rng("full")).begin()
    for generation in (1, 0, 1):
        await bench.cycle(commit=(0, generation))
        for _ in range(bench.most):
            await bench.cycle(enter=0, look=0)
        for _ in range(10):
            await bench.cycle(enter=0, leave=True, look=0)
        while bench.flying:
            await bench.cycle(leave=True, look=0)
    for _ in range(4):
        await bench.cycle(look=0)


@cocotb.test()
async def a_reset_clears_generations_and_counts(dut):
    bench = await Bench(dut, bench_rng("reset")).begin()
    for m in range(bench.modules):
        await bench.cycle(commit=(m, 1), enter=m if m < bench.most - 1 else None)
    await bench.cycle(enter=0)
    dut.enter_valid_i.value = dut.leave_valid_i.value = dut.commit_valid_i.value = 0
    dut.rst_ni.value = 0
    await RisingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    bench.current = [0] * bench.modules
    bench.count = [[0, 0] for _ in range(bench.modules)]
    bench.flying.clear()
    bench.forget()
    for m in range(bench.modules):
        await bench.cycle(look=m)


@pytest.mark.parametrize("modules, most, system", [(64, 32, 0), (5, 7, 0), (1, 4, 0), (64, 255, 1), (5, 7, 1)])
def test_generation(modules, most, system):
    run_bench("sluice_shell_generation", parameters={"Modules": modules, "MaxInFlight": most, "System": system})
