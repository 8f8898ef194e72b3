"""sluice_xdp_out.

Claims
- beats of each side leave once, unchanged, in their order, and no packet comes between the beats of another
- what is offered holds until it is taken, whatever comes on the other side
- while a packet without a program waits, one with a program begins with credit only; each of its beats takes one. While
  nobody waits it begins at once
- of credit Held - LongestBeats - 4 beats are kept, of a debt LongestBeats; 2^FloorLog beats of waiting give one
- while one with a program is on the output exactly Held beats of the others are taken in; with the output free, all
  credit that is kept and a longest packet stall nobody
- latency 0 while nobody is held, and a beat a cycle
- Held that is too small, or more than can be earned, stops elaboration
All of this in every cycle of every test, against the model in `Bench.check`; the directed tests say the numbers again.
"""

from collections import deque

import cocotb
import pytest
from cocotb.triggers import FallingEdge, RisingEdge
from sluice_tb import bench_rng, run_bench, start

INPUTS = ["earn_valid_i", "earn_i", "ready_i"]
INPUTS += [f"{side}_{name}" for side in ("pass", "back") for name in ("valid_i", "last_i", "i")]
# From a beat that is held alone to its offer.
HELD_LATENCY = 3
PASS, BACK = 0, 1


class Side:
    """Packets to come, and the beat that is offered."""

    def __init__(self, side):
        self.side, self.beats, self.offered, self.sent = side, deque(), None, 0

    def send(self, length):
        for beat in range(length):
            self.beats.append((self.sent << 1 | self.side, beat == length - 1))
            self.sent += 1

    def offer(self, stalled):
        if self.offered is None and self.beats and not stalled:
            self.offered = self.beats.popleft()
        return self.offered is not None


class Bench:
    """Drives a cycle at a time and says what has to come out of it."""

    async def begin(self, dut):
        self.dut = dut
        self.longest, self.held_most = int(dut.LongestBeats.value), int(dut.Held.value)
        self.most_credit = self.held_most - self.longest - 4
        self.floor_every = 2 ** int(dut.FloorLog.value)
        self.most_earned = 2 ** int(dut.EarnBits.value) - 1
        self.sides = Side(PASS), Side(BACK)
        self.clear()
        self.now, self.left = 0, []  # (cycle, side, last)
        await start(dut, limit=300_000, **dict.fromkeys(INPUTS, 0))
        return self

    def clear(self):
        """The state behind a reset."""
        self.held = deque()  # (cycle in which it came, beat)
        self.on = None  # whose packet is on the output
        self.credit = self.floor = 0
        for side in self.sides:
            side.offered = None

    async def cycle(self, stalls=(0, 0), ready=True, earn=None):
        """One cycle; `stalls` say who offers nothing new. Returns whether the beat without a program was taken."""
        dut = self.dut
        offers = [side.offer(stalled) for side, stalled in zip(self.sides, stalls, strict=True)]
        for side, name in zip(self.sides, ("pass", "back"), strict=True):
            data, last = side.offered or (0, 0)
            getattr(dut, f"{name}_valid_i").value = side.offered is not None
            getattr(dut, f"{name}_last_i").value, getattr(dut, f"{name}_i").value = last, data
        dut.ready_i.value, dut.earn_valid_i.value, dut.earn_i.value = ready, earn is not None, earn or 0
        await FallingEdge(dut.clk_i)
        taken = self.check(offers, ready, earn or 0)
        await RisingEdge(dut.clk_i)
        self.now += 1
        return taken

    def check(self, offers, ready, earn):
        dut = self.dut
        held, (passes, backs) = bool(self.held), self.sides
        waits = held or offers[PASS]
        back = self.on == BACK if self.on is not None else offers[BACK] and (not waits or self.credit > 0)
        # Who comes next, and whether he has to be there already.
        beat = backs.offered if back else self.held[0][1] if held else passes.offered
        late = not back and held and self.now < self.held[0][0] + HELD_LATENCY
        valid = bool(int(dut.valid_o.value))
        where = f"cycle {self.now}"
        assert not valid or beat is not None, f"{where}: a beat of nobody"
        assert valid or beat is None or late, f"{where}: the beat {beat} is not offered"
        if valid:
            assert (int(dut.data_o.value), bool(int(dut.last_o.value))) == beat, where
        room = len(self.held) < self.held_most
        pass_ready = room if held or back else ready
        assert bool(int(dut.pass_ready_o.value)) == pass_ready, where
        assert bool(int(dut.back_ready_o.value)) == (back and ready), where
        assert bool(int(dut.waiting_o.value)) == held, where
        # What the cycle does.
        take = valid and ready
        floor = offers[BACK] and waits and not back
        gives = floor and self.floor == self.floor_every - 1
        self.floor = (self.floor + floor) % self.floor_every
        credit = self.credit + earn + gives - (take and back and waits)
        self.credit = max(min(credit, self.most_credit), -self.longest)
        taken = offers[PASS] and pass_ready
        if taken and (held or back):
            self.held.append((self.now, passes.offered))
        if taken:
            passes.offered = None
        if valid:
            self.on = None if take and beat[1] else BACK if back else PASS
        if take:
            self.left.append((self.now, BACK if back else PASS, beat[1]))
            if back:
                backs.offered = None
            elif held:
                self.held.popleft()
        return taken

    def idle(self):
        return not self.held and all(side.offered is None and not side.beats for side in self.sides)

    async def drain(self):
        beats = len(self.held) + sum(len(side.beats) + 1 for side in self.sides)
        for _ in range(beats + HELD_LATENCY + 10):
            await self.cycle()
        assert self.idle(), f"{len(self.held)} beats are held for good"


