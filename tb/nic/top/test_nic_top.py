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

from collections import Counter, defaultdict

import pytest
from nic.codes import Reason
from nic.nic_bench import (
    OK,
    PORT_POLICY_ROW,
    PORT_TRACE,
    SIDEBAND,
    VLAN_ROW,
    fields,
    flow_hash,
    is_reconfiguration,
    pack_fields,
)
from rmt.pipeline import DEPARSER, SYSTEM, Program, Ring
from rmt.rmt_bench import EVENTS, TARGETS, WINDOW
from rmt.rows import row, words_of_layout
from sluice_tb import bench_rng, plugin
from sluice_tb.plugin import PluginTop

# Target, and engines in line: the whole NIC, and the bare one.
CONFIGS = {"default": (0, 2), "tiny": (1, 2), "bare_tiny": (1, 1)}
PORTS, DESTS = 4, 8
XDP, XDP_DROPS, XDP_COPIES = 4, 0, 6
EGRESS, PORT0 = 3, 8
LIMIT, QUANTUM, QUEUE_PACKETS = 0, 1, 3
VERDICT_TRACE = {"id": 32, "module_id": 6, "dropped": 1, "reason": 6, "destinations": 8}
QUEUE_TRACE = {"id": 32, "module_id": 6, "destination": 3, "dropped": 1, "reason": 6}
LEAVE_TRACE = {"id": 32, "module_id": 6, "destination": 3, "length": 14}
MERGE_TRACE = {"id": 32, "module_id": 6, "generation": 1, "system_generation": 1, "stamp": 48, "arrival": 48}
FIRST_REASON, UNMAPPED = Reason.RATE, Reason.UNMAPPED
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

# l7_trace_row: docs/design/l7-rows.md.
DISPATCH_TRACE_BITS = 54


def width_of(layout):
    return sum(layout.values())


