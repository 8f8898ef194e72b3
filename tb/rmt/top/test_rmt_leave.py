"""sluice_rmt_top: a generation's rows are cleared as soon as its last packet is said not to be in flight.

Claims (docs/design/nic.md, "Merge and stamp" and "Configuration")
- `in_flight` is 0 only when no packet of the generation reads a row any more, wherever the output stands still: at
  every beat of packets of all lengths, and at every distance between packets and commit
- so rows that are cleared then are in no packet: what left is all by the old rows or all by the new ones

A bus of 64 bytes reads a packet's second and last deparse row with its first beat, so that only the tiny target can
show a token that comes back with the first beat; the assertion LeavesBehindItsLastBeat_A sees that on both.
"""

from dataclasses import dataclass

import pytest
from nic.nic_bench import SIDEBAND, fields
from rmt.codes import LaneSize
from rmt.pipeline import C6, DEPARSER, OK, OTHER_LANE, PARSER, STAGE0, STAMP, Program
from rmt.rmt_bench import LONGEST
from rmt.rows import row, words_of_layout
from rmt_top_bench import SIDEBAND_BITS, TAGGER, Bench, targets

GENERATIONS, DEPARSE = 1, 1
# More beats than wait behind the deparser's rows when the output stands still.
BEHIND = 40


@dataclass(frozen=True)
class EveryBeat(Program):
    """As Program, and the changed destination MAC at the beginning of each beat of the window: its row counts."""

    width: int = 64

    def rows(self, stages, beats):
        for node, table, index, layout, value in super().rows(stages, beats):
            if (node, table) == (DEPARSER, DEPARSE) and index % beats:
                mac = [row("rmt_lane", size=LaneSize.SIX)] * 6
                value = row("rmt_deparse_row", split=12, least=14, lanes=mac + [OTHER_LANE] * 58)
            yield node, table, index, layout, value

    def result(self, frame):
        out = bytearray(super().result(frame))
        for at in range(self.width, min(128, len(out)), self.width):
            out[at : at + 6] = out[:6]
        return bytes(out[: len(frame)])


class Replacements:
    """Module 1 with one program after the other, each in the generation that is free."""

    def __init__(self, target, name):
        self.bench = Bench(target, name)
        self.number = 0
        self.bench.load(TAGGER)
        self.present = self.load()

    def load(self):
        """The next program's rows."""
        bench, generation = self.bench, self.number & 1
        flip = bench.rng.getrandbits(48) | 1
        # The actions of both generations are there at a time.
        program = EveryBeat(1, generation, flip, destinations=1, action=3 + generation, width=bench.width)
        self.number += 1
        bench.load(program)
        return program

    def clear(self, program):
        """Everything that the program's generation alone has; now and then something else stands there."""
        bench = self.bench
        for node, table, index, layout, _ in program.rows(bench.stages, bench.beats):
            if node in (PARSER, DEPARSER) and table < 3 or (node, table) == (STAGE0 + 1, 1):
                words = words_of_layout(layout)
                value = 0
                if (node, table) == (DEPARSER, DEPARSE) and bench.rng.random() < 0.5:
                    value = row("rmt_deparse_row", lanes=[row("rmt_lane", size=LaneSize.SIX, place=C6 // 16)] * 64)
                assert bench.ring.write(node, table, index, value, words) == OK

    def in_flight(self, generation):
        return self.bench.ring.read(STAMP, GENERATIONS, 1, 1) >> (1 + 8 * generation) & 0xFF

    def replace(self, lengths, ahead, offset):
        """Packets of `lengths` behind one of another module of `ahead` beats; the commit `offset` cycles later."""
        bench, top, old = self.bench, self.bench.top, self.present
        new = self.load()
        if ahead:
            bench.send(TAGGER, bench.frame(ahead * bench.width))
            top.set_ready([0], 0)
        for length in lengths:
            bench.send(old, bench.frame(length))
        top.run(offset or 1)
        if ahead:
            # All of them are in.
            top.run(2_000, quiet=60)
        top.set_ready([0], 0)
        # Packets that entered meanwhile are the old one's; these may be of either.
        bench.ring.write(STAMP, GENERATIONS, 1, new.generation, 1)
        for _ in range(2):
            bench.send(new, bench.frame(bench.rng.randint(14, 300)))
        steps = 0
        while self.in_flight(old.generation):
            top.set_ready([0])
            top.run(1)
            top.set_ready([0], 0)
            steps += 1
            assert steps < 2_000, "packets stay in flight"
        self.clear(old)
        top.set_ready([0])
        bench.settle()
        if not ahead:
            self.by_generation(old, new)
        self.present = new

    def by_generation(self, old, new):
        """What the old one's packets met: some came behind the commit. Once the new one, never the old one again."""
        bench, changed = self.bench, False
        assert len(bench.left) == len(bench.sent)
        for at, (side, frame, program) in enumerate(bench.sent):
            if program is old:
                left = fields(SIDEBAND, bench.left[at].words & (1 << SIDEBAND_BITS) - 1)
                assert left["generation"] == new.generation or not changed
                changed |= left["generation"] == new.generation
                bench.sent[at] = (side, frame, new if changed else old)

    def check(self):
        self.bench.check()
        self.bench.sent.clear()
        self.bench.left.clear()


def lengths_of(rng, beats, width):
    """The shortest, the longest and any packet of so many beats."""
    first, last = (beats - 1) * width + 1, min(beats * width, LONGEST)
    return (max(14, first), last, rng.randint(max(14, first), last))


@targets
def test_rows_of_packets_that_stand_at_any_beat_are_not_cleared(target):
    """One cycle of the output at a time, until the old generation is said to be empty."""
    run = Replacements(target, "leave_steps")
    rng, width = run.bench.rng, run.bench.width
    for beats in (2, 3, 4, 5, 6, 9, 33, 70, 144, LONGEST // width):
        for length in lengths_of(rng, beats, width):
            run.replace([length], BEHIND, 0)
    for _ in range(12):
        run.replace([rng.randint(width + 1, 5 * width) for _ in range(rng.randint(2, 4))], BEHIND, 0)
    run.check()


@targets
def test_rows_are_cleared_at_any_distance_behind_the_packets(target):
    """The commit comes, and the output stops, in every cycle of the packets' way."""
    run = Replacements(target, "leave_distance")
    every_distance(run, range(0, 90, 3), (2, 4, 7))


@pytest.mark.long
@targets
def test_every_length_at_every_distance(target):
    run = Replacements(target, "leave_long")
    width = run.bench.width
    for beats in range(2, LONGEST // width + 1):
        for length in lengths_of(run.bench.rng, beats, width):
            run.replace([length], BEHIND, 0)
        run.check()
    every_distance(run, range(400), (2, 3, 4, 5, 8, 33, 144))


def every_distance(run, offsets, lengths):
    rng, width = run.bench.rng, run.bench.width
    for offset in offsets:
        for beats in lengths:
            # More than wait behind the rows: the output stops some of them in their middle.
            packets = BEHIND // beats + 3
            run.replace([rng.choice(lengths_of(rng, beats, width)) for _ in range(packets)], 0, offset)
    run.check()
