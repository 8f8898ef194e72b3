"""Leaves of a program made by hand: right ones are proved, and a fault in a field of a row or in a path is found.

A rule that takes fewer frames is no fault: what it leaves goes to the program.
"""

import copy
import random
import struct
import sys
from pathlib import Path

import pytest
from bitwuzla import Bitwuzla, Kind, Option, Options, Result

sys.path.insert(0, str(Path(__file__).parent.parent))

import warp_proof  # noqa: E402
from ebpf_terms import ALU, CONDITIONS, MASK, Insn, Machine, Sum, Terms, Wrong  # noqa: E402
from warp_rows import Layouts  # noqa: E402

LAYOUTS = Layouts()
MAPS = [
    {"kind": "hash", "key_size": 6, "value_size": 8, "max_entries": 9, "frozen": False, "spin_lock": None},
    {"kind": "percpu_array", "key_size": 4, "value_size": 24, "max_entries": 4, "frozen": False, "spin_lock": None},
]
MACS, COUNTS = range(2)


def insn(code, dst=0, src=0, off=0, imm=0):
    return struct.pack("<BBhi", code, dst | src << 4, off, imm).hex()


# Frames that are too short are counted and dropped; others than IPv4 pass; of the rest, if header and length are as
# they should be and the TTL is below 122, the destination is looked up. The jump to slot 3 goes back once.
COUNT, PASS = 36, 55
PROGRAM = [
    insn(0x61, 7, 1, 4),  # 0: r7 = data_end
    insn(0x61, 6, 1, 0),  # 1: r6 = data
    insn(0x05, off=3),  # 2: goto 6
    insn(0xBF, 2, 6),  # 3: r2 = r6
    insn(0x07, 2, imm=34),  # 4: r2 += 34
    insn(0x05, off=1),  # 5: goto 7
    insn(0x05, off=-4),  # 6: goto 3
    insn(0x2D, 2, 7, COUNT - 8),  # 7: if r2 > r7 goto COUNT
    insn(0x69, 3, 6, 12),  # 8: r3 = type
    insn(0x55, 3, 0, PASS - 10, 8),  # 9: if r3 != 8 goto PASS
    insn(0x71, 3, 6, 14),  # 10: r3 = version and length
    insn(0x57, 3, imm=15),  # 11: r3 &= 15
    insn(0x55, 3, 0, PASS - 13, 5),  # 12: if r3 != 5 goto PASS
    insn(0x69, 3, 6, 16),  # 13: r3 = total length
    insn(0xDC, 3, imm=16),  # 14: r3 = be16 r3
    insn(0xA5, 3, 0, PASS - 16, 20),  # 15: if r3 < 20 goto PASS
    insn(0x25, 3, 0, PASS - 17, 1500),  # 16: if r3 > 1500 goto PASS
    insn(0xBF, 4, 6),  # 17: r4 = r6
    insn(0x0F, 4, 3),  # 18: r4 += r3
    insn(0x07, 4, imm=14),  # 19: r4 += 14
    insn(0x2D, 4, 7, PASS - 21),  # 20: if r4 > r7 goto PASS
    insn(0x71, 5, 6, 22),  # 21: r5 = TTL
    insn(0x77, 5, imm=1),  # 22: r5 >>= 1
    insn(0x25, 5, 0, PASS - 24, 60),  # 23: if r5 > 60 goto PASS
    insn(0x61, 8, 6, 0),  # 24: r8 = destination's first four bytes
    insn(0x63, 10, 8, -8),  # 25
    insn(0x69, 8, 6, 4),  # 26: and the other two
    insn(0x6B, 10, 8, -4),  # 27
    insn(0x18, 1, 5, imm=MACS),  # 28: r1 = macs
    insn(0x00),
    insn(0xBF, 2, 10),  # 30: r2 = r10
    insn(0x07, 2, imm=-8),  # 31: r2 += -8
    insn(0x85, imm=1),  # 32: lookup
    insn(0x15, 0, 0, PASS - 34, 0),  # 33: if r0 == 0 goto PASS
    insn(0xB7, 0, imm=3),  # 34: r0 = TX
    insn(0x95),  # 35
    insn(0xBF, 8, 7),  # 36, COUNT: r8 = r7
    insn(0x1F, 8, 6),  # 37: r8 -= r6
    insn(0x62, 10, 0, -4, 2),  # 38: *(r10 - 4) = 2
    insn(0x18, 1, 5, imm=COUNTS),  # 39: r1 = counts
    insn(0x00),
    insn(0xBF, 2, 10),  # 41: r2 = r10
    insn(0x07, 2, imm=-4),  # 42: r2 += -4
    insn(0x85, imm=1),  # 43: lookup
    insn(0x15, 0, 0, 7, 0),  # 44: if r0 == 0 goto 52
    insn(0x79, 1, 0, 8),  # 45: r1 = *(r0 + 8)
    insn(0x07, 1, imm=5),  # 46: r1 += 5
    insn(0x7B, 0, 1, 8),  # 47: *(r0 + 8) = r1
    insn(0xC3, 0, 8, 16),  # 48: lock *(u32 *)(r0 + 16) += r8
    insn(0x05, off=2),  # 49: goto 52
    insn(0x00),
    insn(0x00),
    insn(0xB7, 0, imm=1),  # 52: r0 = DROP
    insn(0x95),  # 53
    insn(0x00),
    insn(0xB7, 0, imm=2),  # 55, PASS: r0 = PASS
    insn(0x95),  # 56
]
START = [[0, None], [1, None], [2, None], [6, None], [3, None], [4, None], [5, None]]
LANES = [12, 13, 16, 17, 14, 22] + [0] * 8
NOTHING = {"pair": 0, "mask": 0, "down": 0, "add": 0, "limit": 0, "length": 0}
PREDICATES = [
    {"pair": 0, "mask": 0, "down": 0, "add": 34, "limit": 0, "length": 1},
    {"pair": 1, "mask": 0xFFFF, "down": 0, "add": -20 & 0xFFFF, "limit": 1480, "length": 0},
    {"pair": 1, "mask": 0xFFFF, "down": 0, "add": 14, "limit": 0, "length": 1},
    {"pair": 2, "mask": 0x00FE, "down": 1, "add": 0, "limit": 60, "length": 0},
]


