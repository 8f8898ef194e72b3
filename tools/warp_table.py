"""A program's warp table as the engine reads it: which frames a rule matches, and what steps make, as terms."""

from bitwuzla import Kind, Term
from ebpf_terms import Terms, Wrong, signed
from warp_rows import Layouts

CHUNK_BITS, CHUNK_VALUES, RULES = 5, 32, 64
# What is seen of a packet: the frame, and behind it the interface, the queue, and how many bytes the frame has.
FRAME_BYTES, SEEN_BYTES = 64, 74
BEHIND = (("ifindex", 64, 4), ("queue", 68, 4), ("length", 72, 2))
# Targets of steps: registers, words of the stack, words of the key.
STACK_WORDS, KEY_WORDS = 16, 32
# The first of the words of the stack, from its end.
STACK_SET = 128
# Registers that steps leave alone: they have the context, the stack's end, the frame's start.
KEPT = (1, 10, 15)


class Table:
    """Rows, decoded; `Wrong` is raised for what has no meaning."""

    def __init__(self, terms: Terms, encoded: dict, layouts: Layouts) -> None:
        def of(row: str, words: list[int]) -> dict:
            return layouts.unpacked(f"xdp_warp_{row}", words)

        self.terms = terms
        self.key = of("key_row", encoded["key"])
        halves = [of("predicates_row", words)["predicates"] for words in encoded["predicates"]]
        self.predicates = [predicate for half in halves for predicate in half]
        self.chunks = [of("chunk_row", words)["rules"] for words in encoded["chunks"]]
        self.leaves = [of("leaf_row", words) for words in encoded["leaves"]]
        self.steps = [of("step_row", words) for words in encoded["steps"]]
        self.part_bits = layouts.bits["xdp_warp_part"]
        self.part = lambda number: of("part", [number])
        # What holds of bytes that were asked for: behind the frame's end there are zeros.
        self.assumed: dict[int, Term] = {}
        self.length = terms.named("length", 16)

    def byte(self, offset: int) -> Term:
        """A byte of what is seen of a packet."""
        terms = self.terms
        if offset >= SEEN_BYTES:
            raise Wrong(f"byte {offset} is none that is seen")
        byte = seen(terms, offset)
        if offset >= FRAME_BYTES:
            return byte
        if offset not in self.assumed:
            inside = terms.op(Kind.BV_UGT, self.length, terms.number(offset, 16))
            zero = terms.op(Kind.EQUAL, byte, terms.number(0, 8))
            self.assumed[offset] = terms.op(Kind.OR, inside, zero)
        return byte

    def lane(self, at: int) -> Term:
        """A byte of the key."""
        if at >= len(self.key["lanes"]):
            raise Wrong(f"a predicate looks at lane {at}")
        return self.byte(self.key["lanes"][at])

    def predicate(self, at: int) -> Term:
        """Whether a predicate holds."""
        terms, row = self.terms, self.predicates[at]
        wide = terms.wide(self.length, 32)

        def number(value: int, bits: int) -> Term:
            return terms.number(value, bits)

        found = number(0, 16)
        if row["mask"]:
            pair = terms.op(Kind.BV_CONCAT, self.lane(2 * row["pair"]), self.lane(2 * row["pair"] + 1))
            found = terms.op(Kind.BV_AND, pair, number(row["mask"], 16))
        down = row["down"]
        if down:
            shift = (Kind.BV_SHR, down) if down < 16 else (Kind.BV_SHL, 32 - down)
            found = terms.op(shift[0], found, number(shift[1], 16))
        if row["length"]:
            total = terms.op(Kind.BV_ADD, terms.wide(found, 32), number(signed(row["add"], 16), 32))
            return terms.op(Kind.BV_SLE, total, wide)
        return terms.op(Kind.BV_ULE, terms.op(Kind.BV_ADD, found, number(row["add"], 16)), number(row["limit"], 16))

    def matches(self, rule: int) -> Term | None:
        """Whether all chunks agree with a rule; None if no key does."""
        mask = value = 0
        others = []
        for chunk in range(len(self.chunks) // CHUNK_VALUES):
            rows = self.chunks[CHUNK_VALUES * chunk : CHUNK_VALUES * (chunk + 1)]
            agreeing = [at for at, rules in enumerate(rows) if rules >> rule & 1]
            if not agreeing:
                return None
            low, high = agreeing[0], agreeing[0]
            for one in agreeing:
                low, high = low & one, high | one
            free = low ^ high
            if len(agreeing) == 1 << free.bit_count():
                mask |= (CHUNK_VALUES - 1 & ~free) << CHUNK_BITS * chunk
                value |= low << CHUNK_BITS * chunk
            else:
                # No mask and value say it: one by one.
                shift = CHUNK_BITS * chunk
                each = [self.agrees(CHUNK_VALUES - 1 << shift, one << shift) for one in agreeing]
                others.append(self.terms.op(Kind.OR, *each))
        return self.terms.all([self.agrees(mask, value), *others])

    def agrees(self, mask: int, value: int) -> Term:
        """Whether the key has these bits."""
        terms, found = self.terms, []
        lanes = len(self.key["lanes"])
        for at in range(lanes):
            bits, wanted = mask >> 8 * at & 0xFF, value >> 8 * at & 0xFF
            if bits:
                lane = self.lane(at)
                kept = lane if bits == 0xFF else terms.op(Kind.BV_AND, lane, terms.number(bits, 8))
                found.append(terms.op(Kind.EQUAL, kept, terms.number(wanted, 8)))
        for at in range(len(self.predicates)):
            if mask >> 8 * lanes + at & 1:
                holds = self.predicate(at)
                found.append(holds if value >> 8 * lanes + at & 1 else terms.no(holds))
        if mask >> 8 * lanes + len(self.predicates):
            raise Wrong("a chunk asks for bits behind the key")
        return terms.all(found)

    def made(self, leaf: dict) -> dict[int, Term]:
        """What a leaf's steps put into registers and words of the key, which were zero."""
        terms, found = self.terms, {}
        if leaf["step"] + leaf["steps"] > len(self.steps):
            raise Wrong("it has steps that are not there")
        for row in self.steps[leaf["step"] : leaf["step"] + leaf["steps"]]:
            if not row["constant"] and row["number"] >> self.part_bits:
                raise Wrong("a step's number says more than a part has")
            number = terms.number(row["number"]) if row["constant"] else self.taken(self.part(row["number"]))
            before = found.get(row["target"])
            found[row["target"]] = terms.op(Kind.BV_OR, before, number) if before is not None else number
        return found

    def taken(self, part: dict) -> Term:
        """Bytes of the packet as a number, shifted down, its lowest bits, shifted up."""
        terms = self.terms
        places = range(part["offset"], part["offset"] + part["bytes"] + 1)
        found = [self.byte(at) if at < SEEN_BYTES else terms.number(0, 8) for at in places]
        order = found if part["swap"] else found[::-1]
        number = terms.wide(terms.op(Kind.BV_CONCAT, *order) if len(order) > 1 else order[0], 64)
        number = terms.op(Kind.BV_SHR, number, terms.number(part["down"]))
        kept = terms.op(Kind.BV_AND, number, terms.number((2 << part["width"]) - 1))
        return terms.op(Kind.BV_SHL, kept, terms.number(part["up"]))


def seen(terms: Terms, offset: int) -> Term:
    """A byte of what is seen of a packet, without what holds of it."""
    for name, first, count in BEHIND:
        if first <= offset < first + count:
            at = 8 * (offset - first)
            return terms.part(terms.named(name, 8 * count), at + 7, at)
    return terms.named(f"frame {offset}", 8)
