"""Key, conditions and match of a stage from docs/design/rmt.md, and its rows by docs/design/rmt-rows.md."""

from dataclasses import dataclass, field
from functools import lru_cache

from nic.nic_bench import crc32c
from rmt.codes import PredicateOperand, Relation

WIDTHS = [16] * 8 + [32] * 8 + [48] * 8
KEY_BITS = 194
IMMEDIATE = PredicateOperand.IMMEDIATE
EQ, NE, LT, LE, GT, GE = Relation
HOLDS = {
    EQ: lambda a, b: a == b,
    NE: lambda a, b: a != b,
    LT: lambda a, b: a < b,
    LE: lambda a, b: a <= b,
    GT: lambda a, b: a > b,
    GE: lambda a, b: a >= b,
}


def pack(*parts: tuple[int, int]) -> int:
    """(value, width) from bit 0 upwards."""
    word, at = 0, 0
    for value, width in parts:
        assert 0 <= value < 1 << width, f"{value:#x} in {width} bits"
        word |= value << at
        at += width
    return word


@dataclass
class Phv:
    containers: list[int]
    words: list[int]
    queueing_high: int = 0

    def packed(self) -> int:
        return pack(
            *zip(self.containers, WIDTHS, strict=True), *((w, 16) for w in self.words), (self.queueing_high, 16)
        )

    def value(self, code: int) -> int:
        """An operand of a predicate that is no immediate."""
        first = PredicateOperand.WORDS
        return self.containers[code] if code < first else self.words[code - first]


@dataclass
class Predicate:
    a: int = 0
    b: int = IMMEDIATE
    op: int = NE
    mask: int = 0
    immediate: int = 0

    def holds(self, phv: Phv) -> int:
        b = self.immediate if self.b == IMMEDIATE else phv.value(self.b)
        return int(HOLDS[self.op](phv.value(self.a) & self.mask, b & self.mask))

    def parts(self):
        return (self.a, 6), (self.b, 6), (self.op, 3), (self.mask, 48), (self.immediate, 48)


@dataclass
class KeyRow:
    pieces: list[int] = field(default_factory=lambda: [0] * 6)
    mask: int = 0
    predicates: list[Predicate] = field(default_factory=lambda: [Predicate(), Predicate()])
    truth: list[int] = field(default_factory=lambda: [0, 0])
    set_base: int = 0
    set_bits: int = 0
    hits_base: int = 0
    default_valid: int = 0
    default_action: int = 0
    default_number: int = 0

    def row(self) -> int:
        return pack(
            *((p, 3) for p in self.pieces), (self.mask, KEY_BITS),
            *self.predicates[0].parts(), *self.predicates[1].parts(),
            *((t, 4) for t in self.truth), (self.set_base, 8), (self.set_bits, 4), (self.hits_base, 11),
            (self.default_valid, 1), (self.default_action, 9), (self.default_number, 11),
        )  # fmt: skip

    def conditions(self, phv: Phv) -> list[int]:
        entry = self.predicates[0].holds(phv) + 2 * self.predicates[1].holds(phv)
        return [t >> entry & 1 for t in self.truth]

    def key(self, phv: Phv) -> int:
        c = phv.containers
        p = self.pieces
        raw = pack(
            (c[p[0]], 16), (c[p[1]], 16), (c[8 + p[2]], 32), (c[8 + p[3]], 32), (c[16 + p[4]], 48),
            (c[16 + p[5]], 48), *((x, 1) for x in self.conditions(phv)),
        )  # fmt: skip
        return raw & self.mask

    def sets(self, key: int) -> list[int]:
        """The sets of ways 0, 1 and of ways 2, 3."""
        h = hash_of(key)
        mixed = h ^ (rotl(h, 7) & rotl(h, 18)) ^ (rotl(h, 13) & rotl(h, 29))
        mask = (1 << self.set_bits) - 1
        return [self.set_base | (part & mask) for part in (mixed & 0xFFFF, mixed >> 16)]


def rotl(word: int, by: int) -> int:
    return (word << by | word >> (32 - by)) & 0xFFFFFFFF


@lru_cache(maxsize=4096)
def hash_of(key: int) -> int:
    return crc32c(key.to_bytes(25, "little"))


@dataclass
class Exact:
    generations: int
    module: int
    key: int
    action: int = 0
    number: int = 0

    def row(self) -> int:
        return pack((self.generations, 2), (self.module, 6), (self.key, KEY_BITS), (self.action, 9), (self.number, 11))


@dataclass
class Ternary:
    generations: int
    module: int
    value: int
    mask: int
    action: int = 0
    number: int = 0

    def row(self) -> int:
        return pack(
            (self.generations, 2), (self.module, 6), (self.value, KEY_BITS), (self.mask, KEY_BITS),
            (self.action, 9), (self.number, 11),
        )  # fmt: skip

    def accepts(self, key: int, module: int, generation: int) -> bool:
        return bool(self.generations >> generation & 1 and self.module == module and not (key ^ self.value) & self.mask)