def straight(first, last, **taken):
    """A path from slot to slot, with what its branches do; a constant of 64 bits has two slots."""
    path, at = [], first
    while at <= last:
        path.append([at, taken.get(f"at{at}")])
        at += 2 if PROGRAM[at].startswith("18") else 1
    return path


def rule(predicates=(0, 0), **lanes):
    """Mask and value of a key."""
    mask = value = 0
    for name, (bits, wanted) in lanes.items():
        at = int(name.removeprefix("lane"))
        mask, value = mask | bits << 8 * at, value | wanted << 8 * at
    return mask | predicates[0] << 112, value | predicates[1] << 112


IPV4 = {"lane0": (0xFF, 8), "lane1": (0xFF, 0)}
RULES = [
    rule((0xF, 0xF), **IPV4, lane4=(0x0F, 5)),
    rule((1, 0)),
    rule((1, 1), **IPV4),
    rule((1, 1)),
]
FALSE = dict.fromkeys([f"at{at}" for at in (7, 9, 12, 15, 16, 20, 23)], False)
PARTS = {
    "length": {"offset": 16, "bytes": 2, "swap": True, "down": 0, "width": 16, "up": 0},
    "ttl": {"offset": 22, "bytes": 1, "swap": False, "down": 1, "width": 7, "up": 3},
    "port": {"offset": 64, "bytes": 4, "swap": False, "down": 0, "width": 32, "up": 0},
    "key": {"offset": 0, "bytes": 6, "swap": False, "down": 0, "width": 48, "up": 0},
}
ENTRY = {
    "registers": [[3, {"parts": [PARTS["length"]], "constant": 0}], [9, {"parts": [PARTS["ttl"]], "constant": 1}]],
    "stack": [[-16, {"parts": [PARTS["port"]], "constant": 0}]],
    "lookup": {"map": MACS, "bytes": 6, "key": [{"parts": [PARTS["key"]], "constant": 0}]},
}
CELLS = [
    {"cell": {"map": COUNTS, "index": 2, "offset": 8, "bytes": 8}, "more": {"number": 5}},
    {"cell": {"map": COUNTS, "index": 2, "offset": 16, "bytes": 4}, "more": "length"},
]
LEAVES = [
    {"action": {"kind": "resume", "row": 40, "missed": 77, "entry": ENTRY}, "cut": 32,
     "path": [*START, *straight(7, 31, **FALSE)],
     "answered": {"found": straight(32, 35, at33=False), "missed": [*straight(32, 33, at33=True), *straight(55, 56)]}},
    {"action": {"kind": "verdict", "counts": CELLS}, "cut": None,
     "path": [*START, [7, True], *straight(36, 49, at44=False), *straight(52, 53)]},
    {"action": {"kind": "plain"}, "cut": 0, "path": []},
    {"action": {"kind": "verdict", "counts": []}, "cut": None,
     "path": [*START, *straight(7, 9, at7=False, at9=True), *straight(55, 56)]},
]  # fmt: skip
COUNTED = [
    {"valid": 1, "wide": 1, "length": 0, "number": 5, "address": 0},
    {"valid": 1, "wide": 0, "length": 1, "number": 0, "address": 0},
]
ROWS = [
    {"kind": 2, "start": 40, "work": 1, "step": 1, "steps": 5, "looks_up": 1, "map": MACS, "key_bytes": 6,
     "counts": [{"valid": 1, "address": 77}, {}]},
    {"kind": 1, "verdict": 1, "work": 1, "counts": COUNTED},
    {"kind": 0},
    {"kind": 1, "verdict": 2, "work": 1},
]  # fmt: skip


