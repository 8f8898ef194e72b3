"""sluice_xdp_outside, with a memory that answers late, in any order, and sometimes with errors.

Claims
- accesses to a block are done as they came, whoever asks: each finds what those before it left
- what was not written since its unit was cleared is zero, whatever memory, the cache and earlier owners hold
- a line that memory answers with an error ends the access that asked with a fault, and changes nothing
- who waits for memory holds up those of his key alone; a line that is there is answered in 5 cycles
- an access that memory does not answer ends with a fault, after LateCycles at the least and twice as many at the most,
  and others go on; what comes later of it is nobody's
- where memory takes nothing, or owes half of all IDs, or a write of a page has no answer, what needs it ends at once,
  until memory answers again
- who has asked for no more than his module's share waits for what is on its way, not for others that wait
- the port keeps the rules of AXI4: what is offered holds, bursts stay in 4 KiB, writes have the beats that they say
"""

import cocotb
import pytest
from common.lookup_bench import parameter, start, step
from sluice_tb import bench_rng, run_bench

LOAD, STORE, ATOMIC = 0, 1, 2
ADD, OR, AND, XOR, EXCHANGE, COMPARE = range(6)
UNIT, BLOCK, BEAT = 1 << 16, 512, 16
MASTER = [
    ("aw_valid", 1), ("aw_id", 6), ("aw_addr", 32), ("aw_len", 8), ("w_valid", 1), ("w_data", 128), ("w_strb", 16),
    ("w_last", 1), ("b_ready", 1), ("ar_valid", 1), ("ar_id", 6), ("ar_addr", 32), ("ar_len", 8), ("r_ready", 1),
]  # fmt: skip
SLAVE = [
    ("aw_ready", 1), ("w_ready", 1), ("b_valid", 1), ("b_id", 6), ("b_resp", 2), ("ar_ready", 1), ("r_valid", 1),
    ("r_id", 6), ("r_data", 128), ("r_resp", 2),
]  # fmt: skip
REQUEST = [
    ("op", 2),
    ("module_id", 6),
    ("place", 32),
    ("bytes", 4),
    ("sign", 1),
    ("code", 3),
    ("data", 64),
    ("expected", 64),
]


def packed(layout, fields):
    """A packed struct, its first field highest."""
    value = 0
    for name, width in layout:
        value = value << width | fields.get(name, 0)
    return value


def unpacked(layout, value):
    fields = {}
    for name, width in reversed(layout):
        fields[name] = value & ((1 << width) - 1)
        value >>= width
    return fields