class Bench:
    def __init__(self, config, name):
        self.rng = bench_rng(name)
        target, self.in_line = CONFIGS[config]
        self.target = TARGETS[target]
        self.width, self.modules = self.target["bus_bytes"], self.target["modules"]
        layout = {
            "bus_bytes": self.width,
            "ports": PORTS,
            "destinations": DESTS,
            "sideband_bits": width_of(SIDEBAND),
            "port_trace_bits": width_of(PORT_TRACE),
            "merge_trace_bits": width_of(MERGE_TRACE),
            "verdict_trace_bits": width_of(VERDICT_TRACE),
            "queue_trace_bits": width_of(QUEUE_TRACE),
            "leave_trace_bits": width_of(LEAVE_TRACE),
            "engines": 2,
            # Decisions of message dispatch, events of rings, entries that are given back.
            "steps": 3,
            "step_trace_bits": DISPATCH_TRACE_BITS,
        }
        self.top = PluginTop(config, layout, self.rng.getrandbits(32), self._event)
        self.ring = Ring(self.top)
        self.numbers = [0] * PORTS
        self.forget()

    def forget(self):
        """Nothing has been sent and nothing has left."""
        self.sent = {}  # id: (frame, expectation)
        self.arrivals, self.verdicts, self.drops = {}, {}, {}
        self.left = [[] for _ in range(DESTS)]  # (bytes, sideband)
        self.tokens, self.leaves = [], []
        self.tail_drops = set()

    def set_up(self, ports=True):
        """Rows of ports, queues and programs; the port policies last."""
        ring = self.ring
        for program in PROGRAMS.values():
            ring.load(program, self.target["stages"], WINDOW // self.width)
        group = row("rmt_group_row", owner=SPREAD.module, destinations=GROUP_DESTS, tags=GROUP_TAGS)
        assert ring.write(DEPARSER, 2, SPREAD.group, group, words_of_layout("rmt_group_row")) == OK
        for module in PROGRAMS:
            assert ring.write(EGRESS, QUANTUM, module, 2000, 1) == OK
            for d in range(DESTS):
                assert ring.write(EGRESS, LIMIT, d * self.modules + module, 1000, 1) == OK
        if ports:
            self.open_ports()

    def open_ports(self):
        for port in range(PORTS):
            for vid, (module, keep) in VLANS.items():
                vlan = pack_fields(VLAN_ROW, valid=1, keep_tag=keep, module_id=module, tenant=100 + module)
                assert self.ring.write(PORT0 + port, 0, vid, vlan, 1) == OK
            policy = pack_fields(
                PORT_POLICY_ROW,
                untagged_valid=1,
                untagged_module=UNTAGGED,
                untagged_tenant=100 + UNTAGGED,
                drop_double_tag=0,
                min_frame=14,
                max_frame=9216,
            )
            assert self.ring.write(PORT0 + port, 1, 0, policy, 2) == OK

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
        self.top.offer(port, frame)
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
        if is_reconfiguration(stored):
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

    def _event(self, event):
        """What the top showed: frames, answers, traces."""
        kind, words = event.kind, event.words
        if kind == plugin.REPLY:
            self.ring.take(event)
        elif kind == plugin.LEFT:
            self.left[event.source].append((event.data, fields(SIDEBAND, words)))
        elif kind == plugin.PORT:
            trace = fields(PORT_TRACE, words)
            assert trace["id"] not in self.arrivals
            self.arrivals[trace["id"]] = event.tick - 1
            if trace["dropped"]:
                self.drops[trace["id"]] = trace["reason"]
        elif kind == plugin.MERGE:
            trace = fields(MERGE_TRACE, words)
            assert trace["stamp"] == event.tick and not trace["system_generation"]
            assert trace["arrival"] == self.arrivals[trace["id"]]
            self.tokens.append((event.tick, trace["id"]))
        elif kind == plugin.VERDICT:
            trace = fields(VERDICT_TRACE, words)
            # What the pipeline lets go on the XDP engine, if there is one, says again.
            if event.source + 1 < self.in_line and not trace["dropped"]:
                return
            assert trace["id"] not in self.verdicts, "two verdicts"
            self.verdicts[trace["id"]] = trace
        elif kind == plugin.QUEUE:
            trace = fields(QUEUE_TRACE, words)
            if trace["dropped"]:
                self.tail_drops.add((trace["destination"], trace["id"]))
        elif kind == plugin.LEAVE:
            self.leaves.append(event.tick)

    # Ends.

    def missing(self):
        copies = sum(len(e.get("copies", ())) for _, e in self.sent.values())
        return copies - sum(map(len, self.left)) - len(self.tail_drops)

    def settle(self, limit=60_000, quiet=300):
        """Until everything that was sent is in, and nothing has happened for a while."""
        assert self.top.run(limit, quiet=quiet) & plugin.QUIET, "it never came to rest"

    def check(self):
        """Everything that left, and every verdict, against everything that was sent."""
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

    def event(self, module, name):
        # What becomes of a packet after the pipeline the XDP engine knows, if there is one.
        if name == "copies" and self.in_line == 2:
            return self.ring.read(XDP, XDP_DROPS, 8 * module + XDP_COPIES, 2)
        return self.ring.read(DEPARSER, 4, 16 * module + EVENTS[name], 2)


# The default target takes longest.
configs = pytest.mark.parametrize("config", ["tiny", "bare_tiny", pytest.param("default", marks=pytest.mark.long)])
# Chance in 256ths that a destination is ready, and the longest run of either.
READY = ((256, 0), (128, 1), (128, 60), (38, 1))
NEVER_READY = (0, 0)


@configs
def test_frames_leave_as_their_programs_say_under_any_stalls(config):
    bench = Bench(config, "nic_any")
    rng = bench.rng
    bench.set_up()
    kinds = [(module, name) for module in (1, 2, 3, 5) for name in ("reconfig", "no_module", "parse_reject", "copies")]
    before = {kind: bench.event(*kind) for kind in kinds}
    delivered = {
        (d, m): bench.ring.read(EGRESS, QUEUE_PACKETS, d * bench.modules + m, 2) for d in (0, 7) for m in (1, 2, 3)
    }
    for _ in range(24):
        for port in range(PORTS):
            bench.top.set_gaps([port], rng.choice((0, 154)))
        for destination in range(DESTS):
            bench.top.set_ready([destination], *rng.choice(READY))
        for _ in range(40):
            bench.send(rng.randrange(PORTS), bench.any_frame())
        bench.top.run(200)
        assert any(bench.missing() <= 20 or not bench.top.run(10) for _ in range(6_000)), "copies do not come"
    bench.settle(quiet=2_000)
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
        assert bench.event(*kind) == before[kind] + counted[kind], kind
    for (d, m), packets in delivered.items():
        now = bench.ring.read(EGRESS, QUEUE_PACKETS, d * bench.modules + m, 2)
        assert now == packets + sum(side["module_id"] == m for _, side in bench.left[d])


@configs
def test_packets_of_one_beat_pass_one_a_cycle(config):
    bench = Bench(config, "nic_rate")
    bench.set_up()
    assert bench.ring.write(SYSTEM, CONTROL, HOLD, 1, 1) == OK
    packets = 30
    for port in range(PORTS):
        for _ in range(packets):
            bench.send(port, bench.frame(min(64, bench.width), vid=40))
    bench.settle(quiet=30)
    assert len(bench.arrivals) == PORTS * packets and not bench.tokens, "a packet began under hold"
    assert bench.ring.write(SYSTEM, CONTROL, HOLD, 0, 1) == OK
    bench.settle()
    bench.check()
    for what, cycles in (("began", [cycle for cycle, _ in bench.tokens]), ("left", bench.leaves)):
        assert cycles == list(range(cycles[0], cycles[0] + PORTS * packets)), f"{what} in cycles {cycles}"
    first = bench.leaves[0] - bench.tokens[0][0]
    print(f"{PORTS * packets} packets of {min(64, bench.width)} bytes, one a cycle; stamp to buffer {first} cycles")


@configs
def test_held_packets_are_a_case_for_the_watchdog(config):
    bench = Bench(config, "nic_watchdog")
    bench.set_up()
    wedges = bench.ring.read(SYSTEM, INFO, WEDGES, 2)
    assert bench.ring.write(SYSTEM, CONTROL, WATCHDOG, 200, 1) == OK
    # Blocked destinations are none.
    bench.top.set_ready(range(DESTS), *NEVER_READY)
    for port in range(PORTS):
        bench.send(port, bench.frame(300, vid=10))
    bench.top.run(1_500)
    assert bench.ring.read(SYSTEM, INFO, WEDGES, 2) == wedges
    bench.top.set_ready(range(DESTS))
    bench.settle()
    assert bench.ring.write(SYSTEM, CONTROL, HOLD, 1, 1) == OK
    for port in range(PORTS):
        bench.send(port, bench.frame(300, vid=10))
    bench.top.run(1_500)
    assert bench.ring.read(SYSTEM, INFO, WEDGES, 2) > wedges
    assert bench.ring.write(SYSTEM, CONTROL, HOLD, 0, 1) == OK
    bench.settle()
    bench.check()


@configs
def test_a_reset_leaves_nothing_of_the_traffic(config):
    bench = Bench(config, "nic_reset")
    bench.set_up()
    for _ in range(6):
        bench.top.set_ready(range(DESTS), 51)
        for _ in range(60):
            bench.send(bench.rng.randrange(PORTS), bench.any_frame())
        bench.top.run(bench.rng.randint(100, 400))
        # In the middle of frames on the ports, too: what comes of them finds the ports closed.
        bench.top.reset()
        bench.forget()
        bench.numbers = [0] * PORTS
        # Tables are empty, the ports are closed.
        bench.set_up()
        for _ in range(40):
            bench.send(bench.rng.randrange(PORTS), bench.any_frame())
        bench.settle(quiet=10_000)
        bench.check()
