"""Runs sluice_rmt_act a cycle at a time beside the reference: every output of every cycle is compared."""

from collections import Counter
from dataclasses import dataclass, field

from cocotb.triggers import RisingEdge
from nic.codes import Status
from rmt.act.reference import (
    ACCESS,
    CLASS,
    METER,
    NONE,
    OLD,
    Action,
    Operands,
    Phv,
    holds,
    index_of,
    run_alu,
    run_state,
)
from rmt.codes import WordSource
from sluice_tb import start

PACKAGES = [
    "rtl/gen/sluice_pkg.sv",
    "rtl/gen/sluice_rmt_rows_pkg.sv",
    "rtl/shell/sluice_engine_pkg.sv",
    "rtl/shell/sluice_shell_pkg.sv",
    "rtl/rmt/sluice_rmt_act_pkg.sv",
    "rtl/rmt/sluice_rmt_pkg.sv",
]
SOURCES = ["rtl/rmt/sluice_rmt_act.sv", "tb/rmt/act/rmt_act_target.sv"]
TARGETS = {
    0: {"modules": 64, "actions": 512, "words": 4096, "data": 4 * 256 + 64 + 2 * 64},
    1: {"modules": 8, "actions": 32, "words": 512, "data": 4 * 16 + 8 + 2 * 8},
}
DATA, ACTION, PAGE, STATE_WORD, ZERO_PAGE, STATE_RANGE = 7, 8, 9, 10, 11, 13
TABLE_WORDS = {DATA: 4, ACTION: 77, PAGE: 1, STATE_WORD: 1, ZERO_PAGE: 1, STATE_RANGE: 2}
OK, BAD_ADDRESS, BAD_LENGTH, READ_ONLY = Status.OK, Status.BAD_ADDRESS, Status.BAD_LENGTH, Status.READ_ONLY
ROW_BITS = 77 * 32


@dataclass
class Packet:
    """A packet as it comes in c3, and what becomes of it."""

    phv: Phv
    module: int = 1
    generation: int = 0
    system_generation: int = 0
    dropped: int = 0
    system: int = 0
    winner: int = 1
    action: int = 0
    number: int = 0
    data: int = 0
    conditions: list[int] = field(default_factory=lambda: [0, 0])
    digest: int = 0
    # From here on by the reference.
    acts: bool = False
    row: Action | None = None
    operands: Operands | None = None
    page: int = 0
    out: Phv | None = None

    @property
    def rows_module(self):
        return 0 if self.system else self.module

    @property
    def rows_generation(self):
        return self.system_generation if self.system else self.generation

    @property
    def wants_state(self):
        return self.acts and self.row.state.kind in (ACCESS, METER) and holds(self.row.state.when, self.conditions)


@dataclass
class Request:
    """An access by the host; `status` is what it shall be answered with."""

    table: int
    index: int
    write: bool = False
    value: int = 0
    slice: int = 0
    snapshot: bool = False
    words: int | None = None
    status: int = OK
    row: Action | None = None
    began: int = -1
    expected: int | None = None
    left: int = 1

    @property
    def length(self):
        return TABLE_WORDS.get(self.table, 1) if self.words is None else self.words


