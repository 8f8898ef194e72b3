"""sluice_rmt_act: actions.

Claims
- every container, metadata word and state word after random actions is that of the reference, packets of several
  modules back to back, with every operation, operand, mask and `when` of each size
- an action row of another module does nothing and is a fault; a dropped packet and one without a winner do nothing
- no action row writes a hardware word; words 9 and 10 only in a stage of the system module
- all rows are read back as written, slice by slice, also under traffic; wrong accesses get their status
"""

import cocotb
import pytest
from rmt.act.act_bench import (
    ACTION,
    BAD_ADDRESS,
    BAD_LENGTH,
    DATA,
    OK,
    PACKAGES,
    PAGE,
    READ_ONLY,
    SOURCES,
    STATE_RANGE,
    STATE_WORD,
    ZERO_PAGE,
    Bench,
    Packet,
    Request,
)
from rmt.act.random_action import any_action, any_packet, any_phv
from rmt.act.reference import BITS, MOVE, Action, Alu, WordWrite
from sluice_tb import DEFAULT, TINY, bench_rng, run_bench


async def populate(bench, rng, modules, rows):
    """Random rows of the modules, action data, a few pages."""
    owners = {}
    for index in rng.sample(range(bench.sizes["actions"]), rows):
        owners[index] = rng.choice(modules)
        await bench.write_action(index, any_action(rng, owners[index]))
    data = rng.sample(range(bench.sizes["data"]), 8) + [0, bench.sizes["data"] - 1]
    for index in data:
        await bench.write(DATA, index, rng.getrandbits(128))
    pages = list(range(bench.sizes["words"] // 64))
    rng.shuffle(pages)
    for module in modules:
        for generation in (0, 1):
            for page in {0, rng.randrange(64)}:
                value = (pages.pop() if len(pages) > 1 else pages[0]) << 1 | 1
                await bench.write(PAGE, 128 * module + 64 * generation + page, value)
    return owners, data


@cocotb.test()
async def random_actions_of_several_modules_equal_the_reference(dut):
    rng = bench_rng("act")
    bench = await (await Bench(dut).begin()).adopt()
    modules = [0, *rng.sample(range(1, bench.sizes["modules"]), 3)]
    rows = min(28, bench.sizes["actions"] - 1)
    owners, data = await populate(bench, rng, modules, rows)
    for step in range(6000):
        if step % 1500 == 1499:
            # New rows, so that more of them are met.
            await bench.settle()
            for index in owners:
                await bench.write_action(index, any_action(rng, owners[index]))
        if rng.random() < 0.03:
            await bench.cycle()
        else:
            await bench.cycle(any_packet(rng, owners, data))
    await bench.settle()
    assert bench.faults > 50
    for k in range(3):
        for op in range(1, 10):
            assert bench.done["alu", k, op], f"operation {op} of class {k} was never met"
        for a in range(4):
            assert bench.done["a", k, a]
        for b in range(7):
            assert bench.done["b", k, b]
    for n in range(9, 16):
        for source in range(4):
            assert bench.done["word", n, source]
    assert all(bench.done["when", when] for when in range(5))
    assert bench.done["range"] > 20


@cocotb.test()
async def a_neighbours_row_does_nothing_and_is_a_fault(dut):
    rng = bench_rng("act_fault")
    bench = await (await Bench(dut).begin()).adopt()
    action = Action(owner=3)
    action.alus = [Alu(op=MOVE, immediate=(1 << width) - 1, mask=(1 << width) - 1) for width in BITS]
    action.words = [WordWrite(mask=0xFFFF, immediate=0xFFFF) for _ in range(7)]
    action.state.kind, action.state.old_to = 1, 8
    await bench.write_action(5, action)
    await bench.write(PAGE, 128 * 3, 1)
    await bench.write(PAGE, 128 * 2, 1)
    for module in (3, 2, 3, 3, 2, 2):
        await bench.cycle(Packet(any_phv(rng), module=module, action=5))
    for system in (1, 0):
        await bench.cycle(Packet(any_phv(rng), module=3, action=5, system=system))
    for change in ({"dropped": 1}, {"winner": 0}, {"dropped": 1, "module": 2}, {"winner": 0, "module": 2}):
        await bench.cycle(Packet(any_phv(rng), action=5, **({"module": 3} | change)))
    await bench.settle()
    assert bench.faults == 4


@cocotb.test()
async def only_the_system_module_writes_words_9_and_10_and_nobody_those_below(dut):
    rng = bench_rng("act_words")
    bench = await Bench(dut).begin()
    for owner, index in ((0, 1), (4, 2)):
        action = Action(owner=owner)
        action.words = [WordWrite(mask=0xFFFF, immediate=0x5A00 + n) for n in range(7)]
        await bench.write_action(index, action)
    for system, module, action, first in ((1, 4, 1, 9), (0, 4, 2, 11), (0, 0, 1, 11), (1, 0, 1, 9)):
        phv = any_phv(rng)
        phv.words = [0] * 16
        packet = Packet(phv, module=module, action=action, system=system)
        await bench.cycle(packet)
        assert [n for n in range(16) if packet.out.words[n]] == list(range(first, 16))
    await bench.settle()


@cocotb.test()
async def rows_are_read_back_as_written(dut):
    rng = bench_rng("act_rows")
    bench = await (await Bench(dut).begin()).adopt()
    last = bench.sizes["actions"] - 1
    for index in (0, last, rng.randrange(1, last)):
        await bench.write_action(index, any_action(rng, 1, noise=True))
        for at in range(10):
            assert (await bench.access(Request(ACTION, index, slice=at)))[1] == bench.rows[index] >> 256 * at & (
                (1 << 256) - 1
            )
    for table, rows, width in (
        (DATA, bench.sizes["data"], 128),
        (PAGE, 128 * bench.sizes["modules"], 7),
        (STATE_WORD, bench.sizes["words"], 32),
    ):
        values = {index: rng.getrandbits(width) for index in (0, rows - 1, *(rng.randrange(rows) for _ in range(6)))}
        for index, value in values.items():
            await bench.write(table, index, value)
        for index, value in values.items():
            assert await bench.access(Request(table, index)) == (OK, value)
        for index in values:
            await bench.write(table, index, 0)
    assert await bench.access(Request(ZERO_PAGE, 0)) == (OK, 0)


@cocotb.test()
async def wrong_accesses_are_answered_with_their_status_and_do_nothing(dut):
    rng = bench_rng("act_wrong")
    bench = await (await Bench(dut).begin()).adopt()
    sizes = bench.sizes
    rows = {
        DATA: sizes["data"], ACTION: sizes["actions"], PAGE: 128 * sizes["modules"], STATE_WORD: sizes["words"],
        ZERO_PAGE: sizes["words"] // 64, STATE_RANGE: sizes["modules"],
    }  # fmt: skip
    await bench.write_action(0, any_action(rng, 1))
    await bench.write(DATA, 0, rng.getrandbits(128))
    for table, count in rows.items():
        value = rng.getrandbits(32)
        for write in (False, True):
            for index in (count, 0xFFFF):
                await bench.access(Request(table, index, write=write, value=value, status=BAD_ADDRESS))
        if table != STATE_RANGE:
            await bench.access(Request(table, 0, snapshot=True, status=BAD_ADDRESS))
            words = {ACTION: 76, DATA: 5}.get(table, 2)
            await bench.access(Request(table, 0, write=True, value=value, words=words, status=BAD_LENGTH))
        else:
            await bench.access(Request(table, 0, write=True, value=value, status=READ_ONLY))
        await bench.access(Request(table, 0, slice=10 if table == ACTION else 1, status=BAD_ADDRESS))
    for at in range(10):
        await bench.access(Request(ACTION, 0, slice=at))
    await bench.access(Request(DATA, 0))
    await bench.access(Request(STATE_WORD, 0))


@cocotb.test()
async def requests_under_traffic_are_done_whole_and_in_order(dut):
    rng = bench_rng("act_host")
    bench = await (await Bench(dut).begin()).adopt()
    modules = [0, *rng.sample(range(1, bench.sizes["modules"]), 2)]
    owners, data = await populate(bench, rng, modules, min(24, bench.sizes["actions"] - 4))
    spare, answered, since = None, 0, 0
    for _ in range(6000):
        request = None
        if bench.request is None:
            if spare is not None:
                # The row that was written may be met from now on.
                owners[spare], spare = bench.actions[spare].owner, None
            while bench.answers:
                bench.taken()
                answered += 1
            if rng.random() < 0.2:
                table = rng.choice([DATA, ACTION, ACTION, PAGE, STATE_WORD, STATE_WORD, STATE_RANGE, ZERO_PAGE])
                write = table != STATE_RANGE and rng.random() < 0.5
                if table == ACTION and write:
                    spare = rng.choice([i for i in owners if bench.now - bench.last_use.get(i, -9) > 8] or [None])
                    if spare is not None:
                        action = any_action(rng, owners.pop(spare))
                        request = Request(ACTION, spare, write=True, value=action.row(), row=action)
                elif table == ACTION:
                    request = Request(ACTION, rng.choice(list(owners)), slice=rng.randrange(10))
                elif table == DATA:
                    request = Request(DATA, rng.choice(data), write=write, value=rng.getrandbits(128))
                elif table == PAGE:
                    # Another generation or module gets or loses a page.
                    index = rng.choice(list(bench.pages))
                    request = Request(PAGE, index, write=write, value=bench.pages[index] ^ (rng.random() < 0.3))
                elif table == STATE_WORD:
                    used = list(bench.words) or [0]
                    request = Request(STATE_WORD, rng.choice(used), write=write, value=rng.getrandbits(32))
                elif table == ZERO_PAGE:
                    request = Request(ZERO_PAGE, rng.randrange(bench.sizes["words"] // 64), write=write)
                else:
                    index = rng.randrange(bench.sizes["modules"])
                    request = Request(STATE_RANGE, index, snapshot=rng.random() < 0.5)
        # The entrance leaves a bubble when asked, not at once.
        since = since + 1 if int(dut.slot_request_o.value) else 0
        bubble = since > rng.randrange(1, 40)
        epoch = bench.epoch + 1 if rng.random() < 0.02 else None
        await bench.cycle(None if bubble else any_packet(rng, owners, data), request, epoch)
    await bench.settle(400)
    assert bench.request is None
    assert answered > 100 and bench.done["range"] > 20


@pytest.mark.parametrize("target", [DEFAULT, TINY])
def test_act(target):
    run_bench("rmt_act_target", packages=PACKAGES, sources=SOURCES, parameters={"Target": target})


def test_act_as_synthesized():
    """The bodies that synthesis gets, where they are others (docs/decisions/simulated-bodies.md)."""
    run_bench("rmt_act_target", packages=PACKAGES, sources=SOURCES, parameters={"Target": 1}, defines={"SYNTHESIS": 1})
