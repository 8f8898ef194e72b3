"""The contract of sluice_packet_fifo, cycle by cycle, and a driver that holds the block to it."""

from collections import Counter, deque
from dataclasses import dataclass, field

from cocotb.triggers import RisingEdge

# From the last beat of a lone packet to its first beat at the output.
LATENCY = 3


@dataclass
class Model:
    """Predicts every output but the values that are not valid."""

    depth: int
    desc_depth: int
    open_beats: list = field(default_factory=list)
    lost: bool = False
    stored: deque = field(default_factory=deque)  # (data, last, first cycle at the output)
    descs: deque = field(default_factory=deque)
    result: str | None = None
    counts: Counter = field(default_factory=Counter)

    def step(self, now, beat, beat_taken, desc_taken):
        """One clock edge; `beat` is None or (data, last, drop, desc)."""
        slot_free = len(self.stored) + len(self.open_beats) < self.depth
        desc_free = len(self.descs) < self.desc_depth
        if beat_taken:
            self.stored.popleft()
        if desc_taken:
            self.descs.popleft()
        self.result = None
        if beat is None:
            return
        data, last, drop, desc = beat
        if not slot_free or (last and not desc_free):
            self.lost = True
        if self.lost:
            self.open_beats.clear()
        else:
            self.open_beats.append((data, last))
        if not last:
            return
        if self.lost:
            self.result = "overflow"
        elif drop:
            self.result = "dropped"
        else:
            self.result = "accepted"
            self.stored.extend((*stored, now + LATENCY) for stored in self.open_beats)
            self.descs.append(desc)
        self.counts[self.result] += 1
        self.open_beats.clear()
        self.lost = False


class Driver:
    """Drives random traffic and compares every output with the model at every edge."""

    def __init__(self, dut, rng):
        self.dut, self.rng = dut, rng
        self.model = Model(int(dut.Depth.value), int(dut.DescDepth.value))
        self.now = 0
        self.beats_out = 0
        self.descs_out = 0
        self.given = None

    async def cycle(self, beat=None, ready=True, desc_ready=True):
        """Offers one beat (or none) for one cycle; checks the outputs of that cycle just before its edge."""
        dut, model = self.dut, self.model
        dut.valid_i.value = int(beat is not None)
        # Without valid the other inputs are noise, which must not matter.
        noise = (
            self.rng.getrandbits(len(dut.data_i)),
            self.rng.getrandbits(1),
            self.rng.getrandbits(1),
            self.rng.getrandbits(len(dut.desc_i)),
        )
        dut.data_i.value, dut.last_i.value, dut.drop_i.value, dut.desc_i.value = beat or noise
        dut.ready_i.value, dut.desc_ready_i.value = int(ready), int(desc_ready)
        await RisingEdge(dut.clk_i)
        where = f"cycle {self.now}"
        done = [int(pin.value) for pin in (dut.done_accepted_o, dut.done_overflow_o, dut.done_dropped_o)]
        assert done == [int(model.result == name) for name in ("accepted", "overflow", "dropped")], where
        assert int(dut.done_o.value) == int(model.result is not None), where
        assert int(dut.level_o.value) == len(model.stored), where
        assert int(dut.desc_valid_o.value) == int(bool(model.descs)), where
        if model.descs:
            assert int(dut.desc_o.value) == model.descs[0], where
        visible = bool(model.stored) and self.now >= model.stored[0][2]
        assert int(dut.valid_o.value) == int(visible), where
        if visible:
            assert (int(dut.data_o.value), int(dut.last_o.value)) == model.stored[0][:2], where
        beat_taken, desc_taken = visible and ready, bool(model.descs) and desc_ready
        self.beats_out += beat_taken
        self.descs_out += desc_taken
        model.step(self.now, beat, beat_taken, desc_taken)
        self.now += 1

    def beat(self, last, drop=False):
        """A beat with random payload; `drop_i` is noise before the last beat."""
        drop = drop if last else self.rng.getrandbits(1)
        return (
            self.rng.getrandbits(len(self.dut.data_i)),
            int(last),
            int(drop),
            self.rng.getrandbits(len(self.dut.desc_i)),
        )

    async def packet(self, length, drop=False, **ready):
        """A packet without gaps."""
        for left in reversed(range(length)):
            await self.cycle(self.beat(left == 0, drop), **ready)

    async def idle(self, count, **ready):
        """Cycles without input."""
        for _ in range(count):
            await self.cycle(**ready)

    async def drain(self):
        """Takes everything out; it has to come within the level's number of cycles."""
        await self.idle(max(len(self.model.stored), len(self.model.descs)) + LATENCY + 1)
        assert not self.model.stored and not self.model.descs
