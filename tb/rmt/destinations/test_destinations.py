"""sluice_rmt_destinations.

Claims (docs/design/rmt.md, "After the stages" and "Rows")
- of any packets, one a cycle or not, each leaves two cycles behind its `ctl_i`, with the route, the reason and the
  PHV that the rules give; one that comes dropped keeps its reason and has no route
- destinations are those of the mask and, in programs that have numbers, that of scratch1; 511 drops what has no other
- rows of groups and grants count from the cycle after their write, and are read back, under packets
- events are counted by module and kind; misfits beside them, none lost; a snapshot holds what was before
- accesses that are wrong are answered with their status; tables of others are not answered
"""

from collections import Counter, deque

import cocotb
import pytest
from cocotb.triggers import RisingEdge
from nic.nic_bench import BAD_ADDRESS, BAD_LENGTH, CFG_RSP, OK, READ_ONLY, fields, pack_fields
from rmt.rmt_bench import CFG_REQ, CTL, EVENTS, PACKAGES, ROUTE, TARGETS
from sluice_tb import DEFAULT, TINY, bench_rng, run_bench, start

GROUP, GRANTED, EVENT_TABLE, GROUP_NAME = 2, 3, 4, 5
ROW_WORDS = 23
LATENCY = 2
INPUTS = [
    *("ctl_valid_i", "ctl_i", "port_i", "egress_i", "group_i", "status_i", "scratch1_i", "containers_i", "epoch_i"),
    "event_valid_i",
    *("event_module_i", "event_kind_i", "event_amount_i", "misfit_valid_i", "misfit_module_i", "cfg_valid_i"),
    *("cfg_req_i", "cfg_row_i"),
]


class Rules:
    """Rows, and what they make of a packet."""

    def __init__(self, target):
        self.groups = [0] * target["groups"]
        self.granted = [0] * target["modules"]
        self.names = [0] * target["modules"]

    def judge(self, ctl, port, egress, group, status, scratch1):
        """(ctl, route) behind the block."""
        if ctl["dropped"]:
            return ctl, 0

        def drop(reason):
            return ctl | {"dropped": 1, "reason": EVENTS[reason]}, 0

        if egress >> 15 & 1:
            return drop("discard")
        mask, tags = egress & 0xFF, 0
        number = scratch1 & 0x1FF
        if not group and status >> 8 & 1:
            if number == 511 and not mask:
                return drop("discard")
            mask |= 1 << number if number < 8 else 0
        if group:
            names = self.names[ctl["module_id"]]
            mask, name, first = names & 0xFFFF, names >> 16 & 0xFFFF, names >> 32
            if group & mask == name:
                group = first | group & ~mask
            if group >= len(self.groups):
                return drop("rmt_fault")
            row = self.groups[group]
            mask, tags = row >> 6 & 0xFF, row >> 14
            if row & 63 not in (0, ctl["module_id"]):
                mask = 0
        mask &= self.granted[ctl["module_id"]]
        if egress >> 11 & 1 and port < 8:
            mask &= ~(1 << port)
        if not mask:
            return drop("no_destination")
        return ctl, pack_fields(ROUTE, tags=tags, egress_queue=egress >> 8 & 7, destinations=mask)