class Memory:
    """External memory at the port: noise until it is written."""

    def __init__(self, rng, size):
        self.rng = rng
        self.bytes = bytearray(rng.randbytes(size))
        self.reads, self.writes, self.asked, self.beats, self.bursts = [], [], [], [], []
        self.reading = self.answering = None
        self.pace, self.read_errors, self.write_errors = (1, 10, 1.0), 0.0, 0.0
        # How often a read or a write is not answered until `release`; channels that take nothing.
        self.lost_reads, self.lost_writes, self.deaf = 0.0, 0.0, set()
        self.now, self.held, self.read_lines = 0, {}, 0

    def due(self):
        return self.now + self.rng.randint(self.pace[0], self.pace[1])

    def choose(self, queue):
        """One whose time has come, the first of its ID."""
        first = {}
        for entry in queue:
            first.setdefault(entry["id"], entry)
        can = [entry for entry in first.values() if entry["due"] <= self.now and entry["beat"] != entry["lost"]]
        return self.rng.choice(can) if can else None

    def lost(self, chance, beats):
        """The beat from which on nothing comes, if it is lost."""
        return self.rng.randrange(beats) if self.rng.random() < chance else None

    def release(self):
        """All that was not answered is."""
        self.lost_reads, self.lost_writes, self.deaf = 0.0, 0.0, set()
        for entry in self.reads + self.writes:
            entry["lost"] = None

    def owes(self, queue, age, **fields):
        """Whether one of these has had no answer for so long."""
        return any(self.now - entry["since"] >= age and fields.items() <= entry.items() for entry in queue)

    def drive(self):
        names = [name for name in ("aw_ready", "w_ready", "ar_ready") if name not in self.deaf]
        self.ready = dict.fromkeys(("aw_ready", "w_ready", "ar_ready"), 0)
        self.ready |= {name: int(self.rng.random() < self.pace[2]) for name in names}
        ready = dict(self.ready)
        self.reading = self.reading or self.choose(self.reads)
        self.answering = self.answering or self.choose(self.writes)
        if self.reading is not None:
            read = self.reading
            if read["data"] is None:
                read["data"] = bytes(self.bytes[read["addr"] : read["addr"] + 4 * BEAT])
            data = int.from_bytes(read["data"][BEAT * read["beat"] : BEAT * (read["beat"] + 1)], "little")
            data ^= read["noise"]
            ready |= {"r_valid": 1, "r_id": read["id"], "r_data": data, "r_resp": 2 * read["bad"]}
        if self.answering is not None:
            ready |= {"b_valid": 1, "b_id": self.answering["id"], "b_resp": 2 * self.answering["bad"]}
        return packed(SLAVE, ready)

    def holds(self, channel, valid, ready, fields):
        """What was offered and not taken is offered again."""
        if channel in self.held:
            assert valid and fields == self.held[channel], (channel, fields, self.held[channel])
        self.held.pop(channel, None)
        if valid and not ready:
            self.held[channel] = fields
        return valid and ready

    def sample(self, master):
        self.now += 1
        if self.reading is not None and master["r_ready"]:
            self.reading["beat"] += 1
            if self.reading["beat"] == 4:
                self.reads.remove(self.reading)
            self.reading = None
        if self.answering is not None and master["b_ready"]:
            write = self.answering
            for beat, (data, strobes) in enumerate(write["beats"]):
                for byte in range(BEAT):
                    if strobes >> byte & 1 and not (write["bad"] and self.rng.random() < 0.5):
                        self.bytes[write["addr"] + BEAT * beat + byte] = data >> 8 * byte & 0xFF
            self.writes.remove(write)
            self.answering = None
        for name in ("aw", "ar"):
            fields = {part: master[f"{name}_{part}"] for part in ("id", "addr", "len")}
            taken = self.holds(name, master[f"{name}_valid"], self.ready[f"{name}_ready"], fields)
            if taken:
                last = fields["addr"] + BEAT * (fields["len"] + 1) - 1
                assert fields["addr"] % BEAT == 0 and fields["addr"] // 4096 == last // 4096, fields
            if taken and name == "ar":
                assert fields["len"] == 3 and fields["addr"] % 64 == 0
                self.read_lines += 1
                bad = self.rng.random() < self.read_errors
                early = bytes(self.bytes[fields["addr"] : fields["addr"] + 4 * BEAT])
                self.reads.append({
                    **fields, "due": self.due(), "beat": 0, "bad": bad, "since": self.now,
                    "lost": self.lost(self.lost_reads, 4),
                    "noise": self.rng.getrandbits(128) if bad else 0,
                    "data": early if self.rng.random() < 0.5 else None,
                })  # fmt: skip
            elif taken:
                self.asked.append(fields)
        fields = {part: master[f"w_{part}"] for part in ("data", "strb", "last")}
        if self.holds("w", master["w_valid"], self.ready["w_ready"], fields):
            self.beats.append((fields["data"], fields["strb"]))
            if fields["last"]:
                self.bursts.append(self.beats)
                self.beats = []
        while self.asked and self.bursts:
            asked, beats = self.asked.pop(0), self.bursts.pop(0)
            assert len(beats) == asked["len"] + 1
            bad = self.rng.random() < self.write_errors
            lost = self.lost(self.lost_writes, 1)
            entry = {"due": self.due(), "beat": 0, "beats": beats, "bad": bad, "since": self.now, "lost": lost}
            self.writes.append(asked | entry)


