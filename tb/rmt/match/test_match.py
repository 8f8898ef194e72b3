"""sluice_rmt_match inside sluice_rmt_stage, against the reference in reference.py.

Every test compares winner, conditions, hash, ctl and PHV of every packet, and every answer.

Claims
- key, conditions, hash, exact, ternary and default matches are those of the reference for random rows of several
  modules in both generations, packets back to back and with gaps, while the host reads and writes
- an entry serves its module and the generations whose bits are set, and no other
- the lowest of the ternary entries that match wins, also when all match
- the six comparisons hold at their edges: equal, one off, zero, all ones, differing in masked bits only
- a module may have one set or all of them
- a ternary entry that is written while packets match it is the old one, none, or the new one
- hits are counted at the module's base plus the entry's number, not for dropped packets, live and at the snapshot
- in a stage of the system module every packet meets module 0's rows of the system generation; a write changes the
  owner for the packets behind it
- reads wait for a slot without packet and ask for one; wrong accesses are refused with their status
"""

import cocotb
import pytest
from rmt.match.match_bench import (
    BAD_ADDRESS,
    BAD_LENGTH,
    EXACT,
    HITS,
    KEY,
    OK,
    OWNER,
    PACKAGES,
    READ_ONLY,
    SOURCES,
    TARGETS,
    TERNARY,
    Bench,
    Packet,
    Request,
)
from rmt.match.reference import (
    EQ,
    GE,
    GT,
    IMMEDIATE,
    KEY_BITS,
    LE,
    LT,
    NE,
    WIDTHS,
    Exact,
    KeyRow,
    Phv,
    Predicate,
    Ternary,
)
from sluice_tb import DEFAULT, TINY, bench_rng, run_bench
from sluice_tb.gates import netlist

ONES = (1 << 48) - 1
ALL = (1 << KEY_BITS) - 1


def any_phv(rng, near: int | None = None) -> Phv:
    """Values that are often equal, one off, zero or all ones."""
    near = rng.getrandbits(48) if near is None else near
    values = (near, near, near + 1, near - 1, 0, ONES, rng.getrandbits(48), near ^ 1 << rng.randrange(48))
    return Phv(
        [rng.choice(values) & (1 << w) - 1 for w in WIDTHS],
        [rng.choice(values) & 0xFFFF for _ in range(16)],
        rng.getrandbits(16),
    )


def any_mask(rng, width: int) -> int:
    ones = (1 << width) - 1
    return rng.choice((0, ones, ones, 1 << rng.randrange(width), rng.getrandbits(width), ones ^ 1))


def any_predicate(rng, phvs: list[Phv]) -> Predicate:
    a = rng.randrange(40)
    value = rng.choice(phvs).value(a)
    near = (value, value + 1, value - 1, 0, ONES, rng.getrandbits(48))
    return Predicate(
        a, rng.choice((IMMEDIATE, rng.randrange(24))), rng.randrange(6), any_mask(rng, 48), rng.choice(near) & ONES
    )


def any_key_row(rng, phvs: list[Phv], sizes: dict) -> KeyRow:
    bits = rng.randint(0, sizes["sets"].bit_length() - 1)
    return KeyRow(
        pieces=[rng.randrange(8) for _ in range(6)],
        mask=rng.choice((ALL, rng.getrandbits(KEY_BITS), any_mask(rng, KEY_BITS), 3 << 192 | rng.getrandbits(32))),
        predicates=[any_predicate(rng, phvs) for _ in range(2)],
        truth=[rng.getrandbits(4) for _ in range(2)],
        set_base=rng.randrange(sizes["sets"] >> bits) << bits,
        set_bits=bits,
        hits_base=rng.choice((0, 2047, rng.randrange(2048))),
        default_valid=rng.getrandbits(1),
        default_action=rng.randrange(512),
        default_number=rng.randrange(2048),
    )


