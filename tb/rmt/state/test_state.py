"""State of a stage: page table, words, atom and meter, with the host's accesses (sluice_rmt_state in sluice_rmt_act).

Claims
- packets that access one word 1, 2, 3, 4 and more cycles apart see each other's updates in order, whatever the
  access: all choices, relations, operands, updates, and meters
- meters pass what the reference passes, also where their clock wraps
- an index behind the module's pages, or of an invalid page, changes nothing and counts for the owner of the rows;
  snapshots of the counters are those of the last change of the epoch
- the host's reads and writes are in order with the packets, with updates under way before and behind
- a zeroed page is zero when the answer comes, under full traffic too, and no other word has changed
- without a bubble and with an access in every cycle the host waits and asks for a slot
"""

import cocotb
import pytest
from rmt.act.act_bench import PACKAGES, PAGE, SOURCES, STATE_RANGE, STATE_WORD, ZERO_PAGE, Bench, Packet, Request
from rmt.act.random_action import any_phv, any_state
from rmt.act.reference import ACCESS, METER, OLD, Action, Picks, State
from rmt.codes import IndexSource, When
from sluice_tb import DEFAULT, TINY, bench_rng, run_bench

CROSS_C4 = 8


def access(owner: int, state: State) -> Action:
    """An action that does nothing else; P2 of the 2-byte class is c2[0], O, T, F may be c4[0], X is c4[1]."""
    action = Action(owner=owner, state=state, cross_source=CROSS_C4 + 1)
    action.picks[1] = Picks([0, 0, 0], [0, 2], 0, 0)
    return action


def near(rng, value: int) -> int:
    return (value + rng.choice((-1, 0, 0, 1))) % 2**32


def small_state(rng, number: int, owner_words: int = 4) -> State:
    """Any access, at one of few words; the number goes through choices and relations."""
    state = any_state(rng)
    if number % 4 == 3:
        state.kind, state.per_packet, state.shift = METER, number // 4 % 2, rng.choice((8, 8, 0, rng.randrange(64)))
        state.f = rng.choice((rng.getrandbits(12), rng.getrandbits(31)))
        state.o = rng.randrange(state.f + 1)
        state.t = rng.choice((state.f - state.o, rng.getrandbits(20)))
    else:
        # Operands near each other, so that every relation goes both ways.
        state.kind, state.condition, state.relation = ACCESS, min(number % 9, OLD), number % 6
        state.o, state.t, state.f = near(rng, 5), rng.randrange(4), rng.randrange(12)
        if rng.random() < 0.3:
            state.o = near(rng, 2**32 - 1)
    state.source, state.index_mask, state.base = IndexSource.P2, owner_words - 1, 0
    state.when = rng.choice((When.ALWAYS, When.ALWAYS, *When))
    return state


def at(rng, word: int, **changes) -> Packet:
    """A packet that accesses this word of the module."""
    phv = any_phv(rng)
    phv.c[0] = word | rng.getrandbits(12) << 4
    phv.c[8], phv.c[9] = rng.randrange(12), rng.randrange(12)
    return Packet(phv, conditions=[rng.getrandbits(1), rng.getrandbits(1)], **changes)


async def final(bench, words):
    """Every word is what the reference says."""
    await bench.settle(20)
    for word in words:
        await bench.access(Request(STATE_WORD, word))


async def begin(dut, modules=(1,)):
    """The first words of each module lie in a page of its own."""
    bench = await (await Bench(dut).begin()).adopt()
    for n, module in enumerate(modules):
        for generation in (0, 1):
            await bench.write(PAGE, 128 * module + 64 * generation, (n + 1) << 1 | 1)
    return bench


@cocotb.test()
async def accesses_to_few_words_at_every_distance_are_in_order(dut):
    rng = bench_rng("state_distance")
    bench = await begin(dut)
    rows = list(range(12))
    for turn in range(12):
        for row in rows:
            await bench.write_action(row, access(1, small_state(rng, 12 * turn + row)))
        words = 1 + turn % 4
        stamp = rng.getrandbits(48)
        for _ in range(500):
            if rng.random() < 0.25:
                await bench.cycle()
                continue
            packet = at(rng, rng.randrange(words), action=rng.choice(rows), dropped=int(rng.random() < 0.03))
            stamp = (stamp + rng.choice((0, 1, 100, rng.getrandbits(40)))) % 2**48
            packet.phv.words[5:7], packet.phv.queueing_high = [stamp & 0xFFFF, stamp >> 16 & 0xFFFF], stamp >> 32
            await bench.cycle(packet)
        await final(bench, range(64, 68))
    for distance in range(1, 6):
        assert bench.done["distance", distance] > 30
    for condition in range(5):
        assert bench.done["state", 1, condition, None] > 5
    for relation in range(6):
        assert bench.done["state", 1, OLD, relation] > 5
    for per_packet in (0, 1):
        for red in (0, 1):
            assert bench.done["meter", per_packet, red] > 5


