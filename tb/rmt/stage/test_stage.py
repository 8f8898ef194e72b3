"""sluice_rmt_stage as a whole: match and action together. What each finds alone is in tb/rmt/match and tb/rmt/act.

Claims
- a PHV leaves 8 cycles after it came, ctl one cycle before it, packets back to back and with gaps
- the action of an exact, a ternary entry and the default works with that entry's own data and number, with the
  packet's conditions and hash, and with the stage's owner
- updates of a state word are in the order of the packets, back to back too
- an action row of another module drops the packet as rmt_fault and leaves PHV and state alone
"""

import cocotb
import pytest
from rmt.act.reference import ACCESS, ADD, MOVE, Action, Alu, State, WordWrite
from rmt.codes import AluB, Cross, When
from rmt.match.match_bench import (
    ACTION,
    DATA,
    EXACT,
    KEY,
    OWNER,
    PACKAGES,
    PAGE,
    SOURCES,
    TERNARY,
    Bench,
    Packet,
    Request,
)
from rmt.match.reference import GE, IMMEDIATE, KEY_BITS, LT, Exact, KeyRow, Phv, Predicate, Ternary
from sluice_tb import DEFAULT, TINY, bench_rng, run_bench

FROM_DA, FROM_X = AluB.DATA_A, AluB.X
IF_0, IF_NOT_1 = When.IF0, When.UNLESS1
HASH, NUMBER = Cross.HASH, Cross.NUMBER
ADDED = 0x0123_4567_89AB


def action_row(owner: int, cross: int) -> Action:
    """Shows all that the match part hands over, and counts packets in state word 0 of the module."""
    row = Action(owner, cross_source=cross)
    row.picks[0].data = [3, 0]
    row.alus[0] = Alu(MOVE, b=FROM_DA, mask=0xFFFF)  # c2[0] = bytes 6, 7 of the data
    row.alus[9] = Alu(MOVE, b=FROM_X, when=IF_0, mask=0xFFFF_FFFF)  # c4[1] = X
    row.alus[16] = Alu(ADD, when=IF_NOT_1, immediate=ADDED, mask=(1 << 48) - 1)  # c6[0] += ADDED
    row.words[0] = WordWrite(immediate=0x5AA5, mask=0xFFFF)  # word 9, of system stages
    row.words[5] = WordWrite(immediate=0xC33C, mask=0xFFFF)  # word 14
    row.state = State(ACCESS, t=1, t_old=1, new_to=8 | 3)  # c4[3] = the packets so far
    return row


class StageBench(Bench):
    """Adds what `action_row` does."""

    owners: dict[int, tuple[int, int]] = {}  # action row: (owner, cross source)
    data: dict[int, int] = {}
    counts: dict[int, int] = {}

    def _act(self, p: Packet):
        if not p.win or p.dropped:
            return False, p.phv
        owner, cross = self.owners[p.win["action"]]
        if owner != p.rows[0]:
            return True, p.phv
        c, words = list(p.phv.containers), list(p.phv.words)
        c[0] = int.from_bytes(self.data[p.win["data"]].to_bytes(16, "little")[6:8], "big")
        if p.conditions[0]:
            c[9] = p.hash if cross == HASH else p.win["number"]
        if not p.conditions[1]:
            c[16] = (c[16] + ADDED) % (1 << 48)
        words[14] = 0xC33C
        if self.system:
            words[9] = 0x5AA5
        self.counts[owner] = c[11] = self.counts.get(owner, 0) + 1
        self.seen["acted"] += 1
        return False, Phv(c, words, p.phv.queueing_high)


def any_phv(rng, few: list[int]) -> Phv:
    """The key is c2[1] and c6[1]."""
    c = [rng.getrandbits(16) for _ in range(8)] + [rng.getrandbits(32) for _ in range(8)]
    c += [rng.getrandbits(48) for _ in range(8)]
    c[1], c[17] = rng.choice(few), rng.randrange(2)
    return Phv(c, [rng.getrandbits(16) for _ in range(16)], rng.getrandbits(16))


@cocotb.test()
async def packets_pass_match_and_action_in_eight_cycles(dut):
    rng = bench_rng("stage")
    bench = await StageBench(dut).begin()
    modules = [0, 1, bench.sizes["modules"] - 1]
    first_ternary = 4 * bench.sizes["sets"]
    first_default = first_ternary + bench.sizes["ternary"]
    few = [rng.getrandbits(16) for _ in range(4)]

    # Rows 1 to 6: two of each module.
    for number, module in enumerate(modules):
        for cross in (HASH, NUMBER):
            index = 1 + 2 * number + (cross == NUMBER)
            await bench.access(Request(ACTION, index, action_row(module, cross).row()))
            StageBench.owners[index] = (module, cross)
        for generation in (0, 1):
            page = Request(PAGE, 64 * (2 * module + generation), 1 | number << 1)
            await bench.access(page)

    async def data(index: int):
        StageBench.data[index] = rng.getrandbits(128)
        await bench.access(Request(DATA, index, StageBench.data[index]))

    sets = bench.sizes["sets"] // 4
    for number, module in enumerate(modules):
        own = [i for i, (owner, _) in bench.owners.items() if owner == module]
        for generation in (0, 1):
            row = KeyRow(
                pieces=[1, 1, 0, 0, 1, 1], mask=0xFFFF | 0xFFFF_FFFF_FFFF << 96,
                predicates=[Predicate(20, IMMEDIATE, LT, (1 << 48) - 1, 1 << 47), Predicate(2, 3, GE, 0xFFFF)],
                truth=[0b1010, 0b1100], set_base=number * sets, set_bits=sets.bit_length() - 1,
                hits_base=100 * number, default_valid=generation, default_action=rng.choice(own), default_number=50,
            )  # fmt: skip
            await bench.access(Request(KEY, 2 * module + generation, row))
            await data(first_default + 2 * module + generation)
            # Two of the four values have an exact entry, one of them another module's action row.
            for place, value in enumerate(few[:2]):
                phv = any_phv(rng, [value])
                way = 2 * generation + place
                at = row.sets(row.key(phv))[way // 2]
                action = rng.choice(own) if place == 0 else rng.choice(list(bench.owners))
                entry = Exact(1 << generation, module, row.key(phv), action, rng.randrange(2048))
                await bench.access(Request(EXACT + way, at, entry))
                await data(way * bench.sizes["sets"] + at)
        value = few[2] | rng.randrange(2) << 96
        entry = Ternary(3, module, value, (1 << KEY_BITS) - 1, rng.choice(own), rng.randrange(2048))
        await bench.access(Request(TERNARY, number, entry))
        await data(first_ternary + number)

    for system in (0, 1):
        await bench.access(Request(OWNER, 0, system))
        for load in (1.0, 0.5):
            for _ in range(600):
                packet = Packet(
                    any_phv(rng, few), rng.choice(modules), rng.getrandbits(1), rng.getrandbits(1),
                    int(rng.random() < 0.1), rng.randrange(11),
                )  # fmt: skip
                await bench.cycle(packet if rng.random() < load else None)
        await bench.drain()
    for kind in ("exact", "ternary", "default", "none", "fault", "acted"):
        assert bench.seen[kind] > 20, bench.seen


@pytest.mark.parametrize("target", [DEFAULT, TINY])
def test_stage(target):
    run_bench("rmt_match_target", packages=PACKAGES, sources=SOURCES, parameters={"Target": target})
