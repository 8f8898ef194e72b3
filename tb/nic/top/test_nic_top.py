"""sluice_nic_top: tenants' packets through the whole NIC, programs and rows written through its ring.

Claims (docs/design/nic.md, docs/design/rmt.md)
- a frame of a tenant leaves as its module's program says: new bytes and length, at every destination, there with its
  own multicast tag, the queue, the flow hash of what came, the tag back on at ports; its stamp is its arrival
- of one port, module and destination frames leave in the order they came; nothing is lost but at a full queue, which
  is told, and nothing comes twice, under any stalls of the outputs and gaps of the inputs
- frames that do not leave are told by the verdict's trace, once, with the pipeline's reason, and counted
- packets of one beat go through merge, pipeline and egress one a cycle; hold lets none begin
- the watchdog counts a pipeline that is held with packets
- after a reset in the middle of traffic nothing of it is left, and what comes then passes
"""

from collections import Counter, defaultdict, deque

import cocotb
import pytest
from cocotb.triggers import RisingEdge
from nic.flow.test_flow import flow_hash
from nic.nic_bench import OK, PORT_POLICY_ROW, PORT_TRACE, SIDEBAND, VLAN_ROW, beats_of, fields, pack_fields
from rmt.pipeline import DEPARSER, SYSTEM, Program, Ring
from rmt.rmt_bench import EVENTS, PACKAGES, TARGETS, WINDOW
from rmt.rows import row, words_of_layout
from sluice_tb import always, bench_rng, burst_stalls, never, random_stalls, run_bench, start

PORTS, DESTS = 4, 8
EGRESS, PORT0 = 3, 8
LIMIT, QUANTUM, QUEUE_PACKETS = 0, 1, 3
VERDICT_TRACE = {"id": 32, "module_id": 6, "dropped": 1, "reason": 6, "destinations": 8}
QUEUE_TRACE = {"id": 32, "module_id": 6, "destination": 3, "dropped": 1, "reason": 6}
MERGE_TRACE = {"id": 32, "module_id": 6, "generation": 1, "system_generation": 1, "stamp": 48, "arrival": 48}
SIDEBAND_BITS, PORT_TRACE_BITS = sum(SIDEBAND.values()), sum(PORT_TRACE.values())
FIRST_REASON, UNMAPPED = 32, 1
INFO, CONTROL, WEDGES, HOLD, WATCHDOG = 0, 1, 5, 1, 2

PLAIN = Program(module=1, flip=0x010203040506, destinations=0x21, queue=3, action=1)
TAGGER = Program(module=2, flip=0xFF, destinations=0x80, tag=0x8100_0123, action=2)
SPREAD = Program(module=3, flip=0xABC, destinations=0x01, group=5, queue=6, action=3)
ONE = Program(module=4, destinations=0x40, action=4)
GROUP_TAGS = [0x1000 + d for d in range(DESTS)]
GROUP_DESTS = 0xDA
PROGRAMS = {p.module: p for p in (PLAIN, TAGGER, SPREAD, ONE)}
# VLAN ID: (module, keep_tag); 50 is of a module without a program.
VLANS = {10: (1, 0), 11: (1, 1), 20: (2, 0), 30: (3, 0), 40: (4, 0), 50: (5, 0)}
UNTAGGED = 3


