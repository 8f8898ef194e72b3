"""sluice_rmt_deparser.

Claims
- every packet of 1 byte and more leaves as docs/design/rmt.md says, byte by byte, with its keep, new length,
  destinations and route; bytes behind its end are zero; any rows that the checker allows, any stalls on any side,
  both bus widths; any delta of -64 to 64, odd or even
- packets that come dropped, that no pattern takes, too short or too long ones leave nothing; one verdict a packet, in
  order, its event in the same cycle; one leave
- a packet takes max(beats in, beats out) cycles and none lies between packets; 64-byte packets one a cycle
- a second checksum with an incoming span is the one that a sender of the outgoing packet would have computed, whatever
  the payload: addresses and ports of IPv4 and IPv6, headers added, removed and exchanged, any place, odd ones too;
  UDP's 0 stays, and is written as ffff
- in a NIC none leaves with less than 12 bytes, whatever its row says
- 10 cycles from PHV and first beat to the output register, one more for each further beat up to the checksums' end
- tables answer as docs/design/rmt-rows.md says, under traffic too, and writes take effect
"""

from dataclasses import dataclass

import cocotb
import pytest
from cocotb.triggers import RisingEdge
from deparser_bench import LATENCY, LONG, LONGEST, SHORT, Bench
from deparser_model import (
    DEPARSE_WORDS,
    PATTERNS_WORDS,
    REJECT,
    Adjust,
    Program,
    Row,
    Update,
    random_program,
    random_row,
)
from rmt.rmt_bench import PACKAGES
from sluice_tb import DEFAULT, TINY, burst_stalls, never, random_stalls, run_bench


async def begun(dut, name, programs=6):
    bench = await Bench().begin(dut, name)
    for _ in range(programs):
        module, generation = bench.rng.randrange(bench.modules), bench.rng.randrange(2)
        await bench.load(module, generation, random_program(bench.rng, bench.width))
    return bench


async def any_packets(dut, name, count, stalls):
    bench = await begun(dut, name)
    bench.stall(*[make(bench.rng) for make in stalls])
    for _ in range(count):
        bench.send_any()
    await bench.check()
    return bench


def full(rng):
    return never()


def some(rng):
    return random_stalls(rng, rng.choice((0.1, 0.3, 0.6)))


def bursts(rng):
    return burst_stalls(rng, rng.choice((3, 12, 60)))


@cocotb.test()
@cocotb.parametrize(part=[0, 1, 2])
async def any_packets_at_full_rate_take_no_cycle_too_many(dut, part):
    bench = await any_packets(dut, f"rate{part}", 250, [full] * 4)
    bench.check_rate()
    last = max(i for i, packet in enumerate(bench.expected) if packet.out is not None)
    slots = sum(packet.slots for packet in bench.expected[: last + 1])
    # From the first slot's verdict to the last outgoing beat.
    beats = 128 // bench.width
    took = bench.sink.cycles[-1] - bench.verdict_cycles[0]
    assert took <= slots + LATENCY - 5 + beats, f"{took} cycles for {slots} slots"


@cocotb.test()
async def any_packets_with_a_slow_sink(dut):
    bench = await any_packets(dut, "sink", 300, [full, full, full, some])
    assert len(bench.reasons) > 3, bench.reasons


@cocotb.test()
async def any_packets_with_slow_sources(dut):
    await any_packets(dut, "sources", 300, [some, some, some, full])


@cocotb.test()
@cocotb.parametrize(part=[0, 1, 2, 3])
async def any_packets_with_bursts_everywhere(dut, part):
    await any_packets(dut, f"bursts{part}", 150, [bursts] * 4)


@cocotb.test()
@cocotb.parametrize(part=[0, 1])
async def any_packets_with_gaps_in_the_beats_only(dut, part):
    await any_packets(dut, f"beats{part}", 150, [full, full, bursts, full])


@cocotb.test()
async def packets_of_64_bytes_leave_one_a_cycle(dut):
    bench = await Bench().begin(dut, "line")
    rng, width = bench.rng, bench.width
    for module in range(4):
        row = random_row(rng, width, delta=0)
        while row.least > 64:
            row = random_row(rng, width, delta=0)
        await bench.load(module, module & 1, Program([(0, 0, 0)], [row]))
    for i in range(400):
        bench.send(64, i % 4, i & 1)
    await bench.check()
    bench.check_rate()
    # A packet may wait longer for the beat in which its checksums end than the first one did.
    beats = 64 // width
    assert 0 <= bench.sink.cycles[-1] - bench.sink.cycles[0] - (400 * beats - 1) <= beats - 1


