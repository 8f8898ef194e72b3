"""sluice_warp.

Claims
- beats leave as they came, each with the leaf of the first rule that its packet's key agrees with, whatever stalls;
  words of its steps come behind its first beat, in the order of packets
- packets of one beat pass one a cycle, 11 cycles later; steps two a cycle and words one, the first 5 cycles behind its
  packet
- each lane shows each byte, each predicate each shift and limit at its edge, each part any bytes; bytes behind the
  frame's end are zero
- a table that is written while packets of its module's other generation pass is seen by none of them
- with 8 packets whose steps wait, the next one with steps waits, and nobody before it; not longer than one's pairs or
  words take, which are 16 and 31 at most
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
from warp.warp_model import (
    HITS,
    LANES,
    LEAVES,
    MOST_HITS,
    PLAIN,
    RESUME,
    VERDICT,
    Packet,
    counter,
    ends_of_pairs,
    holds,
)
from warp.warp_traffic import LATENCY, PACKAGES, WORD, Traffic, by_first_byte, leaf, nowhere, telling


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
async def steps_and_their_words_pass_two_a_cycle(dut):
    rng = bench_rng("warp_steps")
    traffic = await Traffic.begun(dut, rng)
    table = traffic.random_table([traffic.random_packet(1, 1)])
    table.rules = [(0, 0)] * traffic.rules
    await traffic.load(1, 1, table)

    async def took(first, targets, each=40):
        """Cycles of a packet, where many like it come one behind the other."""
        for at, target in enumerate(targets):
            table.steps[(first + at) % traffic.steps]["target"] = target
        table.leaves[0] = leaf(7, step=first, steps=len(targets))
        await traffic.write(table.ends(1, 1))
        before, left = len(traffic.set_cycles), len(traffic.out_cycles)
        for _ in range(each):
            packet = traffic.random_packet(1, 1)
            packet.frame = packet.frame[:64]
            traffic.send(packet)
        words = len(table.sets(packet))
        await traffic.done()
        cycles = traffic.set_cycles[before:]
        assert len(cycles) == each * words
        counts = ends_of_pairs(first, targets)
        ready = next(n for n, count in enumerate(counts) if count)
        assert cycles[0] - traffic.out_cycles[left] == WORD + ready
        return (cycles[-1] - cycles[words - 1]) / (each - 1)

    for first in (0, 5, 126):
        for steps in (1, 2, 3, 8, 16, 31):
            odd = first % 2
            pairs = (odd + steps + 1) // 2
            # One word; a word of each pair; a word of each step.
            for targets in ([3] * steps, [(odd + at) // 2 for at in range(steps)], list(range(steps))):
                assert await took(first, targets) == pairs
    for _ in range(40):
        first, steps = rng.randrange(128), rng.randint(1, 31)
        likely, targets = rng.random(), [0]
        while len(targets) < steps:
            targets.append(targets[-1] if rng.random() < likely else (targets[-1] + 1) % 64)
        assert await took(first, targets) == len(ends_of_pairs(first, targets))


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
    table = by_first_byte(traffic, leaf(1, step=4, steps=1), leaf(2, step=9, steps=9), leaf(3))
    table.steps = [traffic.random_step(5 if 9 <= at < 18 else at % 32) for at in range(traffic.steps)]
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

    # Of packets with a step each, back to back, four more have had theirs read: one word holds, and three are behind.
    await passed([1] * 12 + [0, 0, 1, 0], 14)
    # One whose steps are not all read has its room still. Of packets with a word of five pairs, two have had all read:
    # one word holds, the pairs of the next go on until its end.
    await passed([0, 2] * 12, 21, 200)
    await passed([0] * 30, 30)
    traffic.stall(sets=burst_stalls(rng, 60), sink=burst_stalls(rng, 5))
    for _ in range(300):
        traffic.send(Packet(bytes([rng.choice((0, 1, 2))]) + rng.randbytes(rng.randint(0, 150)), 2, 0, 0))
    await traffic.done()


@cocotb.test()
async def each_leafs_packets_are_counted_while_the_host_asks_and_sets(dut):
    rng = bench_rng("warp_hits")
    traffic = await Traffic.begun(dut, rng)
    await traffic.clear_hits()
    owners = [(module, generation) for module in rng.sample(range(traffic.modules), 2) for generation in range(2)]
    for owner in owners:
        await traffic.load(*owner, traffic.random_table([traffic.random_packet(*owner, 64) for _ in range(8)]))
    # Every leaf that a packet may have, and what is not there but would be in its place.
    near = [counter(*owner, rule) for owner in owners for rule in range(traffic.rules)]
    nowhere = [at + LEAVES * 2 * traffic.modules for at in near]
    nowhere += [at + traffic.rules for at in near] * (traffic.rules < LEAVES)
    stop = False

    async def host():
        while not stop:
            hot = [at for at in traffic.hits if at in near]
            index = rng.choice(hot if hot and rng.random() < 0.8 else [*near, *nowhere])
            if rng.random() < 0.2:
                await traffic.write(
                    [(HITS, index, rng.getrandbits(192) << 36 | rng.choice((MOST_HITS, MOST_HITS - 2, 0, 5)))]
                )
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
    assert traffic.hit_reads > 300 and sum(0 < traffic.hits[at] < MOST_HITS - 2 for at in near) > 8
    assert not any(traffic.hits[at] for at in nowhere)


@cocotb.test()
async def a_packet_a_cycle_is_counted_and_waits_a_cycle_for_the_host(dut):
    rng = bench_rng("warp_hits_rate")
    traffic = await Traffic.begun(dut, rng)
    await traffic.clear_hits()
    await traffic.load(1, 0, by_first_byte(traffic, leaf(1), leaf(2, kind=VERDICT), leaf(3, kind=PLAIN)))
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
    await traffic.load(1, 0, by_first_byte(traffic, leaf(1, steps=3), leaf(2, kind=VERDICT), leaf(3, kind=PLAIN)))
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
async def a_packet_holds_others_up_for_its_pairs(dut):
    """A tenant floods with steps; each of its packets is followed by one of another tenant."""
    rng = bench_rng("warp_neighbours")
    traffic = await Traffic.begun(dut, rng)
    table = traffic.random_table([traffic.random_packet(1, 1)])
    table.rules = [(0, 0)] * traffic.rules
    await traffic.load(1, 1, table)
    longest = 0
    for first, steps, words in ((1, 31, 1), (0, 31, 16), (0, 16, 8), (7, 16, 8), (7, 16, 16), (1, 31, 31)):
        for at in range(steps):
            table.steps[(first + at) % traffic.steps]["target"] = at * words // steps
        table.leaves[0] = leaf(1, step=first, steps=steps)
        await traffic.write(table.ends(1, 1))
        bound = (first % 2 + steps + 1) // 2
        before = len(traffic.out_cycles)
        for _ in range(30):
            for packet in (traffic.random_packet(1, 1), traffic.random_packet(3, 0)):
                packet.frame = packet.frame[:64]
                traffic.send(packet)
        await traffic.done()
        cycles = traffic.out_cycles[before:]
        holds_up = [after - one for one, after in zip(cycles[::2], cycles[2::2], strict=False)]
        assert max(holds_up) == bound and set(holds_up[-16:]) == {bound}, (first, steps, words)
        assert {after - one for one, after in zip(cycles[::2], cycles[1::2], strict=True)} == {1}
        longest = max(longest, bound)
    assert longest == 16


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
    await ClockCycles(dut.clk_i, 2)
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
