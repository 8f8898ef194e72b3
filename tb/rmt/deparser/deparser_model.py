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
class Adjust:
    """The incoming span that makes the second checksum an incremental one."""

    start: int
    words: int
    udp: bool


@dataclass
class Row:
    """A deparse row; `lanes` gives (container, its byte) or None, `rotations` a rotation by (beat, container)."""

    delta: int = 0
    split: int = 0
    least: int = 1
    lanes: list = field(default_factory=lambda: [None] * WINDOW)
    rotations: dict = field(default_factory=dict)
    updates: list = field(default_factory=list)
    adjust: Adjust | None = None

    def put(self, rng, width, i, n=None):
        """Any byte of container n at byte i that its rotation in the beat allows."""
        n = rng.randrange(CONTAINERS) if n is None else n
        beat, lane = divmod(i, width)
        rotation = self.rotations.setdefault((beat, n), rng.randrange(SIZES[n]))
        self.lanes[i] = (n, (lane - rotation) % SIZES[n])

    def settle(self, slack=0):
        """The smallest `least` that the checker allows, or more."""
        ends = [1, self.split + max(self.delta, 0)]
        ends += [i + 1 for i, lane in enumerate(self.lanes) if lane is not None]
        ends += [u.start + 2 * u.words for u in self.updates]
        if self.adjust is not None:
            ends.append(self.adjust.start + 2 * self.adjust.words + self.delta)
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
            # Without a second checksum it means nothing.
            adjust = rng.getrandbits(14) << 1 | (len(self.updates) < 2 and rng.getrandbits(1))
            if self.adjust is not None:
                a = self.adjust
                adjust = row("rmt_adjust", valid=1, udp=int(a.udp), start=a.start, words=a.words)
            rows.append(
                row(
                    "rmt_deparse_row",
                    half_delta=self.delta // 2 % 128,
                    odd=self.delta & 1,
                    split=self.split,
                    least=self.least,
                    updates=updates,
                    rotate2=rotations[0:8],
                    rotate4=rotations[8:16],
                    rotate6=rotations[16:24],
                    lanes=lanes,
                    adjust=adjust,
                )
            )
        return rows

    def moved(self, packet, containers):
        """The outgoing packet without its checksums."""
        out = bytearray()
        for i in range(len(packet) + self.delta):
            lane = self.lanes[i] if i < WINDOW else None
            if lane is not None:
                n, b = lane
                out.append(containers[n].to_bytes(SIZES[n], "big")[b])
            elif i < self.split:
                out.append(packet[i])
            else:
                out.append(packet[i - self.delta])
        return out

    def build(self, packet, containers, least=1):
        """The outgoing packet, or the reason of its drop; `least` is what every row asks for."""
        length = len(packet) + self.delta
        if length < max(self.least, least):
            return SHORT
        if length > LONGEST:
            return LONG
        out = self.moved(packet, containers)
        sums = []
        for number, u in enumerate(self.updates):
            adjust = self.adjust if number == 1 else None
            value = self.total(number, packet, out) ^ 0xFFFF
            if adjust is not None and adjust.udp:
                # No checksum stays none, and one that comes out as none is 0xffff.
                if out[u.at : u.at + 2] == bytes(2):
                    continue
                value = value or 0xFFFF
            sums.append((u.at, value))
        for at, value in sums:
            out[at : at + 2] = value.to_bytes(2, "big")
        return bytes(out)

    def total(self, number, packet, out):
        """What a checksum is the complement of: its words, and complements of old ones if it is incremental."""
        u, total = self.updates[number], 0
        for at in range(u.start, u.start + 2 * u.words, 2):
            if at != u.at:
                total += out[at] << 8 | out[at + 1]
        if number == 1 and self.adjust is not None:
            start, words = self.adjust.start, self.adjust.words
            for at in range(start, start + 2 * words, 2):
                total += 0xFFFF ^ (packet[at] << 8 | packet[at + 1])
        while total > 0xFFFF:
            total = (total & 0xFFFF) + (total >> 16)
        return total

    def old_place(self):
        """Where the second checksum's two bytes are in the packet as it came, if they follow each other there."""
        at = self.updates[1].at
        if self.lanes[at : at + 2] != [None, None] or at + 1 == self.split:
            return None
        return at if at < self.split else at - self.delta

    def edge(self, rng, packet, containers):
        """The packet with an old checksum of 0, or with one whose new value comes out as 0; or as it is."""
        if self.adjust is None or len(packet) + self.delta < self.least:
            return packet
        old, kind = self.old_place(), rng.randrange(6)
        if old is None or kind > 2:
            return packet
        # Half a checksum of 0 is one.
        value = {0: 0, 1: rng.choice((0x0001, 0x0100, 0x8000, 0xFF)), 2: 0xFFFF}[kind]
        packet = bytearray(packet)
        packet[old : old + 2] = value.to_bytes(2, "big")
        if kind == 2:
            # The complement of all ones adds nothing: what is left is the value that the rest wants.
            total = self.total(1, packet, self.moved(packet, containers))
            packet[old : old + 2] = total.to_bytes(2, "big")
        return bytes(packet)


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