@cocotb.test()
async def a_counter_counts_every_packet_of_a_full_line(dut):
    rng = bench_rng("state_count")
    bench = await begin(dut)
    await bench.write_action(3, access(1, State(ACCESS, t=1, t_old=1, old_to=8, new_to=9)))
    for _ in range(300):
        await bench.cycle(at(rng, 0, action=3))
    await bench.settle()
    assert await bench.access(Request(STATE_WORD, 64)) == (0, 300)


@cocotb.test()
async def meters_pass_burst_and_rate_also_where_the_clock_wraps(dut):
    rng = bench_rng("state_meter")
    bench = await begin(dut)
    for turn in range(6):
        per_packet, shift = turn % 2, (8, 8, 16, 24, 8, 0)[turn]
        unit = max(1, 2**shift >> 8)
        scale = max(1, 256 >> shift)
        cost = (100 if per_packet else 3 << 15) * scale
        most = cost if per_packet else (9216 * cost) >> 16
        limit = rng.choice((0, 300, 5000)) * scale
        steps = [n * unit for n in ((0, 20, 100, 150, 1) if per_packet else (0, 1, 20, 4000, 9000))]
        state = State(kind=METER, o=limit, t=cost, f=limit + most, per_packet=per_packet, shift=shift, old_to=10,
                      new_to=11)  # fmt: skip
        await bench.write_action(7, access(1, state))
        # The clock of 32 bits of the unit goes round on the way, and so does the stamp of 48.
        stamp = (2**48 - 20_000 * unit) % 2**48 if turn == 5 else (rng.getrandbits(8) << 40) - 20_000 * unit
        stamp %= 2**48
        await bench.write(STATE_WORD, 64, (stamp << 8 >> shift) & 0xFFFFFFFF)
        before = bench.done["meter", per_packet, 0], bench.done["meter", per_packet, 1]
        for _ in range(700):
            stamp = (stamp + rng.choice(steps)) % 2**48
            packet = at(rng, 0, action=7)
            packet.phv.words[1] = rng.choice((60, 64, 1500, rng.randrange(14, 9217)))
            packet.phv.words[5:7], packet.phv.queueing_high = [stamp & 0xFFFF, stamp >> 16 & 0xFFFF], stamp >> 32
            await bench.cycle(packet if rng.random() < 0.8 else None)
        green, red = bench.done["meter", per_packet, 0] - before[0], bench.done["meter", per_packet, 1] - before[1]
        assert green > 30 and red > 30
    await final(bench, [64])


@cocotb.test()
async def an_index_behind_the_pages_is_not_done_and_counts_for_the_owner_of_the_rows(dut):
    rng = bench_rng("state_range")
    bench = await begin(dut, modules=(0, 1, 2))
    last = bench.sizes["modules"] - 1
    for row, owner in ((0, 0), (1, 1), (2, 2), (3, last)):
        state = State(ACCESS, t=1, t_old=1, source=IndexSource.P2, index_mask=0xFFF, base=0, old_to=8, new_to=9)
        await bench.write_action(row, access(owner, state))
    over = State(ACCESS, t=1, t_old=1, source=IndexSource.P2, index_mask=0xFFF, base=0xFFF, old_to=8, new_to=9)
    await bench.write_action(4, access(1, over))
    reads, epoch = 0, bench.epoch
    for _ in range(1500):
        row = rng.randrange(5)
        module, system = {0: (rng.randrange(1, last), 1), 1: (1, 0), 2: (2, 0), 3: (last, 0), 4: (1, 0)}[row]
        packet = at(rng, 0, module=module, system=system, action=row, generation=rng.getrandbits(1),
                    system_generation=rng.getrandbits(1))  # fmt: skip
        packet.phv.c[0] = rng.choice((0, 63, 64, 4095, rng.getrandbits(16)))
        request = None
        if bench.request is None:
            while bench.answers:
                bench.taken()
                reads += 1
            if rng.random() < 0.3:
                request = Request(STATE_RANGE, rng.choice((0, 1, 2, last)), snapshot=rng.random() < 0.5)
        if rng.random() < 0.05:
            epoch += 1
        await bench.cycle(packet if rng.random() < 0.9 else None, request, epoch)
    await bench.settle(20)
    while bench.answers:
        bench.taken()
    for module in (0, 1, 2, last):
        await bench.access(Request(STATE_RANGE, module))
        assert bench.ranges[module] > 50
    assert reads > 100
    await final(bench, [64, 127, 128, 191, 192, 255])


