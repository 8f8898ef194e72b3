"""sluice_xdp_order, at sizes that the proof (formal/xdp/order.sv) does not have: many modules and buckets, so that the
rows lie in several banks.

Claims
- a packet waits exactly while one of its bucket that came before is there, for the buckets of all modules
- soon is told to the next one of a bucket when the one before says that it will leave, and only to him
- a packet has its turn in its flow's section not before all before it in its bucket have left theirs, and a cycle
  for each slot after that at most
"""

import cocotb
import pytest
from common.lookup_bench import pack, parameter, start, step
from sluice_tb import bench_rng, run_bench

IDLE = ["enter_valid_i", "enter_slot_i", "enter_module_i", "enter_hash_i", "leave_valid_i", "leave_slot_i"]
IDLE += ["near_valid_i", "near_slot_i", "section_left_i"]


class Order:
    """Packets that are there, oldest first: slot and bucket."""

    def __init__(self, dut, rng):
        self.dut, self.rng, self.cores = dut, rng, parameter(dut, "Cores")
        self.there = []
        self.near, self.soon = set(), set()
        self.waited = self.told = self.turns = 0
        # Who has left his section; for how many cycles a packet's turn is late.
        self.left, self.late = set(), {}

    def before(self, slot):
        """Those of the packet's bucket that came before it, the last one first."""
        at = [s for s, _ in self.there].index(slot)
        return [s for s, bucket in reversed(self.there[:at]) if bucket == self.there[at][1]]

    def check(self):
        waits, soon = int(self.dut.waits_o.value), int(self.dut.soon_o.value)
        for slot, bucket in self.there:
            before = self.before(slot)
            assert waits >> slot & 1 == bool(before), (slot, bucket, self.there)
            assert soon >> slot & 1 == (slot in self.soon), (slot, bucket, self.there)
            self.waited += bool(before)
            self.told += bool(before) and slot in self.soon
        flow_waits = int(self.dut.flow_waits_o.value)
        for slot, _ in self.there:
            may = self.left >= set(self.before(slot))
            if flow_waits >> slot & 1:
                self.late[slot] = self.late.get(slot, 0) + 1 if may else 0
                assert self.late[slot] <= parameter(self.dut, "Slots"), (slot, self.there, self.left)
            else:
                assert may, (slot, self.there, self.left)
                self.turns += bool(self.before(slot))

    async def cycle(self, enter=None, leave=None, near=(), left=()):
        """enter: (slot, module, hash); leave: a slot; near: a slot for each core, or None; left: slots."""
        slot, module, bucket = enter or (0, 0, 0)
        # Whoever does not leave names a slot too.
        leaver, other = self.rng.randrange(self.cores), self.rng.randrange(1 << self.slot_bits)
        await step(
            self.dut, enter_valid_i=enter is not None, enter_slot_i=slot, enter_module_i=module, enter_hash_i=bucket,
            leave_valid_i=0 if leave is None else 1 << leaver,
            leave_slot_i=pack(((leave or 0) if c == leaver else other for c in range(self.cores)), self.slot_bits),
            near_valid_i=sum(1 << c for c, s in enumerate(near) if s is not None),
            near_slot_i=pack((s or 0 for s in near), self.slot_bits),
            section_left_i=sum(1 << s for s in left),
        )  # fmt: skip
        # What stood in this cycle is what the cycles before have made.
        self.check()
        for told in near:
            if told is not None:
                self.near.add(told)
                self.soon |= {s for s, _ in self.there if self.before(s)[:1] == [told]}
        self.left |= set(left)
        if leave is not None:
            self.there = [packet for packet in self.there if packet[0] != leave]
        if enter is not None:
            self.there.append((slot, (module, bucket)))
            self.near.discard(slot)
            self.soon.discard(slot)
            self.left.discard(slot)
            self.late.pop(slot, None)


@cocotb.test()
async def packets_of_a_bucket_wait_for_each_other_alone(dut):
    rng = bench_rng("xdp_order")
    await start(dut, limit=1_000_000, **dict.fromkeys(IDLE, 0))
    order = Order(dut, rng)
    slots, modules, buckets = (parameter(dut, name) for name in ("Slots", "Modules", "Buckets"))
    cores = order.cores
    order.slot_bits = (slots - 1).bit_length()
    for _ in range(120):
        # A few buckets at a time, which differ in few bits: in whatever is left out of their number others meet.
        first = rng.randrange(modules), rng.randrange(buckets)
        places = [first] + [(first[0] ^ 1 << n, first[1]) for n in range((modules - 1).bit_length())]
        places += [(first[0], first[1] ^ 1 << n) for n in range((buckets - 1).bit_length())]
        places = rng.sample(places, rng.randint(1, len(places)))
        enters, leaves = rng.choice(((0.9, 0.4), (0.6, 0.6), (0.3, 0.9)))
        for _ in range(60):
            there = {slot for slot, _ in order.there}
            free = [slot for slot in range(slots) if slot not in there]
            goes = [slot for slot, _ in order.there if not order.before(slot)]
            enter = (rng.choice(free), *rng.choice(places)) if free and rng.random() < enters else None
            leave = rng.choice(goes) if goes and rng.random() < leaves else None
            # Who leaves in this cycle has said so before, if at all.
            says = rng.sample(sorted(there - order.near - {leave}), k=min(cores, len(there - order.near - {leave})))
            near = [slot if rng.random() < 0.3 else None for slot in says]
            left = [slot for slot in there - {leave} if rng.random() < 0.2]
            await order.cycle(enter, leave, near + [None] * (cores - len(near)), left)
    assert min(order.waited, order.told, order.turns) > 1_000, (order.waited, order.told, order.turns)


@pytest.mark.parametrize("slots, modules, buckets", [(32, 64, 16), (8, 8, 16)])
def test_xdp_order(slots, modules, buckets):
    parameters = {"Slots": slots, "Modules": modules, "Buckets": buckets, "Cores": 2}
    run_bench("sluice_xdp_order", parameters=parameters, packages=["rtl/gen/sluice_pkg.sv"])
