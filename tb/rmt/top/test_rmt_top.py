"""sluice_rmt_top: programs written through its ring, packets through it.

Claims (docs/design/rmt.md; cycles: docs/decisions/rmt-isolation-and-budget.md)
- a program's rows are read back as written; packets leave as the program says, longer ones too, in order, under any
  stalls, with the new length, the destinations, the queue and the generation; nothing is lost
- packets of 64 bytes come in and leave one a cycle
- from a packet's first beat in to its last beat out an idle pipeline takes at most 64 cycles for 64 bytes and 64 and
  the number of beats for others
- drops are counted by reason: no program, no path, wrong length, rate limit, reconfiguration packet
- a commit to a generation whose packets are in flight is busy, for a module and for the system module
- rows can be read while the pipeline is full, and hold lets nothing in
"""

from itertools import pairwise

from rmt.pipeline import BUSY, OK, PARSER, STAMP, SYSTEM, Program
from rmt.rmt_bench import any_length, any_sideband
from rmt.rows import words_of_layout
from rmt_top_bench import PLAIN, TAGGER, Bench, targets
from sluice_tb import plugin


@targets
def test_packets_leave_as_their_programs_say(target):
    bench = Bench(target, "forward")
    bench.load(PLAIN, TAGGER)
    for length in (14, 60, 63, 64, 65, 96, 127, 128, 129, 192, 193, 1500, 9212):
        for program in (PLAIN, TAGGER):
            bench.send(program, bench.frame(length))
    bench.settle()
    bench.check()


@targets
def test_rows_are_read_back_as_written(target):
    bench = Bench(target, "rows")
    programs = (PLAIN, TAGGER)
    bench.load(*programs)
    for program in programs:
        for node, table, index, layout, value in program.rows(bench.stages, bench.beats):
            got = bench.ring.read(node, table, index, words_of_layout(layout))
            assert got == value, (node, table, index, hex(got ^ value))


@targets
def test_nothing_is_lost_under_any_stalls(target):
    bench = Bench(target, "stalls")
    rng = bench.rng
    bench.load(PLAIN, TAGGER)
    for _ in range(500):
        bench.send(rng.choice((PLAIN, TAGGER)), bench.frame(max(14, any_length(rng))))
    ready, gaps = ((256, 0), (128, 1), (128, 60), (38, 1)), (0, 128, 218)
    while len(bench.left) < len(bench.sent):
        bench.top.set_gaps([0], rng.choice(gaps))
        bench.top.set_ready([0], *rng.choice(ready))
        assert not bench.top.run(400, quiet=1_500) & plugin.QUIET, "packets are lost"
    bench.settle()
    bench.check()


