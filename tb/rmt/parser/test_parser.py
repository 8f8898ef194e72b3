"""sluice_rmt_parser.

Every packet that leaves is compared with docs/design/rmt.md in plain Python: control word, containers, all metadata
words, and the cycle.

Claims
- random rows of several modules and both generations, packets of 1 to 300 bytes, back to back and with gaps: what
  leaves is right; all reasons are met
- a packet of one slot that nothing is in front of leaves 6 cycles after it, one of n slots 6 + 2 (n - 1) after its
  last; none takes longer than the longest one alone; slots come at one a cycle, nothing stalls
- rows can be written and read while packets pass: packets of other modules and generations show nothing of it, reads
  give what was written, at full load within the bubbles that are asked for
- a selector byte of either level, a container's bytes and a checksum's span may lie anywhere in the window
- at the window's edges nothing is lost or seen twice; bytes behind a packet's end are zero, also behind a long packet
- an alternative takes packets of its least length and longer, of either level and at any length; a path says constant,
  port and length in containers that it does not take
- a span adds up with odd starts too; zeros only, or no words at all, are wrong
- the highest module and generation has rows of its own; a generation without a program is no_module
- wrong accesses are refused and change nothing
- a reset in the middle of packets leaves nothing of them
"""

import cocotb
import pytest
from cocotb.triggers import RisingEdge
from parser_bench import FIRST, NODE, PACKAGES, PATH, PERIOD, Bench
from parser_model import (
    NO_MODULE,
    PARSE_REJECT,
    PARSE_SHORT,
    PATH_WORDS,
    SELECT_WORDS,
    SIZES,
    WINDOW,
    Alternative,
    Path,
    Program,
    Select,
    parse,
    random_packet,
    random_program,
)
from sluice_tb import DEFAULT, TINY, burst_stalls, never, random_stalls, run_bench

EDGES = (1, 31, 32, 33, 63, 64, 65, 95, 96, 97, 127, 128, 129, 300)


def one_way(*paths, first=None, node=None):
    """A program of one path, or whose selections are given."""
    every = Select(alternatives=[Alternative()])
    program = Program(first=first or every)
    program.nodes = [node or every] * 4
    program.paths[: len(paths)] = paths
    return program


@cocotb.test()
async def random_packets_of_random_programs_leave_as_the_page_says(dut):
    bench = await Bench().begin(dut, "parser_random")
    rng = bench.rng
    keys = rng.sample(sorted(bench.programs), 10)
    for module, generation in keys[:-1]:
        bench.load(module, generation, random_program(rng))
    await bench.settle()
    for _ in range(30):
        most = rng.choice((bench.width, 2 * bench.width, 140, 300))
        lengths = rng.choice((lambda most=most: rng.randint(1, most), lambda: rng.choice(EDGES)))
        pauses = rng.choice((never(), never(), random_stalls(rng, rng.random() * 0.7), burst_stalls(rng)))
        await bench.send_random(60, lengths, pauses, lambda: rng.choice(keys))
        # New rows where no packet is.
        await bench.drain()
        module, generation = rng.choice(keys[:-1])
        bench.load(module, generation, random_program(rng))
        await bench.settle()
    assert {None, 0, 1, 11, NO_MODULE, PARSE_REJECT, PARSE_SHORT} <= bench.seen["reasons"].keys()


@cocotb.test()
async def latency_is_that_of_the_slots(dut):
    bench = await Bench().begin(dut, "parser_latency")
    rng = bench.rng
    bench.load(1, 1, one_way(Path(extract=[2] * 24, headers=7)))
    await bench.settle()
    for slots in range(1, bench.beats + 1):
        bench.seen["latencies"].clear()
        await bench.send(rng.randbytes(slots * bench.width), 1, 1)
        await bench.drain()
        assert bench.seen["latencies"] == {(slots, 6 + 2 * (slots - 1))}
        # Among their like, back to back: the same.
        for _ in range(20):
            await bench.send(rng.randbytes(slots * bench.width), 1, 1)
        await bench.drain()
        assert bench.seen["latencies"] == {(slots, 6 + 2 * (slots - 1))}
    bench.seen["latencies"].clear()
    for _ in range(300):
        await bench.send(rng.randbytes(rng.randint(1, WINDOW)), 1, 1)
    await bench.drain()
    # Behind long packets a short one takes as long as they do.
    assert (1, 6 + 2 * (bench.beats - 1)) in bench.seen["latencies"]