def overlapping_updates(rng):
    """Two spans that may share words, neither of which has the other's sum."""
    while True:
        pair = []
        for _ in range(2):
            start, words = rng.randrange(100), rng.randint(1, 14)
            pair.append(Update(start, words, start + 2 * rng.randrange(words)))
        if all(a.at + 2 <= b.start or a.at >= b.start + 2 * b.words for a, b in (pair, pair[::-1])):
            return pair


def random_updates(rng):
    """None, one or two spans, sometimes with words of both."""
    count = rng.choice((0, 1, 1, 2, 2, 3))
    if count == 3:
        return overlapping_updates(rng)
    cuts = sorted(rng.sample(range(WINDOW + 1), 2 * count))
    updates = []
    for start, end in zip(cuts[::2], cuts[1::2], strict=True):
        words = min((end - start) // 2, 63)
        if words:
            updates.append(Update(start, words, start + 2 * rng.randrange(words)))
    rng.shuffle(updates)
    return updates


def adjust_any(rng, r, end):
    """Makes the second checksum an incremental one, with any incoming span that the checker lets through."""
    if len(r.updates) < 2 or rng.random() < 0.2:
        return
    at = r.updates[1].at
    old = r.old_place()
    if old is None:
        if None in r.lanes[at : at + 2]:
            return
        # The sum is a container's: nobody knows where it was.
        old = rng.randrange(WINDOW - 2)
    limit = min(WINDOW, end - r.delta)
    start = max(rng.randrange(old & 1, old + 1, 2), old - rng.choice((0, 2, 14, 62, 126)))
    words, most = (old - start) // 2 + 1, min(63, (limit - start) // 2)
    if words <= most:
        r.adjust = Adjust(start, rng.randint(words, most), rng.random() < 0.6)


def random_row(rng, width, delta=None):
    """A row that the checker lets through."""
    r = Row()
    r.delta = rng.choice((0, 1, -1, 2, 63, -63, 64, -64, *[rng.randint(-64, 64)] * 4)) if delta is None else delta
    grow = max(r.delta, 0)
    # Short headers as often as long ones.
    end = rng.choice((WINDOW, WINDOW, rng.randint(max(1, grow), WINDOW)))
    r.split = rng.choice((0, end - grow, rng.randint(0, end - grow)))
    for i in range(r.split, r.split + grow):
        r.put(rng, width, i)
    density = rng.choice((0, 0.1, 0.5, 1))
    for i in range(end):
        if rng.random() < density:
            r.put(rng, width, i)
    r.updates = [u for u in random_updates(rng) if u.start + 2 * u.words <= end or end == WINDOW]
    adjust_any(rng, r, end)
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