def part(name):
    return {**PARTS[name], "bytes": PARTS[name]["bytes"] - 1, "width": PARTS[name]["width"] - 1}


# The first is another leaf's, or nobody's.
STEPS = [
    {"constant": 1, "target": 2, "number": 9},
    {"target": 3, "part": part("length")},
    {"target": 9, "part": part("ttl")},
    {"constant": 1, "target": 9, "number": 1},
    {"target": 16 + 14, "part": part("port")},
    {"target": 32, "part": part("key")},
]


class Made:
    """The program with its table, field by field."""

    def __init__(self):
        self.lanes, self.predicates = list(LANES), copy.deepcopy(PREDICATES)
        self.rules, self.rows, self.steps = list(RULES), copy.deepcopy(ROWS), copy.deepcopy(STEPS)
        self.leaves, self.chunks, self.valid = copy.deepcopy(LEAVES), [], 1
        for chunk in range(24):
            for value in range(32):

                def agrees(mask, wanted, value=value, shift=5 * chunk):
                    return value & (mask >> shift) == wanted >> shift & 31

                self.chunks.append(sum(agrees(*one) << at for at, one in enumerate(self.rules)))

    def program(self):
        def step(row):
            row = dict(row)
            if "part" in row:
                row["number"] = LAYOUTS.packed("xdp_warp_part", row.pop("part"))[0]
            return LAYOUTS.packed("xdp_warp_step_row", row)

        padded = [*self.predicates, *[NOTHING] * (8 - len(self.predicates))]
        halves = [{"predicates": padded[at : at + 4]} for at in (0, 4)]
        return {
            "name": "made", "insns": PROGRAM, "leaves": self.leaves,
            "encoded": {
                "key": LAYOUTS.packed("xdp_warp_key_row", {"valid": self.valid, "lanes": self.lanes}),
                "predicates": [LAYOUTS.packed("xdp_warp_predicates_row", half) for half in halves],
                "chunks": [LAYOUTS.packed("xdp_warp_chunk_row", {"rules": rules}) for rules in self.chunks],
                "leaves": [LAYOUTS.packed("xdp_warp_leaf_row", row) for row in self.rows],
                "steps": [step(row) for row in self.steps],
            },
        }  # fmt: skip

    def wrong(self):
        found = warp_proof.prove(self.program(), MAPS, LAYOUTS, 20.0)
        return [f"{one['leaf']}: {one['wrong']}" for one in found if one["wrong"]]


def test_the_leaves_of_a_right_table_are_proved():
    assert Made().wrong() == []


def _set(container, key, value):
    def change(made):
        held = container(made)
        assert held.get(key, 0) != value if isinstance(held, dict) else held[key] != value
        held[key] = value

    return change


