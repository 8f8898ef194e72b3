"""sluice_nic_admit.

Claims (docs/design/nic.md, "Queues")
- a copy is admitted exactly if the buffer has the packet's cells, the two queues of its module and destination keep
  their limit of cells, less the reserve for a copy of the low one, its own queue keeps its most packets, and the frame
  is not another tenant's there; all in the cycle of the verdict
- what is not admitted has the first of the reasons foreign_vlan, tail_limit, tail_packets, tail_buffer in its trace
- no module's queue counts for another's, and what has left counts no more
- limits and reserves are read back as written; a clear empties the queues of one module
"""

from collections import Counter, defaultdict

import cocotb
import pytest
from cocotb.triggers import FallingEdge, RisingEdge
from common.lookup_bench import start
from nic.codes import Reason
from nic.nic_bench import PACKAGES, SIDEBAND, fields, pack_fields
from sluice_tb import DEFAULT, TINY, bench_rng, run_bench

DESTS = 8
SIDE_BITS = sum(SIDEBAND.values())
TRACE = {"id": 32, "module_id": 6, "destination": 3, "dropped": 1, "reason": 6}
SIZES = {
    0: {"bytes": 64, "modules": 64, "cells": 4096, "packets": 64},
    1: {"bytes": 32, "modules": 8, "cells": 1024, "packets": 16},
}
INPUTS = [
    *("clear_i", "clear_index_i", "verdict_valid_i", "verdict_i", "denied_i", "decision_ready_i", "limit_write_i"),
    *(
        "release_valid_i",
        "release_queue_i",
        "release_high_i",
        "release_cells_i",
        "cell_freed_i",
        "limit_index_i",
        "limit_i",
    ),
]


