"""Runs a stage a cycle at a time beside the reference: what every packet finds, counts and leaves as is compared."""

from collections import Counter, deque
from dataclasses import dataclass, field

from cocotb.triggers import RisingEdge
from nic.codes import Status
from nic.nic_bench import CFG_RSP, fields, pack_fields
from rmt.match.reference import EQ, Exact, KeyRow, Phv, Predicate, Ternary, hash_of
from rmt.rmt_bench import CFG_REQ, CTL, EVENTS
from sluice_tb import start

PACKAGES = [
    "rtl/gen/sluice_pkg.sv",
    "rtl/gen/sluice_rmt_rows_pkg.sv",
    "rtl/shell/sluice_engine_pkg.sv",
    "rtl/shell/sluice_shell_pkg.sv",
    "rtl/rmt/sluice_rmt_pkg.sv",
    "rtl/rmt/sluice_rmt_act_pkg.sv",
]
SOURCES = ["tb/rmt/match/rmt_match_target.sv"]
TARGETS = {
    0: {"modules": 64, "sets": 256, "ternary": 64, "system_stages": 0b10001},
    1: {"modules": 8, "sets": 16, "ternary": 8, "system_stages": 0b101},
}
OWNER, KEY, EXACT, TERNARY, HITS = 0, 1, 2, 6, 12
TABLE_WORDS = {OWNER: 1, KEY: 16, **dict.fromkeys(range(EXACT, EXACT + 4), 7), TERNARY: 13, HITS: 2}
# Tables of the action part, which these benches write only.
DATA, ACTION, PAGE = 7, 8, 9
TABLE_WORDS |= {DATA: 4, ACTION: 77, PAGE: 1}
OK, BAD_ADDRESS, BAD_LENGTH, READ_ONLY = Status.OK, Status.BAD_ADDRESS, Status.BAD_LENGTH, Status.READ_ONLY
ROW_WORDS = 77
TERNARY_WRITE = 34  # cycles
WIN = {"data": 12, "number": 11, "action": 9, "valid": 1}


def empty_key_row() -> KeyRow:
    """What a row of zeros means."""
    return KeyRow(predicates=[Predicate(b=0, op=EQ), Predicate(b=0, op=EQ)])


@dataclass
class Packet:
    """A packet, and what the reference says of it."""

    phv: Phv
    module: int
    generation: int = 0
    system_generation: int = 0
    dropped: int = 0
    reason: int = 0
    # From here on by the reference.
    rows: tuple[int, int] = (0, 0)
    row: KeyRow | None = None
    conditions: list[int] = field(default_factory=list)
    hash: int = 0
    win: dict | None = None
    out: Phv | None = None

    def ctl(self) -> int:
        return pack_fields(
            CTL, module_id=self.module, generation=self.generation, system_generation=self.system_generation,
            dropped=self.dropped, reason=self.reason,
        )  # fmt: skip


@dataclass
class Request:
    """An access by the host; `row` is what a write puts there."""

    table: int
    index: int
    row: object = None
    slice: int = 0
    snapshot: int = 0
    words: int | None = None
    status: int = OK
    expected: int | None = None
    began: int = -1
    answer: int | None = None

    def value(self) -> int:
        return self.row if isinstance(self.row, int) else self.row.row()


