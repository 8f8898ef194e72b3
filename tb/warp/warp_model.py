"""What the Warp Engine makes of a packet, by what its rows mean (docs/design/xdp-rows.md, `xdp_warp_*`)."""

import re
from functools import cache
from pathlib import Path

ROWS = Path(__file__).resolve().parents[2] / "docs" / "design" / "xdp-rows.md"
LANES, PREDICATES, CHUNKS, CHUNK_BITS = 14, 8, 24, 5
KEY_BITS = 8 * LANES + PREDICATES
PLAIN, VERDICT, RESUME = 0, 1, 2
KEY, PREDICATE, CHUNK, LEAF, STEP, HITS = range(6)
# Rows of a module in a generation, as rows are counted.
LEAVES, STEPS = 64, 128
ALL = (1 << 64) - 1
MOST_HITS = (1 << 36) - 1


@cache
def layouts():
    """Of each layout its fields as (lowest bit, width)."""
    found, fields = {}, {}
    for line in ROWS.read_text().splitlines():
        if head := re.match(r"### `(\w+)`: (\d+) bits", line):
            fields = found.setdefault(head[1], {})
        elif entry := re.match(r"\| (\d+)(?::(\d+))? \| `(\w+)` \|", line):
            high, low = int(entry[1]), int(entry[2] or entry[1])
            fields[entry[3]] = (low, high - low + 1)
    return found


def row(layout, **values):
    """The row with these fields, others 0; a list is an array, element 0 lowest."""
    word = 0
    for name, value in values.items():
        low, width = layouts()[layout][name]
        if isinstance(value, (list, tuple)):
            part = width // len(value)
            assert all(0 <= v < 1 << part for v in value), f"{layout}.{name}: {value} in {part} bits each"
            value = sum(v << i * part for i, v in enumerate(value))
        assert 0 <= value < 1 << width, f"{layout}.{name} is {value:#x}, expected {width} bits"
        word |= value << low
    return word


class Packet:
    """A frame, where it came in, and whose it is."""

    def __init__(self, frame, module, generation, ifindex):
        self.frame, self.module, self.generation, self.ifindex = frame, module, generation, ifindex

    def seen(self, n):
        """Byte n: of the frame, of its interface, of its length, or nothing. `rx_queue_index` is 0."""
        if n < 64:
            return self.frame[n] if n < len(self.frame) else 0
        behind = self.ifindex.to_bytes(4, "little") + bytes(4) + len(self.frame).to_bytes(2, "little")
        return behind[n - 64] if n < 74 else 0


def holds(predicate, lanes, length):
    """Whether a predicate holds."""
    upper, lower = (2 * predicate["pair"], 2 * predicate["pair"] + 1)
    number = (lanes[upper] << 8 | lanes[lower] if lower < LANES else 0) & predicate["mask"]
    down = predicate["down"]
    number = number >> down if down < 16 else number << 32 - down & 0xFFFF
    if predicate["length"]:
        signed = predicate["add"] - (1 << 16 if predicate["add"] >> 15 else 0)
        return number + signed <= length
    return (number + predicate["add"]) % (1 << 16) <= predicate["limit"]


def taken(part, packet):
    """What a step's part gives."""
    read = bytes(packet.seen(part["offset"] + n) for n in range(part["bytes"] + 1))
    number = int.from_bytes(read, "big" if part["swap"] else "little")
    return ((number >> part["down"] & (1 << part["width"] + 1) - 1) << part["up"]) & ALL