@cocotb.test()
async def rows_are_written_and_read_while_packets_pass(dut):
    bench = await Bench().begin(dut, "parser_config")
    rng = bench.rng
    keys = rng.sample(sorted(bench.programs), 6)
    current = {}
    for key in keys:
        bench.load(*key, random_program(rng))
    await bench.settle()
    written = sorted(bench.rows)
    for round_number in range(12):
        # One of them gets new rows while packets of the others pass.
        hidden = keys[round_number % len(keys)]
        current = [key for key in keys if key != hidden]
        bench.load(*hidden, random_program(rng))
        for _ in range(6):
            table, index = rng.choice(written)
            bench.read(table, index, rng.randrange(5 if table != PATH else 1))
            bench.write(*rng.choice(((PATH, 7 * 16), (NODE, 9), (FIRST, 5))), 0, words=3)
        pauses = rng.choice((never(), never(), random_stalls(rng, 0.3), burst_stalls(rng)))
        lengths = rng.choice((lambda: 64, lambda: rng.choice(EDGES), lambda: rng.randint(1, 300)))
        while bench.accesses or bench.open is not None:
            await bench.send_random(20, lengths, pauses, lambda among=current: rng.choice(among))
        await bench.drain()
    assert bench.blocked > PERIOD
    for table, index in written:
        for piece in range(5 if table != PATH else 1):
            bench.read(table, index, piece)
    await bench.settle()


@cocotb.test()
async def selector_bytes_are_taken_from_everywhere_in_the_window(dut):
    bench = await Bench().begin(dut, "parser_selectors")
    rng = bench.rng
    at_once = sorted(bench.programs)
    for begin in range(0, WINDOW, len(at_once)):
        offsets = dict(zip(at_once, range(begin, WINDOW), strict=False))
        for (module, generation), offset in offsets.items():
            k, other = offset % 8, (37 * offset + 5) % WINDOW
            mark, marks = [0] * 8, [0] * 8
            mark[k], marks[k] = 0xA5, 0xFF
            choice = [Alternative(mark, marks, 1), Alternative(to=2)]
            program = Program(first=Select([offset if i == k else 0 for i in range(8)], choice))
            # The node shows which one it is; its own selector lies elsewhere.
            for n in range(4):
                found = [Alternative(mark, marks, 4 * n + 1), Alternative(to=4 * n)]
                program.nodes[n] = Select([other if i == k else 0 for i in range(8)], found)
            bench.load(module, generation, program)
        await bench.settle()
        for key, offset in offsets.items():
            other = (37 * offset + 5) % WINDOW
            for marked in ((offset,), (other,), (offset, other), ()):
                for length in (WINDOW, max(offset, other) + 1, rng.randint(1, 150)):
                    packet = bytearray(rng.choice(b"\0\1\xa4\x25") for _ in range(length))
                    for at in marked:
                        if at < length:
                            packet[at] = 0xA5
                    await bench.send(bytes(packet), *key)
        await bench.drain()
    assert bench.seen["reasons"].keys() == {None}


@cocotb.test()
async def containers_are_taken_from_everywhere_in_the_window(dut):
    bench = await Bench().begin(dut, "parser_containers")
    rng = bench.rng
    at_once = sorted(bench.programs)
    for begin in range(0, WINDOW, len(at_once)):
        offsets = dict(zip(at_once, range(begin, WINDOW), strict=False))
        for key, offset in offsets.items():
            # Where it would end behind the window, the last place where it does not.
            extract = [min((offset + 16 * (n % 8)) % WINDOW, WINDOW - size) for n, size in enumerate(SIZES)]
            bench.load(*key, one_way(Path(extract=extract)))
        await bench.settle()
        for key in offsets:
            for length in (WINDOW, 200, rng.randint(1, 140)):
                await bench.send(rng.randbytes(length), *key)
        await bench.drain()