@cocotb.test()
async def beats_leave_once_and_in_order_and_packets_whole(dut):
    rng = bench_rng("xdp_out")
    bench = await Bench().begin(dut)
    sent = 0
    full = 0
    for _ in range(300):
        # Who is busy, who pays, and whether the output goes on: anew each time.
        pass_stall, back_stall, stall = (rng.choice((0, 0, 0.3, 0.8, 1)) for _ in range(3))
        earns = rng.choice((0, 0, 0.02, 0.2, 1))
        short = rng.random() < 0.3
        for _ in range(rng.randint(1, 3 * bench.held_most)):
            for side in bench.sides:
                if len(side.beats) < 2:
                    length = 1 if short else rng.choice((1, 2, bench.longest, rng.randint(1, bench.longest)))
                    side.send(length)
                    sent += length
            earn = rng.choice((1, 2, bench.longest, bench.most_earned)) if rng.random() < earns else None
            stalls = rng.random() < pass_stall, rng.random() < back_stall
            await bench.cycle(stalls, ready=rng.random() >= stall, earn=earn)
            full += len(bench.held) == bench.held_most
    await bench.drain()
    assert len(bench.left) == sent
    assert all(sum(side == s for _, side, _ in bench.left) > 1_000 for s in (PASS, BACK))
    # Or nothing was shown of a full memory.
    assert full > 100


@cocotb.test()
async def alone_each_side_has_a_beat_a_cycle_at_once(dut):
    bench = await Bench().begin(dut)
    for side in bench.sides:
        for length in (1, 1, 1, 2, bench.longest, 1, bench.longest, bench.longest):
            side.send(length)
        begin, count = bench.now, len(side.beats)
        for _ in range(count):
            await bench.cycle()
        assert [cycle for cycle, _, _ in bench.left[-count:]] == list(range(begin, begin + count))
    assert bench.idle()


@cocotb.test()
async def one_that_begins_for_nothing_leaves_a_debt_of_one_packet(dut):
    bench = await Bench().begin(dut)
    passes, backs = bench.sides
    # Each begins while nobody waits; the others come behind its first beat.
    for _ in range(4):
        backs.send(bench.longest)
        await bench.cycle()
        passes.send(bench.longest)
        await bench.drain()
    # What he owes: a beat more begins after so many beats of waiting as repay it, and one more for a beat.
    for _ in range((bench.longest + 2) * bench.floor_every + 10):
        passes.send(1)
    await bench.cycle()
    mark = bench.now
    backs.send(1)
    while bench.sides[BACK].beats or backs.offered:
        await bench.cycle()
    waited = bench.now - 1 - mark
    assert waited == (bench.longest + 1) * bench.floor_every, waited