@targets
def test_packets_of_64_bytes_pass_one_a_cycle(target):
    bench = Bench(target, "rate")
    bench.load(PLAIN, TAGGER)
    for length, count in ((min(64, bench.width), 600), (64, 400), (1500, 20)):
        before = len(bench.entered)
        for _ in range(count):
            bench.send(PLAIN, bench.frame(length))
        bench.settle()
        beats = -(-length // bench.width) * count
        taken = bench.entered[-1].tick - bench.entered[before].begin + 1
        given = bench.left[-1].tick - bench.left[before].begin + 1
        print(f"{count} packets of {length} bytes, {beats} beats: in {taken} cycles, out {given} cycles")
        assert taken == beats and given == beats
    bench.check()


@targets
def test_an_idle_pipeline_is_within_its_cycles(target):
    bench = Bench(target, "latency")
    bench.load(PLAIN, TAGGER)
    for length in (64, 65, 128, 1500):
        for program in (PLAIN, TAGGER):
            before = len(bench.entered)
            bench.send(program, bench.frame(length))
            bench.settle()
            waited = bench.left[-1].tick - bench.entered[before].begin
            longer = len(program.result(bytes(length)))
            beats = -(-longer // bench.width)
            print(f"{length} bytes, {longer} out: {waited} cycles")
            assert waited <= 64 + (beats if longer > 64 else 0), f"{length} bytes: {waited} cycles"
    bench.check()


@targets
def test_drops_are_counted_by_their_reason(target):
    bench = Bench(target, "drops")
    bench.load(PLAIN, TAGGER)
    names = ("no_module", "parse_reject", "bad_length", "rate", "reconfig", "misfit", "copies", "no_destination")
    before = {name: [bench.event(m, name) for m in range(4)] for name in names}
    expected = {name: list(values) for name, values in before.items()}

    def expect(module, name, amount=1):
        expected[name][module] += amount

    for _ in range(60):
        kind = bench.rng.randrange(6)
        length = bench.rng.choice((64, 100, 300))
        if kind == 0:
            bench.send(None, bench.frame(length), module=3)
            expect(3, "no_module")
        elif kind == 1:
            bench.send(None, bench.frame(length, ipv4=False), module=1)
            expect(1, "parse_reject")
        elif kind == 2:
            side = any_sideband(bench.rng, module_id=2, length=bench.rng.choice((0, length - 1, 9217, 12_000)))
            bench.offer(side, bench.frame(64))
            expect(2, "bad_length")
        elif kind == 3:
            frame = bytearray(bench.frame(length))
            frame[14], frame[20:22], frame[23], frame[36:38] = 0x45, b"\0\0", 17, b"\xf1\xf2"
            bench.send(None, bytes(frame), module=1)
            expect(1, "reconfig")
        elif kind == 4:
            # Cut behind the window: it goes on as long as it was said to be.
            frame = bench.frame(300)
            side = any_sideband(bench.rng, module_id=1, length=200, id=len(bench.sent) + 1)
            bench.offer(side, frame)
            bench.sent.append((side, frame[:200], PLAIN))
            expect(1, "misfit")
            expect(1, "copies")
        else:
            bench.send(PLAIN, bench.frame(length))
            expect(1, "copies")
    bench.settle(quiet=400)
    bench.check()
    # 1 byte a tick and a burst of none: the second of two packets that come together does not conform.
    assert bench.ring.write(STAMP, 0, 1, 1 << 16, 2) == OK
    bench.send(PLAIN, bench.frame(1500))
    bench.send(None, bench.frame(64), module=1)
    expect(1, "copies")
    expect(1, "rate")
    bench.settle()
    bench.check()
    assert bench.ring.write(STAMP, 0, 1, 0, 2) == OK
    after = {name: [bench.event(m, name) for m in range(4)] for name in names}
    assert after == expected


@targets
def test_a_commit_waits_for_the_packets_of_its_generation(target):
    bench = Bench(target, "commit")
    bench.load(PLAIN, TAGGER)
    new = Program(module=1, generation=1, flip=0xABCDEF, destinations=0x02, action=3)
    bench.load(new)
    for _ in range(20):
        bench.send(PLAIN, bench.frame(64))
    bench.settle()
    # Blocked, the packets of generation 0 stay in flight.
    bench.top.set_ready([0], 0)
    for _ in range(60):
        bench.send(PLAIN, bench.frame(64))
    bench.top.run(2_000, quiet=100)
    assert bench.ring.write(STAMP, 1, 1, 1, 1) == OK
    assert bench.ring.write(STAMP, 1, 0, 1, 1) == OK
    for module in (0, 1):
        state = bench.ring.read(STAMP, 1, module, 1)
        # What the output has already read its rows for is not in flight any more.
        assert state & 1 == 1 and state >> 9 == 0 and 0 < state >> 1 & 0xFF < 60, hex(state)
        assert bench.ring.write(STAMP, 1, module, 0, 1) == BUSY
    for _ in range(30):
        bench.send(new, bench.frame(64))
    bench.top.set_ready([0])
    bench.settle()
    bench.check()
    for module in (0, 1):
        assert bench.ring.read(STAMP, 1, module, 1) == 1
        assert bench.ring.write(STAMP, 1, module, 0, 1) == OK


@targets
def test_a_full_pipeline_is_read_and_hold_empties_it(target):
    bench = Bench(target, "hold")
    bench.load(PLAIN, TAGGER)

    def feed():
        while len(bench.sent) - len(bench.entered) < 2_000:
            bench.send(PLAIN, bench.frame(min(64, bench.width)))

    for node, table, index, layout, value in PLAIN.rows(bench.stages, bench.beats):
        feed()
        if (node, table) != (PARSER, 1):
            got = bench.ring.read(node, table, index, words_of_layout(layout))
            assert got == value, (node, table, index)
    assert bench.ring.write(SYSTEM, 1, 1, 1, 1) == OK
    bench.top.run(150)
    held = len(bench.left)
    bench.top.run(200)
    assert len(bench.left) == held < len(bench.sent)
    assert bench.ring.write(SYSTEM, 1, 1, 0, 1) == OK
    bench.settle()
    bench.check()
    gaps = [b.tick - a.tick for a, b in pairwise(bench.entered)]
    held_gap = max(gaps)
    assert sum(gap > 1 for gap in gaps if gap != held_gap) <= len(gaps) // 256 + 1
