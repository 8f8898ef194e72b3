"""The parser's bench: one cycle at a time; everything that leaves is compared, its cycle too."""

from collections import deque
from dataclasses import dataclass, field

from cocotb.triggers import RisingEdge
from nic.nic_bench import BAD_ADDRESS, BAD_LENGTH, CFG_RSP, OK, fields, pack_fields
from parser_model import NODES, PATH_WORDS, PATHS, SELECT_WORDS, SIZES, WINDOW, Program, parse, random_packet
from sluice_tb import bench_rng, start

PACKAGES = [
    "rtl/gen/sluice_pkg.sv",
    "rtl/gen/sluice_rmt_rows_pkg.sv",
    "rtl/shell/sluice_engine_pkg.sv",
    "rtl/shell/sluice_shell_pkg.sv",
    "rtl/rmt/sluice_rmt_pkg.sv",
    "rtl/rmt/sluice_rmt_sum_pkg.sv",
]
MODULES = {64: 64, 32: 8}
FIRST, NODE, PATH = range(3)
WORDS = {FIRST: SELECT_WORDS, NODE: SELECT_WORDS, PATH: PATH_WORDS}
# The entrance leaves out a slot at most this often.
PERIOD = 256

# Packed structures, from bit 0.
CTL = {"reason": 4, "dropped": 1, "system_generation": 1, "generation": 1, "module_id": 6}
DESC = {"queueing": 48, "arrival": 48, "length": 14, "tenant": 12, "port": 4, "ctl": 13}
CFG_REQ = {"words": 7, "index": 16, "slice": 7, "snapshot": 1, "table": 8, "write": 1, "clear": 1}
INPUTS = ["slot_valid_i", "slot_first_i", "slot_last_i", "slot_data_i", "desc_i"]
INPUTS += ["cfg_valid_i", "cfg_req_i", "cfg_row_i"]


@dataclass
class Access:
    """A configuration access and what it has to answer; `value` is the row of a write."""

    table: int
    index: int
    write: bool
    value: int = 0
    slice: int = 0
    snapshot: int = 0
    words: int | None = None
    age: int = 0
    answer: dict = field(default_factory=dict)


