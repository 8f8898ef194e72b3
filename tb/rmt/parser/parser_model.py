"""The parser as docs/design/rmt.md has it, packet by packet, and its rows as rmt-rows.md lays them out."""

from dataclasses import dataclass, field

from rmt.codes import Event, Known

WINDOW, SELECTORS, ALTERNATIVES, NODES, PATHS = 128, 8, 8, 4, 16
SIZES = [2] * 8 + [4] * 8 + [6] * 8
NO_MODULE, PARSE_REJECT, PARSE_SHORT = Event.NO_MODULE, Event.PARSE_REJECT, Event.PARSE_SHORT
SELECT_WORDS, PATH_WORDS = 38, 8


@dataclass
class Alternative:
    """`value` and `mask` by selector byte."""

    value: list[int] = field(default_factory=lambda: [0] * SELECTORS)
    mask: list[int] = field(default_factory=lambda: [0] * SELECTORS)
    to: int = 0
    valid: int = 1
    least: int = 0

    def word(self) -> int:
        value = int.from_bytes(bytes(self.value), "little")
        mask = int.from_bytes(bytes(self.mask), "little")
        return self.valid | value << 1 | mask << 65 | self.to << 129


@dataclass
class Select:
    """A selection; alternatives that are not given are not valid."""

    offsets: list[int] = field(default_factory=lambda: [0] * SELECTORS)
    alternatives: list[Alternative] = field(default_factory=list)
    valid: int = 1

    def word(self) -> int:
        word = self.valid
        for k, offset in enumerate(self.offsets):
            word |= offset << 1 + 7 * k
        for i, alternative in enumerate(self.alternatives):
            word |= alternative.word() << 57 + 133 * i
            word |= alternative.least << 1121 + 8 * i
        return word

    def select(self, window: bytes, length: int) -> int | None:
        picked = [window[offset] for offset in self.offsets]
        for alternative in self.alternatives:
            tests = zip(picked, alternative.value, alternative.mask, strict=True)
            takes = alternative.valid and length >= alternative.least
            if takes and all((byte ^ value) & mask == 0 for byte, value, mask in tests):
                return alternative.to
        return None


@dataclass
class Path:
    """`extract`: offset by container, None if it is not taken; `verify`: (start, words) or None; `known`: codes of
    2-byte containers, which count where they are not taken."""

    extract: list[int | None] = field(default_factory=lambda: [None] * len(SIZES))
    headers: int = 0
    least: int = 0
    verify: tuple[int, int] | None = None
    known: list[int] = field(default_factory=lambda: [Known.ZERO] * 8)
    constant: int = 0
    port_numbers: int = 0

    def word(self) -> int:
        word = 0
        for n, offset in enumerate(self.extract):
            if offset is not None:
                word |= (1 | offset << 1) << 8 * n
            elif n < 8:
                word |= self.known[n] << 8 * n + 1
        word |= self.headers << 192 | self.least << 208
        if self.verify is not None:
            word |= (1 | self.verify[0] << 1 | self.verify[1] << 8) << 216
        return word | self.constant << 230 | self.port_numbers << 246

    def wrong(self, window: bytes) -> bool:
        if self.verify is None:
            return False
        start, words = self.verify
        covered = (window + bytes(WINDOW * 2))[start : start + 2 * words]
        total = sum(int.from_bytes(covered[i : i + 2], "big") for i in range(0, len(covered), 2))
        while total > 0xFFFF:
            total = (total & 0xFFFF) + (total >> 16)
        return total != 0xFFFF


@dataclass
class Program:
    """The rows of one module and generation."""

    first: Select = field(default_factory=lambda: Select(valid=0))
    nodes: list[Select] = field(default_factory=lambda: [Select() for _ in range(NODES)])
    paths: list[Path] = field(default_factory=lambda: [Path() for _ in range(PATHS)])

    def path_of(self, packet: bytes) -> int | None:
        window, length = window_of(packet), len(packet)
        node = self.first.select(window, length)
        return None if node is None else self.nodes[node].select(window, length)


def window_of(packet: bytes) -> bytes:
    return packet[:WINDOW].ljust(WINDOW, b"\0")


@dataclass
class Expected:
    """What has to come out. Containers by number, words by number."""

    dropped: int
    reason: int
    containers: list[int]
    words: list[int]


