"""sluice_warp.

Claims
- beats leave as they came, each with the leaf of the first rule that its packet's key agrees with, whatever stalls;
  words of its steps come behind its first beat, in the order of packets
- packets of one beat pass one a cycle, 11 cycles later; steps one a cycle, the first word 5 cycles behind its packet
- each lane shows each byte, each predicate each shift and limit at its edge, each part any bytes; bytes behind the
  frame's end are zero
- a table that is written while packets of its module's other generation pass is seen by none of them
- with 8 packets whose steps wait, the next one with steps waits, and nobody before it
- each leaf's packets are counted, one a cycle, of one leaf too; the host reads and sets counters meanwhile, and nobody
  but packets that are counted waits for it
- a packet that is taken as plain is not counted, and no words come for it
- behind a reset every packet is plain, and counters are what they were
"""

from bisect import bisect_left

import cocotb
import pytest
from cocotb.triggers import ClockCycles, RisingEdge
from sluice_tb import always, bench_rng, burst_stalls, random_stalls, run_bench
from warp.warp_model import HITS, LANES, LEAVES, PLAIN, RESUME, VERDICT, Packet, Table, holds
from warp.warp_traffic import LATENCY, PACKAGES, WORD, Traffic, nowhere

NOTHING = {"pair": 0, "mask": 0, "down": 0, "add": 0, "limit": 0, "length": 0}
NO_COUNT = {"valid": 0, "wide": 0, "length": 0, "number": 0, "address": 0}


def leaf(number, **values):
    """A leaf that resumes at row `number`."""
    return {
        "kind": RESUME,
        "verdict": 0,
        "start": number,
        "work": 0,
        "step": 0,
        "steps": 0,
        "looks_up": 0,
        "map": 0,
        "key_bytes": 0,
        "counts": [NO_COUNT, NO_COUNT],
    } | values


def told(shift, bits, rules):
    """Rules that tell what these bits of the key are, which are not more than rules."""
    assert 1 << bits <= rules
    return [(((1 << bits) - 1) << shift, number << shift) for number in range(1 << bits)]