class Bench:
    async def begin(self, dut, name, limit=60_000):
        self.dut, self.rng = dut, bench_rng(name)
        self.target = TARGETS[int(dut.Target.value)]
        self.rules = Rules(self.target)
        await start(dut, limit=limit, **dict.fromkeys(INPUTS, 0))
        self.shown = {}
        self.due = deque()  # what has to come out in the cycles to come
        self.body = None  # the PHV of the packet whose ctl was shown in the cycle before
        self.answers = deque()
        self.seen = Counter()
        return self

    def any_packet(self):
        rng, modules, groups = self.rng, self.target["modules"], self.target["groups"]
        ctl = {name: rng.getrandbits(width) for name, width in CTL.items()}
        ctl |= {"module_id": rng.choice((0, 1, rng.randrange(modules))), "dropped": int(rng.random() < 0.1)}
        # The code of no reason is not looked at, but it is one of them.
        ctl["reason"] = rng.choice(list(EVENTS.values()))
        group = rng.choice((0, 0, rng.randrange(groups), rng.randrange(4), groups, rng.getrandbits(16)))
        egress = (rng.getrandbits(7) << 8 | rng.choice((0, rng.getrandbits(8)))) | (rng.random() < 0.1) << 15
        port = rng.choice((rng.randrange(10), rng.getrandbits(16)))
        number = rng.choice((rng.randrange(8), rng.randrange(8), 8, 256, 511, 511, rng.getrandbits(9)))
        scratch1 = rng.getrandbits(7) << 9 | number
        return ctl, port, egress, group, rng.getrandbits(16), scratch1, rng.getrandbits(768)

    async def cycle(self, packet=None, **inputs):
        """One cycle: shows a packet's ctl, the PHV of the one before, and any other inputs; checks what comes out."""
        dut, rng = self.dut, self.rng
        values = {
            "ctl_valid_i": int(packet is not None),
            "ctl_i": pack_fields(CTL, **packet[0]) if packet else rng.getrandbits(13),
        }
        body = self.body or (None, *(rng.getrandbits(16) for _ in range(5)), rng.getrandbits(768))
        values |= {"port_i": body[1], "egress_i": body[2], "group_i": body[3], "status_i": body[4]}
        values |= {"scratch1_i": body[5], "containers_i": body[6]}
        values |= {"event_valid_i": 0, "misfit_valid_i": 0, "cfg_valid_i": 0} | inputs
        for name, value in values.items():
            getattr(dut, name).value = value
        if self.body:
            self.due.append((*self.rules.judge(*self.body[:6]), self.body[6]))
        else:
            self.due.append(None)
        self.body = packet
        await RisingEdge(dut.clk_i)
        if int(dut.cfg_valid_o.value):
            self.answers.append(fields(CFG_RSP, int(dut.cfg_rsp_o.value)))
        if len(self.due) > LATENCY - 1:
            expected = self.due.popleft()
            assert int(dut.valid_o.value) == (expected is not None)
            if expected:
                ctl, route, containers = expected
                got = fields(CTL, int(dut.ctl_o.value))
                if not got["dropped"]:
                    got["reason"] = ctl["reason"]
                assert got == ctl
                assert fields(ROUTE, int(dut.route_o.value)) == fields(ROUTE, route)
                assert int(dut.containers_o.value) == containers
                self.seen[ctl["reason"] if ctl["dropped"] else "sent"] += 1

    async def access(self, table, index, row=None, *, snapshot=0, slice_=0, words=None, packets=True, answered=True):
        """An access with packets around it; its status and the words of a read."""
        counts = {GROUP: 5, GRANTED: 1, GROUP_NAME: 2}
        words = counts.get(table, 2) if words is None else words
        request = {"clear": 0, "write": int(row is not None), "table": table, "snapshot": snapshot, "slice": slice_}
        request |= {"index": index, "words": words if row is not None else 0}
        high = 32 * (ROW_WORDS - words)
        values = {"cfg_req_i": pack_fields(CFG_REQ, **request)}
        values["cfg_row_i"] = (row or 0) << high | self.rng.getrandbits(high)
        first = True
        for _ in range(12):
            packet = self.any_packet() if packets and self.rng.random() < 0.8 else None
            await self.cycle(packet, cfg_valid_i=int(first), **values)
            first = False
        if not answered:
            assert not self.answers
            return None
        assert len(self.answers) == 1
        answer = self.answers.popleft()
        if row is not None:
            return answer["status"], 0
        return answer["status"], answer["data"] & (1 << 32 * answer["words"]) - 1


@cocotb.test()
async def packets_go_where_their_metadata_say(dut):
    bench = await Bench().begin(dut, "judge")
    rng = bench.rng
    await fill(bench)
    for rate in (1.0, 0.5, 0.9):
        for _ in range(1200):
            await bench.cycle(bench.any_packet() if rng.random() < rate else None)
    for _ in range(6):
        await bench.cycle()
    reasons = [EVENTS[name] for name in ("discard", "rmt_fault", "no_destination")]
    assert all(bench.seen[key] > 50 for key in ("sent", *reasons)), bench.seen


