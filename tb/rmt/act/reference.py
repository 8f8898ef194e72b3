"""What an action does to a PHV and to state words, from docs/design/rmt.md, and its row by docs/design/rmt-rows.md."""

from dataclasses import dataclass, field

from rmt.codes import AluA, AluB, AluOp, Cross, IndexSource, Relation, StateKind, StateOperand, Taken, When

BITS = [16] * 8 + [32] * 8 + [48] * 8
CLASS = [0] * 8 + [1] * 8 + [2] * 8
NONE, ADD, SUB, AND, OR, XOR, MOVE, ANDNOT, GE, LT = AluOp
ACCESS, METER = StateKind.ACCESS, StateKind.METER
OLD = Taken.OLD


@dataclass
class Picks:
    """Shared operands of a size class."""

    pick: list[int]
    data: list[int]
    amount: int
    rotate_mask: int


@dataclass
class Alu:
    op: int = NONE
    a: int = 0
    b: int = 0
    when: int = 0
    immediate: int = 0
    mask: int = 0


@dataclass
class WordWrite:
    source: int = 0
    mask: int = 0
    immediate: int = 0
    when: int = 0


@dataclass
class State:
    kind: int = 0
    when: int = 0
    source: int = 0
    index_mask: int = 0
    base: int = 0
    relation: int = 0
    condition: int = 0
    o_source: int = 0
    o: int = 0
    t_source: int = 0
    t: int = 0
    f_source: int = 0
    f: int = 0
    t_old: int = 0
    t_negate: int = 0
    f_old: int = 0
    f_negate: int = 0
    old_to: int = 0
    new_to: int = 0
    per_packet: int = 0
    shift: int = 0


@dataclass
class Action:
    owner: int
    picks: list[Picks] = field(default_factory=lambda: [Picks([0] * 3, [0] * 2, 0, 0) for _ in range(3)])
    cross_source: int = Cross.ZERO
    cross_shift: int = 0
    cross_cut: int = 0
    state: State = field(default_factory=State)
    alus: list[Alu] = field(default_factory=lambda: [Alu() for _ in range(24)])
    words: list[WordWrite] = field(default_factory=lambda: [WordWrite() for _ in range(7)])

    def row(self) -> int:
        """The action row."""
        parts = [(self.owner, 6)]
        for k, p in enumerate(self.picks):
            parts += [(x, 3) for x in p.pick] + [(x, 3) for x in p.data]
            parts += [(p.amount, 6), (p.rotate_mask, 16 * (k + 1))]
        parts += [(self.cross_source, 6), (self.cross_shift, 2)]
        s = self.state
        parts += [(s.kind, 2), (s.when, 3), (s.source, 2), (s.index_mask, 12), (s.base, 12), (s.relation, 3)]
        parts += [(s.condition, 3), (s.o_source, 2), (s.o, 32), (s.t_source, 2), (s.t, 32), (s.f_source, 2), (s.f, 32)]
        parts += [(s.t_old, 1), (s.t_negate, 1), (s.f_old, 1), (s.f_negate, 1), (s.old_to, 4), (s.new_to, 4)]
        parts += [(s.per_packet, 1), (s.shift, 6)]
        for alu in self.alus:
            parts += [(alu.op, 4), (alu.a, 2), (alu.b, 4), (alu.when, 3)]
        parts += [(alu.immediate, BITS[n]) for n, alu in enumerate(self.alus)]
        parts += [(alu.mask, BITS[n]) for n, alu in enumerate(self.alus)]
        for w in self.words:
            parts += [(w.source, 2), (w.mask, 16), (w.immediate, 16), (w.when, 3)]
        parts += [(self.cross_cut, 2)]
        row, at = 0, 0
        for value, width in parts:
            assert 0 <= value < 1 << width
            row |= value << at
            at += width
        assert at == 2440
        return row


@dataclass
class Phv:
    c: list[int]
    words: list[int]
    queueing_high: int

    def pack(self) -> int:
        value, at = 0, 0
        for x, width in [*zip(self.c, BITS, strict=True), *((w, 16) for w in self.words), (self.queueing_high, 16)]:
            value |= x << at
            at += width
        return value

    def copy(self) -> "Phv":
        return Phv(list(self.c), list(self.words), self.queueing_high)


def holds(when: int, conditions: list[int]) -> bool:
    return {
        When.ALWAYS: True, When.IF0: conditions[0], When.UNLESS0: not conditions[0], When.IF1: conditions[1],
        When.UNLESS1: not conditions[1],
    }[when]  # fmt: skip


