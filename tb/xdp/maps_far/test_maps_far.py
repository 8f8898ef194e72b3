"""sluice_xdp_maps_far: lookups of contexts where rows lie in external memory.

Claims
- a lookup finds the entry of its key in its chain, whatever the order in which rows come, and each context its own
- a map of which a lookup may be under way is named, from the cycle behind its take until its answer is taken
- of an entry of an LRU map the touched bit is set before the answer, and only where it is not set
- a row that comes with an error ends its lookup with a fault; one of the map's bits does not
"""

import cocotb
import pytest
from common.lookup_bench import parameter, start, step
from sluice_tb import bench_rng, run_bench
from xdp.outside_bench import PACKAGES
from xdp.outside_memory import packed, unpacked

MAP = [
    ("lock", 8), ("seed", 32), ("entry_shift", 2), ("entry", 16), ("clock", 16), ("bucket_bits", 5), ("bucket", 16),
    ("state", 16), ("base", 16), ("outside", 1), ("first", 32), ("slots", 28), ("entries", 32), ("shift", 4),
    ("value_bytes", 10), ("key_bytes", 7), ("constant", 1), ("lru", 1), ("per_cpu", 1), ("kind", 4), ("module_id", 6),
    ("valid", 1),
]  # fmt: skip
ANSWER = [
    ("fault", 1), ("value", 64), ("failed", 1), ("refers", 1), ("to_host", 1), ("referent", 32), ("steps", 12),
]  # fmt: skip
HASH = 1
IDLE = dict.fromkeys(
    (
        "take_i", "context_i", "map_i", "key_i", "chain_i", "copy_i", "whose_i", "chip_busy_i", "chip_i",
        "mark_ready_i", "load_ready_i", "loaded_valid_i", "loaded_fault_i", "loaded_i", "loaded_context_i",
        "answer_ready_i",
    ),
    0,
)  # fmt: skip
SLOTS, CHAINS = 128, 16


class Map:
    """A hash map in external memory: chains of slots, keys of 8 bytes, touched bits."""

    def __init__(self, rng, number, lru):
        self.chains = [[] for _ in range(CHAINS)]
        self.keys = [rng.getrandbits(64) for _ in range(SLOTS)]
        self.touched = rng.getrandbits(SLOTS)
        for slot in range(SLOTS):
            self.chains[rng.randrange(CHAINS)].append(slot)
        # Fields of the map's row: rows outside in units of 256.
        place = 0x8000 + 16 * number
        self.row = {
            "bucket": place, "entry": place + 1, "clock": place + 2, "state": place + 3, "first": 1 << 20,
            "slots": SLOTS, "entries": SLOTS, "shift": 3, "key_bytes": 8, "value_bytes": 8, "lru": lru, "kind": HASH,
            "module_id": number + 1, "valid": 1,
        }  # fmt: skip
        self.state = self.row["state"]

    def read(self, row):
        """What memory holds there."""
        unit, at = row >> 8, row & 255
        words = [0, 0, 0, 0]
        if unit == self.row["bucket"] & 0x7FFF:
            words = [chain[0] + 1 if chain else 0 for chain in self.chains[4 * at : 4 * at + 4]]
        elif unit == self.row["entry"] & 0x7FFF:
            chain = next(chain for chain in self.chains if at in chain)
            behind = chain[chain.index(at) + 1 :]
            words = [behind[0] + 1 if behind else 0, 0, self.keys[at] & 0xFFFFFFFF, self.keys[at] >> 32]
        elif unit == self.row["clock"] & 0x7FFF:
            bits = self.touched >> 64 * at & (1 << 64) - 1
            words = [0, 0, bits & 0xFFFFFFFF, bits >> 32]
        return sum(word << 32 * number for number, word in enumerate(words))