class Values:
    """What accesses have made of values, in the order of each block."""

    def __init__(self, size, putter):
        self.bytes = bytearray(size)
        self.putter = putter
        self.blocks, self.of, self.faults, self.answers = {}, {}, 0, 0
        self.stores_fail = False

    def enter(self, asker, request):
        access = dict.fromkeys((name for name, _ in REQUEST), 0) | {"asker": asker, **request}
        self.blocks.setdefault(request["place"] // BLOCK, []).append(access)
        if asker != self.putter:
            assert asker not in self.of
            self.of[asker] = access

    def apply(self, access, fault=False):
        """What it gives; it changes values if it does not fault."""
        at, size = access["place"], access["bytes"]
        old = int.from_bytes(self.bytes[at : at + size], "little")
        mask, data, new = (1 << 8 * size) - 1, access["data"], old
        if access["op"] == STORE:
            new = data
        elif access["op"] == ATOMIC:
            same = old == access["expected"] & mask
            new = [old + data, old | data, old & data, old ^ data, data, data if same else old][access["code"]]
        if not fault:
            self.bytes[at : at + size] = (new & mask).to_bytes(size, "little")
        sign = access["sign"] and size in (1, 2, 4) and old >> 8 * size - 1
        return (old | (~mask if sign else 0)) & (1 << 64) - 1

    def answer(self, asker, fault, value):
        access = self.of.pop(asker)
        queue = self.blocks[access["place"] // BLOCK]
        while queue[0] is not access:
            ahead = queue.pop(0)
            assert ahead["asker"] == self.putter, "one of its block was before it"
            self.apply(ahead)
        queue.pop(0)
        expected = self.apply(access, fault)
        assert fault or access["op"] == STORE or value == expected, (access, hex(value), hex(expected))
        assert self.stores_fail or not (fault and access["op"] == STORE)
        self.faults += fault
        self.answers += 1
        return access

    def busy_units(self):
        return {block * BLOCK // UNIT for block, queue in self.blocks.items() if queue}


class Bench:
    def __init__(self, dut, rng):
        self.dut, self.rng = dut, rng
        self.size = 1 << parameter(dut, "PlaceBits")
        self.askers, self.putter = parameter(dut, "Askers"), parameter(dut, "Putter")
        self.memory, self.values = Memory(rng, self.size), Values(self.size, self.putter)
        self.clearing = None
        self.busy, self.entered = 0, None
        self.done_ready = 1.0
        self.failed = [0, 0]
        # Accesses that ended for a memory that does not answer, and IDs of writes that were told.
        self.late, self.write_late = 0, 0
        self.answered = []

    async def cycle(self, enter=None, clear=None):
        """enter: (asker, request); clear: (first, units)."""
        ready = int(self.rng.random() < self.done_ready)
        asker, request = enter or (0, {})
        self.entered = asker if enter else None
        if enter:
            self.values.enter(asker, request | {"since": self.memory.now})
        first, units = clear or (0, 0)
        await step(
            self.dut, valid_i=enter is not None, asker_i=asker, request_i=packed(REQUEST, request),
            clear_valid_i=clear is not None, clear_first_i=first, clear_units_i=units,
            done_ready_i=ready, slave_i=self.memory.drive(),
        )  # fmt: skip
        self.memory.sample(unpacked(MASTER, int(self.dut.master_o.value)))
        if int(self.dut.done_valid_o.value) and ready:
            numbers = (self.dut.done_asker_o, self.dut.done_fault_o, self.dut.done_value_o)
            asker, fault, value = (int(number.value) for number in numbers)
            self.answered.append((self.values.answer(asker, fault, value), fault))
        if clear:
            self.clearing = clear
        if int(self.dut.clear_done_o.value):
            first, units = self.clearing
            self.values.bytes[first * UNIT : (first + units) * UNIT] = bytes(units * UNIT)
            self.clearing = None
        self.failed[0] += int(self.dut.read_failed_o.value)
        self.failed[1] += int(self.dut.write_failed_o.value)
        self.late += int(self.dut.late_o.value)
        self.write_late += int(self.dut.write_late_o.value)
        self.busy = int(self.dut.busy_o.value)

    def free(self):
        """Askers without an access; one that came in the last cycle is not seen yet."""
        taken = self.values.of.keys() | {self.entered}
        return [asker for asker in range(self.askers) if not self.busy >> asker & 1 and asker not in taken]

    async def clear(self, first, units):
        await self.cycle(clear=(first, units))
        while self.clearing:
            await self.cycle()

    async def settle(self):
        await self.cycle()
        while self.values.of or self.busy or self.memory.writes or self.memory.asked or self.memory.bursts:
            await self.cycle()


async def opened(dut, name):
    rng = bench_rng(name)
    idle = (
        "valid_i",
        "asker_i",
        "request_i",
        "clear_valid_i",
        "clear_first_i",
        "clear_units_i",
        "done_ready_i",
        "slave_i",
        "weight_valid_i",
        "weight_module_i",
        "weight_i",
    )
    await start(dut, limit=400_000, **dict.fromkeys(idle, 0))
    bench = Bench(dut, rng)
    for _ in range(70):
        await bench.cycle()
    return bench, rng


def access(rng, place, asker, putter):
    """A random access to a value around this place, which stays in its block."""
    op = STORE if asker == putter else rng.choice((LOAD, LOAD, STORE, ATOMIC))
    size = rng.choice((4, 8)) if op == ATOMIC else rng.choice((1, 2, 4, 6, 8))
    place += rng.randrange(16)
    if op == ATOMIC:
        place -= place % size
    place = min(place, place - place % BLOCK + BLOCK - size)
    code, data = rng.randrange(6), rng.getrandbits(64)
    return {
        "op": op, "place": place, "bytes": size, "sign": rng.getrandbits(1), "code": code, "data": data,
        "expected": rng.choice((0, data, rng.getrandbits(64))),
    }  # fmt: skip


@cocotb.test()
async def accesses_are_done_as_they_came_while_units_are_cleared(dut):
    bench, rng = await opened(dut, "xdp_outside")
    units = bench.size // UNIT
    await bench.clear(0, units)
    cleared = 0
    for _ in range(120):
        bench.memory.pace = rng.choice(((1, 6, 1.0), (30, 150, 0.8), (1, 300, 0.3), (1, 1, 1.0)))
        bench.memory.read_errors = rng.choice((0.0, 0.0, 0.3))
        bench.done_ready = rng.choice((1.0, 0.4))
        # A few places that share lines, pages, blocks and places of the cache.
        one = rng.randrange(bench.size // 64) * 64
        near = [
            one,
            one ^ 64,
            one ^ 512,
            one ^ 1024,
            one ^ (1 << rng.randrange(11, 17)),
            one ^ UNIT,
            one + 56,
            one + 120,
        ]
        places = [place % bench.size for place in rng.sample(near, rng.randint(1, len(near)))]
        rate = rng.choice((1.0, 0.5, 0.1))
        for _ in range(rng.choice((100, 500))):
            enter = clear = None
            free = bench.free()
            if free and rng.random() < rate:
                asker, place = rng.choice(free), rng.choice(places)
                blocked = bench.clearing and bench.clearing[0] <= place // UNIT < sum(bench.clearing)
                enter = None if blocked else (asker, access(rng, place, asker, bench.putter))
            elif not bench.clearing and rng.random() < 0.03:
                first = rng.randrange(units)
                count = rng.randint(0, units - first)
                if not bench.values.busy_units() & set(range(first, first + count)):
                    clear, cleared = (first, count), cleared + 1
            await bench.cycle(enter, clear)
        while bench.clearing:
            await bench.cycle()
        await bench.settle()
    seen = bench.values.answers, bench.values.faults, cleared
    assert all(found > wanted for found, wanted in zip(seen, (1_500, 30, 100), strict=True)), seen
    assert bench.failed == [bench.values.faults, 0], (bench.failed, seen)
    assert bench.late == bench.write_late == int(dut.lost_o.value) == 0


@cocotb.test()
async def a_write_that_fails_is_told_and_read_again_behind_it(dut):
    bench, rng = await opened(dut, "xdp_outside_errors")
    await bench.clear(0, bench.size // UNIT)
    for round in range(1, 20):
        bench.memory.write_errors = 1.0
        await bench.cycle((0, {"op": STORE, "place": 0, "bytes": 8, "data": round}))
        await bench.settle()
        assert bench.failed == [0, round]
        bench.memory.write_errors = 0.0
        # Neither the port nor the page waits for ever.
        await bench.cycle((0, {"op": STORE, "place": 0, "bytes": 8, "data": rng.getrandbits(64)}))
        await bench.cycle((1, {"op": LOAD, "place": 0, "bytes": 8}))
        await bench.settle()


@cocotb.test()
async def a_line_that_is_there_is_answered_in_5_cycles_beside_one_that_is_not(dut):
    bench, rng = await opened(dut, "xdp_outside_hits")
    await bench.clear(0, bench.size // UNIT)
    here, far = 0, 9 * BLOCK
    for place in (here, far):
        await bench.cycle((0, {"op": STORE, "place": place, "bytes": 8, "data": 5}))
        await bench.settle()
    await bench.cycle((0, {"op": LOAD, "place": here, "bytes": 8}))
    await bench.settle()
    assert bench.memory.read_lines == 1
    bench.memory.pace = (200, 200, 1.0)
    await bench.cycle((1, {"op": LOAD, "place": far, "bytes": 8}))
    for _ in range(20):
        await bench.cycle((0, {"op": ATOMIC, "place": here, "bytes": 8, "data": 1}))
        waited = 0
        while 0 in bench.values.of:
            await bench.cycle()
            waited += 1
        assert waited == 5
    assert 1 in bench.values.of
    await bench.settle()
    assert bench.memory.read_lines == 2


@cocotb.test()
async def no_line_of_the_cache_outlives_its_unit(dut):
    bench, _ = await opened(dut, "xdp_outside_lines")
    lines = parameter(dut, "Lines")
    for _ in range(2):
        await bench.clear(0, 1)
        for line in range(lines):
            await bench.cycle((0, {"op": STORE, "place": 64 * line, "bytes": 8, "data": line + 1}))
            await bench.settle()
            await bench.cycle((0, {"op": LOAD, "place": 64 * line, "bytes": 8}))
            await bench.settle()
        await bench.clear(0, 1)
        # The pages are written again, but for these lines.
        for line in range(lines):
            await bench.cycle((0, {"op": STORE, "place": 64 * line + 32, "bytes": 1, "data": 0}))
            await bench.settle()
        for line in range(lines):
            await bench.cycle((0, {"op": LOAD, "place": 64 * line, "bytes": 8}))
            await bench.settle()


# Cycles from an access that is late to its answer, where all are late.
SOON = 150


def is_owed(bench, access):
    """Whether memory has not answered what this access needs."""
    age, late = bench.memory.now - access["since"], bench.late_cycles
    page = access["place"] >> 10 & 63
    lost = sum(read["lost"] is not None for read in bench.memory.reads)
    return age >= late or lost >= 32 or bench.memory.owes(bench.memory.writes, late - SOON, id=page)


@cocotb.test()
async def what_is_not_answered_in_time_is_a_fault_and_what_comes_later_is_nobodys(dut):
    bench, rng = await opened(dut, "xdp_outside_late")
    bench.late_cycles, bench.values.stores_fail = parameter(dut, "LateCycles"), True
    await bench.clear(0, bench.size // UNIT)
    late = clean = 0
    for _ in range(60):
        bench.memory.pace = rng.choice(((1, 6, 1.0), (10, 40, 0.8)))
        bench.memory.lost_reads = rng.choice((0.0, 0.1, 0.5))
        bench.memory.lost_writes = rng.choice((0.0, 0.02, 0.02))
        bench.done_ready = rng.choice((1.0, 0.6))
        places = [rng.randrange(bench.size // 64) * 64 for _ in range(rng.randint(1, 8))]
        for _ in range(rng.choice((400, 1_500))):
            free = [asker for asker in bench.free() if asker != bench.putter]
            enter = None
            if free and rng.random() < 0.3:
                asker = rng.choice(free)
                enter = asker, access(rng, rng.choice(places), asker, bench.putter)
            await bench.cycle(enter)
            for one, fault in bench.answered:
                assert not fault or is_owed(bench, one), one
                assert bench.memory.now - one["since"] <= 2 * bench.late_cycles + SOON, one
            bench.answered.clear()
        late += bench.values.faults
        bench.memory.release()
        await bench.settle()
        # What came too late has gone, and its IDs are free.
        for _ in range(200):
            await bench.cycle()
        assert int(dut.lost_o.value) == 0
        bench.answered.clear()
        before = bench.values.faults
        for place in places:
            await bench.cycle((0, access(rng, place, 0, bench.putter)))
            await bench.settle()
            clean += 1
        assert bench.values.faults == before
    assert bench.failed == [0, 0]
    assert bench.late == bench.values.faults
    assert late > 200 and bench.write_late > 5 and clean > 100, (late, bench.write_late, clean)


async def filled(bench, lines):
    """Pages of so many lines are written, and none of them is in the cache."""
    await bench.clear(0, bench.size // UNIT)
    for line in range(lines):
        await bench.cycle((0, {"op": STORE, "place": 64 * line, "bytes": 8, "data": line + 1}))
        await bench.settle()


async def waited(bench, asker, request):
    """Cycles until its answer, and whether it is a fault."""
    await bench.cycle((asker, request))
    cycles = 0
    while asker in bench.values.of:
        await bench.cycle()
        cycles += 1
    one, fault = bench.answered.pop()
    assert one["asker"] == asker
    return cycles, fault


def load(line):
    return {"op": LOAD, "place": 64 * line, "bytes": 8}


@cocotb.test()
async def a_memory_that_owes_half_of_all_ids_is_asked_no_more(dut):
    bench, _ = await opened(dut, "xdp_outside_gone")
    late = parameter(dut, "LateCycles")
    await filled(bench, 64)
    await waited(bench, 0, load(0))
    bench.memory.lost_reads = 1.0
    line = 1
    for round in range(1, 33):
        cycles, fault = await waited(bench, 0, load(line))
        assert fault and late <= cycles <= 2 * late + SOON, cycles
        assert int(dut.lost_o.value) == round
        # Lines of other blocks are not held up, and their places of the cache are not lost.
        assert await waited(bench, 1, load(0)) == (5, 0)
        line = 1 + line % 15
    asked = bench.memory.read_lines
    cycles, fault = await waited(bench, 0, load(20))
    assert fault and cycles == 5
    assert await waited(bench, 1, load(0)) == (5, 0)
    assert bench.memory.read_lines == asked
    assert bench.late == 33 and bench.failed == [0, 0]
    # One that comes is enough.
    bench.memory.reads[0]["lost"] = None
    bench.memory.lost_reads = 0.0
    for _ in range(100):
        await bench.cycle()
    assert int(dut.lost_o.value) == 31
    _, fault = await waited(bench, 0, load(20))
    assert not fault
    bench.memory.release()
    for _ in range(1_000):
        await bench.cycle()
    assert int(dut.lost_o.value) == 0
    for line in range(64):
        _, fault = await waited(bench, line % 2, load(line))
        assert not fault


@cocotb.test()
async def a_line_that_came_in_part_is_not_taken_for_the_one_that_it_overwrote(dut):
    bench, rng = await opened(dut, "xdp_outside_part")
    lines = parameter(dut, "Lines")
    await filled(bench, 2 * lines)
    for _ in range(12):
        line = rng.randrange(lines)
        _, fault = await waited(bench, 0, load(line))
        assert not fault
        bench.memory.lost = lambda chance, beats: 2 if chance else None
        bench.memory.lost_reads = 1.0
        _, fault = await waited(bench, 0, load(line + lines))
        assert fault
        bench.memory.lost_reads = 0.0
        for word in range(8):
            _, fault = await waited(bench, 0, {"op": LOAD, "place": 64 * line + 8 * word, "bytes": 8})
            assert not fault
        bench.memory.release()
        await bench.settle()
    assert bench.late == 12


@cocotb.test()
async def a_memory_that_takes_nothing_is_a_fault_and_then_one_at_once(dut):
    bench, _ = await opened(dut, "xdp_outside_deaf")
    late = parameter(dut, "LateCycles")
    bench.values.stores_fail = True
    await filled(bench, 64)
    await waited(bench, 0, load(0))
    # No addresses of reads.
    bench.memory.deaf = {"ar_ready"}
    assert (await waited(bench, 0, load(20)))[1]
    for _ in range(2 * late):
        await bench.cycle()
    assert await waited(bench, 0, load(21)) == (5, 1)
    assert await waited(bench, 1, load(0)) == (5, 0)
    bench.memory.deaf = set()
    for _ in range(60):
        await bench.cycle()
    assert int(dut.lost_o.value) == 0
    assert not (await waited(bench, 0, load(21)))[1]
    # No writes: they are posted until there is no room.
    for channel in ("aw_ready", "w_ready"):
        bench.memory.deaf = {channel}
        stores = 0
        while True:
            cycles, fault = await waited(bench, 0, {"op": STORE, "place": 8, "bytes": 8, "data": stores})
            if fault:
                break
            stores += 1
        assert 10 < stores < 20 and late <= cycles <= 2 * late + SOON
        for _ in range(2 * late):
            await bench.cycle()
        assert await waited(bench, 0, {"op": STORE, "place": 8, "bytes": 8, "data": 99}) == (5, 1)
        assert await waited(bench, 1, load(0)) == (5, 0)
        # A posted store of the putter is lost, and counted.
        before = bench.late
        await bench.cycle((bench.putter, {"op": STORE, "place": 8, "bytes": 8, "data": 77}))
        for _ in range(10):
            await bench.cycle()
        assert bench.late == before + 1 and not bench.busy
        assert bench.values.blocks[0].pop()["asker"] == bench.putter
        # A line of a page whose writes are not answered is not read, and the answer is not waited for.
        assert await waited(bench, 2, load(3)) == (5, 1)
        bench.memory.deaf = set()
        await bench.settle()
        assert not (await waited(bench, 2, load(3)))[1]
        assert not (await waited(bench, 2, {"op": LOAD, "place": 8, "bytes": 8}))[1]
        # Its line goes.
        await waited(bench, 0, load(3 + parameter(dut, "Lines")))
    assert bench.write_late > 1


PAGE = 1 << 10


@cocotb.test()
async def a_module_within_its_share_waits_for_no_flood_of_another(dut):
    bench, rng = await opened(dut, "xdp_outside_shares")
    await bench.clear(0, bench.size // UNIT)
    bench.memory.pace = (100, 100, 1.0)
    own, flooders = bench.putter - 1, list(range(bench.putter - 1))
    # Its own pages are written. No line of them is in the cache, and each is read once: others share neither lines
    # nor their places.
    lines, cache = 256, 64 * parameter(dut, "Lines")
    for line in range(lines):
        await bench.cycle((own, {"op": STORE, "module_id": 2, "place": 64 * line, "bytes": 8, "data": line}))
        await bench.settle()
    unread = iter(range(lines))
    # The others write new pages, and read lines that are not there.
    fresh = iter(page for page in range(bench.size // PAGE) if page * PAGE % cache >= 64 * lines)
    written, longest, count, pause = [], {LOAD: 0, STORE: 0}, {LOAD: 0, STORE: 0}, 0
    since = None
    for _ in range(20_000):
        enter, free = None, bench.free()
        if own in free and since is not None:
            op, begin = since
            longest[op] = max(longest[op], bench.memory.now - begin)
            count[op] += 1
            since, pause = None, rng.randint(100, 300)
        pause -= 1
        if own in free and since is None and pause < 0:
            op = rng.choice((LOAD, STORE))
            since = op, bench.memory.now
            place = 64 * (next(unread) if op == LOAD else rng.randrange(lines))
            enter = own, {"op": op, "module_id": 2, "place": place, "bytes": 8, "data": rng.getrandbits(64)}
        elif idle := [asker for asker in flooders if asker in free]:
            asker = rng.choice(idle)
            if written and rng.random() < 0.3:
                request = {"op": LOAD, "place": rng.choice(written) * PAGE + 64 * rng.randrange(16)}
            else:
                written.append(next(fresh))
                request = {"op": STORE, "place": written[-1] * PAGE, "data": 7}
            enter = asker, {"module_id": 1, "bytes": 8} | request
        await bench.cycle(enter)
    await bench.settle()
    print(f"longest waits of {count}: load {longest[LOAD]}, store {longest[STORE]} cycles")
    assert min(count.values()) > 15 and len(written) > 200, (count, len(written))
    # A store: the page on its way. A load: memory, and of the page that it has written three pages and the answer.
    assert longest[STORE] < 100 and longest[LOAD] < 480, longest


PACKAGES = ["rtl/gen/sluice_pkg.sv", "rtl/shell/sluice_engine_pkg.sv", "rtl/gen/sluice_xdp_rows_pkg.sv"]
PACKAGES += ["rtl/xdp/sluice_xdp_pkg.sv", "rtl/xdp/sluice_xdp_outside_pkg.sv"]
LATE = [
    "what_is_not_answered_in_time_is_a_fault_and_what_comes_later_is_nobodys",
    "a_memory_that_owes_half_of_all_ids_is_asked_no_more",
    "a_line_that_came_in_part_is_not_taken_for_the_one_that_it_overwrote",
    "a_memory_that_takes_nothing_is_a_fault_and_then_one_at_once",
]
OTHERS = [
    "accesses_are_done_as_they_came_while_units_are_cleared",
    "a_write_that_fails_is_told_and_read_again_behind_it",
    "a_line_that_is_there_is_answered_in_5_cycles_beside_one_that_is_not",
    "no_line_of_the_cache_outlives_its_unit",
]
SHARES = [
    "a_module_within_its_share_waits_for_no_flood_of_another",
]


@pytest.mark.parametrize("place_bits, lines, askers", [(18, 16, 6), (20, 32, 20)])
def test_xdp_outside(place_bits, lines, askers):
    parameters = {"PlaceBits": place_bits, "Lines": lines, "Askers": askers, "Putter": askers - 2}
    run_bench("sluice_xdp_outside", parameters=parameters, packages=PACKAGES, tests=OTHERS)


@pytest.mark.parametrize("askers", [6, 20])
def test_xdp_outside_late(askers):
    parameters = {"PlaceBits": 18, "Lines": 16, "Askers": askers, "Putter": askers - 2, "LateCycles": 256}
    run_bench("sluice_xdp_outside", parameters=parameters, packages=PACKAGES, tests=LATE)


def test_xdp_outside_shares():
    parameters = {"PlaceBits": 20, "Lines": 4096, "Askers": 20, "Putter": 18}
    run_bench("sluice_xdp_outside", parameters=parameters, packages=PACKAGES, tests=SHARES)
