"""The deparser's bench: packets in on three streams, all that leaves compared."""

from collections import deque
from dataclasses import dataclass

import cocotb
from cocotb.triggers import RisingEdge
from deparser_model import (
    COPIES,
    DEPARSE_WORDS,
    LONG,
    LONGEST,
    PATTERNS_WORDS,
    REJECT,
    ROWS,
    SHORT,
    SIZES,
    WINDOW,
    Program,
)
from nic.nic_bench import BAD_ADDRESS, BAD_LENGTH, CFG_RSP, OK, SIDEBAND, fields, pack_fields
from rmt.rmt_bench import CFG_REQ, CTL, ROUTE, any_sideband
from sluice_tb import StreamMonitor, StreamSink, StreamSource, bench_rng, start

MODULES = {64: 64, 32: 8}
TABLES = {0: PATTERNS_WORDS, 1: DEPARSE_WORDS}
PATTERNS_TABLE, DEPARSE_TABLE = 0, 1
INPUTS = ["phv_valid_i", "phv_i", "ctl_i", "route_i", "side_valid_i", "side_i", "valid_i", "data_i", "last_i"]
INPUTS += ["m_ready_i", "cfg_valid_i", "cfg_req_i", "cfg_row_i"]
# From PHV and first beat to the output register, for a header of one beat.
LATENCY = 10


@dataclass
class Expected:
    """A packet's end."""

    ctl: dict
    side: dict
    route: dict
    slots: int
    out: bytes | None
    reason: int


def to_phv(rng, containers, path, headers):
    """The PHV's bits: containers from bit 0, then the words, then the upper bits of the stamp."""
    word, at = 0, 0
    for n, value in enumerate(containers):
        word |= value << at
        at += 8 * SIZES[n]
    words = [rng.getrandbits(16) for _ in range(16)]
    words[8] = words[8] & 0xFF0F | path << 4
    words[13] = headers
    for value in (*words, rng.getrandbits(16)):
        word |= value << at
        at += 16
    return word