def related(relation: int, a: int, b: int) -> bool:
    return {
        Relation.EQ: a == b, Relation.NE: a != b, Relation.LT: a < b, Relation.LE: a <= b, Relation.GT: a > b,
        Relation.GE: a >= b,
    }[relation]  # fmt: skip


class Operands:
    """Shared operands of an action."""

    def __init__(self, action: Action, phv: Phv, data: bytes, digest: int, number: int):
        self.picks = [[phv.c[8 * k + i] for i in p.pick] for k, p in enumerate(action.picks)]
        self.data, self.rotated = [], []
        for k, p in enumerate(action.picks):
            width = 16 * (k + 1)
            padded = data + bytes(8)
            self.data.append([int.from_bytes(padded[2 * at : 2 * at + width // 8], "big") for at in p.data])
            value, ones = self.picks[k][2], (1 << width) - 1
            n = p.amount % width
            self.rotated.append((value << n | value >> width - n) & ones & p.rotate_mask)
        source, x = action.cross_source, 0
        if source < Cross.WORDS:
            x = phv.c[source]
        elif source < Cross.HASH:
            words = [*phv.words, 0, 0]
            x = sum(words[source - Cross.WORDS + i] << 16 * i for i in range(3))
        elif source == Cross.HASH:
            x = digest
        elif source == Cross.NUMBER:
            x = number
        self.x = (x & (1 << 16 * (3 - action.cross_cut)) - 1) >> 16 * action.cross_shift


def run_alu(alu: Alu, n: int, ops: Operands, phv: Phv, conditions: list[int]) -> int:
    k, ones = CLASS[n], (1 << BITS[n]) - 1
    own = phv.c[n]
    p0, p1, _ = ops.picks[k]
    whole_a = {AluA.OWN: own, AluA.P0: p0, AluA.P1: p1, AluA.X: ops.x & ones}[alu.a]
    whole_b = {
        AluB.IMMEDIATE: alu.immediate, AluB.DATA_A: ops.data[k][0], AluB.DATA_B: ops.data[k][1], AluB.P0: p0,
        AluB.P1: p1, AluB.R: ops.rotated[k], AluB.X: ops.x & ones,
    }[alu.b]  # fmt: skip
    a, b = whole_a & alu.mask, whole_b & alu.mask
    value = {
        NONE: own, ADD: a + b, SUB: a - b, AND: whole_a & whole_b, OR: whole_a | whole_b, XOR: whole_a ^ whole_b,
        MOVE: whole_b, ANDNOT: whole_a & ~whole_b, GE: whole_b, LT: whole_b,
    }[alu.op]  # fmt: skip
    write = {GE: a >= b, LT: a < b}.get(alu.op, True)
    if not (write and holds(alu.when, conditions)):
        return own
    return own & ~alu.mask & ones | value & alu.mask


def run_state(s: State, old: int, ops: Operands, phv: Phv, conditions: list[int]) -> tuple[int, int]:
    """(new word, what `new_to` shows)."""

    def value(source: int, immediate: int) -> int:
        return {
            StateOperand.IMMEDIATE: immediate, StateOperand.X: ops.x & 0xFFFFFFFF, StateOperand.DATA_B: ops.data[1][1],
            StateOperand.P1: ops.picks[1][1],
        }[source]  # fmt: skip

    if s.kind == METER:
        stamp = phv.words[5] | phv.words[6] << 16 | phv.queueing_high << 32
        now = (stamp << 8 >> s.shift) & 0xFFFFFFFF
        inc = s.t if s.per_packet else (phv.words[1] * s.t >> 16) & 0xFFFFFFFF
        ahead = (old - now) % 2**32
        if ahead > s.f:
            ahead = 0
        green = ahead <= s.o
        return ((now + ahead + inc) % 2**32 if green else old), int(not green)
    if s.condition == OLD:
        taken = related(s.relation, old, value(s.o_source, s.o))
    else:
        taken = holds(s.condition, conditions)
    if taken:
        keeps, by, negate = s.t_old, value(s.t_source, s.t), s.t_negate
    else:
        keeps, by, negate = s.f_old, value(s.f_source, s.f), s.f_negate
    new = ((old if keeps else 0) + (-by if negate else by)) % 2**32
    return new, new


def index_of(s: State, ops: Operands) -> int:
    sources = {
        IndexSource.ZERO: 0, IndexSource.P2: ops.picks[0][2], IndexSource.DATA_A: ops.data[0][0], IndexSource.X: ops.x,
    }  # fmt: skip
    return (sources[s.source] & s.index_mask) + s.base