@cocotb.test()
async def every_delta_at_every_edge(dut):
    bench = await Bench().begin(dut, "edges")
    rng, width = bench.rng, bench.width
    bench.stall(sink=random_stalls(rng, 0.2))
    lengths = (31, 60, 63, 64, 65, 96, 97, 127, 128, 129, 191, 192, 193, 256)
    deltas = [*range(-64, 65)]
    rows = {}
    for at, delta in enumerate(deltas):
        module, generation = divmod(at % 16, 2)
        if at % 16 == 0:
            rows = {}
        # At least one row of each delta that takes short packets.
        short = Row(delta=delta, split=rng.randrange(0, 15))
        for i in range(short.split, short.split + max(delta, 0)):
            short.put(rng, width, i)
        short.settle()
        end = short.least & ~1
        short.updates = [Update(0, end // 2, 2 * rng.randrange(end // 2))] if end else []
        rows[module, generation] = Program([(0, 15, 0), (0, 0, 1)], [short, random_row(rng, width, delta)])
        await bench.load(module, generation, rows[module, generation])
        for length in lengths:
            bench.send(length, module, generation, path=0)
            bench.send(length, module, generation, path=1)
        await bench.heads.drain()
        for _ in range(40):
            await RisingEdge(dut.clk_i)
    sent = await bench.check()
    assert len(sent) > len(deltas) * 13


@cocotb.test()
async def the_longest_packets_and_those_that_would_be_too_long(dut):
    bench = await Bench().begin(dut, "long")
    rng, width = bench.rng, bench.width
    for module, delta in enumerate((-64, -63, -1, 0, 1, 2, 63, 64)):
        await bench.load(module, 0, Program([(0, 0, 0)], [random_row(rng, width, delta)]))
        edge = min(LONGEST, LONGEST - delta)
        for length in (edge, edge - 1, min(LONGEST, edge + 1)):
            bench.send(length, module, 0)
            bench.send(rng.randint(1, 200), module, 0)
    await bench.check()
    bench.check_rate()
    assert bench.reasons.get(LONG, 0) == 4, bench.reasons


@cocotb.test()
async def packets_leave_from_one_byte_on(dut):
    bench = await Bench().begin(dut, "tiny")
    rng, width = bench.rng, bench.width
    rows = [(0, 0, 0), (0, 0, 6), (0, 20, 1), (2, 0, 2), (6, 4, 10), (0, 0, 13)]
    # By an odd number of bytes, and packets of less than 12 bytes made of longer ones.
    rows += [(1, 0, 1), (3, 5, 8), (-1, 0, 0), (-2, 1, 1), (-13, 3, 3), (-63, 0, 0)]
    for at, (delta, split, put) in enumerate(rows):
        module, generation = divmod(at, 2)
        row = Row(delta=delta, split=split)
        for i in range(split if delta else 0, put):
            row.put(rng, width, i)
        await bench.load(module, generation, Program([(0, 0, 0)], [row.settle()]))
        for length in (*range(1, 40), 63, 64, 65, 1, 1, 2, 1):
            bench.send(length, module, generation)
    await bench.check()
    assert bench.reasons.get(SHORT, 0) > 20


@cocotb.test()
async def a_packet_is_dropped_if_and_only_if_it_leaves_shorter_than_least(dut):
    bench = await Bench().begin(dut, "short")
    rng, width = bench.rng, bench.width
    bench.stall(sink=random_stalls(rng, 0.1))
    for module in range(8):
        row = random_row(rng, width)
        row.settle(rng.randrange(0, 120))
        await bench.load(module, 1, Program([(5, 15, 0)], [row]))
        for excess in (-3, -2, -1, 0, 1, 2):
            bench.send(max(1, row.least - row.delta + excess), module, 1, path=5)
            # And no pattern at all.
            bench.send(rng.randint(1, 130), module, 1, path=6)
    await bench.check()
    assert bench.reasons[SHORT] >= 8 and bench.reasons[REJECT] == 48


@cocotb.test()
async def packets_dropped_before_take_the_cycles_of_their_beats(dut):
    bench = await begun(dut, "dropped")
    rng = bench.rng
    for _ in range(200):
        if rng.random() < 0.3:
            bench.send_any()
        else:
            module, generation = rng.choice(list(bench.programs))
            length = rng.choice((64, rng.randint(1, 300)))
            bench.send(length, module, generation, dropped=rng.randrange(12))
    await bench.check()
    bench.check_rate()


@cocotb.test()
async def a_lone_packet_takes_ten_cycles_to_the_output(dut):
    bench = await Bench().begin(dut, "latency")
    rng, width = bench.rng, bench.width
    seen = set()
    for module in range(7):
        await bench.load(module, 0, Program([(0, 0, 0)], [random_row(rng, width)]))
    # A checksum as of IPv4.
    await bench.load(7, 0, Program([(0, 0, 0)], [Row(updates=[Update(14, 9, 24)]).settle()]))
    for _ in range(80):
        module = rng.randrange(8)
        row = bench.programs[module, 0].rows[0]
        length = max(row.least - row.delta, rng.choice((32, 64, rng.randint(14, 200))))
        # The cycle in which all three begin to wait.
        begin = bench.entry.cycle + 1
        before = len(bench.sink.items)
        want = bench.send(length, module, 0)
        beats = -(-len(want.out) // width)
        await bench.sink.wait_for(before + beats)
        ends = [u.start + 2 * u.words for u in (*row.updates, *([row.adjust] if row.adjust else []))]
        waits = max([0, *[(end - 1) // width for end in ends]])
        took = bench.sink.cycles[before] - begin - 1
        assert took == LATENCY + waits, f"{took} cycles, {length} bytes, {len(want.out)} out"
        assert bench.sink.cycles[before + beats - 1] - begin - 1 == LATENCY + waits + beats - 1
        seen.add(took)
        for _ in range(rng.randrange(5, 20)):
            await RisingEdge(dut.clk_i)
    assert LATENCY in seen, seen
    await bench.check()


def complement_of(data):
    """The Internet checksum, by its definition."""
    data += bytes(len(data) % 2)
    total = sum(data[0::2]) * 256 + sum(data[1::2])
    return 0xFFFF - (total % 0xFFFF or (0xFFFF if total else 0))


@dataclass
class Segment:
    """A TCP or UDP segment with the bytes around it that its checksum covers."""

    proto: int
    addresses: bytes
    ports: bytes
    payload: bytes
    none: bool = False

    @property
    def at(self):
        """Place of the checksum behind the addresses."""
        return len(self.addresses) + (6 if self.proto == 17 else 16)

    def bytes(self):
        """Addresses and segment, with the checksum that a sender computes."""
        size = 8 if self.proto == 17 else 20
        length = size + len(self.payload)
        rest = length.to_bytes(2, "big") if self.proto == 17 else bytes(range(0x50, 0x5C))
        head = self.ports + rest + bytes(size - 4 - len(rest))
        pseudo = bytes([0, self.proto]) + length.to_bytes(2, "big")
        value = complement_of(self.addresses + pseudo + head + self.payload)
        value = 0 if self.none else (value or 0xFFFF) if self.proto == 17 else value
        at = self.at - len(self.addresses)
        return self.addresses + head[:at] + value.to_bytes(2, "big") + head[at + 2 :] + self.payload


def put_bytes(row, containers, at, data, first, size):
    """`data` at `at`, by containers of a size that divides a beat, from `first` on."""
    for k, byte in enumerate(data):
        n, b = first + k // size, k % size
        row.lanes[at + k] = (n, b)
        containers[n] |= byte << 8 * (size - 1 - b)
        for beat in range(4):
            row.rotations[beat, n] = (at + k - b) % size


@cocotb.test()
@cocotb.parametrize(part=[0, 1, 2])
async def an_incremental_checksum_is_the_one_that_a_sender_would_compute(dut, part):
    bench = await Bench().begin(dut, f"segments{part}")
    rng, width = bench.rng, bench.width
    bench.stall(sink=random_stalls(rng, rng.choice((0, 0.3))))
    zeros = results = odd = apart = 0
    for round_ in range(24):
        proto, udp = rng.choice(((17, True), (6, False), (17, True)))
        before, after = rng.choice(((8, 8), (32, 32), (32, 8), (8, 32)))
        # Bytes in front of the addresses: odd numbers, too.
        front = rng.randint(14, 30)
        front_after = front + rng.randint(-10, 10)
        delta = front_after + after - front - before
        old = Segment(proto, rng.randbytes(before), rng.randbytes(4), b"", udp and round_ % 4 == 1)
        new_addresses, new_ports = rng.randbytes(after), rng.choice((old.ports, rng.randbytes(4)))
        containers = [0] * 24
        row = Row(delta=delta, split=max(0, min(front, front_after)), adjust=Adjust(front, 0, udp))
        put_bytes(row, containers, front_after, new_addresses, 8, 4)
        put_bytes(row, containers, front_after + after, new_ports, 0, 2)
        for i in range(row.split, row.split + max(delta, 0)):
            if row.lanes[i] is None:
                row.put(rng, width, i, 16)
        words = (old.at + 2) // 2
        row.adjust.words = words
        span = old.at + 2 - before + after
        row.updates = [Update(0, 1, 0), Update(front_after, span // 2, front_after + old.at - before + after)]
        row.settle()
        module, generation = rng.randrange(bench.modules), round_ % 2
        await bench.load(module, generation, Program([(0, 0, 0)], [row]))
        for _ in range(6):
            old.payload = rng.randbytes(rng.choice((0, 1, 2, 17, 63, 64, 65, rng.randrange(300))))
            new = Segment(proto, new_addresses, new_ports, old.payload, old.none)
            if rng.random() < 0.4 and len(old.payload) > 1:
                # The new checksum comes out as 0: the payload takes up what is missing.
                old.payload = bytes(2) + old.payload[2:]
                new.payload = old.payload
                found = new.bytes()
                value = int.from_bytes(found[new.at : new.at + 2], "big") if not old.none else 0
                old.payload = value.to_bytes(2, "big") + old.payload[2:]
                new.payload = old.payload
            packet = rng.randbytes(front) + old.bytes()
            want = bench.send(len(packet), module, generation, packet=packet, containers=containers)
            assert want.out is not None
            # Not the model's formula: all bytes anew.
            assert want.out[front_after:] == new.bytes(), (
                f"proto {proto}, {before} to {after} at {front} to {front_after}"
            )
            value = want.out[front_after + new.at : front_after + new.at + 2]
            zeros += value == b"\0\0" and udp
            results += value == b"\xff\xff" if udp else value == b"\0\0"
            odd += front_after % 2
            apart += delta % 2
        await bench.heads.drain()
        for _ in range(40):
            await RisingEdge(dut.clk_i)
    await bench.check()
    assert zeros and results and odd and apart, (zeros, results, odd, apart)


@cocotb.test()
async def tables_answer_as_the_page_says(dut):
    bench = await Bench().begin(dut, "tables")
    rng = bench.rng
    for table, words, bits in ((0, PATTERNS_WORDS, 720), (1, DEPARSE_WORDS, 449)):
        rows = bench.row_count(table)
        for index in (0, 1, rows - 1, *[rng.randrange(rows) for _ in range(20)]):
            value = rng.getrandbits(bits)
            await bench.write(table, index, value)
            for piece in range(-(-words // 8)):
                assert await bench.access(table, index, False, piece=piece) < 6
        for index in (rows, rows + 1, 0xFFFF):
            await bench.access(table, index, True)
            await bench.access(table, index, False)
        for wrong in (0, 1, words - 1, words + 1, 127):
            await bench.access(table, 1, True, words=wrong)
        await bench.access(table, 1, False, piece=-(-words // 8))
        await bench.access(table, 1, False, piece=127)
        await bench.access(table, 1, False, snapshot=1)
        await bench.access(table, 1, False)


@cocotb.test()
async def tables_are_read_and_written_under_traffic(dut):
    bench = await begun(dut, "traffic")
    rng = bench.rng
    for round_ in range(4):
        bench.stall(sink=never() if round_ < 2 else random_stalls(rng, 0.3))
        for _ in range(400):
            bench.send_any()
        waits = []
        while bench.verdicts:
            table = rng.randrange(2)
            pieces = -(-(PATTERNS_WORDS, DEPARSE_WORDS)[table] // 8)
            index = rng.choice(list(bench.tables[table]))
            waits.append(await bench.access(table, index, False, piece=rng.randrange(pieces)))
            # Rows of nobody's packets.
            module, generation = rng.randrange(bench.modules), rng.randrange(2)
            if (module, generation) not in bench.programs:
                await bench.load(module, generation, random_program(rng, bench.width))
        assert max(waits) > 5, "packets were in no read's way"
    await bench.check()


@cocotb.test()
async def a_read_that_finds_no_free_cycle_takes_one(dut):
    bench = await Bench().begin(dut, "busy")
    await bench.load(0, 0, Program([(0, 0, 0)], [Row().settle()]))
    for _ in range(1500):
        bench.send(bench.width, 0, 0)
    for _ in range(20):
        await RisingEdge(dut.clk_i)
    for table in (0, 1):
        took = await bench.access(table, 0, False)
        # Not before its patience is at an end, and only one cycle is lost then.
        assert 255 < took < 265, took
    await bench.check()
    cycles = bench.verdict_cycles
    gaps = [now - before for before, now in zip(cycles, cycles[1:], strict=False)]
    assert gaps.count(1) >= len(gaps) - 2 and sum(gaps) <= len(gaps) + 4, sorted(gaps)[-5:]


def run(**options):
    sources = ["rtl/rmt/sluice_rmt_deparser.sv", "tb/rmt/deparser/rmt_deparser_target.sv"]
    run_bench(
        "rmt_deparser_target", packages=[*PACKAGES, "rtl/rmt/sluice_rmt_deparse_pkg.sv"], sources=sources, **options
    )


@pytest.mark.parametrize("target", [DEFAULT, TINY])
def test_deparser(target):
    run(parameters={"Target": target})


@pytest.mark.parametrize("target", [TINY])
def test_in_a_nic(target):
    tests = ["packets_leave_from_one_byte_on", "a_packet_is_dropped_if_and_only_if_it_leaves_shorter_than_least"]
    run(parameters={"Target": target, "Least": 12}, tests=tests)