class Bench:
    """The tables as dictionaries; packets and one request at a time go through them and the RTL in step."""

    # By all tests of a run.
    pages_written: set[int] = set()
    last_epoch = 0

    def __init__(self, dut):
        self.dut = dut
        self.sizes = TARGETS[int(dut.Target.value)]
        self.now = 0
        self.actions: dict[int, Action] = {}
        self.rows: dict[int, int] = {}
        self.data: dict[int, int] = {}
        self.pages: dict[int, int] = {}
        self.words: dict[int, int] = {}
        self.ranges, self.ranges_at_change, self.epoch = Counter(), Counter(), 0
        self.counting: int | None = None
        self.pipe: list[Packet | None] = [None] * 6  # [n]: in c3 + n
        self.request: Request | None = None
        self.answers: list[tuple[Request, int]] = []
        self.last_use: dict[int, int] = {}
        self.last_access: dict[int, int] = {}
        self.faults = 0
        self.done: Counter = Counter()

    async def begin(self):
        await start(
            self.dut, epoch_i=0, ctl_valid_i=0, ctl_i=0, system_i=0, rows_module_i=0, rows_generation_i=0, win_i=0,
            phv_i=0, conditions_i=0, hash_i=0, cfg_valid_i=0, cfg_req_i=0, cfg_row_i=0,
        )  # fmt: skip
        return self

    async def adopt(self):
        """Clears what earlier tests left in the tables that it uses; RAM has no reset."""
        for index in sorted(Bench.pages_written):
            await self.access(Request(PAGE, index, write=True, value=0))
        for page in range(self.sizes["words"] // 64):
            await self.access(Request(ZERO_PAGE, page, write=True))
        for module in range(self.sizes["modules"]):
            _, value = await self.access(Request(STATE_RANGE, module), check=False)
            self.ranges[module] = value
        # Epochs do not come back, and a counter's snapshot is that of the last change.
        await self.cycle(epoch=Bench.last_epoch + 1)
        return self

    # Reference, by cycle of a packet.

    def _c3(self, p: Packet):
        self.last_use[p.action] = self.now
        p.out = p.phv.copy()
        action = self.actions.get(p.action)
        live = p.winner and not p.dropped
        p.acts = bool(live and action is not None and action.owner == p.rows_module)
        p.fault = bool(live and not p.acts)
        if not p.acts:
            return
        p.row = action
        data = self.data.get(p.data, 0).to_bytes(16, "little")
        p.operands = Operands(action, p.phv, data, p.digest, p.number)
        for n, alu in enumerate(action.alus):
            p.out.c[n] = run_alu(alu, n, p.operands, p.phv, p.conditions)
            if alu.op != NONE:
                self.done["alu", CLASS[n], alu.op] += 1
                self.done["a", CLASS[n], alu.a] += 1
                self.done["b", CLASS[n], alu.b] += 1
                self.done["when", alu.when] += 1
        for n, w in enumerate(action.words, 9):
            value = {
                WordSource.IMMEDIATE: w.immediate, WordSource.DATA_A: p.operands.data[0][0],
                WordSource.P0: p.operands.picks[0][0], WordSource.X: p.operands.x & 0xFFFF,
            }[w.source]  # fmt: skip
            if (n >= 11 or p.system) and holds(w.when, p.conditions):
                p.out.words[n] = p.phv.words[n] & ~w.mask & 0xFFFF | value & w.mask
                self.done["word", n, w.source] += 1

    def _c4(self, p: Packet):
        if p.wants_state:
            index = index_of(p.row.state, p.operands)
            row = self.pages.get(128 * p.rows_module + 64 * p.rows_generation + index // 64, 0) if index < 4096 else 0
            p.page = row
            p.word = (row >> 1) * 64 + index % 64 if row & 1 else None

    def _c5(self, p: Packet):
        if not p.wants_state:
            return
        s = p.row.state
        if p.word is None:
            self.counting = p.rows_module
            self.done["range"] += 1
            return
        self.done["distance", self.now - self.last_access.get(p.word, -99)] += 1
        self.last_access[p.word] = self.now
        old = self.words.get(p.word, 0)
        new, shown = run_state(s, old, p.operands, p.phv, p.conditions)
        self.words[p.word] = new
        self.done["state", s.kind, s.condition, s.relation if s.condition == OLD else None] += 1
        if s.kind == METER:
            self.done["meter", s.per_packet, shown] += 1
        for to, value in ((s.old_to, old), (s.new_to, shown)):
            if to & 8:
                p.out.c[8 + (to & 7)] = value

    def _host(self, r: Request):
        """What the request does in this cycle; it came in cycle `began`."""
        age = self.now - r.began
        if r.status != OK:
            if r.expected is None:
                r.expected = 0
            return
        if r.table == ACTION:
            if r.write and age == 1:
                self.actions[r.index], self.rows[r.index] = r.row, r.value
                r.expected = 0
            elif not r.write and age >= 2 and r.expected is None and self.pipe[0] is None:
                r.expected = (self.rows.get(r.index, 0) >> 256 * r.slice) & (1 << 256) - 1
        elif r.table in (DATA, PAGE) and age == 1:
            table = self.data if r.table == DATA else self.pages
            r.expected = 0 if r.write else table.get(r.index, 0)
        elif r.table in (DATA, PAGE) and age == 2 and r.write:
            # Whoever reads in the cycle of the write reads the row as it was.
            (self.data if r.table == DATA else self.pages)[r.index] = r.value
            if r.table == PAGE:
                Bench.pages_written.add(r.index)
        elif r.table == STATE_RANGE and age == 1:
            r.expected = (self.ranges_at_change if r.snapshot else self.ranges)[r.index]
        elif r.table == ZERO_PAGE and not r.write:
            r.expected = 0
        elif r.table in (STATE_WORD, ZERO_PAGE) and age >= 2 and r.expected is None:
            p = self.pipe[2]
            if p is not None and p.wants_state:
                return
            if r.table == ZERO_PAGE:
                self.words[64 * r.index + r.left - 1] = 0
                r.left += 1
                r.expected = 0 if r.left > 64 else None
            elif r.write:
                self.words[r.index] = r.value
                r.expected = 0
            else:
                r.expected = self.words.get(r.index, 0)

    async def cycle(self, packet: Packet | None = None, request: Request | None = None, epoch: int | None = None):
        """One cycle: a packet (or a bubble) in c3, perhaps a request."""
        dut = self.dut
        self.pipe = [packet, *self.pipe[:5]]
        c3, c4, c5, _, _, c8 = self.pipe
        if epoch is not None and epoch != self.epoch:
            self.epoch = Bench.last_epoch = epoch
            self.ranges_at_change = self.ranges.copy()
        if request is not None:
            assert self.request is None
            self.request, request.began = request, self.now
        if self.request is not None:
            self._host(self.request)
        if self.counting is not None:
            self.ranges[self.counting] += 1
            self.counting = None
        if c3:
            self._c3(c3)
        if c4:
            self._c4(c4)
        if c5:
            self._c5(c5)

        dut.epoch_i.value = self.epoch
        dut.ctl_valid_i.value = c3 is not None
        if c3:
            ctl = c3.module << 7 | c3.generation << 6 | c3.system_generation << 5 | c3.dropped << 4
            dut.ctl_i.value = ctl
            dut.system_i.value = c3.system
            dut.rows_module_i.value = c3.rows_module
            dut.rows_generation_i.value = c3.rows_generation
            dut.win_i.value = c3.winner << 32 | c3.action << 23 | c3.number << 12 | c3.data
        if c4:
            dut.phv_i.value = c4.phv.pack()
            dut.conditions_i.value = c4.conditions[0] | c4.conditions[1] << 1
            dut.hash_i.value = c4.digest
        dut.cfg_valid_i.value = request is not None
        if request is not None:
            r = request
            words = r.length
            dut.cfg_req_i.value = (
                int(r.write) << 39 | r.table << 31 | int(r.snapshot) << 30 | r.slice << 23 | r.index << 7 | words
            )
            dut.cfg_row_i.value = (r.value << ROW_BITS - 32 * words) & (1 << ROW_BITS) - 1
        await RisingEdge(dut.clk_i)

        fault = bool(c5 and c5.fault)
        assert int(dut.fault_o.value) == fault, f"fault_o in cycle {self.now}"
        self.faults += fault
        if c8:
            self._compare(c8)
        rsp = int(dut.cfg_rsp_o.value)
        if int(dut.cfg_valid_o.value):
            r, self.request = self.request, None
            assert r is not None, "an answer that nobody waits for"
            status, words, value = rsp >> 260, rsp >> 256 & 15, rsp & (1 << 256) - 1
            assert status == r.status, f"{r}: status {status}"
            assert r.expected is not None, f"{r}: answered before it was done"
            full = TABLE_WORDS.get(r.table, 1)
            assert words == (0 if r.write or status else min(8, full - 8 * r.slice)), f"{r}: {words} words"
            self.answers.append((r, value))
        else:
            assert rsp == 0
        self.now += 1

    def _compare(self, p: Packet):
        got, expected = int(self.dut.phv_o.value), p.out.pack()
        if got == expected:
            return
        at = ((got ^ expected) & -(got ^ expected)).bit_length() - 1
        raise AssertionError(f"cycle {self.now}: lowest wrong bit of the PHV is {at}\n{p}")

    # The host.

    async def settle(self, cycles: int = 12):
        for _ in range(cycles):
            await self.cycle()

    async def access(self, request: Request, check: bool = True) -> tuple[int, int]:
        """One access without packets: (status, value)."""
        await self.cycle(request=request)
        for _ in range(400):
            if self.request is None:
                break
            await self.cycle()
        return self.taken(check)

    def taken(self, check: bool = True) -> tuple[int, int]:
        """The last answer, compared."""
        r, value = self.answers.pop()
        if check:
            assert value == r.expected, f"{r}: read {value:#x}"
        return r.status, value

    async def write_action(self, index: int, action: Action):
        await self.access(Request(ACTION, index, write=True, value=action.row(), row=action))

    async def write(self, table: int, index: int, value: int):
        await self.access(Request(table, index, write=True, value=value))
