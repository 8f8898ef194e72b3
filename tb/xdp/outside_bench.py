"""sluice_xdp_outside driven by random accesses, and what they make of values."""

from common.lookup_bench import parameter, start, step
from sluice_tb import bench_rng
from xdp.outside_memory import MASTER, Memory, packed, unpacked

LOAD, STORE, ATOMIC, STORE_TWO = 0, 1, 2, 3
UNIT, BLOCK = 1 << 16, 512
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
PACKAGES = ["rtl/gen/sluice_pkg.sv", "rtl/shell/sluice_engine_pkg.sv", "rtl/gen/sluice_xdp_rows_pkg.sv"]
PACKAGES += ["rtl/xdp/sluice_xdp_pkg.sv", "rtl/xdp/sluice_xdp_outside_pkg.sv"]


def lines(access):
    """Lines that an access touches."""
    return set(range(access["place"] // 64, (access["place"] + access["bytes"] - 1) // 64 + 1))


class Values:
    """What accesses have made of values, in the order of each line."""

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
        elif access["op"] == STORE_TWO:
            size, mask, new = 16, (1 << 128) - 1, data | access["expected"] << 64
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
        # Who shares a line with it and came before is done, and so is who shares one with these.
        done = [access]
        for ahead in reversed(queue[: next(at for at, entry in enumerate(queue) if entry is access)]):
            if any(lines(ahead) & lines(one) for one in done):
                assert ahead["asker"] == self.putter, "one of its line was before it"
                done.insert(0, ahead)
        for ahead in done[:-1]:
            self.apply(ahead)
        for one in done:
            queue.pop(next(at for at, entry in enumerate(queue) if entry is one))
        expected = self.apply(access, fault)
        assert fault or access["op"] in (STORE, STORE_TWO) or value == expected, (access, hex(value), hex(expected))
        assert self.stores_fail or not (fault and access["op"] in (STORE, STORE_TWO))
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
    op = rng.choice((STORE, STORE, STORE_TWO) if asker == putter else (LOAD, LOAD, LOAD, STORE, STORE_TWO, ATOMIC))
    size = rng.choice((4, 8)) if op == ATOMIC else 8 if op == STORE_TWO else rng.choice((1, 2, 4, 6, 8))
    place += rng.randrange(16)
    if op == ATOMIC:
        place -= place % size
    if op == STORE_TWO:
        place -= place % 16
    place = min(place, place - place % BLOCK + BLOCK - size)
    code, data = rng.randrange(6), rng.getrandbits(64)
    return {
        "op": op, "place": place, "bytes": size, "sign": rng.getrandbits(1), "code": code, "data": data,
        "expected": rng.choice((0, data, rng.getrandbits(64))),
    }  # fmt: skip


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