def faults():
    """Each fault by its name: one field is another."""
    yield "table not valid", _set(lambda made: made.__dict__, "valid", 0)
    for at in range(6):
        yield f"lane {at}", _set(lambda made: made.lanes, at, LANES[at] + 1)
    changes = {
        0: {"add": 33, "length": 0, "limit": None, "mask": 1},
        1: {"pair": 7, "mask": 0x7FFF, "down": 1, "add": -19 & 0xFFFF, "limit": 1481, "length": 1},
        2: {"pair": 2, "mask": 0xFF, "down": 1, "add": 13, "length": 0},
        3: {"pair": 1, "mask": 0x007E, "down": 2, "add": 0xFFFF, "limit": 61, "length": 1},
    }
    for at, fields in changes.items():
        for name, value in fields.items():
            if value is not None:
                yield f"predicate {at} {name}", _set(lambda made, at=at: made.predicates[at], name, value)
    for row, fields in {
        0: {"kind": 1, "start": 41, "work": 0, "step": 0, "steps": 4, "looks_up": 0, "map": 1, "key_bytes": 5},
        1: {"kind": 2, "verdict": 2, "work": 0, "looks_up": 1, "steps": 1},
        2: {"kind": 1, "work": 1},
        3: {"kind": 0, "verdict": 0},
    }.items():
        for name, value in fields.items():
            yield f"leaf {row} {name}", _set(lambda made, row=row: made.rows[row], name, value)
    for at, fields in {
        0: {"valid": 0, "wide": 0, "length": 1, "number": 4},
        1: {"valid": 0, "wide": 1, "length": 0, "number": None},
    }.items():
        for name, value in fields.items():
            if value is not None:
                yield f"count {at} {name}", _set(lambda made, at=at: made.rows[1]["counts"][at], name, value)
    yield "row where nothing is found", _set(lambda made: made.rows[0]["counts"][0], "address", 76)
    yield "no row where nothing is found", _set(lambda made: made.rows[0]["counts"][0], "valid", 0)
    for step in (1, 2, 4, 5):
        name = {1: "length", 2: "ttl", 4: "port", 5: "key"}[step]
        fields = {"offset": 1, "bytes": -1, "swap": 1, "down": 1, "width": -1, "up": 1}
        for field, more in fields.items():
            # The length is below 1,501, the TTL below 122.
            more = {("length", "width"): -8, ("ttl", "width"): -2}.get((name, field), more)
            before = part(name)[field]
            after = 1 - before if field == "swap" else (before + more) % 64
            if (name, field) not in UNSEEN:
                yield f"step {name} {field}", _set(lambda made, step=step: made.steps[step]["part"], field, after)
        yield f"step {name} target", _set(lambda made, step=step: made.steps[step], "target", STEPS[step]["target"] + 1)
        yield f"step {name} is a constant", _set(lambda made, step=step: made.steps[step], "constant", 1)
    yield "step of a constant", _set(lambda made: made.steps[3], "number", 3)
    yield "step of a constant is none", _set(lambda made: made.steps[3], "constant", 0)
    for leaf, spec in enumerate(LEAVES):
        for at, (slot, taken) in enumerate(spec["path"]):
            if taken is not None:
                yield (
                    f"path of {leaf}, branch at {slot}",
                    _set(lambda made, leaf=leaf: made.leaves[leaf]["path"], at, [slot, not taken]),
                )
        if spec["path"]:
            yield f"path of {leaf} is shorter", lambda made, leaf=leaf: made.leaves[leaf]["path"].pop()
            yield f"path of {leaf} lacks a slot", lambda made, leaf=leaf: made.leaves[leaf]["path"].pop(1)
    for name in ("found", "missed"):
        path = LEAVES[0]["answered"][name]
        yield (
            f"path where something is {name}, branch",
            _set(lambda made, name=name: made.leaves[0]["answered"][name], 1, [33, not path[1][1]]),
        )
        yield f"path where something is {name}, slot", lambda made, name=name: made.leaves[0]["answered"][name].pop(2)
    yield "paths behind the lookup", _set(lambda made: made.leaves[0], "answered", None)
    yield "cut", _set(lambda made: made.leaves[0], "cut", 33)
    yield "row of the entry", _set(lambda made: made.leaves[0]["action"], "row", 39)
    yield "map of a count", _set(lambda made: made.leaves[1]["action"]["counts"][0]["cell"], "map", 0)
    yield "value of a count", _set(lambda made: made.leaves[1]["action"]["counts"][0]["cell"], "index", 1)
    yield "offset of a count", _set(lambda made: made.leaves[1]["action"]["counts"][0]["cell"], "offset", 0)