class Bench:
    """Programs by (module, generation), packets in order, and what has to leave."""

    async def begin(self, dut, name):
        self.dut, self.rng = dut, bench_rng(name)
        self.width, self.least = int(dut.Bytes.value), int(dut.Least.value)
        self.modules = MODULES[self.width]
        self.programs = {}
        self.tables = {0: {}, 1: {}}
        self.expected, self.verdicts, self.leaves = [], deque(), deque()
        self.verdict_cycles, self.reasons, self.now = [], {}, 0
        await start(dut, **dict.fromkeys(INPUTS, 0))
        rst, clk = dut.rst_ni, dut.clk_i
        heads = {"phv": dut.phv_i, "ctl": dut.ctl_i, "route": dut.route_i}
        beat = {"data": dut.data_i, "last": dut.last_i}
        out = {key: getattr(dut, f"m_{key}_o") for key in ("data", "keep", "last", "side", "route")}
        self.heads = StreamSource(clk, valid=dut.phv_valid_i, ready=dut.phv_ready_o, data=heads)
        self.sides = StreamSource(clk, valid=dut.side_valid_i, ready=dut.side_ready_o, data=dut.side_i)
        self.beats = StreamSource(clk, valid=dut.valid_i, ready=dut.ready_o, data=beat)
        self.entry = StreamMonitor(clk, valid=dut.valid_i, ready=dut.ready_o, data=beat, reset=rst, name="beats")
        self.sink = StreamSink(clk, valid=dut.m_valid_o, ready=dut.m_ready_i, data=out, reset=rst, name="out")
        cocotb.start_soon(self._watch())
        # A reset leaves the tables of the test before.
        for module in range(self.modules):
            for generation in range(2):
                await self.write(PATTERNS_TABLE, 2 * module + generation, 0)
        return self

    def stall(self, heads=None, sides=None, beats=None, sink=None):
        for stream, stalls in ((self.heads, heads), (self.sides, sides), (self.beats, beats), (self.sink, sink)):
            if stalls is not None:
                stream.stalls = stalls

    # Configuration.

    def row_count(self, table):
        return 2 * self.modules * (1 if table == PATTERNS_TABLE else ROWS * WINDOW // self.width)

    def answer_of(self, request):
        """Status, words, data by docs/design/rmt-rows.md."""
        words, table, index = TABLES[request["table"]], request["table"], request["index"]
        if index >= self.row_count(table) or 8 * request["slice"] >= words or request["snapshot"]:
            return BAD_ADDRESS, 0, 0
        if request["write"]:
            return (OK if request["words"] == words else BAD_LENGTH), 0, 0
        row = self.tables[table].get(index, 0)
        piece = row >> 256 * request["slice"] & ((1 << 256) - 1)
        return OK, min(8, words - 8 * request["slice"]), piece

    async def access(self, table, index, write, value=0, piece=0, words=None, snapshot=0):
        """One access, its answer checked; returns the cycles that it took."""
        dut, rng, row_words = self.dut, self.rng, TABLES[table]
        request = {
            "words": words if words is not None else row_words if write else rng.randrange(24),
            "index": index,
            "slice": piece,
            "snapshot": snapshot,
            "table": table,
            "clear": 0,
            "write": int(write),
        }
        room = 32 * (PATTERNS_WORDS - row_words)
        dut.cfg_req_i.value = pack_fields(CFG_REQ, **request)
        dut.cfg_row_i.value = value << room | rng.getrandbits(room + 1) >> 1
        dut.cfg_valid_i.value = 1
        await RisingEdge(dut.clk_i)
        dut.cfg_valid_i.value = 0
        age = 1
        while True:
            await RisingEdge(dut.clk_i)
            got = fields(CFG_RSP, int(dut.cfg_rsp_o.value))
            if int(dut.cfg_valid_o.value):
                break
            assert not any(got.values()), "what is between answers is zero, so that answers can be ORed"
            age += 1
            assert age < 2000, f"no answer to {request}"
        status, answer_words, data = self.answer_of(request)
        assert got["status"] == status, (request, got)
        if status == OK and not write:
            assert (got["words"], got["data"]) == (answer_words, data), request
        if status == OK and write:
            self.tables[table][index] = value
        return age

    async def write(self, table, index, value):
        return await self.access(table, index, True, value)

    async def load(self, module, generation, program: Program):
        """All rows of a module and generation."""
        overlay = 2 * module + generation
        for number, row in enumerate(program.rows):
            words = row.words(self.rng, self.width)
            for beat, word in enumerate(words):
                await self.write(DEPARSE_TABLE, len(words) * (ROWS * overlay + number) + beat, word)
        await self.write(PATTERNS_TABLE, overlay, program.patterns_row(self.rng))
        self.programs[module, generation] = program

    # Packets.

    def send(self, length, module, generation, path=None, headers=None, dropped=None, packet=None, containers=None):
        """A packet on all three streams; any bytes and containers if they are not given."""
        rng, width = self.rng, self.width
        given, packet = packet is not None, packet or rng.randbytes(length)
        path = rng.randrange(16) if path is None else path
        headers = rng.getrandbits(16) if headers is None else headers
        containers = containers or [rng.choice((0, (1 << 8 * s) - 1, *[rng.getrandbits(8 * s)] * 6)) for s in SIZES]
        ctl = {name: rng.getrandbits(bits) for name, bits in CTL.items()}
        ctl |= {"module_id": module, "generation": generation, "dropped": int(dropped is not None)}
        if dropped is not None:
            ctl["reason"] = dropped
        side = any_sideband(rng, length=length, module_id=module)
        route = {name: rng.getrandbits(bits) for name, bits in ROUTE.items()}
        route["destinations"] = rng.choice((1, 2, 128, 255, rng.randrange(1, 256)))

        row = self.programs[module, generation].pick(path, headers) if dropped is None else None
        if row is not None and not given:
            packet = row.edge(rng, packet, containers)

        self.heads.send(
            {
                "phv": to_phv(rng, containers, path, headers),
                "ctl": pack_fields(CTL, **ctl),
                "route": pack_fields(ROUTE, **route),
            }
        )
        self.sides.send(pack_fields(SIDEBAND, **side))
        beats = -(-length // width)
        for i in range(beats):
            part = packet[i * width : (i + 1) * width]
            data = int.from_bytes(part + rng.randbytes(width - len(part)), "little")
            self.beats.send({"data": data, "last": int(i == beats - 1)})

        slots = max(beats, -(-(length + row.delta) // width)) if row else beats
        out = dropped if dropped is not None else REJECT if row is None else row.build(packet, containers, self.least)
        gone = isinstance(out, int)
        expected = Expected(ctl, side, route, slots, None if gone else out, out if gone else 0)
        self.expected.append(expected)
        self.verdicts.append(expected)
        self.leaves.append(expected)
        self.reasons[expected.reason if gone else None] = self.reasons.get(expected.reason if gone else None, 0) + 1
        return expected

    def length_for(self, row):
        """Around the edges of beats, of what the row asks for, and anything."""
        rng = self.rng
        least = max(1, row.least - row.delta)
        near = [64 * k + d for k in (1, 2, 3) for d in (-1, 0, 1)] + [32, 33, 96, 97]
        kind = rng.randrange(8)
        if kind == 0:
            return max(1, least - rng.randrange(1, 9))
        if kind < 3:
            return least + rng.randrange(0, 9)
        if kind < 6:
            return max(least, rng.choice(near))
        return max(least, rng.randint(1, 300) if kind == 6 else rng.randint(1, 1000))

    def send_any(self):
        """A packet of any program that is loaded."""
        rng = self.rng
        (module, generation), program = rng.choice(list(self.programs.items()))
        path, headers = rng.randrange(16), rng.getrandbits(16)
        if rng.random() < 0.8:
            value, mask, _ = rng.choice(program.patterns)
            key = (path | headers << 4) & ~mask | value
            path, headers = key & 15, key >> 4
        row = program.pick(path, headers)
        length = self.length_for(row) if row else rng.randint(1, 200)
        dropped = rng.choice((0, 3, 5, 6, 7, 11)) if rng.random() < 0.1 else None
        return self.send(length, module, generation, path, headers, dropped)

    async def _watch(self):
        """Verdicts, events and leaves, each in order."""
        dut = self.dut
        while True:
            await RisingEdge(dut.clk_i)
            self.now += 1
            if int(dut.verdict_valid_o.value):
                self._check_verdict(self.verdicts.popleft())
                self.verdict_cycles.append(self.now)
            else:
                assert not int(dut.event_valid_o.value), "an event without a verdict"
            if int(dut.leave_valid_o.value):
                assert len(self.leaves) > len(self.verdicts) or not self.verdicts
                left = fields(CTL, int(dut.leave_ctl_o.value))
                want = self.leaves.popleft().ctl
                for name in ("module_id", "generation", "system_generation"):
                    assert left[name] == want[name], name

    def _check_verdict(self, want):
        dut, gone = self.dut, want.out is None
        assert int(dut.verdict_id_o.value) == want.side["id"]
        ctl = fields(CTL, int(dut.verdict_ctl_o.value))
        assert ctl["module_id"] == want.ctl["module_id"]
        assert ctl["dropped"] == int(gone), (want.reason, ctl)
        assert int(dut.verdict_destinations_o.value) == (0 if gone else want.route["destinations"])
        if gone:
            assert ctl["reason"] == want.reason
        copies = want.route["destinations"].bit_count() - 1
        event = (want.reason, 1) if gone else (COPIES, copies) if copies else None
        assert int(dut.event_valid_o.value) == int(event is not None)
        if event is not None:
            got = int(dut.event_module_o.value), int(dut.event_kind_o.value), int(dut.event_amount_o.value)
            assert got == (want.ctl["module_id"], *event)

    async def check(self):
        """Waits for all packets, and compares every byte, keep, sideband and route."""
        sent = [e for e in self.expected if e.out is not None]
        counts = [-(-len(e.out) // self.width) for e in sent]
        await self.sink.wait_for(sum(counts))
        for stream in (self.heads, self.sides, self.beats):
            await stream.drain()
        while self.verdicts or self.leaves:
            await RisingEdge(self.dut.clk_i)
        for _ in range(30):
            await RisingEdge(self.dut.clk_i)
        items = iter(self.sink.items)
        for number, (want, count) in enumerate(zip(sent, counts, strict=True)):
            side = want.side | {"length": len(want.out), "destinations": want.route["destinations"]}
            side |= {"generation": want.ctl["generation"], "egress_queue": want.route["egress_queue"], "tag": 0}
            for i in range(count):
                part = want.out[i * self.width : (i + 1) * self.width]
                beat = next(items)
                where = f"packet {number} of {want.side['length']} bytes, {len(want.out)} out, beat {i}"
                assert beat["last"] == int(i == count - 1), where
                assert beat["keep"] == (1 << len(part)) - 1, where
                # Bytes behind the end are zero, too.
                assert beat["data"] == int.from_bytes(part, "little"), (
                    f"{where}: {beat['data'].to_bytes(self.width, 'little').hex()}, expected {part.hex()}"
                )
                assert fields(SIDEBAND, beat["side"]) == side, where
                assert fields(ROUTE, beat["route"]) == want.route, where
        assert next(items, None) is None
        return sent

    def check_rate(self, first=0):
        """Packets from `first` on came with every slot in a cycle: as many cycles as beats in or out."""
        cycles = self.verdict_cycles[first:]
        for before, now, packet in zip(cycles, cycles[1:], self.expected[first:], strict=False):
            assert now - before == packet.slots, f"{now - before} cycles, expected {packet.slots}"


__all__ = ["LATENCY", "LONG", "LONGEST", "SHORT", "Bench"]