@cocotb.test()
async def lookups_of_all_contexts_find_their_entries_and_set_bits_before_they_answer(dut):
    rng = bench_rng("xdp_maps_far")
    await start(dut, **IDLE)
    contexts = parameter(dut, "Processors")
    maps = [Map(rng, number, number % 2) for number in range(4)]
    under, asked, seen = {}, [], {"found": 0, "missed": 0, "faults": 0, "touched": 0}
    for cycle in range(20_000):
        inputs = dict(IDLE)
        # At times there are few, so that maps have none.
        most = contexts if cycle // 500 % 2 else 2
        free = [context for context in range(contexts) if context not in under] if len(under) < most else []
        begins = None
        if free and rng.random() < 0.2:
            context, which = rng.choice(free), rng.choice(maps)
            slot = rng.randrange(SLOTS)
            chain = next(number for number, slots in enumerate(which.chains) if slot in slots)
            there = rng.random() < 0.8
            key = which.keys[slot] if there else rng.getrandbits(64)
            begins = context, {"map": which, "slot": slot if there else None, "bad": False, "set": False}
            inputs |= {
                "take_i": 1, "context_i": context, "map_i": packed(MAP, which.row), "key_i": key, "chain_i": chain,
            }  # fmt: skip
        whose = rng.choice(maps).state
        inputs["whose_i"] = whose
        inputs["load_ready_i"] = int(rng.random() < 0.7)
        inputs["answer_ready_i"] = int(rng.random() < 0.7)
        comes = None
        if asked and rng.random() < 0.5:
            comes = asked.pop(rng.randrange(len(asked)))
            context, row, touch, bit = comes
            one = under[context]
            bad = rng.random() < 0.02
            bits = row >> 8 == one["map"].row["clock"] & 0x7FFF
            one["bad"] |= bad and not bits
            one["bits_bad"] = one.get("bits_bad", False) or (bad and bits)
            data = one["map"].read(row)
            if touch:
                assert bits and bit == one["slot"] % 64 and row & 255 == one["slot"] // 64 and not one["set"]
                if not bad:
                    one["map"].touched |= 1 << one["slot"]
                seen["touched"] += 1
            elif bits:
                one["set"] = bad or data >> 64 + one["slot"] % 64 & 1
            inputs |= {"loaded_valid_i": 1, "loaded_fault_i": int(bad), "loaded_context_i": context}
            inputs["loaded_i"] = 0 if bad else data
        await step(dut, **inputs)
        # Of those that were taken in cycles before.
        expected = any(one["map"].state & 255 == whose & 255 for one in under.values())
        assert int(dut.among_o.value) == expected, (cycle, hex(whose))
        if int(dut.load_valid_o.value) and inputs["load_ready_i"]:
            context = int(dut.load_context_o.value)
            assert int(dut.load_module_o.value) == under[context]["map"].row["module_id"]
            touch, row = int(dut.load_touch_o.value), int(dut.load_place_o.value) >> 4
            asked.append((context, row, touch, int(dut.load_bit_o.value)))
        if int(dut.answer_valid_o.value) and inputs["answer_ready_i"]:
            context = int(dut.answer_context_o.value)
            one, answer = under.pop(context), unpacked(ANSWER, int(dut.answer_o.value))
            row = one["map"].row
            found = one["slot"] is not None and not one["bad"]
            assert answer["fault"] == one["bad"], one
            assert answer["value"] == (row["first"] + (one["slot"] << row["shift"]) if found else 0), one
            if found and row["lru"] and not one.get("bits_bad"):
                assert one["map"].touched >> one["slot"] & 1, one
            seen["faults" if answer["fault"] else "found" if found else "missed"] += 1
        # As a change of the map does, which waits for its lookups.
        quiet = [one for one in maps if not any(other["map"] is one for other in under.values())]
        if quiet and not begins:
            rng.choice(quiet).touched &= rng.getrandbits(SLOTS)
        if begins:
            under[begins[0]] = begins[1]
    assert all(count > 50 for count in seen.values()), seen


@pytest.mark.parametrize("contexts", [4, 16])
def test_xdp_maps_far(contexts):
    packages = [*PACKAGES, "rtl/xdp/sluice_xdp_walk_pkg.sv"]
    run_bench("sluice_xdp_maps_far", parameters={"Processors": contexts}, packages=packages)