@cocotb.test()
async def the_host_reads_and_writes_in_order_with_the_packets(dut):
    rng = bench_rng("state_host")
    bench = await begin(dut)
    await bench.write_action(
        0, access(1, State(ACCESS, t=1, t_old=1, source=IndexSource.P2, index_mask=3, old_to=8, new_to=9))
    )
    await bench.write_action(
        1, access(1, State(ACCESS, when=When.IF0, t=3, t_old=1, source=IndexSource.P2, index_mask=3, new_to=9))
    )
    done = 0
    for _ in range(3000):
        request = None
        if bench.request is None:
            while bench.answers:
                bench.taken()
                done += 1
            if rng.random() < 0.5:
                write = rng.random() < 0.5
                request = Request(STATE_WORD, 64 + rng.randrange(2), write=write, value=rng.getrandbits(32))
        bubble = rng.random() < (0.3 if int(dut.slot_request_o.value) else 0.05)
        await bench.cycle(None if bubble else at(rng, rng.randrange(2), action=rng.randrange(2)), request)
    assert done > 200
    await bench.settle(20)
    bench.answers.clear()
    await final(bench, range(64, 68))


@cocotb.test()
async def a_zeroed_page_is_zero_under_full_traffic_and_nothing_else_changes(dut):
    rng = bench_rng("state_zero")
    bench = await begin(dut)
    await bench.write_action(
        0, access(1, State(ACCESS, t=1, t_old=1, source=IndexSource.P2, index_mask=3, old_to=8, new_to=9))
    )
    for page in (2, 3):
        for word in (0, 1, 31, 62, 63):
            await bench.write(STATE_WORD, 64 * page + word, rng.getrandbits(32) | 1)
    request, waited = Request(ZERO_PAGE, 3, write=True), 0
    await bench.cycle(at(rng, 0, action=0), request)
    for slot in range(64):
        # An access in every cycle: it asks, and nothing happens until the bubble comes.
        for _ in range(12 if slot else 20):
            await bench.cycle(at(rng, rng.randrange(4), action=0))
            waited += 1
        assert bench.request is request and int(dut.slot_request_o.value)
        await bench.cycle()
    for _ in range(6):
        await bench.cycle(at(rng, rng.randrange(4), action=0))
    assert bench.request is None and not int(dut.slot_request_o.value)
    bench.taken()
    await final(bench, [*range(64 * 2, 64 * 4), *range(64, 68)])
    # And without packets: a word a cycle.
    before = bench.now
    await bench.access(Request(ZERO_PAGE, 2, write=True))
    assert bench.now - before < 75
    await final(bench, [*range(64 * 2, 64 * 3), 64])


@cocotb.test()
async def an_invalid_page_takes_the_words_away_and_the_other_generation_keeps_them(dut):
    rng = bench_rng("state_pages")
    bench = await begin(dut)
    await bench.write_action(0, access(1, State(ACCESS, t=1, t_old=1, old_to=8, new_to=9)))
    # Written while packets of both generations pass.
    for value in (0, 2 << 1 | 1, 2 << 1, 1 << 1 | 1):
        for n in range(30):
            request = Request(PAGE, 128, write=True, value=value) if n == 12 else None
            await bench.cycle(at(rng, 0, action=0, generation=n & 1), request)
        bench.taken()
    await bench.settle()
    assert bench.done["range"] > 10
    await final(bench, [64, 128])


@pytest.mark.parametrize("target", [DEFAULT, TINY])
def test_state(target):
    run_bench("rmt_act_target", packages=PACKAGES, sources=SOURCES, parameters={"Target": target})