async def fill(bench):
    """Rows for all groups and modules, without packets."""
    rng, target = bench.rng, bench.target
    for group in range(target["groups"]):
        owner = rng.choice((0, 1, rng.randrange(target["modules"])))
        row = owner | rng.getrandbits(136) << 6
        assert await bench.access(GROUP, group, row, packets=False) == (OK, 0)
        bench.rules.groups[group] = row
    for module in range(target["modules"]):
        row = rng.choice((0, 0xFF, rng.getrandbits(8)))
        assert await bench.access(GRANTED, module, row, packets=False) == (OK, 0)
        bench.rules.granted[module] = row
        mask = rng.choice((0, 0xFFFF, 0xFFFC, target["groups"] // 2 - 1))
        name = rng.choice((1, rng.randrange(4), rng.getrandbits(16))) & mask
        first = rng.choice((0, rng.randrange(target["groups"]), rng.getrandbits(16))) & mask
        row = rng.choice((0, mask | name << 16 | first << 32))
        assert await bench.access(GROUP_NAME, module, row, packets=False) == (OK, 0)
        bench.rules.names[module] = row


@cocotb.test()
async def rows_are_read_back_under_packets(dut):
    bench = await Bench().begin(dut, "rows")
    await fill(bench)
    for group in range(bench.target["groups"]):
        assert await bench.access(GROUP, group) == (OK, bench.rules.groups[group])
    for module in range(bench.target["modules"]):
        assert await bench.access(GRANTED, module) == (OK, bench.rules.granted[module])
        assert await bench.access(GROUP_NAME, module) == (OK, bench.rules.names[module])


@cocotb.test()
async def wrong_accesses_have_their_status(dut):
    bench = await Bench().begin(dut, "wrong")
    groups, modules = bench.target["groups"], bench.target["modules"]
    await fill(bench)
    rows_of = ((GROUP, groups, 5), (GRANTED, modules, 1), (GROUP_NAME, modules, 2), (EVENT_TABLE, 16 * modules, 2))
    for table, rows, words in rows_of:
        for index in (rows, 0xFFFF):
            assert (await bench.access(table, index))[0] == BAD_ADDRESS, (table, index)
        assert (await bench.access(table, 0, slice_=1))[0] == BAD_ADDRESS
        assert (await bench.access(table, 0, 0, packets=False))[0] == (READ_ONLY if table == EVENT_TABLE else OK)
        if table == EVENT_TABLE:
            continue
        {GROUP: bench.rules.groups, GRANTED: bench.rules.granted, GROUP_NAME: bench.rules.names}[table][0] = 0
        assert (await bench.access(table, 0, snapshot=1))[0] == BAD_ADDRESS
        for wrong in (words - 1, words + 1, ROW_WORDS):
            assert (await bench.access(table, 1, (1 << 32 * wrong) - 1, words=wrong))[0] == BAD_LENGTH
    for table in (0, 1):
        await bench.access(table, 0, answered=False)
    for group in range(groups):
        assert await bench.access(GROUP, group) == (OK, bench.rules.groups[group])


@cocotb.test()
async def every_event_counts_once(dut):
    bench = await Bench().begin(dut, "events")
    rng, modules = bench.rng, bench.target["modules"]
    counts, epoch = Counter(), 0
    # The counters outlive resets, and so the tests before this one.
    for index in range(16 * modules):
        counts[index] = (await bench.access(EVENT_TABLE, index, packets=False))[1]
    for round_ in range(4):
        # A packet with a misfit has three beats or more, so a third of the cycles at least is without an event.
        busy = (0.2, 0.65, 0.4, 1.0)[round_]
        for at in range(400):
            values = {}
            if rng.random() < busy and not (busy == 1.0 and at % 3 == 0):
                module, kind, amount = rng.randrange(modules), rng.choice(list(EVENTS.values())), rng.randint(1, 7)
                values = {"event_valid_i": 1, "event_module_i": module, "event_kind_i": kind, "event_amount_i": amount}
                counts[16 * module + kind] += amount
            if at % 3 == 0 and rng.random() < 0.8:
                module = rng.randrange(modules)
                values |= {"misfit_valid_i": 1, "misfit_module_i": module}
                counts[16 * module + EVENTS["misfit"]] += 1
            await bench.cycle(None, **values)
        for _ in range(70):
            await bench.cycle()
        epoch = int(dut.epoch_i.value) + 1
        await bench.cycle(None, epoch_i=epoch)
        before = dict(counts)
        module = rng.randrange(modules)
        await bench.cycle(None, event_valid_i=1, event_module_i=module, event_kind_i=5, event_amount_i=3)
        counts[16 * module + 5] += 3
        for index in rng.sample(range(16 * modules), 60) + [16 * module + 5]:
            assert await bench.access(EVENT_TABLE, index, packets=False) == (OK, counts[index]), (round_, index)
            assert await bench.access(EVENT_TABLE, index, snapshot=1, packets=False) == (OK, before.get(index, 0))


@pytest.mark.parametrize("target", [DEFAULT, TINY])
def test_destinations(target):
    sources = ["tb/rmt/destinations/rmt_destinations_target.sv"]
    run_bench("rmt_destinations_target", sources=sources, packages=PACKAGES, parameters={"Target": target})