class Bench:
    """The tables as dictionaries; packets and one access at a time go through them and the RTL in step."""

    # RAM outlives the resets between the tests of a run.
    key_rows: dict[tuple[int, int], KeyRow] = {}
    exact: dict[tuple[int, int], Exact] = {}
    copies: dict[int, Ternary] = {}
    hits: Counter = Counter()
    frozen: Counter = Counter()
    epoch = 0

    def __init__(self, dut):
        self.dut = dut
        self.sizes = TARGETS[int(dut.Target.value)]
        self.stage = int(dut.Stage.value)
        self.pipe: deque[Packet | None] = deque([None] * 10)  # [n]: in c(n - 1)
        self.ternary: dict[int, Ternary] = {}
        self.system = self.sizes["system_stages"] >> self.stage & 1
        self.request: Request | None = None
        self.now = 0
        self.seen: Counter = Counter()

    async def begin(self):
        await start(self.dut, epoch_i=Bench.epoch, ctl_valid_i=0, ctl_i=0, phv_i=0,
                    cfg_valid_i=0, cfg_req_i=0, cfg_row_i=0)  # fmt: skip
        return self

    # The reference, by cycle of a packet.

    def _enter(self, p: Packet):
        p.rows = (0, p.system_generation) if self.system else (p.module, p.generation)
        p.row = self.key_rows.get((p.rows[0] % self.sizes["modules"], p.rows[1])) or empty_key_row()

    def _look_up(self, p: Packet):
        module, generation = p.rows
        p.conditions = p.row.conditions(p.phv)
        key = p.row.key(p.phv)
        p.hash = hash_of(key)
        found, kind = [], "none"
        for way, at in enumerate(x for x in p.row.sets(key) for _ in range(2)):
            entry = self.exact.get((way, at % self.sizes["sets"]))
            if entry and entry.generations >> generation & 1 and entry.module == module and entry.key == key:
                found.append((entry, way * self.sizes["sets"] + at % self.sizes["sets"]))
        if found:
            kind = "exact"
        else:
            first = 4 * self.sizes["sets"]
            found = [(e, first + i) for i, e in sorted(self.ternary.items()) if e.accepts(key, module, generation)]
            self.seen["several"] += len(found) > 1
            kind = "ternary" if found else "none"
        if found:
            entry, data = found[0]
            p.win = {"valid": 1, "action": entry.action, "number": entry.number, "data": data}
        elif p.row.default_valid:
            kind = "default"
            data = 4 * self.sizes["sets"] + self.sizes["ternary"]
            data += 2 * (module % self.sizes["modules"]) + generation
            p.win = {"valid": 1, "action": p.row.default_action, "number": p.row.default_number, "data": data}
        self.seen[kind] += 1
        self.seen["conditions", *p.conditions] += 1

    def _count(self, p: Packet):
        if p.win and not p.dropped:
            Bench.hits[(p.row.hits_base + p.win["number"]) % 2048] += 1

    def _act(self, p: Packet) -> tuple[bool, Phv]:
        """Whether the packet is refused, and its PHV behind the stage. Rows of zeros are module 0's and do nothing."""
        return bool(p.win and not p.dropped and p.rows[0] != 0), p.phv

    def _check(self):
        dut = self.dut
        if p := self.pipe[4]:
            win = fields(WIN, int(dut.win_o.value))
            assert (win if p.win else win["valid"]) == (p.win or 0), f"winner {win}, expected {p.win}"
        if p := self.pipe[5]:
            assert [int(dut.conditions_o.value) >> i & 1 for i in range(2)] == p.conditions
            assert int(dut.hash_o.value) == p.hash
        p = self.pipe[8]
        assert int(dut.ctl_valid_o.value) == (p is not None)
        if p:
            fault, p.out = self._act(p)
            self.seen["fault"] += fault
            left = Packet(p.phv, p.module, p.generation, p.system_generation, p.dropped, p.reason)
            if fault:
                left.dropped, left.reason = 1, EVENTS["rmt_fault"]
            assert int(dut.ctl_o.value) == left.ctl()
        if p := self.pipe[9]:
            assert int(dut.phv_o.value) == p.out.packed()

    # Accesses.

    def _status(self, r: Request) -> int:
        rows = {OWNER: 1, KEY: 2 * self.sizes["modules"], TERNARY: self.sizes["ternary"], HITS: 2048}
        rows |= dict.fromkeys((DATA, ACTION, PAGE), 1 << 16)
        size = rows.get(r.table, self.sizes["sets"])
        words = TABLE_WORDS.get(r.table)
        if words is None or r.index >= size or 8 * r.slice >= words or (r.snapshot and r.table != HITS):
            return BAD_ADDRESS
        if r.row is not None and r.table == HITS:
            return READ_ONLY
        if r.row is not None and r.words not in (None, words):
            return BAD_LENGTH
        return OK

    def _stored(self, r: Request) -> int:
        """What a read finds."""
        if r.table == HITS:
            return (self.frozen if r.snapshot else self.hits)[r.index]
        if r.table == OWNER:
            return self.system
        if r.table == KEY:
            row = self.key_rows.get(divmod(r.index, 2))
        elif r.table == TERNARY:
            row = self.copies.get(r.index)
        else:
            row = self.exact.get((r.table - EXACT, r.index))
        return row.row() if row else 0

    def _begin_access(self, r: Request):
        r.began, r.status = self.now, self._status(r)
        if r.status == OK and r.row is None:
            r.expected = self._stored(r) >> 256 * r.slice & (1 << 256) - 1

    def _effects(self):
        """What the access in hand changes for the cycles behind this one."""
        r = self.request
        if not r or r.began < 0 or r.row is None or r.status != OK:
            return
        age = self.now - r.began
        if r.table == TERNARY:
            if age == 1:
                self.ternary.pop(r.index, None)
            if age == (TERNARY_WRITE if r.row.generations else 1):
                Bench.copies[r.index] = r.row
                if r.row.generations:
                    self.ternary[r.index] = r.row
        elif age == 0:
            if r.table == OWNER:
                self.system = r.row & 1
            elif r.table == KEY:
                Bench.key_rows[divmod(r.index, 2)] = r.row
            elif r.table < TERNARY:
                Bench.exact[r.table - EXACT, r.index] = r.row

    def _answer(self):
        dut, r = self.dut, self.request
        if not int(dut.cfg_valid_o.value):
            assert int(dut.cfg_rsp_o.value) == 0
            return
        assert r is not None and self.now > r.began >= 0, "an answer to no access"
        rsp = fields(CFG_RSP, int(dut.cfg_rsp_o.value))
        assert rsp["status"] == r.status, f"{r}: status {rsp['status']}"
        if r.status == OK and r.table == TERNARY and r.row is not None:
            assert self.now - r.began == (TERNARY_WRITE if r.row.generations else 1) + 1
        if r.status == OK and r.row is None:
            assert rsp["words"] == min(8, TABLE_WORDS[r.table] - 8 * r.slice)
            assert rsp["data"] == r.expected, f"{r}: {rsp['data']:#x}"
        r.answer = rsp["data"]
        self.seen["answer", r.table, r.row is None, r.status] += 1
        self.request = None

    async def cycle(self, packet: Packet | None = None, request: Request | None = None, epoch: int | None = None):
        """One cycle; `request` only when none is in hand."""
        dut = self.dut
        dut.ctl_valid_i.value = packet is not None
        if packet:
            dut.ctl_i.value = packet.ctl()
        if self.pipe[0]:
            dut.phv_i.value = self.pipe[0].phv.packed()
        if epoch is not None and epoch != Bench.epoch:
            Bench.epoch, Bench.frozen = epoch, Counter(Bench.hits)
            dut.epoch_i.value = epoch
        dut.cfg_valid_i.value = request is not None
        if request:
            assert self.request is None
            self.request = request
            words = TABLE_WORDS.get(request.table, 1) if request.words is None else request.words
            dut.cfg_req_i.value = pack_fields(
                CFG_REQ, clear=0, words=words, index=request.index, slice=request.slice, snapshot=request.snapshot,
                table=request.table, write=int(request.row is not None),
            )  # fmt: skip
            if request.row is not None:
                dut.cfg_row_i.value = (request.value() & (1 << 32 * words) - 1) << 32 * (ROW_WORDS - words)
        await RisingEdge(dut.clk_i)

        self.pipe.rotate(1)
        self.pipe[0] = packet
        if packet:
            self._enter(packet)
        if self.pipe[2]:
            self._look_up(self.pipe[2])
        # The check of an access has a cycle of its own.
        if self.request and self.request.began < 0 and not request:
            self._begin_access(self.request)
        self._check()
        if self.pipe[6]:
            self._count(self.pipe[6])
        self._answer()
        self._effects()
        self.now += 1

    async def access(self, request: Request, packets=lambda: None) -> int | None:
        """An access to its end, among `packets`; the words that it read."""
        await self.cycle(packets(), request)
        for _ in range(TERNARY_WRITE + 20):
            if self.request is None:
                break
            await self.cycle(packets())
        assert self.request is None, f"{request} has no answer"
        return request.answer

    async def drain(self):
        for _ in range(12):
            await self.cycle()