# One byte has no order.
UNSEEN = {("ttl", "swap"), ("ttl", "bytes")}


@pytest.mark.parametrize(("name", "change"), list(faults()), ids=lambda value: value if isinstance(value, str) else "")
def test_a_fault_is_found(name, change):
    made = Made()
    change(made)
    assert made.wrong() != [], name


def test_each_bit_of_a_mask_and_of_a_value_counts():
    """A rule that asks for less takes frames of others, one that asks for something else has none or others."""
    for at, (mask, value) in enumerate(RULES):
        for bit in (bit for bit in range(120) if mask >> bit & 1):
            # What else a plain leaf takes only makes the leaves behind it smaller.
            if at == 2:
                continue
            for other in ((mask & ~(1 << bit), value & ~(1 << bit)), (mask, value ^ 1 << bit)):
                RULES[at], kept = other, RULES[at]
                # A frame that has its own length and 14 bytes has 34 of them; those with fewer are of rule 1.
                harmless = (at, bit) in ((0, 112), (3, 112)) and other[0] != mask
                try:
                    assert (Made().wrong() == []) == harmless, f"rule {at} bit {bit}"
                finally:
                    RULES[at] = kept


def test_a_rule_without_a_leaf_is_found():
    made = Made()
    made.chunks = [rules | 1 << 9 for rules in made.chunks]
    assert made.wrong() == ["table: a rule without a leaf matches"]


def test_a_rule_that_is_no_mask_is_read_value_by_value():
    made = Made()
    # Lane 0 is 8 or 9: of chunk 0 two values, of which no mask says just these, agree.
    made.chunks[3] |= 1
    assert made.wrong() != []


def _value(terms, term, numbers):
    options = Options()
    options.set(Option.PRODUCE_MODELS, True)
    solver = Bitwuzla(terms.tm, options)
    for name, number in numbers.items():
        solver.assert_formula(terms.op(Kind.EQUAL, terms.named(name, 64), terms.number(number)))
    assert solver.check_sat() == Result.SAT
    return solver.get_value(term).value(2 if term.sort().is_bv() else 10)


def test_numbers_and_terms_agree():
    rng = random.Random(1)
    special = (0, 1, 5, 63, 1 << 31, (1 << 32) - 1, 1 << 63, MASK, 0x8000_0000_0000_0001)
    terms = Terms()
    a, b = (Sum(terms.named(name, 64)) for name in "ab")
    for _ in range(12):
        numbers = {name: rng.choice([rng.choice(special), rng.getrandbits(64)]) for name in "ab"}
        for bits in (32, 64):
            for code in ALU:
                for sign in (False, True) if code in (3, 9) else (False,):
                    wanted = terms.alu(code, bits, numbers["a"], numbers["b"], sign)
                    found = _value(terms, terms.of(terms.alu(code, bits, a, b, sign)), numbers)
                    assert int(found, 2) == wanted, (hex(code), bits, numbers, sign)
            for code in CONDITIONS:
                wanted = terms.holds(code, bits, numbers["a"], numbers["b"])
                assert _value(terms, terms.holds(code, bits, a, b), numbers) == wanted, (hex(code), bits, numbers)


@pytest.mark.parametrize(
    ("insns", "what"),
    [
        ([insn(0x61, 2, 1, 0), insn(0x72, 2, 0, 0, 1)], "not its stack"),
        ([insn(0x61, 2, 1, 0), insn(0x71, 3, 2, -1)], "before the frame"),
        ([insn(0x7A, 10, 0, -520, 1)], "not its stack"),
        ([insn(0x79, 3, 10, -4)], "reads 8 bytes"),
        ([insn(0xBF, 2, 3)], "nothing has set"),
        ([insn(0x85, imm=5)], "no lookup"),
    ],
)
def test_what_no_path_may_do_is_told(insns, what):
    machine = Machine(Terms(), [Insn.of(text) for text in insns], MAPS, lambda term: 0)
    with pytest.raises(Wrong, match=what):
        for _ in insns:
            machine.step()