@cocotb.test()
async def waiting_gives_a_beat_in_so_many(dut):
    bench = await Bench().begin(dut)
    passes, backs = bench.sides
    count = 8
    passes.send(1)
    await bench.cycle()
    mark = bench.now
    for _ in range((count + 1) * (bench.floor_every + 1)):
        passes.send(1)
    for _ in range(count):
        backs.send(1)
    while passes.beats:
        await bench.cycle()
    begins = [cycle - mark for cycle, side, _ in bench.left if side == BACK]
    # Its own cycle is no waiting.
    assert begins == [(n + 1) * bench.floor_every + n for n in range(count)], begins
    await bench.drain()


@cocotb.test()
async def kept_credit_and_a_longest_packet_stall_nobody(dut):
    bench = await Bench().begin(dut)
    passes, backs = bench.sides
    for amounts in ([bench.most_earned] * 5, [bench.most_credit - 1, 1], [1] * (bench.most_credit + 20)):
        for amount in amounts:
            await bench.cycle(earn=amount)
        mark = len(bench.left)
        for _ in range(bench.most_credit - 1):
            backs.send(1)
        # The last credit begins a longest one.
        for _ in range(5):
            backs.send(bench.longest)
        passes.send(1)
        beats = bench.most_credit - 1 + bench.longest
        for _ in range(beats + bench.floor_every // 2):
            passes.send(1)
            assert await bench.cycle(), f"cycle {bench.now}: a beat waits"
        sides = [side for _, side, _ in bench.left[mark:]]
        assert sides[:beats] == [BACK] * beats
        assert set(sides[beats:]) == {PASS}
        # What is held leaves without a pause, and then what is left of the others.
        await bench.drain()
        # He owes nothing more.
        for _ in range(bench.longest):
            await bench.cycle(earn=1)


@cocotb.test()
async def exactly_so_many_beats_are_held(dut):
    rng = bench_rng("xdp_out_held")
    bench = await Bench().begin(dut)
    passes, backs = bench.sides
    for _ in range(6):
        backs.send(bench.longest)
        await bench.cycle(ready=rng.random() < 0.5)
        for _ in range(bench.held_most + 5):
            passes.send(1)
        taken = 0
        for _ in range(bench.held_most + 40):
            taken += await bench.cycle(ready=False)
        assert taken == bench.held_most
        await bench.drain()
        assert len(bench.left) == sum(side.sent for side in bench.sides)


@cocotb.test()
async def a_reset_leaves_nothing(dut):
    rng = bench_rng("xdp_out_reset")
    bench = await Bench().begin(dut)
    for _ in range(20):
        for _ in range(rng.randint(1, 60)):
            for side in bench.sides:
                side.send(rng.randint(1, 4))
            await bench.cycle(ready=rng.random() < 0.5, earn=rng.choice((None, 1, bench.most_earned)))
        dut.rst_ni.value = 0
        for name in INPUTS:
            getattr(dut, name).value = 0
        for _ in range(rng.randint(1, 3)):
            await RisingEdge(dut.clk_i)
        dut.rst_ni.value = 1
        for side in bench.sides:
            side.beats.clear()
        bench.clear()
        await RisingEdge(dut.clk_i)


@pytest.mark.parametrize("longest, earn_bits, held, floor_log", [(6, 5, 24, 3), (144, 10, 256, 6)])
def test_xdp_out(longest, earn_bits, held, floor_log):
    parameters = {"Width": 24, "LongestBeats": longest, "EarnBits": earn_bits, "Held": held, "FloorLog": floor_log}
    run_bench("sluice_xdp_out", parameters=parameters)


@pytest.mark.parametrize("longest, earn_bits, held", [(9, 5, 24), (6, 5, 32)])
def test_bad_parameters_stop(longest, earn_bits, held):
    with pytest.raises(RuntimeError, match=f"Held is {held}, expected {longest + 16} to {2**earn_bits - 1}"):
        run_bench("sluice_xdp_out", parameters={"LongestBeats": longest, "EarnBits": earn_bits, "Held": held})
