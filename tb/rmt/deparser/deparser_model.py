"""What the deparser has to do, by docs/design/rmt.md and rmt-rows.md, and rows that the checker lets through."""

from dataclasses import dataclass, field

from rmt.codes import Event, LaneSize
from rmt.rows import row, words_of_layout

WINDOW, LONGEST, CONTAINERS, PATTERNS, ROWS = 128, 9216, 24, 16, 16
SIZES = [2] * 8 + [4] * 8 + [6] * 8
PATTERNS_WORDS = words_of_layout("rmt_patterns_row")
DEPARSE_WORDS = words_of_layout("rmt_deparse_row")
REJECT, SHORT, LONG, COPIES = Event.DEPARSE_REJECT, Event.DEPARSE_SHORT, Event.DEPARSE_LONG, Event.COPIES


@dataclass
class Update:
    """A checksum over `words` 16-bit words from `start`, written to `at`."""

    start: int
    words: int
    at: int


@dataclass
class Row:
    """A deparse row; `lanes` gives (container, its byte) or None, `rotations` a rotation by (beat, container)."""

    delta: int = 0
    split: int = 0
    least: int = 14
    lanes: list = field(default_factory=lambda: [None] * WINDOW)
    rotations: dict = field(default_factory=dict)
    updates: list = field(default_factory=list)

    def put(self, rng, width, i, n=None):
        """Any byte of container n at byte i that its rotation in the beat allows."""
        n = rng.randrange(CONTAINERS) if n is None else n
        beat, lane = divmod(i, width)
        rotation = self.rotations.setdefault((beat, n), rng.randrange(SIZES[n]))
        self.lanes[i] = (n, (lane - rotation) % SIZES[n])

    def settle(self, slack=0):
        """The smallest `least` that the checker allows, or more."""
        ends = [14, self.split + max(self.delta, 0)]
        ends += [i + 1 for i, lane in enumerate(self.lanes) if lane is not None]
        ends += [u.start + 2 * u.words for u in self.updates]
        self.least = max(ends) + slack
        return self

    def words(self, rng, width):
        """Its rows in the table, one for each beat; what does not matter is noise."""
        rows = []
        for beat in range(WINDOW // width):
            lanes = [rng.randrange(32) for _ in range(64)]
            for i, lane in enumerate(self.lanes[beat * width : (beat + 1) * width]):
                place, size = (rng.randrange(8), LaneSize.PACKET) if lane is None else (lane[0] % 8, lane[0] // 8)
                lanes[i] = place | size << 3
            rotations = [self.rotations.get((beat, n), rng.randrange(SIZES[n])) for n in range(CONTAINERS)]
            updates = [row("rmt_update", valid=1, start=u.start, words=u.words, at=u.at) for u in self.updates]
            updates += [rng.getrandbits(20) << 1 for _ in range(2 - len(updates))]
            rows.append(
                row(
                    "rmt_deparse_row",
                    half_delta=self.delta // 2 % 128,
                    split=self.split,
                    least=self.least,
                    updates=updates,
                    rotate2=rotations[0:8],
                    rotate4=rotations[8:16],
                    rotate6=rotations[16:24],
                    lanes=lanes,
                )
            )
        return rows

    def build(self, packet, containers):
        """The outgoing packet, or the reason of its drop."""
        length = len(packet) + self.delta
        if length < self.least:
            return SHORT
        if length > LONGEST:
            return LONG
        out = bytearray()
        for i in range(length):
            lane = self.lanes[i] if i < WINDOW else None
            if lane is not None:
                n, b = lane
                out.append(containers[n].to_bytes(SIZES[n], "big")[b])
            elif i < self.split:
                out.append(packet[i])
            else:
                out.append(packet[i - self.delta])
        sums = []
        for u in self.updates:
            total = 0
            for at in range(u.start, u.start + 2 * u.words, 2):
                if at != u.at:
                    total += out[at] << 8 | out[at + 1]
            while total > 0xFFFF:
                total = (total & 0xFFFF) + (total >> 16)
            sums.append((u.at, total ^ 0xFFFF))
        for at, value in sums:
            out[at : at + 2] = value.to_bytes(2, "big")
        return bytes(out)


@dataclass
class Program:
    """Patterns (value, mask, row) and rows of a module and generation."""

    patterns: list = field(default_factory=list)
    rows: list = field(default_factory=list)

    def patterns_row(self, rng):
        words = [
            row("rmt_pattern", valid=1, value=value, mask=mask, row=number) for value, mask, number in self.patterns
        ]
        words += [rng.getrandbits(44) << 1 for _ in range(PATTERNS - len(words))]
        return row("rmt_patterns_row", patterns=words)

    def pick(self, path, headers):
        """The row of the lowest pattern that matches."""
        for value, mask, number in self.patterns:
            if ((path | headers << 4) ^ value) & mask == 0:
                return self.rows[number]
        return None


def random_updates(rng):
    """None, one or two spans apart from each other."""
    count = rng.choice((0, 1, 1, 2, 2))
    cuts = sorted(rng.sample(range(WINDOW + 1), 2 * count))
    updates = []
    for start, end in zip(cuts[::2], cuts[1::2], strict=True):
        words = min((end - start) // 2, 63)
        if words:
            updates.append(Update(start, words, start + 2 * rng.randrange(words)))
    rng.shuffle(updates)
    return updates


def random_row(rng, width, delta=None):
    """A row that the checker lets through."""
    r = Row()
    r.delta = rng.choice((0, 2, -2, 64, -64, 2 * rng.randint(-32, 32))) if delta is None else delta
    grow = max(r.delta, 0)
    # Short headers as often as long ones.
    end = rng.choice((WINDOW, WINDOW, rng.randint(max(14, grow), WINDOW)))
    r.split = rng.choice((0, end - grow, rng.randint(0, end - grow)))
    for i in range(r.split, r.split + grow):
        r.put(rng, width, i)
    density = rng.choice((0, 0.1, 0.5, 1))
    for i in range(end):
        if rng.random() < density:
            r.put(rng, width, i)
    r.updates = [u for u in random_updates(rng) if u.start + 2 * u.words <= end or end == WINDOW]
    return r.settle(rng.choice((0, 0, rng.randrange(100))))


def random_program(rng, width, rows=None):
    """Patterns of all kinds over the rows; often one that takes what is left."""
    rows = rows or [random_row(rng, width) for _ in range(rng.randint(1, 6))]
    patterns = []
    for _ in range(rng.randint(1, PATTERNS - 1)):
        mask = rng.choice((0xF, 0xFFFF0, rng.getrandbits(20), rng.getrandbits(20) & rng.getrandbits(20)))
        patterns.append((rng.getrandbits(20) & mask, mask, rng.randrange(len(rows))))
    if rng.random() < 0.7:
        patterns.append((0, 0, rng.randrange(len(rows))))
    return Program(patterns, rows)
