"""sluice_nic_vlan_guard.

Claims (docs/design/nic.md, "Leaving")
- a port is denied where the frame as it leaves would be another module's at its ingress: by its outer 0x8100
  tag, which is the one put back or that of the bytes, else by who owns untagged frames
- and where it would be nobody's, unless the VLAN is the one that it came with or its module may leave in any
- verdicts leave in order with the judgement of their own, whatever the stalls, and rows change behind them
- a frame too short for a tag has none, whatever lies behind its end
"""

from collections import Counter, deque

import cocotb
from cocotb.triggers import FallingEdge, RisingEdge
from common.lookup_bench import start
from nic.nic_bench import PACKAGES, SIDEBAND, pack_fields
from sluice_tb import bench_rng, burst_stalls, never, random_stalls, run_bench

PORTS = 4
MODULES = 64
OWNER_BITS = 7
SIDE_BITS = sum(SIDEBAND.values())
VLANS = (0, 20, 30, 4095)


class Bench:
    async def begin(self, dut, name):
        self.dut, self.rng = dut, bench_rng(name)
        inputs = ["valid_i", "verdict_i", "outer_i", "owner_i", "untagged_i", "any_vids_i", "ready_i"]
        await start(dut, limit=100_000, **dict.fromkeys(inputs, 0))
        # Of each port: the owner of a VLAN, and of untagged frames; None is nobody.
        self.owners = {vlan: [self.anyone() for _ in range(PORTS)] for vlan in VLANS}
        self.untagged = [self.anyone() for _ in range(PORTS)]
        self.any_vids = self.rng.getrandbits(MODULES)
        self.waiting = deque()  # verdicts inside: what is offered, and the ports denied
        self.asked = None  # what was taken in the cycle before
        self.offer = None
        self.seen = Counter()
        self.stalls, self.gaps = never(), never()
        return self

    def anyone(self):
        return None if self.rng.random() < 0.6 else self.rng.choice((0, 1, 2, 63))

    def owner_word(self, owner):
        # What is not valid has any number.
        return self.rng.getrandbits(6) if owner is None else 1 << 6 | owner

    def packet(self):
        rng = self.rng
        side = {name: rng.getrandbits(bits) for name, bits in SIDEBAND.items()}
        side |= {"module_id": rng.choice((1, 2, 63, 0)), "length": rng.choice((14, 15, 16, 60, 9216))}
        side["tci"] = rng.getrandbits(4) << 12 | rng.choice(VLANS)
        ethertype = rng.choice((0x8100, 0x8100, 0x88A8, 0x0800, 0x8000))
        outer = ethertype << 16 | rng.getrandbits(4) << 12 | rng.choice(VLANS)
        if side["tag_off"]:
            vlan, kind = side["tci"] & 4095, "put back"
        elif ethertype == 0x8100 and side["length"] >= 16:
            vlan, kind = outer & 4095, "own"
        else:
            vlan, kind = None, "short" if ethertype == 0x8100 else "none"
        came = side["tag_off"] or (vlan is not None and vlan != 0 and vlan == side["tci"] & 4095)
        verdict = rng.getrandbits(128) << SIDE_BITS | pack_fields(SIDEBAND, **side)
        return {
            "verdict": verdict,
            "outer": outer,
            "vlan": vlan,
            "module": side["module_id"],
            "came": came,
            "kind": kind,
        }

    async def cycle(self, offer=True):
        dut, rng = self.dut, self.rng
        if offer and self.offer is None and not next(self.gaps):
            self.offer = self.packet()
        shown = self.offer or self.packet()
        ready = not next(self.stalls)
        dut.valid_i.value = int(self.offer is not None)
        dut.verdict_i.value, dut.outer_i.value, dut.ready_i.value = shown["verdict"], shown["outer"], int(ready)
        # The answer to what was asked in the cycle before; else anything.
        answer = [rng.getrandbits(OWNER_BITS) for _ in range(PORTS)]
        if self.asked and self.asked["vlan"] is not None:
            answer = [self.owner_word(owner) for owner in self.owners[self.asked["vlan"]]]
        dut.owner_i.value = sum(word << OWNER_BITS * port for port, word in enumerate(answer))
        untagged = [self.owner_word(owner) for owner in self.untagged]
        dut.untagged_i.value = sum(word << OWNER_BITS * port for port, word in enumerate(untagged))
        dut.any_vids_i.value = self.any_vids
        if self.asked:
            asked = self.asked
            owners = self.untagged if asked["vlan"] is None else self.owners[asked["vlan"]]
            allowed = [asked["module"], *([None] if asked["free"] else [])]
            denied = sum(1 << port for port, owner in enumerate(owners) if owner not in allowed)
            self.waiting.append((asked["verdict"], denied))
            self.seen[asked["kind"], bool(denied)] += 1
        await FallingEdge(dut.clk_i)
        valid = int(dut.valid_o.value)
        assert valid == bool(self.waiting)
        if valid:
            assert (int(dut.verdict_o.value), int(dut.denied_o.value)) == self.waiting[0]
            if ready:
                self.waiting.popleft()
        taken = self.offer is not None and int(dut.ready_o.value)
        assert int(dut.lookup_o.value) == taken
        if taken and self.offer["vlan"] is not None:
            assert int(dut.lookup_vlan_o.value) == self.offer["vlan"]
        self.asked = None
        if taken:
            free = self.offer["came"] or bool(self.any_vids >> self.offer["module"] & 1)
            self.asked, self.offer = self.offer | {"free": free}, None
        await RisingEdge(dut.clk_i)
        # The host changes a row.
        if rng.random() < 0.1:
            self.owners[rng.choice(VLANS)][rng.randrange(PORTS)] = self.anyone()
            self.untagged[rng.randrange(PORTS)] = self.anyone()
            self.any_vids = rng.getrandbits(MODULES)


@cocotb.test()
async def a_port_is_denied_where_the_frame_would_be_anothers(dut):
    bench = await Bench().begin(dut, "vlan_guard")
    rng = bench.rng

    def rates():
        return rng.choice((never(), random_stalls(rng, 0.5), burst_stalls(rng, 40), random_stalls(rng, 0.85)))

    for _ in range(80):
        bench.stalls, bench.gaps = rates(), rates()
        for _ in range(100):
            await bench.cycle()
    bench.stalls = never()
    for _ in range(20):
        await bench.cycle(offer=False)
    assert not bench.waiting and bench.offer is None
    for kind in ("put back", "own", "short", "none"):
        assert bench.seen[kind, True] > 30 and bench.seen[kind, False] > 30, bench.seen


@cocotb.test()
async def a_verdict_a_cycle_passes_a_cycle_later(dut):
    bench = await Bench().begin(dut, "vlan_guard_rate")
    for _ in range(200):
        await bench.cycle()
        assert len(bench.waiting) <= 1 and bench.offer is None


def test_vlan_guard():
    run_bench("sluice_nic_vlan_guard", packages=PACKAGES, parameters={"Ports": PORTS, "Modules": MODULES})