class Bench:
    async def begin(self, dut, name):
        self.dut, self.rng = dut, bench_rng(name)
        self.sizes = SIZES[int(dut.Target.value)]
        await start(dut, limit=100_000, **dict.fromkeys(INPUTS, 0))
        self.limits = defaultdict(lambda: (0, 0))  # (cells, reserve) by (destination, module)
        self.cells = Counter()  # by (destination, module)
        self.packets = Counter()  # by (destination, module, high)
        self.free = self.sizes["cells"]
        self.copies = []  # in queues: [(destination, module, high), packet]
        self.to_free = 0
        self.seen = Counter()
        for dest in range(DESTS):
            for module in range(self.sizes["modules"]):
                await self.cycle(limit=(dest, module, 0, 0))
        for module in range(self.sizes["modules"]):
            await self.cycle(clear=module)
        return self

    def index(self, dest, module):
        return dest * self.sizes["modules"] + module

    def packet(self, **changes):
        rng = self.rng
        side = {name: rng.getrandbits(bits) for name, bits in SIDEBAND.items()}
        side |= {"module_id": rng.randrange(self.sizes["modules"]), "destinations": rng.randrange(1, 256)}
        side |= {"length": rng.choice((1, 60, 64, 65, 1518, rng.randrange(1, 9217)))} | changes
        side["cells"] = -(-side["length"] // self.sizes["bytes"])
        return side

    def judge(self, side, denied):
        """Reasons by destination; None is admitted."""
        reasons, high = {}, side["egress_queue"] >> 2
        for dest in range(DESTS):
            if not side["destinations"] >> dest & 1:
                continue
            of = dest, side["module_id"]
            limit, reserve = self.limits[of]
            if denied >> dest & 1:
                reasons[dest] = Reason.FOREIGN_VLAN
            elif self.cells[of] + side["cells"] > limit - (0 if high else reserve):
                reasons[dest] = Reason.TAIL_LIMIT
            elif self.packets[*of, high] == self.sizes["packets"]:
                reasons[dest] = Reason.TAIL_PACKETS
            else:
                reasons[dest] = Reason.TAIL_BUFFER if self.free < side["cells"] else None
        return reasons

    async def cycle(self, side=None, denied=None, ready=True, leave=False, limit=None, clear=None):
        dut, rng = self.dut, self.rng
        values = dict.fromkeys(INPUTS, 0) | {"decision_ready_i": int(ready)}
        noise = self.packet()
        shown = {name: (side or noise)[name] for name in SIDEBAND}
        verdict = rng.getrandbits(128) << SIDE_BITS | pack_fields(SIDEBAND, **shown)
        denied = rng.getrandbits(8) if denied is None else denied
        values |= {"verdict_valid_i": int(side is not None), "verdict_i": verdict, "denied_i": denied}
        noise = rng.randrange(DESTS), rng.randrange(self.sizes["modules"]), rng.getrandbits(16), rng.getrandbits(16)
        dest, module, cells, reserve = limit or noise
        values |= {"limit_write_i": int(limit is not None), "limit_index_i": self.index(dest, module)}
        values["limit_i"] = reserve << 16 | cells
        if clear is not None:
            values |= {"clear_i": 1, "clear_index_i": clear}
        left = None
        values |= {"release_queue_i": self.index(dest, module), "release_cells_i": rng.getrandbits(16)}
        values["release_high_i"] = rng.getrandbits(1)
        if leave and self.copies:
            left = self.copies.pop(rng.randrange(len(self.copies)))
            (*of, high), packet = left
            values |= {"release_valid_i": 1, "release_queue_i": self.index(*of)}
            values |= {"release_high_i": high, "release_cells_i": packet["cells"]}
        freed = self.to_free > 0 and leave
        values["cell_freed_i"] = int(freed)
        for name, value in values.items():
            getattr(dut, name).value = value
        await FallingEdge(dut.clk_i)
        assert int(dut.decision_valid_o.value) == (side is not None)
        assert int(dut.verdict_ready_o.value) == ready
        if limit is None and clear is None:
            read = int(dut.limit_o.value)
            assert (read & 0xFFFF, read >> 16) == self.limits[dest, module]
        traces, step = int(dut.trace_valid_o.value), side is not None and ready
        assert traces == (side["destinations"] if step else 0)
        reasons = {}
        if side is not None:
            reasons = self.judge(side, denied)
            admitted = sum(1 << dest for dest, reason in reasons.items() if reason is None)
            assert (int(dut.admitted_o.value), int(dut.verdict_o.value)) == (admitted, verdict)
        if step:
            word, bits = int(dut.trace_o.value), sum(TRACE.values())
            for to, reason in reasons.items():
                trace = fields(TRACE, word >> bits * to)
                expected = {"id": side["id"], "module_id": side["module_id"], "destination": to}
                expected |= {
                    "dropped": int(reason is not None),
                    "reason": trace["reason"] if reason is None else reason,
                }
                assert trace == expected
                self.seen[reason] += 1
        await RisingEdge(dut.clk_i)
        # A release and a freed cell are seen from the next cycle on.
        if step and None in reasons.values():
            packet = {"cells": side["cells"], "copies": 0}
            self.free -= packet["cells"]
            for to, reason in reasons.items():
                if reason is None:
                    queue = to, side["module_id"], side["egress_queue"] >> 2
                    self.cells[queue[:2]] += packet["cells"]
                    self.packets[queue] += 1
                    packet["copies"] += 1
                    self.copies.append((queue, packet))
        if left:
            queue, packet = left
            self.cells[queue[:2]] -= packet["cells"]
            self.packets[queue] -= 1
            packet["copies"] -= 1
            self.to_free += packet["cells"] * (packet["copies"] == 0)
        if freed:
            self.to_free -= 1
            self.free += 1
        if limit:
            self.limits[dest, module] = cells, reserve


@cocotb.test()
async def a_copy_is_admitted_where_there_is_room_and_nowhere_else(dut):
    bench = await Bench().begin(dut, "admit")
    rng, sizes = bench.rng, bench.sizes
    modules = [0, 1, sizes["modules"] - 1]
    for dest in range(DESTS):
        for module in modules:
            limit = rng.choice((40, 150, sizes["cells"], 65535))
            await bench.cycle(limit=(dest, module, limit, rng.choice((0, 5, 39, limit, 65535))))
    for turn in range(12):
        # Short packets of one module fill its queues of packets, both.
        short = turn % 3 == 2
        leaving = 0.1 if short else rng.choice((0.2, 0.6, 1.0))
        of = [rng.choice(modules)] if short else modules
        if short:
            while bench.copies or bench.to_free:
                await bench.cycle(leave=True)
            for dest in range(DESTS):
                await bench.cycle(limit=(dest, of[0], 65535, 0))
        for _ in range(900 if short else 500):
            side = None
            if rng.random() < 0.7:
                side = bench.packet(module_id=rng.choice(of), **({"length": 60} if short else {}))
            denied = rng.choice((0, 0, rng.getrandbits(8)))
            limit = None
            if rng.random() < 0.02:
                limit = (rng.randrange(DESTS), rng.choice(modules), rng.choice((30, 150, 65535)), rng.choice((0, 20)))
            await bench.cycle(side, denied, rng.random() < 0.8, rng.random() < leaving, limit)
            if side is not None and short:
                both = [bench.packets[dest, side["module_id"], high] for dest in range(DESTS) for high in (0, 1)]
                bench.seen["both full"] += both.count(sizes["packets"]) > 1
    assert bench.seen["both full"] > 20, bench.seen
    for reason in (None, Reason.FOREIGN_VLAN, Reason.TAIL_LIMIT, Reason.TAIL_PACKETS, Reason.TAIL_BUFFER):
        assert bench.seen[reason] > 20, bench.seen


@cocotb.test()
async def what_has_left_counts_no_more(dut):
    bench = await Bench().begin(dut, "admit_left")
    most = bench.sizes["packets"]
    await bench.cycle(limit=(3, 1, 65535, 0))
    for _ in range(3):
        for queue in (3, 4):
            for number in range(most + 2):
                await bench.cycle(bench.packet(module_id=1, destinations=1 << 3, length=60, egress_queue=queue), 0)
                assert bench.packets[3, 1, queue >> 2] == min(number + 1, most)
        while bench.copies or bench.to_free:
            await bench.cycle(leave=True)
    assert bench.free == bench.sizes["cells"]


@cocotb.test()
async def the_reserve_is_kept_for_the_high_queue(dut):
    bench = await Bench().begin(dut, "admit_reserve")
    cells = -(-60 // bench.sizes["bytes"])
    await bench.cycle(limit=(6, 1, 5 * cells, 2 * cells))
    for queue, most in ((0, 3), (7, 2), (4, 2), (3, 3)):
        for _ in range(4):
            await bench.cycle(bench.packet(module_id=1, destinations=1 << 6, length=60, egress_queue=queue), 0)
        assert bench.packets[6, 1, queue >> 2] == most


@cocotb.test()
async def a_clear_empties_one_modules_queues(dut):
    bench = await Bench().begin(dut, "admit_clear")
    cells = -(-60 // bench.sizes["bytes"])
    for high in (0, 1):
        for module in (1, 2):
            await bench.cycle(limit=(5, module, cells, 0))
            packet = bench.packet(module_id=module, destinations=1 << 5, length=60, egress_queue=4 * high)
            await bench.cycle(packet, 0)
        await bench.cycle(clear=2)
        bench.cells[5, 2] = bench.packets[5, 2, high] = 0
        for module in (1, 2):
            packet = bench.packet(module_id=module, destinations=1 << 5, length=60, egress_queue=4 * high)
            await bench.cycle(packet, 0)
            assert bench.packets[5, module, high] == (module == 2 or high == 0)
        await bench.cycle(clear=2)
        bench.cells[5, 2] = bench.packets[5, 2, high] = 0


@pytest.mark.parametrize("target", [DEFAULT, TINY])
def test_admit(target):
    sources = ["rtl/nic/sluice_nic_admit.sv", "tb/nic/admit/nic_admit_target.sv"]
    run_bench("nic_admit_target", packages=PACKAGES, sources=sources, parameters={"Target": target})