@cocotb.test()
async def nothing_is_lost_or_seen_twice_at_the_windows_edges(dut):
    bench = await Bench().begin(dut, "parser_edges")
    rng = bench.rng
    keys = [(0, 0), (3, 1)]
    tail = [max(0, 128 - size - n % 8) for n, size in enumerate(SIZES)]
    middle = [64 - size + n % 8 for n, size in enumerate(SIZES)]
    first = Select(
        [63, 64, 127, 0, 31, 32, 95, 96], [Alternative([0] * 8, [0, 0, 0xFF, 0, 0, 0, 0, 0], 0), Alternative(to=1)]
    )
    ways = [Select(alternatives=[Alternative(to=way)]) for way in range(4)]
    paths = [Path(tail, 1, 127), Path(middle, 2, 64)]
    bench.load(*keys[0], Program(first, ways, [*paths, *([Path()] * 14)]))
    bench.load(*keys[1], one_way(Path(middle, 3, 65, (62, 2))))
    await bench.settle()
    for pauses in (never(), random_stalls(rng, 0.5)):
        for before in EDGES:
            for after in EDGES:
                for length in (before, after):
                    while next(pauses):
                        await bench.cycle()
                    await bench.send(rng.randbytes(length), *rng.choice(keys))
    await bench.drain()
    assert bench.seen["reasons"].keys() == {None, PARSE_SHORT}


@cocotb.test()
async def a_short_packet_shows_nothing_of_the_long_one_before(dut):
    bench = await Bench().begin(dut, "parser_leftovers")
    rng = bench.rng
    everywhere = [min(5 * n, WINDOW - size) for n, size in enumerate(SIZES)]
    bench.load(2, 0, one_way(Path(everywhere, 0xFFFF, 0, (0, 63))))
    bench.load(2, 1, one_way(Path([None] * 24)))
    bench.load(1, 0, one_way(Path(everywhere, 0xFFFF, 2)))
    await bench.settle()
    for gap in (0, 0, 1, 5):
        for key in ((2, 0), (2, 1), (1, 0), (0, 0)):
            await bench.send(b"\xff" * 300, 2, 0)
            await bench.idle(gap)
            await bench.send(b"\xee", *key)
            await bench.send(rng.choice((b"\xff" * 128, b"\xff" * 64)), 2, 0)
            await bench.idle(gap)
            await bench.send(b"\xdd" * 8, *key, dropped=1, reason=1)
    await bench.drain()
    desc = dict.fromkeys(("port", "length", "tenant", "arrival", "queueing", "dropped", "reason"), 0)
    alone = parse(bench.programs[2, 0], b"\xee", desc)
    assert alone.containers == [0xEE00] + [0] * 23


@cocotb.test()
async def an_alternative_takes_packets_of_its_least_length_and_longer(dut):
    bench = await Bench().begin(dut, "parser_leasts")
    rng = bench.rng
    leasts = (1, 2, 14, 31, 32, 33, 63, 64, 65, 127, 128, 129, 200, 254, 255)
    for at in range(0, len(leasts), 5):
        for g, levels in enumerate(((0, 1), (1, 0))):
            for module, least in enumerate(leasts[at : at + 5]):
                here = Select(alternatives=[Alternative(to=1, least=least), Alternative(to=2)])
                every = Select(alternatives=[Alternative(to=1)])
                first, node = (here, every) if levels[0] else (every, here)
                program = Program(first=first, nodes=[Select(alternatives=[Alternative(to=n)]) for n in range(4)])
                program.nodes[1] = node if levels[1] else Select(alternatives=[Alternative(to=1)])
                program.paths[1:3] = Path(headers=1, known=[2] * 8), Path(headers=2, known=[3, 1] * 4, constant=0xA55A)
                bench.load(module, g, program)
        await bench.settle()
        for module, least in enumerate(leasts[at : at + 5]):
            for length in (least - 1, least, least + 1, 256, 257, 300, 1, 9216):
                for g in range(2):
                    if length:
                        await bench.send(rng.randbytes(min(length, 300)).ljust(length, b"\0"), module, g)
        await bench.drain()
    assert bench.seen["reasons"].keys() == {None}