class Bench:
    async def begin(self, dut, name, limit=150_000):
        self.dut, self.rng = dut, bench_rng(name)
        self.target = TARGETS[int(dut.Target.value)]
        self.width, self.modules = self.target["bus_bytes"], self.target["modules"]
        pins = ("tvalid", "tdata", "tkeep", "tlast", "tuser")
        zero = {f"s_axis_port_{pin}": 0 for pin in pins} | {
            f"s_axis_cfg_{pin}": 0 for pin in ("tvalid", "tdata", "tlast")
        }
        await start(dut, limit=limit, m_axis_tready=0, m_axis_cfg_tready=0, **zero)
        self.ring = Ring(dut)
        self.inputs = [deque() for _ in range(PORTS)]
        self.gaps, self.stalls = [never()] * PORTS, [never()] * DESTS
        self.numbers = [0] * PORTS
        self.forget()
        cocotb.start_soon(self._run())
        return self

    def forget(self):
        """Nothing has been sent and nothing has left."""
        self.sent = {}  # id: (frame, expectation)
        self.arrivals, self.verdicts, self.drops = {}, {}, {}
        self.left = [[] for _ in range(DESTS)]  # (bytes, sideband)
        self.open = [bytearray() for _ in range(DESTS)]
        self.shown = [None] * DESTS
        self.tokens, self.leaves = [], []
        self.tail_drops = set()
        self.cycle = 0

    async def set_up(self):
        """Rows of ports, queues and programs; the port policies last."""
        ring = self.ring
        for program in PROGRAMS.values():
            await ring.load(program, self.target["stages"], WINDOW // self.width)
        group = row("rmt_group_row", owner=SPREAD.module, destinations=GROUP_DESTS, tags=GROUP_TAGS)
        assert await ring.write(DEPARSER, 2, SPREAD.group, group, words_of_layout("rmt_group_row")) == OK
        for module in PROGRAMS:
            assert await ring.write(EGRESS, QUANTUM, module, 2000, 1) == OK
            for d in range(DESTS):
                assert await ring.write(EGRESS, LIMIT, d * self.modules + module, 1000, 1) == OK
        await self.open_ports()

    async def open_ports(self):
        for port in range(PORTS):
            for vid, (module, keep) in VLANS.items():
                vlan = pack_fields(VLAN_ROW, valid=1, keep_tag=keep, module_id=module, tenant=100 + module)
                assert await self.ring.write(PORT0 + port, 0, vid, vlan, 1) == OK
            policy = pack_fields(
                PORT_POLICY_ROW,
                untagged_valid=1,
                untagged_module=UNTAGGED,
                untagged_tenant=100 + UNTAGGED,
                drop_double_tag=0,
                min_frame=14,
                max_frame=9216,
            )
            assert await self.ring.write(PORT0 + port, 1, 0, policy, 2) == OK

    # What goes in, and what has to come of it.

    def frame(self, length, vid=None, ethertype=0x0800, reconfig=False):
        data = bytearray(self.rng.randbytes(max(length, 60)))
        data[12:14] = ethertype.to_bytes(2, "big")
        data[14], data[20:22], data[23] = 0x45, b"\0\0", 17
        data[36:38] = b"\xf1\xf2" if reconfig else b"\0\x35"
        if vid is not None:
            data[12:12] = b"\x81\0" + (vid | self.rng.getrandbits(4) << 12).to_bytes(2, "big")
        return bytes(data[: length + (4 if vid is not None else 0)])

    def send(self, port, frame):
        id = port << 28 | self.numbers[port]
        self.numbers[port] += 1
        self.sent[id] = (frame, self.expect(id, frame))
        self.inputs[port].extend(beats_of(frame, self.width, self.rng))
        return id

    def expect(self, id, frame):
        """What the frame becomes: a reason, or sideband and bytes by destination."""
        tagged = len(frame) >= 16 and frame[12:14] == b"\x81\0"
        tci = int.from_bytes(frame[14:16], "big") if tagged else 0
        if tagged and tci & 0xFFF not in VLANS:
            return {"port_drop": UNMAPPED}
        module, keep = VLANS[tci & 0xFFF] if tagged else (UNTAGGED, 0)
        off = tagged and not keep
        stored = frame[:12] + frame[16:] if off else frame
        expected = {"module": module}
        if len(stored) >= 38 and stored[12:14] == b"\x08\0" and stored[36:38] == b"\xf1\xf2":
            return expected | {"reason": "reconfig"}
        program = PROGRAMS.get(module)
        if program is None:
            return expected | {"reason": "no_module"}
        if stored[12:14] != b"\x08\0":
            return expected | {"reason": "parse_reject"}
        mask = GROUP_DESTS if program.group else program.destinations
        out = program.result(stored)
        side = {
            "id": id,
            "tenant": 100 + module,
            "module_id": module,
            "generation": program.generation,
            "length": len(out),
            "tci": tci,
            "tag_off": int(off),
            "flow_hash": flow_hash(stored),
            "destinations": mask,
            "egress_queue": program.queue,
        }
        copies = {}
        for d in range(DESTS):
            if mask >> d & 1:
                with_tag = out[:12] + frame[12:16] + out[12:] if off and d < PORTS else out
                copies[d] = (with_tag, side | {"tag": GROUP_TAGS[d] if program.group else 0})
        return expected | {"copies": copies}

    # One coroutine drives and looks.

    async def _run(self):
        dut, width = self.dut, self.width
        ready = 0
        offered = [None] * PORTS
        while True:
            for p in range(PORTS):
                go = self.inputs[p] and not next(self.gaps[p])
                offered[p] = self.inputs[p].popleft() if go else None
            live = [(p, beat) for p, beat in enumerate(offered) if beat]
            dut.s_axis_port_tvalid.value = sum(1 << p for p, _ in live)
            dut.s_axis_port_tdata.value = sum(beat["data"] << 8 * width * p for p, beat in live)
            dut.s_axis_port_tkeep.value = sum((1 << beat["bytes"]) - 1 << width * p for p, beat in live)
            dut.s_axis_port_tlast.value = sum(beat["last"] << p for p, beat in live)
            ready = sum(int(not next(stalls)) << d for d, stalls in enumerate(self.stalls))
            dut.m_axis_tready.value = ready
            await RisingEdge(dut.clk_i)
            self.cycle += 1
            if int(dut.rst_ni.value):
                self._traces()
                self._outputs(ready)

    def _traces(self):
        dut = self.dut
        assert int(dut.s_axis_port_tready.value) == (1 << PORTS) - 1, "a port is stalled"
        if valid := int(dut.trace_port_valid_o.value):
            ticks, rows = int(dut.ticks_o.value), int(dut.trace_port_o.value)
            for p in range(PORTS):
                if valid >> p & 1:
                    trace = fields(PORT_TRACE, rows >> p * PORT_TRACE_BITS & (1 << PORT_TRACE_BITS) - 1)
                    assert trace["id"] not in self.arrivals
                    self.arrivals[trace["id"]] = ticks - 1
                    if trace["dropped"]:
                        self.drops[trace["id"]] = trace["reason"]
        if int(dut.trace_merge_valid_o.value):
            trace = fields(MERGE_TRACE, int(dut.trace_merge_o.value))
            assert trace["stamp"] == int(dut.ticks_o.value) and not trace["system_generation"]
            assert trace["arrival"] == self.arrivals[trace["id"]]
            self.tokens.append((self.cycle, trace["id"]))
        if int(dut.trace_verdict_valid_o.value):
            trace = fields(VERDICT_TRACE, int(dut.trace_verdict_o.value))
            assert trace["id"] not in self.verdicts, "two verdicts"
            self.verdicts[trace["id"]] = trace
        if int(dut.trace_queue_valid_o.value):
            trace = fields(QUEUE_TRACE, int(dut.trace_queue_o.value))
            if trace["dropped"]:
                self.tail_drops.add((trace["destination"], trace["id"]))
        if int(dut.trace_leave_valid_o.value):
            self.leaves.append(self.cycle)

    def _outputs(self, ready):
        dut, width = self.dut, self.width
        valid = int(dut.m_axis_tvalid.value)
        for d in range(DESTS):
            assert self.shown[d] is None or valid >> d & 1, f"destination {d}: valid fell before ready"
        if not valid:
            return
        data, keep = int(dut.m_axis_tdata.value), int(dut.m_axis_tkeep.value)
        last, user = int(dut.m_axis_tlast.value), int(dut.m_axis_tuser.value)
        for d in range(DESTS):
            if not valid >> d & 1:
                continue
            beat = (
                data >> 8 * width * d & (1 << 8 * width) - 1,
                keep >> width * d & (1 << width) - 1,
                last >> d & 1,
                user >> SIDEBAND_BITS * d & (1 << SIDEBAND_BITS) - 1,
            )
            assert self.shown[d] in (None, beat), f"destination {d}: a beat changed before ready"
            self.shown[d] = None if ready >> d & 1 else beat
            if ready >> d & 1:
                self._beat(d, *beat)

    def _beat(self, d, data, keep, last, user):
        count = keep.bit_count()
        assert keep == (1 << count) - 1 and (last or count == self.width)
        self.open[d] += data.to_bytes(self.width, "little")[:count]
        if last:
            self.left[d].append((bytes(self.open[d]), fields(SIDEBAND, user)))
            self.open[d].clear()

    # Ends.

    def missing(self):
        copies = sum(len(e.get("copies", ())) for _, e in self.sent.values())
        return copies - sum(map(len, self.left)) - len(self.tail_drops)

    async def settle(self, limit=60_000, quiet=300):
        for _ in range(limit):
            if not any(self.inputs) and not self.missing():
                break
            await RisingEdge(self.dut.clk_i)
        for _ in range(quiet):
            await RisingEdge(self.dut.clk_i)

    def check(self):
        """Everything that left, and every verdict, against everything that was sent."""
        assert not any(self.open), "an output ends in the middle of a frame"
        orders = defaultdict(list)
        seen = set()
        for d, frames in enumerate(self.left):
            for data, side in frames:
                frame, expected = self.sent[side["id"]]
                copies = expected.get("copies", {})
                assert d in copies and (d, side["id"]) not in seen | self.tail_drops, (d, side)
                seen.add((d, side["id"]))
                wanted, wanted_side = copies[d]
                assert side == wanted_side | {"stamp": self.arrivals[side["id"]]}, f"frame of {len(frame)} bytes"
                assert data == wanted, f"frame of {len(frame)} bytes at {d}"
                orders[d, side["id"] >> 28, side["module_id"]].append(side["id"])
        assert not self.missing(), f"{self.missing()} copies are missing"
        assert all(ids == sorted(ids) for ids in orders.values()), "frames have changed places"
        for id, (_, expected) in self.sent.items():
            if "port_drop" in expected:
                assert self.drops[id] == expected["port_drop"] and id not in self.verdicts
                continue
            verdict = self.verdicts[id]
            assert id not in self.drops and verdict["module_id"] == expected["module"]
            mask = sum(1 << d for d in expected.get("copies", ()))
            assert (verdict["destinations"], verdict["dropped"]) == (mask, int(not mask))
            if not mask:
                assert verdict["reason"] == FIRST_REASON + EVENTS[expected["reason"]]
        assert len(self.verdicts) + len(self.drops) == len(self.sent) == len(self.arrivals)
        assert sorted(id for _, id in self.tokens) == sorted(self.verdicts)

    def any_frame(self):
        rng = self.rng
        length = rng.choice(
            (14, 31, 32, 33, 60, 63, 64, 65, 127, 128, 129, rng.randint(14, 400), rng.randint(14, 400), 1500)
        )
        return self.frame(
            length,
            vid=rng.choice((None, 10, 10, 20, 20, 30, 30, rng.choice((11, 50, 99)))),
            ethertype=0x86DD if rng.random() < 0.05 else 0x0800,
            reconfig=rng.random() < 0.05,
        )

    async def event(self, module, name):
        return await self.ring.read(DEPARSER, 4, 16 * module + EVENTS[name], 2)


@cocotb.test()
async def frames_leave_as_their_programs_say_under_any_stalls(dut):
    bench = await Bench().begin(dut, "nic_any", limit=200_000)
    rng = bench.rng
    await bench.set_up()
    kinds = [(module, name) for module in (1, 2, 3, 5) for name in ("reconfig", "no_module", "parse_reject", "copies")]
    before = {kind: await bench.event(*kind) for kind in kinds}
    delivered = {
        (d, m): await bench.ring.read(EGRESS, QUEUE_PACKETS, d * bench.modules + m, 2)
        for d in (0, 7)
        for m in (1, 2, 3)
    }
    rates = (never, lambda: random_stalls(rng, 0.5), lambda: burst_stalls(rng, 60), lambda: random_stalls(rng, 0.85))
    for _ in range(6):
        bench.gaps = [rng.choice((never, lambda: random_stalls(rng, 0.6)))() for _ in range(PORTS)]
        bench.stalls = [rng.choice(rates)() for _ in range(DESTS)]
        for _ in range(40):
            bench.send(rng.randrange(PORTS), bench.any_frame())
        for _ in range(200):
            await RisingEdge(dut.clk_i)
        while bench.missing() > 20:
            await RisingEdge(dut.clk_i)
    await bench.settle()
    bench.check()
    assert 2 * len(bench.tail_drops) < sum(map(len, bench.left))
    counted = Counter()
    for _, expected in bench.sent.values():
        if "reason" in expected:
            counted[expected["module"], expected["reason"]] += 1
        elif "copies" in expected:
            counted[expected["module"], "copies"] += len(expected["copies"]) - 1
    assert min(counted[kind] for kind in ((5, "no_module"), (1, "parse_reject"), (3, "copies"))) > 0
    for kind in kinds:
        assert await bench.event(*kind) == before[kind] + counted[kind], kind
    for (d, m), packets in delivered.items():
        now = await bench.ring.read(EGRESS, QUEUE_PACKETS, d * bench.modules + m, 2)
        assert now == packets + sum(side["module_id"] == m for _, side in bench.left[d])


@cocotb.test()
async def packets_of_one_beat_pass_one_a_cycle(dut):
    bench = await Bench().begin(dut, "nic_rate")
    await bench.set_up()
    assert await bench.ring.write(SYSTEM, CONTROL, HOLD, 1, 1) == OK
    packets = 30
    for port in range(PORTS):
        for _ in range(packets):
            bench.send(port, bench.frame(min(64, bench.width), vid=40))
    while any(bench.inputs):
        await RisingEdge(dut.clk_i)
    for _ in range(30):
        await RisingEdge(dut.clk_i)
    assert not bench.tokens, "a packet began under hold"
    assert await bench.ring.write(SYSTEM, CONTROL, HOLD, 0, 1) == OK
    await bench.settle()
    bench.check()
    for what, cycles in (("began", [cycle for cycle, _ in bench.tokens]), ("left", bench.leaves)):
        assert cycles == list(range(cycles[0], cycles[0] + PORTS * packets)), f"{what} in cycles {cycles}"
    first = bench.leaves[0] - bench.tokens[0][0]
    dut._log.info(
        f"{PORTS * packets} packets of {min(64, bench.width)} bytes, one a cycle; stamp to buffer {first} cycles"
    )


@cocotb.test()
async def held_packets_are_a_case_for_the_watchdog(dut):
    bench = await Bench().begin(dut, "nic_watchdog")
    await bench.set_up()
    wedges = await bench.ring.read(SYSTEM, INFO, WEDGES, 2)
    assert await bench.ring.write(SYSTEM, CONTROL, WATCHDOG, 200, 1) == OK
    # Blocked destinations are none.
    bench.stalls = [always()] * DESTS
    for port in range(PORTS):
        bench.send(port, bench.frame(300, vid=10))
    for _ in range(1500):
        await RisingEdge(dut.clk_i)
    assert await bench.ring.read(SYSTEM, INFO, WEDGES, 2) == wedges
    bench.stalls = [never()] * DESTS
    await bench.settle()
    assert await bench.ring.write(SYSTEM, CONTROL, HOLD, 1, 1) == OK
    for port in range(PORTS):
        bench.send(port, bench.frame(300, vid=10))
    for _ in range(1500):
        await RisingEdge(dut.clk_i)
    assert await bench.ring.read(SYSTEM, INFO, WEDGES, 2) > wedges
    assert await bench.ring.write(SYSTEM, CONTROL, HOLD, 0, 1) == OK
    await bench.settle()
    bench.check()


@cocotb.test()
async def a_reset_leaves_nothing_of_the_traffic(dut):
    bench = await Bench().begin(dut, "nic_reset")
    await bench.set_up()
    for _ in range(3):
        bench.stalls = [random_stalls(bench.rng, 0.8) for _ in range(DESTS)]
        for _ in range(60):
            bench.send(bench.rng.randrange(PORTS), bench.any_frame())
        for _ in range(bench.rng.randint(100, 400)):
            await RisingEdge(dut.clk_i)
        # In the middle of frames on the ports, too: what comes of them finds the ports closed.
        dut.rst_ni.value = 0
        for _ in range(3):
            await RisingEdge(dut.clk_i)
        for queue in bench.inputs:
            queue.clear()
        bench.forget()
        bench.numbers = [0] * PORTS
        dut.rst_ni.value = 1
        bench.stalls = [never()] * DESTS
        await RisingEdge(dut.clk_i)
        # Limits and quanta are RAM, and so are the programs; the ports are closed.
        await bench.open_ports()
        for _ in range(40):
            bench.send(bench.rng.randrange(PORTS), bench.any_frame())
        await bench.settle()
        bench.check()


@pytest.mark.parametrize("target", [0, 1], ids=["default", "tiny"])
def test_top(target):
    run_bench("sluice_nic_top", packages=PACKAGES, parameters={"Target": target})
