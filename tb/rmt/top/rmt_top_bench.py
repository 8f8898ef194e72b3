"""What the tests of sluice_rmt_top share: the top, its programs, what was sent, what has to leave."""

import pytest
from nic.nic_bench import SIDEBAND, fields, pack_fields
from rmt.pipeline import DEPARSER, Program, Ring
from rmt.rmt_bench import EVENTS, ROUTE, TARGETS, WINDOW, any_sideband
from sluice_tb import bench_rng, plugin
from sluice_tb.plugin import PluginTop

CONFIGS = ("rmt_default", "rmt_tiny")
SIDEBAND_BITS, TAGS_BITS = sum(SIDEBAND.values()), ROUTE["tags"]
TRACES = {"merge_trace_bits": 136, "verdict_trace_bits": 53, "engines": 1}


class Bench:
    def __init__(self, target, name):
        self.rng = bench_rng(name)
        self.target = TARGETS[target]
        self.width, self.stages = self.target["bus_bytes"], self.target["stages"]
        self.beats = WINDOW // self.width
        widths = {"sideband_bits": SIDEBAND_BITS + TAGS_BITS, "input_user_bits": SIDEBAND_BITS}
        layout = {"bus_bytes": self.width, "ports": 1, "destinations": 1, **widths, **TRACES}
        self.top = PluginTop(CONFIGS[target], layout, self.rng.getrandbits(32), self._event)
        self.ring = Ring(self.top)
        self.sent = []  # (sideband, frame, program or None)
        self.entered, self.left = [], []  # events of frames

    def _event(self, event):
        if event.kind == plugin.REPLY:
            self.ring.take(event)
        elif event.kind == plugin.ARRIVED:
            self.entered.append(event)
        elif event.kind == plugin.LEFT:
            self.left.append(event)

    def load(self, *programs):
        for program in programs:
            self.ring.load(program, self.stages, self.beats)

    def frame(self, length, ipv4=True):
        data = bytearray(self.rng.randbytes(length))
        data[12:14] = b"\x08\x00" if ipv4 else b"\x86\xdd"
        if length > 23:
            data[23] = 1  # neither UDP nor TCP
        return bytes(data)

    def offer(self, side, frame):
        """Queues a frame beside this sideband."""
        word = pack_fields(SIDEBAND, **side)
        self.top.offer(0, frame, [word >> 32 * i & 0xFFFFFFFF for i in range(-(-SIDEBAND_BITS // 32))])

    def send(self, program, frame, module=None, **values):
        """Queues a packet; `program` is what it meets, None when it is to be dropped."""
        module = program.module if module is None else module
        side = any_sideband(self.rng, module_id=module, length=len(frame), id=len(self.sent) + 1, **values)
        self.offer(side, frame)
        self.sent.append((side, frame, program))

    def settle(self, limit=200_000, quiet=150):
        assert self.top.run(limit, quiet=quiet) & plugin.QUIET, "it never came to rest"

    def check(self):
        """Everything that left against everything that was sent."""
        expected = [(side, frame, program) for side, frame, program in self.sent if program is not None]
        assert len(self.left) == len(expected), f"{len(self.left)} packets left of {len(expected)}"
        for event, (sent, frame, program) in zip(self.left, expected, strict=True):
            side, tags = fields(SIDEBAND, event.words & (1 << SIDEBAND_BITS) - 1), event.words >> SIDEBAND_BITS
            wanted = program.result(frame)
            said = sent | {
                "length": len(wanted),
                "generation": program.generation,
                "destinations": program.destinations,
                "egress_queue": program.queue,
                "tag": 0,
            }
            assert side == said
            assert event.data == wanted, f"packet {side['id']} of {len(frame)} bytes"
            assert tags == 0

    def event(self, module, name):
        return self.ring.read(DEPARSER, 4, 16 * module + EVENTS[name], 2)


PLAIN = Program(module=1, flip=0x010203040506, destinations=0x05, queue=3, action=1)
TAGGER = Program(module=2, flip=0xFF, destinations=0x80, tag=0x8100_0123, action=2)
targets = pytest.mark.parametrize("target", [0, 1], ids=CONFIGS)