@cocotb.test()
async def spans_add_up_wherever_they_start(dut):
    bench = await Bench().begin(dut, "parser_checksum")
    rng = bench.rng
    at_once = sorted(bench.programs)
    for begin in range(0, WINDOW, len(at_once)):
        starts = dict(zip(at_once, range(begin, WINDOW), strict=False))
        for key, start in starts.items():
            words = rng.choice((min(63, (WINDOW - start) // 2), rng.randint(0, min(63, (WINDOW - start) // 2))))
            bench.load(*key, one_way(Path(verify=(start, words))))
        await bench.settle()
        for key, start in starts.items():
            program = bench.programs[key]
            words = program.paths[0].verify[1]
            sent = [bytes(WINDOW), b"\xff" * WINDOW, bytes(start) + b"\xff" * 2 * words]
            for _ in range(6):
                packet = bytearray(random_packet(rng, program, rng.choice((WINDOW, 200, rng.randint(1, 140)))))
                sent.append(bytes(packet))
                packet[rng.randrange(len(packet))] ^= 1 << rng.randrange(8)
                sent.append(bytes(packet))
            for packet in filter(None, sent):
                window = packet[:WINDOW].ljust(WINDOW, b"\0")
                bench.seen["wrong" if program.paths[0].wrong(window) else "right"] += 1
                await bench.send(packet, *key)
        await bench.drain()
    assert bench.seen["wrong"] > 300 and bench.seen["right"] > 300, bench.seen


@cocotb.test()
async def the_highest_module_and_generation_has_rows_of_its_own(dut):
    bench = await Bench().begin(dut, "parser_highest")
    rng = bench.rng
    top = bench.modules - 1, 1
    program = random_program(rng)
    program.first = Select(alternatives=[Alternative(to=3)])
    program.nodes[3] = Select(alternatives=[Alternative(to=15)])
    program.paths[15].least = 0
    bench.load(*top, program)
    await bench.settle()
    for _ in range(200):
        module, generation = top if rng.random() < 0.5 else rng.choice(sorted(bench.programs))
        await bench.send(rng.randbytes(rng.randint(1, 150)), module, generation)
    await bench.drain()
    assert bench.seen["reasons"].keys() == {None, NO_MODULE}


@cocotb.test()
async def wrong_accesses_are_refused_and_change_nothing(dut):
    bench = await Bench().begin(dut, "parser_refused")
    rng = bench.rng
    program = random_program(rng)
    bench.load(1, 0, program)
    rows = {FIRST: 2 * bench.modules, NODE: 8 * bench.modules, PATH: 32 * bench.modules}
    for table, count in rows.items():
        words = PATH_WORDS if table == PATH else SELECT_WORDS
        for wrong in (0, 1, words - 1, words + 1, 127):
            bench.write(table, (2, 8, 32)[table], rng.getrandbits(200), words=wrong)
        for index in (count, count + 2, 0xFFFF):
            bench.read(table, index)
            bench.write(table, index, rng.getrandbits(200))
        for piece in (words // 8 + (words % 8 > 0), 5, 64, 127):
            bench.read(table, 0, max(piece, words // 8 + (words % 8 > 0)))
        bench.read(table, 0, snapshot=1)
    for table in (3, 4, 128, 255):
        bench.read(table, 0)
        bench.write(table, 0, 1)
    for table, index in ((FIRST, 2), (NODE, 8), (PATH, 32), (PATH, 47)):
        for piece in range(1 if table == PATH else 5):
            bench.read(table, index, piece)
    await bench.settle()
    for _ in range(30):
        await bench.send(random_packet(rng, program, rng.randint(1, 200)), 1, 0)
    await bench.drain()


@cocotb.test()
async def a_reset_leaves_nothing_of_the_packets_in_flight(dut):
    bench = await Bench().begin(dut, "parser_reset")
    rng = bench.rng
    bench.load(1, 0, random_program(rng))
    bench.load(1, 1, one_way(Path([0] * 24, 5, 0, (1, 9))))
    await bench.settle()
    for _ in range(20):
        for _ in range(rng.randrange(6)):
            await bench.send(rng.randbytes(rng.randint(1, 200)), 1, 1)
        await bench.idle(rng.randrange(4))
        dut.slot_valid_i.value = dut.rst_ni.value = 0
        await RisingEdge(dut.clk_i)
        dut.rst_ni.value = 1
        bench.expected.clear()
        bench.phv = None
        bench.free_node = bench.free_path = -1000
        bench.now += 1
        for _ in range(rng.randrange(20)):
            await bench.send(random_packet(rng, bench.programs[1, 0], rng.randint(1, 200)), 1, rng.getrandbits(1))
        await bench.drain()


@pytest.mark.parametrize("target", [DEFAULT, TINY])
def test_parser(target):
    sources = ["rtl/rmt/sluice_rmt_parser.sv", "tb/rmt/parser/rmt_parser_target.sv"]
    run_bench("rmt_parser_target", packages=PACKAGES, sources=sources, parameters={"Target": target})
