"""sluice_l7_places, with fewer messages than entries, which the proof (formal/l7/entries.sv) does not have.

Claims
- an operation finds its key's entry exactly if it has one, where it was placed
- the first packet of a message gets an entry exactly while its module has fewer messages on their way than its quota
  says, and all have fewer than Messages; never that of a message on its way
- what has ended or was given up counts no more; a quota of more than there may be is that
"""

import cocotb
import pytest
from cocotb.triggers import FallingEdge, RisingEdge
from nic.nic_bench import CFG_REQ, pack_fields
from sluice_tb import bench_rng, run_bench, start

# Fewer than an operation has ways to choose from (8): so one of them is never on its way.
MODULES, MESSAGES, ENTRIES = 4, 6, 64
QUOTA, FIRST, LATER = 6, 2, 3
LATENCY = 3
INPUTS = ["op_valid_i", "op_i", "done_valid_i", "done_i", "forget_valid_i", "forget_i", "cfg_valid_i", "cfg_req_i"]
# From the lowest bit on.
OP = {
    "number": 8, "packets": 8, "message": 32, "session": 32, "port": 16, "source": 32, "module": 6,
    "decision": 13, "way": 2, "bad": 1, "slot": 9,
}  # fmt: skip
DONE = {"module": 6, "mark": 1, "place": 12}


class Bench:
    async def begin(self, dut, name):
        self.dut, self.rng = dut, bench_rng(name)
        self.place = {}  # key -> entry; a key is a module and a message
        self.live = {}  # entry -> (key, mark) on its way
        self.quota = [0] * MODULES
        self.placed = self.refused = self.full = self.hits = 0
        await start(dut, limit=500_000, **dict.fromkeys(INPUTS, 0))
        assert len(dut.op_i) == sum(OP.values()) and len(dut.done_i) == sum(DONE.values())
        for index in range(ENTRIES):
            dut.cfg_req_i.value = pack_fields(CFG_REQ, clear=1, write=1, table=QUOTA, index=index, words=0, data=0)
            await RisingEdge(dut.clk_i)
        dut.cfg_req_i.value = 0
        return self

    async def write(self, module, quota):
        self.quota[module] = min(quota, MESSAGES)
        self.dut.cfg_valid_i.value = 1
        self.dut.cfg_req_i.value = pack_fields(
            CFG_REQ, clear=0, write=1, table=QUOTA, index=module, words=1, data=quota
        )
        await RisingEdge(self.dut.clk_i)
        self.dut.cfg_valid_i.value = 0

    def own(self, module):
        return sum(key[0] == module for key, _ in self.live.values())

    async def operation(self, key, way):
        """One alone, and what comes of it."""
        dut = self.dut
        module, message = key
        dut.op_valid_i.value = 1
        dut.op_i.value = pack_fields(
            OP, number=0, packets=1, message=message, session=0, port=0, source=0, module=module, decision=0, way=way,
            bad=0, slot=0,
        )  # fmt: skip
        await RisingEdge(dut.clk_i)
        dut.op_valid_i.value = 0
        for _ in range(LATENCY):
            await FallingEdge(dut.clk_i)
            found = int(dut.found_valid_o.value)
            hit, placed = int(dut.hit_o.value), int(dut.placed_o.value)
            place, mark = int(dut.place_o.value), int(dut.mark_o.value)
            await RisingEdge(dut.clk_i)
        assert found, "no answer"
        assert hit == (key in self.place), (key, self.place)
        if hit:
            self.hits += 1
            assert place == self.place[key]
        room = self.own(module) < self.quota[module] and len(self.live) < MESSAGES
        assert placed == (way == FIRST and not hit and room), (key, self.quota, self.live)
        if placed:
            assert place not in self.live, f"entry {place} is of {self.live[place]}"
            self.place = {other: at for other, at in self.place.items() if at != place} | {key: place}
            self.live[place] = key, mark
            self.placed += 1
        elif way == FIRST and not hit:
            self.refused += 1
            self.full += len(self.live) == MESSAGES and self.own(module) < self.quota[module]

    async def ends(self, forgotten):
        """A message is finished, or given up: then its key is found no more."""
        dut, place = self.dut, self.rng.choice(sorted(self.live))
        key, mark = self.live.pop(place)
        name = "forget" if forgotten else "done"
        getattr(dut, f"{name}_valid_i").value = 1
        getattr(dut, f"{name}_i").value = pack_fields(DONE, place=place, mark=mark, module=key[0])
        await RisingEdge(dut.clk_i)
        getattr(dut, f"{name}_valid_i").value = 0
        if forgotten:
            del self.place[key]
            for _ in range(LATENCY):
                await RisingEdge(dut.clk_i)


@cocotb.test()
async def messages_are_found_and_no_more_begin_than_may(dut):
    bench = await Bench().begin(dut, "l7_places")
    rng = bench.rng
    # The last one's share is more than there is.
    for module, quota in enumerate((2, 0, 5, 40_000)):
        await bench.write(module, quota)
    for _ in range(4_000):
        choice = rng.random()
        if bench.live and choice < (0.4 if rng.random() < 0.5 else 0.1):
            await bench.ends(rng.random() < 0.3)
        elif choice < 0.42:
            module = rng.randrange(3)
            await bench.write(module, rng.randint(0, MESSAGES + 2))
        else:
            key = rng.randrange(MODULES), rng.randrange(40)
            await bench.operation(key, FIRST if rng.random() < 0.8 else LATER)
    assert min(bench.placed, bench.refused, bench.full, bench.hits) > 50, vars(bench)


@pytest.mark.parametrize("entries", [ENTRIES])
def test_l7_places(entries):
    names = ["gen/sluice", "gen/sluice_l7_rows", "shell/sluice_engine", "l7/sluice_l7"]
    run_bench(
        "sluice_l7_places",
        parameters={"Modules": MODULES, "Messages": MESSAGES, "Entries": entries},
        packages=[f"rtl/{name}_pkg.sv" for name in names],
    )