class Traffic:
    """A few modules and PHVs, and tables that fit them."""

    def __init__(self, bench: Bench, rng):
        self.bench, self.rng = bench, rng
        last = bench.sizes["modules"] - 1
        self.modules = sorted({0, last, rng.randint(1, last), rng.randint(1, last)})
        self.phvs = [any_phv(rng) for _ in range(8)]
        self.ternary_indices = rng.sample(range(bench.sizes["ternary"]), 6)

    def packet(self, **fixed) -> Packet:
        rng = self.rng
        phv = rng.choice(self.phvs) if rng.random() < 0.85 else any_phv(rng)
        values = {
            "module": rng.choice(self.modules), "generation": rng.getrandbits(1),
            "system_generation": rng.getrandbits(1), "dropped": int(rng.random() < 0.1), "reason": rng.randrange(11),
        }  # fmt: skip
        return Packet(phv, **(values | fixed))

    def key_of(self, module: int, generation: int) -> tuple[KeyRow, int]:
        """The module's row, and the key of some packet."""
        row = self.bench.key_rows[module, generation]
        return row, row.key(self.rng.choice(self.phvs))

    def key_row(self) -> Request:
        module, generation = self.rng.choice(self.modules), self.rng.getrandbits(1)
        return Request(KEY, 2 * module + generation, any_key_row(self.rng, self.phvs, self.bench.sizes))

    def exact(self) -> Request:
        """An entry where some packet looks for it; now and then nearly so, or elsewhere."""
        rng = self.rng
        module, generation = rng.choice(self.modules), rng.getrandbits(1)
        row, key = self.key_of(module, generation)
        way = rng.randrange(4)
        at = row.sets(key)[way // 2]
        if rng.random() < 0.05:
            key ^= 1 << rng.randrange(KEY_BITS)
        if rng.random() < 0.05:
            at = rng.randrange(self.bench.sizes["sets"])
        generations = rng.choice((1 << generation, 1 << generation, 3, 0, rng.getrandbits(2)))
        return Request(EXACT + way, at, Exact(generations, module, key, rng.randrange(512), rng.randrange(2048)))

    def ternary(self, index: int | None = None) -> Request:
        rng = self.rng
        module, generation = rng.choice(self.modules), rng.getrandbits(1)
        _, key = self.key_of(module, generation)
        mask = rng.choice((0, 0, ALL, rng.getrandbits(KEY_BITS), any_mask(rng, KEY_BITS)))
        if rng.random() < 0.05:
            key ^= 1 << rng.randrange(KEY_BITS)
        index = rng.choice(self.ternary_indices) if index is None else index
        generations = rng.choice((1 << generation, 3, 3, 0))
        entry = Ternary(generations, module, key & mask, mask, rng.randrange(512), rng.randrange(2048))
        return Request(TERNARY, index, entry)

    def look(self) -> Request:
        """A read, most of them right."""
        rng, sizes = self.rng, self.bench.sizes
        table = rng.choice((OWNER, KEY, KEY, EXACT + rng.randrange(4), EXACT + rng.randrange(4), TERNARY, HITS, HITS))
        index = rng.randrange({OWNER: 1, KEY: 2 * sizes["modules"], TERNARY: sizes["ternary"], HITS: 2048}.get(
            table, sizes["sets"]))  # fmt: skip
        if table == HITS and self.bench.hits:
            index = rng.choice(list(self.bench.hits))
        if table in (KEY, TERNARY):
            return Request(table, index, slice=rng.getrandbits(1))
        return Request(table, index, snapshot=rng.getrandbits(1) if table == HITS else 0)

    async def fill(self):
        """Rows of all modules in both generations, and entries."""
        for module in self.modules:
            for generation in (0, 1):
                row = any_key_row(self.rng, self.phvs, self.bench.sizes)
                await self.bench.access(Request(KEY, 2 * module + generation, row))
        for _ in range(40):
            await self.bench.access(self.exact())
        for index in self.ternary_indices:
            await self.bench.access(self.ternary(index))


async def begin(dut, name: str) -> tuple[Bench, Traffic]:
    """The bench, with the owner of a tenant's stage."""
    bench = await Bench(dut).begin()
    traffic = Traffic(bench, bench_rng(name))
    await bench.access(Request(OWNER, 0, 0))
    return bench, traffic


async def run(bench: Bench, traffic: Traffic, count: int, load: float, requests):
    """`count` cycles of packets; `requests` makes an access or None."""
    rng, waited = traffic.rng, 0
    for _ in range(count):
        # The entrance leaves a slot out when asked, not at once.
        waited = waited + 1 if int(bench.dut.slot_request_o.value) else 0
        packet = traffic.packet() if rng.random() < load and waited < rng.randint(1, 30) else None
        request = requests() if bench.request is None else None
        await bench.cycle(packet, request, bench.epoch + 1 if rng.random() < 0.01 else None)
    while bench.request:
        await bench.cycle()
    await bench.drain()


@cocotb.test()
async def random_packets_find_what_the_reference_finds(dut):
    bench, traffic = await begin(dut, "match")
    rng = traffic.rng
    for load in (1.0, 0.7, 1.0, 0.2):
        traffic.phvs = [any_phv(rng) for _ in range(8)]
        await traffic.fill()

        def requests():
            kind = rng.random()
            if kind < 0.7:
                return None
            if kind < 0.8:
                return traffic.look()
            if kind < 0.805:
                return traffic.key_row()
            if kind < 0.81:
                return Request(OWNER, 0, rng.getrandbits(1))
            return traffic.exact() if kind < 0.92 else traffic.ternary()

        await run(bench, traffic, 1500, load, requests)
    assert min(bench.seen[kind] for kind in ("exact", "ternary", "default", "none", "several", "fault")) > 10, (
        bench.seen
    )
    assert min(bench.seen["conditions", a, b] for a in (0, 1) for b in (0, 1)) > 10, bench.seen


@cocotb.test()
async def an_entry_serves_its_module_and_generations_only(dut):
    bench, traffic = await begin(dut, "owners")
    phv = traffic.phvs[0]
    row = KeyRow(pieces=[1, 2, 3, 4, 5, 6], mask=ALL, set_bits=1)
    key, modules = row.key(phv), traffic.modules
    for module in modules:
        for generation in (0, 1):
            await bench.access(Request(KEY, 2 * module + generation, row))
    for way, at in ((w, s) for w in range(4) for s in (0, 1)):
        await bench.access(Request(EXACT + way, at, Exact(0, 0, 0)))
    for table in (EXACT, EXACT + 3, TERNARY):
        index = 5 if table == TERNARY else row.sets(key)[(table - EXACT) // 2]
        for owner in modules:
            for generations in (1, 2, 3, 0):
                entry = Exact(generations, owner, key, 7, owner)
                if table == TERNARY:
                    entry = Ternary(generations, owner, key, ALL, 7, owner)
                before = bench.seen["exact"] + bench.seen["ternary"]
                await bench.access(Request(table, index, entry))
                for module in modules:
                    for generation in (0, 1):
                        await bench.cycle(Packet(phv, module, generation, generation ^ 1))
                await bench.drain()
                found = bench.seen["exact"] + bench.seen["ternary"] - before
                assert found == generations.bit_count()


@cocotb.test()
async def the_lowest_of_all_ternary_entries_wins(dut):
    bench, traffic = await begin(dut, "full")
    phv, rng = traffic.phvs[0], traffic.rng
    count = bench.sizes["ternary"]
    row = KeyRow(pieces=[0, 7, 0, 7, 0, 7], mask=ALL, set_bits=0)
    await bench.access(Request(KEY, 2, row))
    for way in range(4):
        await bench.access(Request(EXACT + way, 0, Exact(0, 0, 0)))
    for index in range(count):
        mask = rng.choice((0, ALL, rng.getrandbits(KEY_BITS)))
        await bench.access(Request(TERNARY, index, Ternary(1, 1, row.key(phv) & mask, mask, index, 1000 + index)))
    # From the lowest on, in random order behind it.
    for index in [0, 1, *rng.sample(range(2, count), count - 2)]:
        for _ in range(3):
            await bench.cycle(Packet(phv, 1))
        await bench.access(Request(TERNARY, index, Ternary(0, 0, 0, 0)), lambda: Packet(phv, 1))
    before = bench.seen["ternary"]
    for _ in range(3):
        await bench.cycle(Packet(phv, 1))
    await bench.drain()
    assert bench.seen["ternary"] == before and bench.seen["several"] > count


@cocotb.test()
async def comparisons_hold_at_their_edges(dut):
    bench, traffic = await begin(dut, "predicates")
    rng = traffic.rng
    for op in (EQ, NE, LT, LE, GT, GE):
        for _ in range(12):
            value = rng.choice((0, 1, ONES, ONES - 1, 1 << 47, rng.getrandbits(48)))
            mask = rng.choice((ONES, ONES, rng.getrandbits(48), 1 << 47, 1, 0))
            codes = rng.randrange(40), rng.choice((IMMEDIATE, rng.randrange(24)))
            row = KeyRow(
                mask=3 << 192, truth=[rng.choice((0b1010, 0b0101)), rng.choice((0b1100, 0b0011))],
                predicates=[Predicate(*codes, op, mask, value), Predicate(16, IMMEDIATE, op, mask, value)],
            )  # fmt: skip
            await bench.access(Request(KEY, 2, row))
            for other in (value, value + 1, value - 1, value ^ ONES, value ^ ~mask, value ^ 1 << rng.randrange(48)):
                phv = any_phv(rng, value)
                phv.containers[16] = other & ONES
                await bench.cycle(Packet(phv, 1))
    await bench.drain()
    assert min(bench.seen["conditions", a, b] for a in (0, 1) for b in (0, 1)) > 20, bench.seen


@cocotb.test()
async def a_module_has_one_set_or_all(dut):
    bench, traffic = await begin(dut, "sets")
    rng, sizes = traffic.rng, bench.sizes
    most = sizes["sets"].bit_length() - 1
    for bits, base in ((0, rng.randrange(sizes["sets"])), (0, sizes["sets"] - 1), (most, 0), (most - 1, 1 << most - 1)):
        row = KeyRow(pieces=[rng.randrange(8) for _ in range(6)], mask=ALL, set_base=base, set_bits=bits)
        await bench.access(Request(KEY, 2, row))
        found = bench.seen["exact"]
        for _ in range(40):
            phv = any_phv(rng)
            key, way = row.key(phv), rng.randrange(4)
            at = row.sets(key)[way // 2]
            assert base <= at < base + (1 << bits)
            await bench.access(Request(EXACT + way, at, Exact(1, 1, key, rng.randrange(512), rng.randrange(2048))))
            await bench.cycle(Packet(phv, 1))
            await bench.drain()
        assert bench.seen["exact"] == found + 40


@cocotb.test()
async def a_ternary_entry_is_the_old_one_none_or_the_new_one(dut):
    bench, traffic = await begin(dut, "rewrite")
    rng = traffic.rng
    row = KeyRow(pieces=[rng.randrange(8) for _ in range(6)], mask=ALL, set_bits=0, default_valid=1)
    await bench.access(Request(KEY, 2, row))
    await bench.access(Request(KEY, 3, row))
    for way in range(4):
        await bench.access(Request(EXACT + way, 0, Exact(0, 0, 0)))
    for _ in range(12):
        index = rng.randrange(bench.sizes["ternary"])
        phv, other = any_phv(rng), any_phv(rng)
        for generations, at in ((3, phv), (3, phv), (1, other), (2, phv), (0, phv), (3, other)):
            mask = rng.choice((ALL, rng.getrandbits(KEY_BITS)))
            entry = Ternary(generations, 1, row.key(at) & mask, mask, rng.randrange(512), rng.randrange(2048))
            request = Request(TERNARY, index, entry)
            phvs = (phv, phv, other)
            await bench.access(request, lambda phvs=phvs: Packet(rng.choice(phvs), 1, rng.getrandbits(1)))
            for _ in range(rng.randrange(6)):
                await bench.cycle(Packet(phv, 1, rng.getrandbits(1)))
        await bench.access(Request(TERNARY, index, slice=rng.getrandbits(1)))
    await bench.drain()
    assert bench.seen["ternary"] > 100 and bench.seen["default"] > 300


@cocotb.test()
async def hits_are_exact_live_and_at_the_snapshot(dut):
    bench, traffic = await begin(dut, "hits")
    rng = traffic.rng
    await traffic.fill()
    for module in traffic.modules:
        for generation in (0, 1):
            row = any_key_row(rng, traffic.phvs, bench.sizes)
            # Few counters, so that packets meet theirs back to back.
            row.hits_base, row.default_valid, row.default_number = rng.choice((2047, 5)), 1, rng.randrange(3)
            await bench.access(Request(KEY, 2 * module + generation, row))

    def requests():
        if rng.random() < 0.5:
            return Request(OWNER, 0, rng.getrandbits(1)) if rng.random() < 0.05 else None
        return Request(HITS, rng.choice((2047, 0, 1, 5, 6, 7)), snapshot=rng.getrandbits(1))

    await run(bench, traffic, 1500, 0.95, requests)
    assert bench.seen["answer", HITS, True, OK] > 200 and sum(bench.hits.values()) > 500


@cocotb.test()
async def the_owner_of_a_stage_is_the_targets_after_reset(dut):
    bench = await Bench(dut).begin()
    traffic = Traffic(bench, bench_rng("owner"))
    assert await bench.access(Request(OWNER, 0)) == TARGETS[int(dut.Target.value)]["system_stages"] >> bench.stage & 1
    await traffic.fill()
    for value in (1, 0, 1):
        for _ in range(20):
            await bench.cycle(traffic.packet())
        await bench.access(Request(OWNER, 0, value), traffic.packet)
        assert await bench.access(Request(OWNER, 0), traffic.packet) == value
    await bench.drain()


@cocotb.test()
async def wrong_accesses_change_nothing(dut):
    bench, traffic = await begin(dut, "wrong")
    sizes, rng = bench.sizes, traffic.rng
    await traffic.fill()
    noise = rng.getrandbits(32 * 77)
    for request, status in (
        (Request(KEY, 2 * sizes["modules"]), BAD_ADDRESS),
        (Request(KEY, 0, slice=2), BAD_ADDRESS),
        (Request(KEY, 0, snapshot=1), BAD_ADDRESS),
        (Request(KEY, 0, noise, words=15), BAD_LENGTH),
        (Request(EXACT, sizes["sets"], noise), BAD_ADDRESS),
        (Request(EXACT + 3, 0, noise, words=8), BAD_LENGTH),
        (Request(EXACT + 1, 0, slice=1), BAD_ADDRESS),
        (Request(TERNARY, sizes["ternary"], noise), BAD_ADDRESS),
        (Request(TERNARY, 0, slice=2), BAD_ADDRESS),
        (Request(TERNARY, 1, noise, words=77), BAD_LENGTH),
        (Request(OWNER, 1), BAD_ADDRESS),
        (Request(OWNER, 0, 1, words=2), BAD_LENGTH),
        (Request(HITS, 2048), BAD_ADDRESS),
        (Request(HITS, 0, 1), READ_ONLY),
        (Request(14, 0), BAD_ADDRESS),
        (Request(255, 0, noise), BAD_ADDRESS),
    ):
        await bench.access(request, lambda: traffic.packet() if rng.random() < 0.5 else None)
        assert request.status == status
    for index in range(3):
        await bench.access(Request(TERNARY, index % sizes["ternary"]))
        await bench.access(Request(EXACT + 3, index))
        await bench.access(Request(KEY, index, slice=1))
    await run(bench, traffic, 100, 0.8, lambda: None)


@cocotb.test()
async def a_read_waits_for_a_slot_and_asks_for_it(dut):
    bench, traffic = await begin(dut, "slots")
    await traffic.fill()
    for table in (KEY, EXACT, EXACT + 2):
        request = Request(table, traffic.rng.randrange(8))
        await bench.cycle(traffic.packet(), request)
        await bench.cycle(traffic.packet())
        for _ in range(300):
            await bench.cycle(traffic.packet())
            assert int(dut.slot_request_o.value) and bench.request is request
        await bench.cycle()
        for _ in range(8):
            await bench.cycle(traffic.packet())
        assert bench.request is None and not int(dut.slot_request_o.value)
    await bench.drain()


@pytest.mark.parametrize("target", [DEFAULT, TINY])
def test_match(target):
    run_bench("rmt_match_target", packages=PACKAGES, sources=SOURCES, parameters={"Target": target})


def test_match_as_synthesized():
    """The bodies that synthesis gets, where they are others (docs/decisions/simulated-bodies.md)."""
    run_bench(
        "rmt_match_target", packages=PACKAGES, sources=SOURCES, parameters={"Target": 1}, defines={"SYNTHESIS": 1}
    )


@pytest.mark.long
def test_match_as_gates():
    """The netlist that Yosys makes of the bodies that synthesis gets, in their place."""
    gates = netlist("sluice_rmt_match", {"Target": 1}, around="tb/rmt/match/gates/rmt_match_gates.sv")
    sources = ["tb/rmt/match/gates/sluice_rmt_match.sv", gates, *SOURCES]
    run_bench("rmt_match_target", packages=PACKAGES, sources=sources, parameters={"Target": 1})
