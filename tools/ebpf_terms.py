"""eBPF over bit vectors: what instructions do to registers and memory, as terms of the solver (RFC 9669).

A value is an `int` where it is known, otherwise a `Sum`: a term of 64 bits and something that is added, so that an
address with an offset stays one. Addresses are those of docs/decisions/address-map.md. `Machine` runs the instructions
that it is told, one by one; what must hold for that is a claim, which the caller proves. What no packet of a leaf may
do raises `Wrong`.
"""

import copy
import struct
from collections.abc import Callable
from dataclasses import dataclass, field

from bitwuzla import Kind, Term, TermManager

CONTEXT = 0x1000_0000
# The frame begins behind the headroom.
FRAME = 0x2000_0000 + 256
STACK_END = 0x3000_0000 + 0x400
STACK_BYTES = 512
# Of values that programs write; behind them lie those that they only read, up to records.
VALUES, VALUES_END, RECORDS = 0x4000_0000, 0x8000_0000, 0x9000_0000
HANDLES = 0xA000_0000

ARRAYS = ("array", "percpu_array")
LOOKUP = 1
# What a constant is that names a map by its place in the image.
MAP = 5
MASK = (1 << 64) - 1


class Wrong(Exception):
    """A path that no frame takes so."""


@dataclass(frozen=True)
class Sum:
    """`base + more`, modulo 2^64."""

    base: Term
    more: int = 0


Value = int | Sum


@dataclass(frozen=True)
class Insn:
    """A slot."""

    code: int
    dst: int
    src: int
    off: int
    imm: int

    @classmethod
    def of(cls, text: str) -> "Insn":
        """From its eight bytes in hex."""
        code, registers, off, imm = struct.unpack("<BBhi", bytes.fromhex(text))
        return cls(code, registers & 15, registers >> 4, off, imm)


def signed(number: int, bits: int) -> int:
    """A number's value in two's complement."""
    return number - (1 << bits) if number >> (bits - 1) & 1 else number


def _divided(a: int, b: int, bits: int, rest: bool) -> int:
    """With a sign, towards zero; of b = 0 what RFC 9669 says."""
    a, b = signed(a, bits), signed(b, bits)
    if b == 0:
        return a if rest else 0
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return a - b * quotient if rest else quotient


