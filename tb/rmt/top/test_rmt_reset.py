"""sluice_rmt_top behind a reset.

Claims (docs/design/nic.md, "Reset"; docs/design/rmt.md, "Reset")
- no row of any table that decides is left, neither of what the RAMs began with (here anything) nor of what was written
- packets and messages wait for that: as many cycles as the longest table has rows, and a few
- then every packet of every old tenant is dropped as `no_module`, and a new program meets no row of an old one: keys,
  entries, actions, pages, groups, rates
"""

import pytest
from rmt.pipeline import BUSY, DEPARSER, OK, STAGE0, STAMP, Program
from rmt.rows import row, words_of_layout
from rmt.tables import clear_cycles, left_over, rmt_tables
from rmt_top_bench import PLAIN, TAGGER, Bench, targets
from sluice_tb import plugin

# Words from the last row to the ring's end and the first packet's token.
MARGIN = 40
# Rows read of a table; all are in the long run.
SOME, ALL = 24, 1 << 20


class Reset(Bench):
    def __init__(self, target, name):
        self.tokens = []
        super().__init__(target, name)
        self.number = target

    def _event(self, event):
        super()._event(event)
        if event.kind == plugin.MERGE:
            # 48 bits of ticks above ID, module and both generations; they begin at 0 with the reset's end.
            self.tokens.append(event.words >> 40 & (1 << 48) - 1)

    def left_over(self, at_most):
        return left_over(self.ring, self.rng, rmt_tables(self.number), at_most)

    def reset(self):
        self.top.reset()
        self.sent.clear()
        self.left.clear()
        self.entered.clear()
        self.tokens.clear()

    def fill(self):
        """Rows in every table, for every module of both generations: nothing that is left would be met by nobody."""
        old = [Program(m, g, flip=0xF00D, destinations=1 << m % 8, action=1 + m % 4) for m in (1, 2, 3) for g in (0, 1)]
        self.load(*old)
        for table in rmt_tables(self.number):
            if table.name == "generation":
                continue
            at = {0, table.rows - 1, *self.rng.sample(range(table.rows), min(6, table.rows))}
            for index in at:
                # Fields that stand in no row of this program: what they say does not matter, only that they are there.
                value = self.rng.getrandbits(32 * table.words)
                assert self.ring.write(table.node, table.table, index, value, table.words) == OK
        self.load(*old)
        for stage in range(self.stages):
            for module in (1, 2, 3):
                # An exact entry of key 0 in set 0, where a key row of zeros looks.
                entry = row("rmt_exact_row", generations=3, module_id=module, action=1 + module % 4)
                for way in range(4):
                    assert self.ring.write(STAGE0 + stage, 2 + way, 0, entry, words_of_layout("rmt_exact_row")) == OK
        for module in (0, 1, 3):
            assert self.ring.write(STAMP, 1, module, 1, 1) in (OK, BUSY)
        return old

    def event_counts(self, names):
        return {(m, name): self.event(m, name) for m in range(4) for name in names}


@targets
def test_what_the_rams_begin_with_is_cleared(target):
    bench = Reset(target, "reset_cold")
    assert not bench.left_over(ALL if target else SOME)


@targets
def test_rows_of_before_are_gone(target):
    bench = Reset(target, "reset_rows")
    bench.fill()
    assert len({name for name, _ in bench.left_over(SOME)}) > 10, "nothing was there"
    bench.reset()
    assert not bench.left_over(ALL if target else SOME)


@pytest.mark.long
@targets
def test_every_row_of_before_is_gone(target):
    bench = Reset(target, "reset_rows_long")
    for _ in range(3):
        bench.fill()
        bench.reset()
        assert not bench.left_over(ALL)


@targets
def test_packets_behind_a_reset_meet_no_old_row(target):
    """Packets of every old tenant, from the first cycle on; then a new program that has nothing in the stages."""
    bench = Reset(target, "reset_traffic")
    rng = bench.rng
    for _ in range(3):
        old = bench.fill()
        for _ in range(200):
            bench.send(rng.choice(old), bench.frame(rng.choice((64, 64, 200, 900))))
        bench.top.run(rng.randint(60, 600))
        bench.reset()
        before = bench.event_counts(("no_module", "no_destination", "rate"))
        # The counters' reads have waited for the tables: the packets of the next reset do.
        bench.reset()
        for _ in range(40):
            bench.send(None, bench.frame(rng.choice((64, 300))), module=rng.choice((1, 2, 3)))
        bench.settle(limit=20_000, quiet=9_000)
        assert not bench.left
        cycles = clear_cycles(target)
        assert cycles <= bench.tokens[0] <= cycles + MARGIN, f"the first packet began in cycle {bench.tokens[0]}"
        print(f"{bench.tokens[0]} cycles from the reset to the first packet")
        dropped = [side["module_id"] for side, _, _ in bench.sent]
        bench.reset()
        # The parser's and the deparser's rows, and the grant: without a stage's rows nobody says where it goes.
        for program in old:
            if program.generation == 0:
                for node, table, index, layout, value in program.rows(bench.stages, bench.beats):
                    if node < STAGE0:
                        assert bench.ring.write(node, table, index, value, words_of_layout(layout)) == OK
        for _ in range(40):
            bench.send(None, bench.frame(200), module=rng.choice((1, 2, 3)))
        bench.settle()
        assert not bench.left
        lost = [side["module_id"] for side, _, _ in bench.sent]
        after = bench.event_counts(("no_module", "no_destination", "rate"))
        for module in range(4):
            assert after[module, "no_module"] - before[module, "no_module"] == dropped.count(module)
            assert after[module, "no_destination"] - before[module, "no_destination"] == lost.count(module)
            assert after[module, "rate"] == before[module, "rate"]
        bench.reset()
        bench.load(PLAIN, TAGGER)
        for _ in range(40):
            bench.send(rng.choice((PLAIN, TAGGER)), bench.frame(rng.choice((64, 300))))
        bench.settle()
        bench.check()


@targets
def test_messages_wait_for_the_tables(target):
    bench = Reset(target, "reset_ring")
    bench.load(PLAIN)
    bench.top.run(100)
    bench.reset()
    # Written at once: nothing clears it afterwards.
    value = row("rmt_granted_row", destinations=0xA5)
    assert bench.ring.write(DEPARSER, 3, 1, value, words_of_layout("rmt_granted_row")) == OK
    assert bench.ring.read(DEPARSER, 3, 1, words_of_layout("rmt_granted_row")) == value
    assert bench.top.now() >= clear_cycles(target)