def ends_of_pairs(first, targets):
    """Of each pair of steps (which begins at an even one) how many words end in it."""
    counts = [0] * ((first + len(targets) - 1) // 2 - first // 2 + 1)
    for at, target in enumerate(targets):
        counts[(first + at) // 2 - first // 2] += at + 1 == len(targets) or targets[at + 1] != target
    return counts


def counter(module, generation, rule):
    """Where a leaf's packets are counted."""
    return LEAVES * (2 * module + generation) + rule


class Table:
    """A module's table in a generation."""

    def __init__(self, lanes, predicates, rules, leaves, steps):
        self.lanes, self.predicates = lanes, predicates
        # Of each rule (mask, value) of the key.
        self.rules, self.leaves, self.steps = rules, leaves, steps
        self.valid = True

    def key(self, packet):
        lanes = [packet.seen(n) for n in self.lanes]
        key = int.from_bytes(bytes(lanes), "little")
        for at, predicate in enumerate(self.predicates):
            key |= holds(predicate, lanes, len(packet.frame)) << 8 * LANES + at
        return key

    def rule(self, packet):
        """The first rule that agrees, or None."""
        key = self.key(packet)
        return next((n for n, (mask, value) in enumerate(self.rules) if key & mask == value), None)

    def leaf(self, packet):
        """Its leaf; {} is plain."""
        rule = self.rule(packet) if self.valid else None
        leaf = {} if rule is None else self.leaves[rule]
        return leaf if leaf.get("kind") in (VERDICT, RESUME) else {}

    def words(self, packet):
        """Of a leaf that resumes: (target, number) in their order."""
        leaf = self.leaf(packet)
        words = []
        for at in range(leaf["steps"] if leaf.get("kind") == RESUME else 0):
            step = self.steps[(leaf["step"] + at) % len(self.steps)]
            number = step["number"] if step["constant"] else taken(step["part"], packet)
            if words and words[-1][0] == step["target"]:
                words[-1] = (step["target"], words[-1][1] | number)
            else:
                words.append((step["target"], number))
        return words

    def sets(self, packet):
        """The same by cycles, as the engine gives them: those that end in one pair of steps together."""
        leaf, words = self.leaf(packet), iter(self.words(packet))
        if leaf.get("kind") != RESUME or not leaf["steps"]:
            return []
        targets = [self.steps[(leaf["step"] + at) % len(self.steps)]["target"] for at in range(leaf["steps"])]
        sets = [[next(words) for _ in range(ends)] for ends in ends_of_pairs(leaf["step"], targets) if ends]
        last = len(sets) - 1
        return [{"words": one, "first": at == 0, "last": at == last} for at, one in enumerate(sets)]

    def chunk(self, chunk, value):
        """The chunk's word: which rules agree with this value of it."""
        low = CHUNK_BITS * chunk
        bits = (1 << CHUNK_BITS) - 1
        return sum(
            (value & mask >> low & bits == wanted >> low & bits) << n for n, (mask, wanted) in enumerate(self.rules)
        )

    # Its rows, as (table, index, row).

    def head(self, module, generation, valid=True):
        at = 2 * module + generation
        yield KEY, at, row("xdp_warp_key_row", valid=valid, lanes=self.lanes)

    def asked(self, module, generation):
        at = 2 * module + generation
        for half in range(2):
            parts = [row("xdp_warp_predicate", **one) for one in self.predicates[4 * half : 4 * half + 4]]
            size = sum(layouts()["xdp_warp_predicate"]["length"])
            yield PREDICATE, 2 * at + half, sum(part << size * n for n, part in enumerate(parts))

    def chunks(self, module, generation, modules):
        at = 2 * module + generation
        for chunk in range(CHUNKS):
            for value in range(1 << CHUNK_BITS):
                yield CHUNK, 64 * modules * chunk + 32 * at + value, self.chunk(chunk, value)

    def ends(self, module, generation):
        at = 2 * module + generation
        for n, leaf in enumerate(self.leaves):
            counts = [row("xdp_warp_count", **one) for one in leaf["counts"]]
            yield LEAF, LEAVES * at + n, row("xdp_warp_leaf_row", **(leaf | {"counts": counts}))
        for n, step in enumerate(self.steps):
            number = step["number"] if step["constant"] else row("xdp_warp_part", **step["part"])
            yield (
                STEP,
                STEPS * at + n,
                row("xdp_warp_step_row", constant=step["constant"], target=step["target"], number=number),
            )

    def rows(self, module, generation, modules):
        """All of it, its key's row last."""
        yield from self.asked(module, generation)
        yield from self.chunks(module, generation, modules)
        yield from self.ends(module, generation)
        yield from self.head(module, generation)