class Bench:
    """Programs by (module, generation), slots in order, and what has to leave."""

    async def begin(self, dut, name):
        self.dut, self.rng = dut, bench_rng(name)
        self.width = int(dut.Bytes.value)
        self.modules, self.beats = MODULES[self.width], WINDOW // self.width
        self.programs = {(m, g): Program() for m in range(self.modules) for g in range(2)}
        self.rows = {}
        self.accesses, self.open, self.blocked = deque(), None, 0
        self.expected, self.phv = deque(), None
        self.now, self.last_bubble = 0, 0
        self.free_node, self.free_path = -1000, -1000
        self.seen = {"latencies": set(), "reasons": {}, "wrong": 0, "right": 0}
        await start(dut, **dict.fromkeys(INPUTS, 0))
        # A reset leaves the tables of the test before.
        for overlay in range(2 * self.modules):
            self.write(FIRST, overlay, Program().first.word())
        await self.settle()
        return self

    # Configuration.

    def write(self, table, index, value, **more):
        self.accesses.append(Access(table, index, True, value, **more))

    def read(self, table, index, piece=0, **more):
        self.accesses.append(Access(table, index, False, slice=piece, **more))

    def load(self, module, generation, program):
        """All rows of a module and generation; takes effect when they are written."""
        overlay = 2 * module + generation
        self.write(FIRST, overlay, program.first.word())
        for i, node in enumerate(program.nodes):
            self.write(NODE, NODES * overlay + i, node.word())
        for i, path in enumerate(program.paths):
            self.write(PATH, PATHS * overlay + i, path.word())
        self.programs[module, generation] = program

    def rows_of(self, table):
        return 2 * self.modules * {FIRST: 1, NODE: NODES, PATH: PATHS}[table]

    def answer_of(self, access):
        """Status, words and data by docs/design/rmt-rows.md."""
        words = WORDS.get(access.table)
        if words is None or access.index >= self.rows_of(access.table) or 8 * access.slice >= words or access.snapshot:
            return BAD_ADDRESS, 0, 0
        if access.write:
            return (OK if access.words == words else BAD_LENGTH), 0, 0
        row = self.rows.get((access.table, access.index), 0)
        return OK, min(8, words - 8 * access.slice), row >> 256 * access.slice & ((1 << 256) - 1)

    def _drive_configuration(self):
        dut, rng = self.dut, self.rng
        dut.cfg_valid_i.value = 0
        if self.open is None and self.accesses:
            access = self.open = self.accesses.popleft()
            words = WORDS.get(access.table, rng.randrange(1, SELECT_WORDS + 1))
            if access.words is None:
                access.words = words if access.write else 0
            request = {
                "words": access.words,
                "index": access.index,
                "slice": access.slice,
                "snapshot": access.snapshot,
                "table": access.table,
                "clear": 0,
                "write": int(access.write),
            }
            dut.cfg_valid_i.value = 1
            dut.cfg_req_i.value = pack_fields(CFG_REQ, **request)
            room = 32 * (SELECT_WORDS - words)
            dut.cfg_row_i.value = access.value << room | rng.getrandbits(room + 1) >> 1

    def _check_configuration(self):
        dut, access = self.dut, self.open
        answered = int(dut.cfg_valid_o.value)
        assert access is not None or not answered, "an answer without an access"
        if not answered:
            assert int(dut.cfg_rsp_o.value) == 0, "what is between answers is zero, so that answers can be ORed"
        if access is None:
            assert int(dut.slot_request_o.value) == 0
            return
        access.age += 1
        # A bubble may be used up by the slots that wait; the next one is not.
        assert access.age < 4 * PERIOD, f"no answer: {access}"
        self.blocked += int(dut.slot_request_o.value)
        if answered:
            got = fields(CFG_RSP, int(dut.cfg_rsp_o.value))
            status, words, data = self.answer_of(access)
            assert (got["status"], got["words"]) == (status, words), access
            assert got["data"] == data, access
            if access.write and status == OK:
                self.rows[access.table, access.index] = access.value
            self.open = None

    async def settle(self):
        """Until all accesses are answered."""
        while self.accesses or self.open is not None:
            await self.cycle()

    # Packets.

    def describe(self, packet, module, generation, dropped=0, reason=0):
        rng = self.rng
        ctl = {
            "reason": reason if dropped else 0,
            "dropped": dropped,
            "system_generation": rng.getrandbits(1),
            "generation": generation,
            "module_id": module,
        }
        desc = {name: rng.getrandbits(width) for name, width in DESC.items()}
        desc["length"] = len(packet)
        desc["ctl"] = pack_fields(CTL, **ctl)
        return desc, ctl

    async def send(self, packet, module, generation, **drop):
        """Its slots, one a cycle; before them a bubble when one is asked for and due."""
        if int(self.dut.slot_request_o.value) and self.now - self.last_bubble >= PERIOD:
            self.last_bubble = self.now
            await self.cycle()
        desc, ctl = self.describe(packet, module, generation, **drop)
        program = self.programs[module, generation]
        slots = min(self.beats, -(-len(packet) // self.width))
        wanted = parse(program, packet, desc | {"dropped": ctl["dropped"], "reason": ctl["reason"]})
        last = self.now + slots - 1
        self.expected.append((self._leaves(last, slots), ctl, wanted, desc["queueing"]))
        for i in range(slots):
            part = packet[i * self.width : (i + 1) * self.width]
            await self.cycle(
                slot_first_i=int(i == 0),
                slot_last_i=int(i == slots - 1),
                slot_data_i=int.from_bytes(part, "little"),
                desc_i=pack_fields(DESC, **desc),
            )

    def _leaves(self, last, slots):
        """The cycle of ctl_o: the slots pass a node's row 3 cycles after the last one came, or behind those in front;
        the path's row 2 cycles after they passed that one, likewise."""
        node = max(last + 3, self.free_node)
        self.free_node = node + slots
        path = max(node + slots - 1 + 2, self.free_path)
        self.free_path = path + slots
        leaves = path + slots
        latency = leaves - last
        assert 6 + 2 * (slots - 1) <= latency <= 6 + 2 * (self.beats - 1)
        self.seen["latencies"].add((slots, latency))
        return leaves

    def _check_packets(self):
        dut = self.dut
        if self.phv is not None:
            ctl, wanted, queueing = self.phv
            got = int(dut.phv_o.value)
            for n, size in enumerate(SIZES):
                value = got & ((1 << 8 * size) - 1)
                got >>= 8 * size
                assert value == wanted.containers[n], f"container {n}: {value:x}, expected {wanted.containers[n]:x}"
            words = [got >> 16 * w & 0xFFFF for w in range(16)]
            assert words == wanted.words, (words, wanted.words, ctl)
            assert got >> 256 == queueing >> 32, "upper bits of the queueing stamp, beside the words"
        self.phv = None
        due = bool(self.expected) and self.expected[0][0] == self.now
        assert int(dut.ctl_valid_o.value) == due, f"cycle {self.now}: ctl_valid_o is {int(not due)}"
        if due:
            _, ctl, wanted, queueing = self.expected.popleft()
            got = fields(CTL, int(dut.ctl_o.value))
            assert got == ctl | {"dropped": wanted.dropped, "reason": wanted.reason}
            self.phv = ctl, wanted, queueing
            reason = wanted.reason if wanted.dropped else None
            self.seen["reasons"][reason] = self.seen["reasons"].get(reason, 0) + 1

    async def cycle(self, **slot):
        """One cycle; without a slot the inputs are noise."""
        dut, rng = self.dut, self.rng
        dut.slot_valid_i.value = int(bool(slot))
        if not slot:
            slot = {
                "slot_first_i": rng.getrandbits(1),
                "slot_last_i": rng.getrandbits(1),
                "slot_data_i": rng.getrandbits(8 * self.width),
                "desc_i": rng.getrandbits(sum(DESC.values())),
            }
        for name, value in slot.items():
            getattr(dut, name).value = value
        self._drive_configuration()
        await RisingEdge(dut.clk_i)
        self._check_packets()
        self._check_configuration()
        self.now += 1

    async def idle(self, count):
        for _ in range(count):
            await self.cycle()

    async def drain(self):
        await self.idle(8 + 3 * self.beats)
        assert not self.expected and self.phv is None

    async def send_random(self, count, lengths, pauses, choose):
        """`choose()` gives a module and generation, `lengths()` a length; `pauses` as of sluice_tb."""
        for _ in range(count):
            while next(pauses):
                await self.cycle()
            module, generation = choose()
            packet = random_packet(self.rng, self.programs[module, generation], lengths())
            drop = {}
            if self.rng.random() < 0.05:
                drop = {"dropped": 1, "reason": self.rng.choice((0, 1, 11))}
            await self.send(packet, module, generation, **drop)