# By the operation's code: what it is of numbers, and of terms.
ALU: dict[int, tuple[Callable[[int, int, int], int], Kind]] = {
    0x0: (lambda a, b, n: a + b, Kind.BV_ADD),
    0x1: (lambda a, b, n: a - b, Kind.BV_SUB),
    0x2: (lambda a, b, n: a * b, Kind.BV_MUL),
    0x3: (lambda a, b, n: a // b if b else 0, Kind.BV_UDIV),
    0x4: (lambda a, b, n: a | b, Kind.BV_OR),
    0x5: (lambda a, b, n: a & b, Kind.BV_AND),
    0x6: (lambda a, b, n: a << (b % n), Kind.BV_SHL),
    0x7: (lambda a, b, n: a >> (b % n), Kind.BV_SHR),
    0x9: (lambda a, b, n: a % b if b else a, Kind.BV_UREM),
    0xA: (lambda a, b, n: a ^ b, Kind.BV_XOR),
    0xC: (lambda a, b, n: signed(a, n) >> (b % n), Kind.BV_ASHR),
}
NEG, MOV, SWAP = 0x8, 0xB, 0xD
SHIFTS = (0x6, 0x7, 0xC)
JUMP, SET, CALL, EXIT = 0x0, 0x4, 0x8, 0x9
CONDITIONS: dict[int, tuple[Callable[[int, int, int], bool], Kind]] = {
    0x1: (lambda a, b, n: a == b, Kind.EQUAL),
    0x2: (lambda a, b, n: a > b, Kind.BV_UGT),
    0x3: (lambda a, b, n: a >= b, Kind.BV_UGE),
    0x4: (lambda a, b, n: a & b != 0, Kind.BV_AND),
    0x5: (lambda a, b, n: a != b, Kind.DISTINCT),
    0x6: (lambda a, b, n: signed(a, n) > signed(b, n), Kind.BV_SGT),
    0x7: (lambda a, b, n: signed(a, n) >= signed(b, n), Kind.BV_SGE),
    0xA: (lambda a, b, n: a < b, Kind.BV_ULT),
    0xB: (lambda a, b, n: a <= b, Kind.BV_ULE),
    0xC: (lambda a, b, n: signed(a, n) < signed(b, n), Kind.BV_SLT),
    0xD: (lambda a, b, n: signed(a, n) <= signed(b, n), Kind.BV_SLE),
}


class Terms:
    """Terms with less to write. Bytes are `int` or a term of 8 bits."""

    def __init__(self) -> None:
        self.tm = TermManager()
        self._names: dict[str, Term] = {}

    def number(self, value: int, bits: int = 64) -> Term:
        """A constant."""
        return self.tm.mk_bv_value(self.tm.mk_bv_sort(bits), value & ((1 << bits) - 1))

    def named(self, name: str, bits: int) -> Term:
        """What is the same wherever it has this name."""
        if name not in self._names:
            self._names[name] = self.tm.mk_const(self.tm.mk_bv_sort(bits), name)
        return self._names[name]

    def op(self, kind: Kind, *terms: Term) -> Term:
        """An operation."""
        return self.tm.mk_term(kind, list(terms))

    def part(self, term: Term, high: int, low: int) -> Term:
        """Some bits."""
        whole = low == 0 and high + 1 == term.sort().bv_size()
        return term if whole else self.tm.mk_term(Kind.BV_EXTRACT, [term], [high, low])

    def wide(self, term: Term, bits: int, sign: bool = False) -> Term:
        """With more bits in front."""
        more = bits - term.sort().bv_size()
        return self.tm.mk_term(Kind.BV_SIGN_EXTEND if sign else Kind.BV_ZERO_EXTEND, [term], [more]) if more else term

    def all(self, terms: list[Term]) -> Term:
        """Whether all hold."""
        return self.op(Kind.AND, *terms) if len(terms) > 1 else terms[0] if terms else self.tm.mk_true()

    def no(self, term: Term) -> Term:
        """Whether it does not hold."""
        return self.op(Kind.NOT, term)

    def of(self, value: Value) -> Term:
        """A value as a term of 64 bits."""
        if isinstance(value, int):
            return self.number(value)
        return self.op(Kind.BV_ADD, value.base, self.number(value.more)) if value.more else value.base

    def joined(self, parts: list) -> Value:
        """Bytes, the lowest one first, as a value."""
        if all(isinstance(part, int) for part in parts):
            return sum(part << 8 * at for at, part in enumerate(parts))
        terms = [self.number(part, 8) if isinstance(part, int) else part for part in reversed(parts)]
        term = self.op(Kind.BV_CONCAT, *terms) if len(terms) > 1 else terms[0]
        return Sum(self.wide(term, 64))

    def split(self, value: Value, count: int) -> list:
        """The lowest bytes of a value."""
        if isinstance(value, int):
            return [value >> 8 * at & 0xFF for at in range(count)]
        term = self.of(value)
        return [self.part(term, 8 * at + 7, 8 * at) for at in range(count)]

    def cut(self, value: Value, bits: int, sign: bool = False) -> Value:
        """The lowest bits, with zeros or their sign in front."""
        if isinstance(value, int):
            kept = value & ((1 << bits) - 1)
            return signed(kept, bits) & MASK if sign else kept
        return value if bits == 64 else Sum(self.wide(self.part(self.of(value), bits - 1, 0), 64, sign))

    def alu(self, code: int, bits: int, a: Value, b: Value, sign: bool = False) -> Value:
        """An operation of two values; `sign` of a division is that it has one."""
        if sign and code not in (0x3, 0x9):
            raise Wrong(f"has an operation {code:#x} with an offset")
        cut_a, cut_b = self.cut(a, bits), self.cut(b, bits)
        if isinstance(cut_a, int) and isinstance(cut_b, int):
            result = _divided(cut_a, cut_b, bits, code == 0x9) if sign else ALU[code][0](cut_a, cut_b, bits)
            return result & ((1 << bits) - 1)
        if bits == 64 and code in (0x0, 0x1) and isinstance(b, int):
            return Sum(a.base, (a.more + (b if code == 0x0 else -b)) & MASK)
        if bits == 64 and code == 0x0 and isinstance(a, int):
            return Sum(b.base, (b.more + a) & MASK)
        left, right = (self.part(self.of(value), bits - 1, 0) for value in (cut_a, cut_b))
        if code in SHIFTS:
            right = self.op(Kind.BV_AND, right, self.number(bits - 1, bits))
        kind = {0x3: Kind.BV_SDIV, 0x9: Kind.BV_SREM}[code] if sign else ALU[code][1]
        result = self.op(kind, left, right)
        if code == 0x3:
            # By 0 it is 0 here, and all ones there.
            zero = self.number(0, bits)
            result = self.op(Kind.ITE, self.op(Kind.EQUAL, right, zero), zero, result)
        return Sum(self.wide(result, 64))

    def holds(self, code: int, bits: int, a: Value, b: Value) -> bool | Term:
        """A condition."""
        a, b = self.cut(a, bits), self.cut(b, bits)
        if isinstance(a, int) and isinstance(b, int):
            return CONDITIONS[code][0](a, b, bits)
        left, right = (self.part(self.of(value), bits - 1, 0) for value in (a, b))
        result = self.op(CONDITIONS[code][1], left, right)
        return self.op(Kind.DISTINCT, result, self.number(0, bits)) if code == SET else result

    def same(self, a: Value, b: Value) -> bool | Term:
        """Whether two values are one."""
        return self.holds(0x1, 64, a, b)


@dataclass
class Element:
    """A value of an array: what lies in it now where that was asked for, by offset."""

    address: Term
    bytes: dict[int, object] = field(default_factory=dict)


class Machine:
    """Registers and memory of one packet.

    `guess` gives a number that a value may be; that it is this one is a claim.
    """

    def __init__(self, terms: Terms, insns: list[Insn], maps: list[dict], guess: Callable[[Term], int]) -> None:
        self.terms, self.insns, self.maps, self.guess = terms, insns, maps, guess
        self.registers: list[Value | None] = [None] * 10 + [STACK_END]
        self.registers[1] = CONTEXT
        self.length = Sum(terms.wide(terms.named("length", 16), 64))
        self.stack: dict[int, object] = {}
        self.elements: dict[tuple[int, int], Element] = {}
        self.claims: list[tuple[Term, str]] = []
        self.assumed: list[Term] = []
        self.pc = self.work = 0

    def answered(self, found: bool) -> "Machine":
        """The same behind the lookup at `pc`, which finds something or not. Claims are of both."""
        on = copy.copy(self)
        on.registers, on.stack = list(self.registers), dict(self.stack)
        on.elements = {key: Element(held.address, dict(held.bytes)) for key, held in self.elements.items()}
        if found:
            address = self.terms.named("what is found", 64)
            self.assumed.append(self.terms.op(Kind.BV_UGE, address, self.terms.number(VALUES)))
            self.assumed.append(self.terms.op(Kind.BV_ULT, address, self.terms.number(RECORDS)))
        on.registers[0:6] = [Sum(address) if found else 0, *[None] * 5]
        on.pc += 1
        return on

    # What must hold.

    def claim(self, holds: bool | Term, text: str) -> None:
        """Something that is so, or is to be proved."""
        if holds is False:
            raise Wrong(text)
        if holds is not True:
            self.claims.append((holds, text))

    def known(self, value: Value, what: str) -> int:
        """The one number that a value is for every packet."""
        if isinstance(value, int):
            return value
        number = self.guess(self.terms.of(value))
        self.claim(self.terms.same(value, number), f"{what} is not {number:#x} for all")
        return number

    def register(self, number: int) -> Value:
        """What a register holds."""
        value = self.registers[number]
        if value is None:
            raise Wrong(f"slot {self.pc} reads r{number}, which nothing has set")
        return value

    # Memory.

    def initial(self, key: tuple[int, int], offset: int) -> Term:
        """A byte of an array's value before the packet."""
        return self.terms.named(f"map {key[0]} value {key[1]} byte {offset}", 8)

    def frame(self, offset: int) -> Term:
        """A byte of the frame."""
        return self.terms.named(f"frame {offset}", 8)

    def _element(self, address: Value) -> tuple[tuple[int, int], int] | None:
        if isinstance(address, Sum):
            for key, element in self.elements.items():
                if element.address == address.base:
                    return key, signed(address.more, 64)
        return None

    def _inside(self, key: tuple[int, int], offset: int, count: int) -> None:
        if not 0 <= offset <= self.maps[key[0]]["value_size"] - count:
            raise Wrong(f"slot {self.pc} accesses byte {offset} of a value of map {key[0]}")

    def load(self, address: Value, count: int) -> Value:
        """So many bytes at an address."""
        if found := self._element(address):
            key, offset = found
            self._inside(key, offset, count)
            held = self.elements[key].bytes
            return self.terms.joined([held.get(at, self.initial(key, at)) for at in range(offset, offset + count)])
        at = self.known(address, f"slot {self.pc}: the address")
        if STACK_END - STACK_BYTES <= at <= STACK_END - count:
            return self.terms.joined([self.stack.get(at + n, 0) for n in range(count)])
        if at >> 28 == FRAME >> 28:
            first = at - FRAME
            if first < 0:
                raise Wrong(f"slot {self.pc} reads before the frame")
            enough = self.terms.holds(0x3, 64, self.length, first + count)
            self.claim(enough, f"slot {self.pc} reads byte {first + count - 1} of a frame that may be shorter")
            return self.terms.joined([self.frame(first + n) for n in range(count)])
        fields: dict[int, Value] = {
            0: FRAME,
            4: self.terms.alu(0x0, 64, self.length, FRAME),
            8: FRAME,
            12: Sum(self.terms.wide(self.terms.named("ifindex", 32), 64)),
            16: Sum(self.terms.wide(self.terms.named("queue", 32), 64)),
        }
        if count == 4 and at - CONTEXT in fields:
            return fields[at - CONTEXT]
        raise Wrong(f"slot {self.pc} reads {count} bytes at {at:#x}")

    def store(self, address: Value, count: int, value: Value, atomic: bool = False) -> None:
        """So many bytes, of the own stack or of an array's value."""
        parts = dict(enumerate(self.terms.split(value, count)))
        if found := self._element(address):
            key, offset = found
            self._inside(key, offset, count)
            spec = self.maps[key[0]]
            if spec["frozen"] or spec["spin_lock"] is not None or not (atomic or spec["kind"] == "percpu_array"):
                raise Wrong(f"slot {self.pc} writes to map {key[0]} what others may see or write meanwhile")
            self.elements[key].bytes |= {offset + n: part for n, part in parts.items()}
            return
        at = self.known(address, f"slot {self.pc}: the address")
        if not STACK_END - STACK_BYTES <= at <= STACK_END - count:
            raise Wrong(f"slot {self.pc} writes at {at:#x}, which is not its stack")
        self.stack |= {at + n: part for n, part in parts.items()}

    # Instructions.

    def step(self, taken: bool | None = None) -> None:
        """The instruction at `pc`; of a conditional branch whether it is taken."""
        if not 0 <= self.pc < len(self.insns):
            raise Wrong(f"goes to slot {self.pc}, which is not there")
        insn, slot = self.insns[self.pc], self.pc
        kind = insn.code & 7
        branches = kind in (5, 6) and insn.code >> 4 not in (JUMP, CALL, EXIT)
        if branches != (taken is not None):
            raise Wrong(f"slot {slot} is {'a' if branches else 'no'} branch")
        self.pc += 2 if insn.code == 0x18 else 1
        if kind in (4, 7):
            self._alu(insn, 64 if kind == 7 else 32)
        elif kind in (5, 6):
            self._jump(insn, slot, 64 if kind == 5 else 32, taken)
        else:
            self._memory(insn, slot)

    def _alu(self, insn: Insn, bits: int) -> None:
        terms, code = self.terms, insn.code >> 4
        if code == SWAP:
            self.registers[insn.dst] = self._swapped(insn, bits)
            return
        other = self.register(insn.src) if insn.code & 8 else insn.imm & MASK
        if code == MOV:
            if insn.off:
                other = terms.cut(other, insn.off, sign=True)
            self.registers[insn.dst] = terms.cut(other, bits)
        elif code == NEG:
            self.registers[insn.dst] = terms.alu(0x1, bits, 0, self.register(insn.dst))
        elif code in ALU:
            self.registers[insn.dst] = terms.alu(code, bits, self.register(insn.dst), other, sign=insn.off != 0)
        else:
            raise Wrong(f"has an operation {insn.code:#x}")

    def _swapped(self, insn: Insn, bits: int) -> Value:
        value = self.terms.cut(self.register(insn.dst), insn.imm)
        # Of 64 bits it swaps in any case, of 32 where the other order is asked for.
        swaps = bits == 64 or insn.code & 8
        return self.terms.joined(self.terms.split(value, insn.imm // 8)[::-1]) if swaps else value

    def _jump(self, insn: Insn, slot: int, bits: int, taken: bool | None) -> None:
        code = insn.code >> 4
        if code == CALL:
            self._call(insn, slot)
            return
        if code == EXIT:
            return
        far = insn.imm if code == JUMP and bits == 32 else insn.off
        if code != JUMP:
            if code not in CONDITIONS:
                raise Wrong(f"has a branch {insn.code:#x}")
            other = self.register(insn.src) if insn.code & 8 else insn.imm & MASK
            holds = self.terms.holds(code, bits, self.register(insn.dst), other)
            goes = holds if taken else self.terms.no(holds) if isinstance(holds, Term) else not holds
            self.claim(goes, f"the branch at slot {slot} is {'not ' if taken else ''}taken")
            if not taken:
                return
        self.pc = slot + 1 + far
        self.work += self.pc <= slot

    def _call(self, insn: Insn, slot: int) -> None:
        """A lookup in an array of a value that is there."""
        if insn.src or insn.imm != LOOKUP:
            raise Wrong(f"slot {slot} calls what is no lookup")
        key = (self.map_of(self.register(1)), self.known(self.load(self.register(2), 4), f"slot {slot}: the key"))
        spec = self.maps[key[0]]
        if spec["kind"] not in ARRAYS or key[1] >= spec["max_entries"]:
            raise Wrong(f"slot {slot} looks up what may not be there")
        if key not in self.elements:
            address = self.terms.named(f"map {key[0]} value {key[1]}", 64)
            self.elements[key] = Element(address)
            self.assumed.append(self.terms.op(Kind.BV_UGE, address, self.terms.number(VALUES)))
            self.assumed.append(self.terms.op(Kind.BV_ULT, address, self.terms.number(VALUES_END - spec["value_size"])))
        self.registers[0] = Sum(self.elements[key].address)
        self.registers[1:6] = [None] * 5

    def map_of(self, value: Value) -> int:
        """The map that a handle is of."""
        if not isinstance(value, int) or not 0 <= value - HANDLES < len(self.maps):
            raise Wrong(f"slot {self.pc}: r1 is no map")
        return value - HANDLES

    def _memory(self, insn: Insn, slot: int) -> None:
        kind, mode, count = insn.code & 7, insn.code >> 5, (4, 2, 1, 8)[insn.code >> 3 & 3]
        if insn.code == 0x18:
            if insn.src not in (0, MAP):
                raise Wrong(f"slot {slot} loads a constant of the kind {insn.src}")
            high = self.insns[slot + 1].imm & 0xFFFF_FFFF
            number = insn.imm & 0xFFFF_FFFF | high << 32
            self.registers[insn.dst] = HANDLES + insn.imm if insn.src else number
        elif kind == 1 and mode in (3, 4):
            value = self.load(self.address(insn.src, insn.off), count)
            self.registers[insn.dst] = self.terms.cut(value, 8 * count, sign=True) if mode == 4 else value
        elif kind in (2, 3) and mode == 3:
            value = self.register(insn.src) if kind == 3 else insn.imm & MASK
            self.store(self.address(insn.dst, insn.off), count, value)
        elif kind == 3 and mode == 6 and insn.imm == 0:
            address = self.address(insn.dst, insn.off)
            total = self.terms.alu(0x0, 64, self.load(address, count), self.register(insn.src))
            self.store(address, count, total, atomic=True)
        else:
            raise Wrong(f"slot {slot} has an access {insn.code:#x}")

    def address(self, register: int, offset: int) -> Value:
        """What a register and an offset point to."""
        return self.terms.alu(0x0, 64, self.register(register), offset & MASK)