def telling(traffic, shift, bits, lanes=None, predicates=None):
    """A table whose leaf resumes at the row that these bits of the key are."""
    rules = told(shift, bits, traffic.rules)
    rules += [(1, 1), (1, 0)] * ((traffic.rules - len(rules)) // 2)
    steps = [{"constant": True, "target": 0, "number": 0}] * traffic.steps
    return Table(
        lanes or [0] * LANES, predicates or [NOTHING] * 8, rules, [leaf(n) for n in range(traffic.rules)], steps
    )


@cocotb.test()
async def each_packet_leaves_with_the_leaf_of_its_first_rule(dut):
    rng = bench_rng("warp_leaves")
    traffic = await Traffic.begun(dut, rng)
    owners = [(module, generation) for module in rng.sample(range(traffic.modules), 4) for generation in range(2)]
    several = 0
    for sources in (0.0, 0.3, 0.8):
        for owner in owners:
            packets = [traffic.random_packet(*owner) for _ in range(12)]
            await traffic.load(*owner, traffic.random_table(packets))
            for packet in packets + [traffic.random_packet(*rng.choice(owners)) for _ in range(20)]:
                traffic.send(packet)
            # A module of which nothing was written.
            traffic.send(traffic.random_packet(next(m for m in range(traffic.modules) if (m, 0) not in owners)))
            several += sum(
                sum(traffic.tables[owner].key(packet) & mask == value for mask, value in traffic.tables[owner].rules)
                > 1
                for packet in packets
            )
            traffic.stall(random_stalls(rng, sources), random_stalls(rng, rng.choice((0, 0.5))), burst_stalls(rng))
            await traffic.done()
        traffic.plain = rng.choice((0.0, 0.3))
    assert several > 50
    assert {PLAIN, VERDICT, RESUME} == set(traffic.kinds) and traffic.stepped > 100 and traffic.kinds.count(PLAIN) > 20


@cocotb.test()
async def short_packets_pass_one_a_cycle(dut):
    rng = bench_rng("warp_rate")
    traffic = await Traffic.begun(dut, rng)
    modules = rng.sample(range(traffic.modules), 5)
    for module in modules:
        packets = [traffic.random_packet(module, 0, 64) for _ in range(10)]
        table = traffic.random_table(packets)
        for one in table.leaves:
            one["steps"] = 0
        await traffic.load(module, 0, table)
    await ClockCycles(dut.clk_i, 2 * traffic.modules)
    for _ in range(600):
        packet = traffic.random_packet(rng.choice(modules), 0)
        packet.frame = packet.frame[:64]
        traffic.send(packet)
    await traffic.done()
    assert LATENCY <= 14
    assert set(traffic.latencies) == {LATENCY}
    assert traffic.out_cycles[-1] - traffic.out_cycles[0] == 599


@cocotb.test()
async def steps_pass_one_a_cycle(dut):
    rng = bench_rng("warp_steps")
    traffic = await Traffic.begun(dut, rng)
    table = traffic.random_table([traffic.random_packet(1, 1)])
    # Each step has a word of its own.
    for at, step in enumerate(table.steps):
        step["target"] = at % 32
    table.rules = [(0, 0)] * traffic.rules
    for steps in (1, 2, 5):
        table.leaves[0] = leaf(7, step=rng.randrange(128), steps=steps)
        await traffic.load(1, 1, table)
        before, left = len(traffic.set_cycles), len(traffic.out_cycles)
        for _ in range(120):
            packet = traffic.random_packet(1, 1)
            packet.frame = packet.frame[:64]
            traffic.send(packet)
        await traffic.done()
        cycles = traffic.set_cycles[before:]
        assert len(cycles) == 120 * steps
        assert cycles[0] - traffic.out_cycles[left] == WORD
        assert cycles[-1] - cycles[0] == len(cycles) - 1


@cocotb.test()
async def each_lane_shows_each_byte(dut):
    """Packets of a module tell one half of one lane's byte."""
    rng = bench_rng("warp_lanes")
    traffic = await Traffic.begun(dut, rng, 200_000)
    halves = [(lane, half) for lane in range(LANES) for half in range(2)]
    room = 2 * traffic.modules
    for first in range(0, len(halves), room):
        now = halves[first : first + room]
        for at, (lane, half) in enumerate(now):
            await traffic.load(at // 2, at % 2, telling(traffic, 8 * lane + 4 * half, 4))
        for byte in range(128):
            for at in range(len(now)):
                table = traffic.tables[at // 2, at % 2]
                table.lanes = [(byte + 37 * lane) % 128 for lane in range(LANES)]
                await traffic.write(table.head(at // 2, at % 2))
            for at in range(len(now)):
                for size in (64, rng.randint(1, 64)):
                    frame = bytes(rng.randrange(256) for _ in range(size))
                    traffic.send(Packet(frame, at // 2, at % 2, rng.getrandbits(32)))
            await traffic.done()
    assert traffic.kinds.count(RESUME) == 2 * 128 * len(halves)


@cocotb.test()
async def each_predicate_holds_up_to_its_limit(dut):
    """Packets of generation 0 tell predicates 0 to 3, of generation 1 the others; the sum is near the limit."""
    rng = bench_rng("warp_predicates")
    traffic = await Traffic.begun(dut, rng, 100_000)
    for generation in range(2):
        await traffic.load(3, generation, telling(traffic, 8 * LANES + 4 * generation, 4))
    answers = {}
    for at in range(320):
        frame = bytes(rng.choice((0, 255, rng.randrange(256))) for _ in range(rng.randint(1, 300)))
        packet = Packet(frame, 3, 0, 0)
        lanes = [rng.randrange(min(64, len(frame))) for _ in range(LANES)]
        shown = [packet.seen(lane) for lane in lanes]
        predicates = []
        for _ in range(8):
            down, by_length = at % 32, at // 32 % 2
            one = {
                "pair": rng.choice((rng.randrange(7), rng.randrange(8))),
                "mask": rng.choice((0xFFFF, 0xFFFF, rng.getrandbits(16))),
                "down": down,
                "add": rng.choice((0, 0, 0x8000, 0xFFFF, rng.getrandbits(16))),
                "limit": 0,
                "length": by_length,
            }
            # The sum modulo 2^16, by the model: the lowest limit that it does not pass.
            total = bisect_left(
                range(1 << 16), True, key=lambda n, one=one: holds(one | {"limit": n, "length": 0}, shown, 0)
            )
            number = total - one["add"]
            if by_length and rng.random() < 0.8:
                one["add"] = (len(frame) - number % (1 << 16) + rng.choice((-1, 0, 1))) % (1 << 16)
            elif not by_length:
                one["limit"] = min(max(total + rng.choice((-1, 0, 1)), 0), 0xFFFF)
            else:
                one["limit"] = rng.getrandbits(16)
            predicates.append(one)
            answers.setdefault((down, by_length), set()).add(holds(one, shown, len(frame)))
        for generation in range(2):
            table = traffic.tables[3, generation]
            table.lanes, table.predicates = lanes, predicates
            await traffic.write([*table.asked(3, generation), *table.head(3, generation)])
            traffic.send(Packet(frame, 3, generation, 0))
        await traffic.done()
    assert all(len(answers[down, by_length]) == 2 for down in range(32) for by_length in range(2))
    assert set(traffic.kinds) == {RESUME}


@cocotb.test()
async def each_part_takes_its_bytes(dut):
    rng = bench_rng("warp_parts")
    traffic = await Traffic.begun(dut, rng, 300_000)
    table = telling(traffic, 0, 4)
    table.rules = [(0, 0)] * traffic.rules
    parts = [
        {
            "offset": offset,
            "bytes": size,
            "swap": swap,
            "down": rng.randrange(8),
            "width": rng.choice((63, rng.randrange(64))),
            "up": rng.choice((0, rng.randrange(64))),
        }
        for offset in range(128)
        for size in range(8)
        for swap in range(2)
    ]
    parts += [traffic.random_part() for _ in range(1024)]
    rng.shuffle(parts)
    traffic.stall(sets=random_stalls(rng, 0.1))
    for first in range(0, len(parts), traffic.steps):
        chosen = parts[first : first + traffic.steps]
        table.steps = [{"constant": False, "target": at % 32, "part": part} for at, part in enumerate(chosen)]
        for at in range(0, traffic.steps, 31):
            table.leaves[0] = leaf(at, step=at, steps=31)
            await traffic.load(0, 0, table) if at == 0 else await traffic.write(table.ends(0, 0))
            for size in (300, 64, rng.randint(1, 64)):
                frame = bytes(rng.randrange(256) for _ in range(size))
                traffic.send(Packet(frame, 0, 0, rng.getrandbits(32)))
            await traffic.done()
    assert traffic.stepped == len(traffic.latencies)


@cocotb.test()
async def a_table_changes_while_packets_of_the_other_generation_pass(dut):
    rng = bench_rng("warp_change")
    traffic = await Traffic.begun(dut, rng)
    modules = rng.sample(range(traffic.modules), 3)
    current = dict.fromkeys(modules, 0)
    for module in modules:
        await traffic.load(module, 0, traffic.random_table([traffic.random_packet(module, 0) for _ in range(10)]))
    traffic.stall(random_stalls(rng, 0.1), random_stalls(rng, 0.3), random_stalls(rng, 0.2))
    stop = False

    async def load():
        while not stop:
            if len(traffic.packets) < 10:
                module = rng.choice(modules)
                traffic.send(traffic.random_packet(module, current[module]))
            await RisingEdge(dut.clk_i)

    sender = cocotb.start_soon(load())
    for _ in range(12):
        module = rng.choice(modules)
        after = 1 - current[module]
        while any(p.module == module and p.generation == after for p in [*traffic.packets, *traffic.inside]):
            await RisingEdge(dut.clk_i)
        # Their steps may wait longer.
        while any(owner == (module, after) for owner, _ in traffic.waiting):
            await RisingEdge(dut.clk_i)
        table = traffic.random_table([traffic.random_packet(module, after) for _ in range(10)])
        rows = traffic.mixed(table.rows(module, after, traffic.modules))
        if rng.randrange(2):
            rows[0:0] = table.head(module, after, valid=False)
        for _ in range(20):
            rows.insert(rng.randrange(len(rows)), nowhere(rng, traffic.modules, traffic.rules, traffic.steps))
        await traffic.write(rows)
        traffic.tables[module, after] = table
        current[module] = after
    stop = True
    await sender
    await traffic.done()
    assert len(traffic.latencies) > 2000 and traffic.stepped > 500


@cocotb.test()
async def with_eight_packets_that_wait_the_next_one_with_steps_waits(dut):
    rng = bench_rng("warp_waits")
    traffic = await Traffic.begun(dut, rng)
    table = telling(traffic, 0, 1)
    table.rules = [(0xFF, 1), (0xFF, 5)] + [(0, 0)] * (traffic.rules - 2)
    table.steps = [traffic.random_step(at % 32) for at in range(traffic.steps)]
    table.leaves[:3] = [leaf(1, step=4, steps=1), leaf(2, step=9, steps=9), leaf(3)]
    await traffic.load(2, 0, table)

    async def passed(begins, expected, most=64):
        """How many of the packets that begin so leave while no word is taken."""
        traffic.stall(sets=always())
        before = len(traffic.latencies)
        for byte in begins:
            traffic.send(Packet(bytes([byte]) + rng.randbytes(rng.randrange(most)), 2, 0, 0))
        await ClockCycles(dut.clk_i, 200)
        assert len(traffic.latencies) - before == expected
        traffic.stall()
        await traffic.done()

    # Of packets with a step each, back to back, four more have had theirs read: the first word holds, and three are
    # behind it.
    await passed([1] * 12 + [0, 0, 1, 0], 14)
    # One whose steps are not all read has its room still.
    await passed([0, 5] * 8 + [0, 0, 0, 1, 0], 19, 200)
    await passed([0] * 30, 30)
    traffic.stall(sets=burst_stalls(rng, 60), sink=burst_stalls(rng, 5))
    for _ in range(300):
        traffic.send(Packet(bytes([rng.choice((0, 1, 5))]) + rng.randbytes(rng.randint(0, 150)), 2, 0, 0))
    await traffic.done()


MOST = (1 << 36) - 1


def counter(module, generation, rule):
    return LEAVES * (2 * module + generation) + rule


@cocotb.test()
async def each_leafs_packets_are_counted_while_the_host_asks_and_sets(dut):
    rng = bench_rng("warp_hits")
    traffic = await Traffic.begun(dut, rng)
    await traffic.clear_hits()
    owners = [(module, generation) for module in rng.sample(range(traffic.modules), 2) for generation in range(2)]
    for owner in owners:
        await traffic.load(*owner, traffic.random_table([traffic.random_packet(*owner, 64) for _ in range(8)]))
    # Every leaf that a packet may have, some that none has, and what is not there.
    near = [counter(*owner, rule) for owner in owners for rule in range(traffic.rules)]
    nowhere = [LEAVES * 2 * traffic.modules + rng.randrange(LEAVES), (1 << 17) - 1]
    nowhere += [counter(0, 0, traffic.rules)] if traffic.rules < LEAVES else []
    stop = False

    async def host():
        while not stop:
            hot = [at for at in traffic.hits if at in near]
            index = rng.choice(hot if hot and rng.random() < 0.8 else [*near, *nowhere])
            if rng.random() < 0.2:
                await traffic.write([(HITS, index, rng.getrandbits(192) << 36 | rng.choice((MOST, MOST - 2, 0, 5)))])
            else:
                await traffic.ask(index)
            await ClockCycles(dut.clk_i, rng.choice((0, 0, 1, 2, 9)) + 1)

    asking = cocotb.start_soon(host())
    for sink, plain in ((0.0, 0.0), (0.5, 0.5), (0.0, 0.1)):
        traffic.plain = plain
        traffic.stall(sink=random_stalls(rng, sink))
        for _ in range(500):
            packet = traffic.random_packet(*rng.choice(owners), 64)
            # The same leaf often twice, or again behind another one.
            for again in rng.choice(([packet], [packet] * 3, [packet, None, packet])):
                other = again or traffic.random_packet(*rng.choice(owners), 64)
                traffic.send(Packet(other.frame, other.module, other.generation, other.ifindex))
        await traffic.done()
    stop = True
    await asking
    for index in [*near, *nowhere]:
        await traffic.ask(index)
    await ClockCycles(dut.clk_i, 5)
    assert traffic.hit_reads > 300 and sum(0 < traffic.hits[at] < MOST - 2 for at in near) > 8
    assert not any(traffic.hits[at] for at in nowhere)


@cocotb.test()
async def a_packet_a_cycle_is_counted_and_waits_a_cycle_for_the_host(dut):
    rng = bench_rng("warp_hits_rate")
    traffic = await Traffic.begun(dut, rng)
    await traffic.clear_hits()
    table = telling(traffic, 0, 1)
    table.rules = [(0xFF, 1), (0xFF, 2)] + [(0, 0)] * (traffic.rules - 2)
    table.leaves[:3] = [leaf(1), leaf(2, kind=VERDICT), leaf(3, kind=PLAIN)]
    await traffic.load(1, 0, table)
    same, turns, plain = [1] * 400, [1, 2] * 200, [9] * 400
    asked = 0

    async def passed(begins, pause):
        """Cycles more than packets; the host asks with a pause of so many cycles, or not."""
        nonlocal asked
        before, stop = len(traffic.out_cycles), False

        async def host():
            nonlocal asked
            while not stop:
                await traffic.ask(counter(1, 0, rng.randrange(3)))
                await ClockCycles(dut.clk_i, pause)
                asked += len(traffic.out_cycles) > before and bool(traffic.inside)

        asked = 0
        asking = None if pause is None else cocotb.start_soon(host())
        for byte in begins:
            traffic.send(Packet(bytes([byte]), 1, 0, 0))
        await traffic.done()
        stop = True
        if asking:
            await asking
        cycles = traffic.out_cycles[before:]
        return cycles[-1] - cycles[0] + 1 - len(cycles)

    for begins in (same, turns, plain):
        assert await passed(begins, None) == 0
    for begins in (same, turns):
        for pause in (1, 5):
            waited = await passed(begins, pause)
            assert 0 < waited <= asked + 1
    assert await passed(plain, 1) == 0
    for rule, count in ((0, 400 * 3 + 200 * 3), (1, 200 * 3), (2, 0)):
        assert traffic.hits[counter(1, 0, rule)] == count
        await traffic.ask(counter(1, 0, rule))
    await ClockCycles(dut.clk_i, 5)


@cocotb.test()
async def a_packet_that_is_taken_as_plain_is_not_counted_and_gets_no_words(dut):
    rng = bench_rng("warp_plain")
    traffic = await Traffic.begun(dut, rng)
    await traffic.clear_hits()
    table = telling(traffic, 0, 1)
    table.rules = [(0xFF, 1), (0xFF, 2)] + [(0, 0)] * (traffic.rules - 2)
    table.leaves[:3] = [leaf(1, steps=3), leaf(2, kind=VERDICT), leaf(3, kind=PLAIN)]
    await traffic.load(1, 0, table)
    for plain, most in ((1.0, 64), (0.5, 300)):
        traffic.plain = plain
        await ClockCycles(dut.clk_i, 2)
        before = traffic.stepped
        for _ in range(200):
            traffic.send(Packet(bytes([rng.randint(1, 3)]) + rng.randbytes(rng.randrange(most)), 1, 0, 0))
        await traffic.done()
        await ClockCycles(dut.clk_i, 20)
        assert (traffic.stepped == before) == (plain == 1.0)
        assert (sum(traffic.hits.values()) == 0) == (plain == 1.0)
        for rule in range(3):
            await traffic.ask(counter(1, 0, rule))
    await ClockCycles(dut.clk_i, 5)


@cocotb.test()
async def behind_a_reset_every_packet_is_plain(dut):
    rng = bench_rng("warp_reset")
    traffic = await Traffic.begun(dut, rng)
    await traffic.clear_hits()
    everyone = [(module, generation) for module in range(traffic.modules) for generation in range(2)]
    table = telling(traffic, 0, 1)
    table.rules = [(0, 0)] * traffic.rules
    for owner in everyone:
        await (traffic.load(*owner, table) if owner[0] < 3 else traffic.write(table.head(*owner)))
    for owner in everyone[:6]:
        traffic.send(traffic.random_packet(*owner))
    await traffic.done()
    assert set(traffic.kinds) == {RESUME}
    dut.rst_ni.value = 0
    await ClockCycles(dut.clk_i, 3)
    dut.rst_ni.value = 1
    traffic.tables.clear()
    traffic.kinds.clear()
    for owner in everyone:
        traffic.send(traffic.random_packet(*owner))
    await traffic.done()
    assert traffic.kinds == [PLAIN] * len(everyone)
    assert sum(traffic.hits.values()) == 6
    for owner in everyone[:6]:
        await traffic.ask(counter(*owner, 0))
    await ClockCycles(dut.clk_i, 5)
    assert traffic.hit_reads == 6


TINY = (8, 16, 32)


@pytest.mark.parametrize("modules, rules, steps", [TINY, (64, 64, 128)])
def test_warp(modules, rules, steps):
    parameters = {"Modules": modules, "Rules": rules, "Steps": steps}
    run_bench("warp_bench", parameters=parameters, packages=PACKAGES, sources=["tb/warp/warp_bench.sv"])