def parse(program: Program, packet: bytes, desc: dict) -> Expected:
    """`desc` has what the entrance knows: port, length, arrival, queueing, tenant, dropped, reason."""
    words = [0] * 16
    words[0], words[1], words[7] = desc["port"], desc["length"], desc["tenant"]
    words[2:5] = [desc["arrival"] >> 16 * i & 0xFFFF for i in range(3)]
    words[5:7] = [desc["queueing"] >> 16 * i & 0xFFFF for i in range(2)]
    containers = [0] * len(SIZES)
    if desc["dropped"]:
        return Expected(1, desc["reason"], containers, words)
    if not program.first.valid:
        return Expected(1, NO_MODULE, containers, words)
    window = window_of(packet)
    number = program.path_of(packet)
    if number is None:
        return Expected(1, PARSE_REJECT, containers, words)
    path = program.paths[number]
    if len(packet) < path.least:
        return Expected(1, PARSE_SHORT, containers, words)
    for n, offset in enumerate(path.extract):
        if offset is not None:
            # What lies behind the window is zero; the checker lets no program ask for it.
            containers[n] = int.from_bytes((window + bytes(8))[offset : offset + SIZES[n]], "big")
    known = {Known.CONSTANT: path.constant, Known.PORT: desc["port"], Known.LENGTH: desc["length"]}
    for n, code in enumerate(path.known):
        if path.extract[n] is None:
            containers[n] = known.get(code, 0)
    words[8] = path.port_numbers << 8 | number << 4 | path.wrong(window)
    words[13] = path.headers
    return Expected(0, 0, containers, words)


def random_select(rng, leads: int, most_valid: float = 1.0) -> Select:
    """Few bits count, so that packets of few byte values meet every alternative."""
    offsets = [rng.choice((rng.randrange(WINDOW), rng.randrange(20), 63, 64, 127)) for _ in range(SELECTORS)]
    alternatives = []
    for _ in range(rng.choice((0, 1, 3, 8, 8, 8))):
        mask = [rng.choice((0, 0, 0, 0, 1, 2, 3, 0xFC, rng.getrandbits(8))) for _ in range(SELECTORS)]
        value = [rng.choice((0, rng.getrandbits(2), rng.getrandbits(8))) for _ in range(SELECTORS)]
        least = rng.choice((0, 0, 0, rng.randint(0, WINDOW), rng.randint(0, 255), 255))
        alternatives.append(Alternative(value, mask, rng.randrange(leads), int(rng.random() < 0.9), least))
    if rng.random() < 0.6 and alternatives:
        alternatives[-1].mask, alternatives[-1].least = [0] * SELECTORS, 0
    return Select(offsets, alternatives, int(rng.random() < most_valid))


def random_path(rng) -> Path:
    """Mostly as the checker lets through; also what it refuses."""
    extract = []
    for size in SIZES:
        offset = rng.randrange(WINDOW + 1 - size) if rng.random() < 0.95 else rng.randrange(WINDOW)
        extract.append(offset if rng.random() < 0.7 else None)
    verify = None
    if rng.random() < 0.7:
        start = rng.randrange(WINDOW)
        most = (WINDOW - start) // 2 if rng.random() < 0.95 else 63
        verify = start, rng.randint(0, min(63, most))
    least = rng.choice((0, 0, 1, 14, rng.randint(0, WINDOW), rng.randint(0, 255)))
    known = [rng.choice(list(Known)) for _ in range(8)]
    return Path(extract, rng.getrandbits(16), least, verify, known, rng.getrandbits(16), rng.getrandbits(1))


def random_program(rng) -> Program:
    first = random_select(rng, NODES, 0.9)
    return Program(first, [random_select(rng, PATHS) for _ in range(NODES)], [random_path(rng) for _ in range(PATHS)])


def random_packet(rng, program: Program, length: int) -> bytes:
    """Bytes of few values; half of those with a checksum have a right one."""
    packet = bytearray(rng.choice((rng.randrange(4), rng.getrandbits(8))) for _ in range(min(length, WINDOW + 64)))
    packet += bytes(length - len(packet))
    number = program.path_of(packet)
    if number is not None and program.paths[number].verify is not None and rng.random() < 0.6:
        start, words = program.paths[number].verify
        at = start + 2 * rng.randrange(words) if words else WINDOW
        if at + 2 <= len(packet) and start + 2 * words <= WINDOW:
            packet[at : at + 2] = b"\0\0"
            window = window_of(packet)
            total = sum(int.from_bytes(window[start + 2 * i : start + 2 * i + 2], "big") for i in range(words))
            packet[at : at + 2] = (0xFFFF - total % 0xFFFF).to_bytes(2, "big")
    return bytes(packet)
