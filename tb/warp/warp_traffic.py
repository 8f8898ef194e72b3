"""Packets through sluice_warp (behind warp_bench.sv), held against the model; tables as the host writes them."""

from collections import Counter, deque

import cocotb
from cocotb.triggers import RisingEdge
from common.lookup_bench import parameter
from sluice_tb import StreamSink, StreamSource, never, start
from warp.warp_model import (
    ALL,
    HITS,
    LANES,
    LEAVES,
    MOST_HITS,
    PLAIN,
    PREDICATES,
    RESUME,
    STEPS,
    VERDICT,
    Packet,
    Table,
    counter,
    row,
)

TARGET_BITS = 6
PACKAGES = [
    "rtl/gen/sluice_pkg.sv",
    "rtl/shell/sluice_engine_pkg.sv",
    "rtl/gen/sluice_xdp_rows_pkg.sv",
    "rtl/xdp/sluice_xdp_pkg.sv",
    "rtl/xdp/sluice_xdp_room_pkg.sv",
    "rtl/xdp/sluice_xdp_streams_pkg.sv",
    "rtl/warp/sluice_warp_pkg.sv",
]
INPUTS = (
    "write_valid write_table write_index write_row in_valid in_rest in_data in_last in_module in_generation in_length"
)
OTHERS = ["in_ifindex", "out_ready", "out_plain", "set_ready", "hits_read_valid", "hits_read_index"]
IDLE = {f"{name}_i": 0 for name in [*INPUTS.split(), *OTHERS]}
# From a packet's first beat in to its first beat out.
LATENCY = 11
# From there to its first word, if nobody's are before it.
WORD = 5
# From the host's read of a counter to its answer.
READ = 3
LEAF = [
    "kind",
    "rule",
    "verdict",
    "start",
    "work",
    "has_steps",
    "looks_up",
    "map",
    "key_bytes",
    "counts",
    "counted",
    "length",
]


NOTHING = {"pair": 0, "mask": 0, "down": 0, "add": 0, "limit": 0, "length": 0}
NO_COUNT = {"valid": 0, "wide": 0, "length": 0, "number": 0, "address": 0}


def leaf(number, **values):
    """A leaf that resumes at row `number`."""
    return {
        "kind": RESUME,
        "verdict": 0,
        "start": number,
        "work": 0,
        "step": 0,
        "steps": 0,
        "looks_up": 0,
        "map": 0,
        "key_bytes": 0,
        "counts": [NO_COUNT, NO_COUNT],
    } | values


def told(shift, bits, rules):
    """Rules that tell what these bits of the key are, which are not more than rules."""
    assert 1 << bits <= rules
    return [(((1 << bits) - 1) << shift, number << shift) for number in range(1 << bits)]


def telling(traffic, shift, bits, lanes=None, predicates=None):
    """A table whose leaf resumes at the row that these bits of the key are."""
    rules = told(shift, bits, traffic.rules)
    rules += [(1, 1), (1, 0)] * ((traffic.rules - len(rules)) // 2)
    steps = [{"constant": True, "target": 0, "number": 0}] * traffic.steps
    return Table(
        lanes or [0] * LANES, predicates or [NOTHING] * 8, rules, [leaf(n) for n in range(traffic.rules)], steps
    )


def by_first_byte(traffic, one, two, others):
    """A table with a leaf for packets that begin with 1, one for 2, and one for others."""
    table = telling(traffic, 0, 1)
    table.rules = [(0xFF, 1), (0xFF, 2)] + [(0, 0)] * (traffic.rules - 2)
    table.leaves[:3] = [one, two, others]
    return table


def as_told(item):
    """The words that leave in a cycle; where one is not valid nothing of it counts."""
    places = [n for n in range(2) if item["valids"] >> n & 1]
    words = [(item["targets"] >> TARGET_BITS * n & 63, item["data"] >> 64 * n & ALL) for n in places]
    return {"words": words, "first": item["first"], "last": item["last"]}


class Traffic:
    """Packets in, out and their words; a table of each module and generation."""

    def __init__(self, dut, rng):
        self.dut, self.rng = dut, rng
        self.modules, self.rules, self.steps = (parameter(dut, name) for name in ("Modules", "Rules", "Steps"))
        self.tables = {}
        self.ifindexes = deque()
        self.packets, self.inside = [], deque()
        # Whose words come, and which.
        self.waiting = deque()
        self.stepped, self.words = 0, 0
        self.beats_in, self.in_cycles = deque(), []
        # How many packets are taken as plain, and what counters are.
        self.plain, self.hits = 0.0, Counter()
        self.answers, self.hit_reads = deque(), 0
        clk = dut.clk_i
        fields = ("rest", "data", "last", "module", "generation", "length")
        self.source = StreamSource(
            clk, valid=dut.in_valid_i, ready=dut.in_ready_o, data={f: getattr(dut, f"in_{f}_i") for f in fields}
        )
        leaf = {name: getattr(dut, f"leaf_{name}_o") for name in LEAF}
        self.sink = StreamSink(
            clk,
            valid=dut.out_valid_o,
            ready=dut.out_ready_i,
            name="out",
            data={"beat": dut.out_beat_o, "last": dut.out_last_o, "ifindex": dut.out_ifindex_o, **leaf},
        )
        names = ("valids", "targets", "data", "first", "last")
        self.sets = StreamSink(
            clk,
            valid=dut.set_valid_o,
            ready=dut.set_ready_i,
            name="set",
            data={name: getattr(dut, f"set_{name}_o") for name in names},
        )
        cocotb.start_soon(self._enter())
        cocotb.start_soon(self._leave())

    @classmethod
    async def begun(cls, dut, rng, limit=100_000):
        await start(dut, limit=limit, **IDLE)
        return cls(dut, rng)

    def stall(self, source=None, sink=None, sets=None):
        self.source.stalls, self.sink.stalls, self.sets.stalls = source or never(), sink or never(), sets or never()

    # ------------------------------------------------------------------------------------------------------------
    # Tables.

    async def write(self, rows):
        """Writes rows, one a cycle, and waits until they are read."""
        dut = self.dut
        for table, index, word in rows:
            dut.write_valid_i.value = 1
            dut.write_table_i.value = table
            dut.write_index_i.value = index
            dut.write_row_i.value = word
            await RisingEdge(dut.clk_i)
        dut.write_valid_i.value = 0
        dut.write_row_i.value = self.rng.getrandbits(228)
        await RisingEdge(dut.clk_i)

    async def ask(self, index):
        """Reads a counter; what comes is checked elsewhere. One cycle, and one behind it."""
        dut = self.dut
        dut.hits_read_valid_i.value = 1
        dut.hits_read_index_i.value = index
        await RisingEdge(dut.clk_i)
        dut.hits_read_valid_i.value = 0
        dut.hits_read_index_i.value = self.rng.getrandbits(17)
        await RisingEdge(dut.clk_i)

    async def clear_hits(self):
        """All counters zero: no reset does that, and another test may have counted."""
        there = [at for at in range(LEAVES * 2 * self.modules) if at % LEAVES < self.rules]
        await self.write([(HITS, at, self.rng.getrandbits(192) << 36) for at in there])

    async def load(self, module, generation, table):
        """A table as a whole."""
        self.tables[module, generation] = table
        await self.write(self.mixed(table.rows(module, generation, self.modules)))

    def mixed(self, rows):
        """In any order, but for the last one."""
        *others, last = rows
        self.rng.shuffle(others)
        return [*others, last]

    def random_part(self):
        rng = self.rng
        return {
            "offset": rng.choice((rng.randrange(74), rng.randrange(128))),
            "bytes": rng.randrange(8),
            "swap": rng.randrange(2),
            "down": rng.randrange(8),
            "width": rng.choice((63, rng.randrange(64))),
            "up": rng.choice((0, rng.randrange(64))),
        }

    def random_step(self, target):
        constant = self.rng.random() < 0.25
        step = {"constant": constant, "target": target}
        return step | ({"number": self.rng.getrandbits(64)} if constant else {"part": self.random_part()})

    def random_leaf(self):
        rng = self.rng
        counts = [
            {
                "valid": rng.randrange(2),
                "wide": rng.randrange(2),
                "length": rng.randrange(2),
                "number": rng.randrange(256),
                "address": rng.getrandbits(30),
            }
            for _ in range(2)
        ]
        return {
            "kind": rng.choice((PLAIN, VERDICT, VERDICT, RESUME, RESUME, RESUME, 3)),
            "verdict": rng.randrange(4),
            "start": rng.getrandbits(13),
            "work": rng.getrandbits(8),
            "step": rng.randrange(128),
            "steps": rng.choice((0, 1, 1, 2, 3, rng.randrange(32))),
            "looks_up": rng.randrange(2),
            "map": rng.getrandbits(16),
            "key_bytes": rng.getrandbits(7),
            "counts": counts,
        }

    def random_table(self, packets):
        """A table in which some of the packets agree with rules, several of them with more than one."""
        rng = self.rng
        lanes = [rng.choice((rng.randrange(74), rng.randrange(14), rng.randrange(128))) for _ in range(14)]
        predicates = [
            {
                "pair": rng.randrange(8),
                "mask": rng.choice((0, 0xFFFF, 0xFF, rng.getrandbits(16))),
                "down": rng.choice((0, rng.randrange(32))),
                "add": rng.choice((0, 14, 34, 0xFFF0, rng.getrandbits(16))),
                "limit": rng.choice((0, 0xFFFF, rng.getrandbits(16))),
                "length": rng.randrange(2),
            }
            for _ in range(PREDICATES)
        ]
        steps, target = [], 0
        for _ in range(self.steps):
            target = target if rng.random() < 0.4 else rng.randrange(64)
            steps.append(self.random_step(target))
        table = Table(lanes, predicates, [], [self.random_leaf() for _ in range(self.rules)], steps)
        for n in range(self.rules):
            # Rare ones first; most rules are about a packet that comes.
            bits = rng.choice((1, 3, 8, 30)) if n > self.rules // 2 else rng.choice((30, 60, 120))
            mask = sum(1 << bit for bit in set(rng.choices(range(120), k=bits)))
            value = table.key(rng.choice(packets)) if rng.random() < 0.9 else rng.getrandbits(120)
            table.rules.append((mask, value & mask))
        return table

    # ------------------------------------------------------------------------------------------------------------
    # Packets.

    def random_frame(self, most=300):
        rng = self.rng
        size = rng.choice((rng.randint(1, most), rng.randint(1, 70), rng.randint(60, 66)))
        # Few values, so that bytes agree by chance.
        return bytes(rng.choice((0, 8, 255, rng.randrange(256))) for _ in range(size))

    def random_packet(self, module=None, generation=None, most=300):
        rng = self.rng
        module = rng.randrange(self.modules) if module is None else module
        generation = rng.randrange(2) if generation is None else generation
        return Packet(self.random_frame(most), module, generation, rng.choice((0, 3, rng.getrandbits(32))))

    def send(self, packet):
        """Queues its beats, with anything behind the frame's end; notes what has to become of it."""
        rng, frame = self.rng, packet.frame
        table = self.tables.get((packet.module, packet.generation))
        packet.leaf = table.leaf(packet) if table else {}
        packet.rule = table.rule(packet) if table else None
        packet.sets = table.sets(packet) if table else []
        self.packets.append(packet)
        for at in range(0, len(frame), 64):
            part = frame[at : at + 64]
            data = part + rng.randbytes(64 - len(part))
            self.source.send(
                {
                    "rest": rng.getrandbits(len(self.dut.in_rest_i)),
                    "data": int.from_bytes(data, "little"),
                    "last": at + 64 >= len(frame),
                    "module": packet.module,
                    "generation": packet.generation,
                    "length": rng.getrandbits(14) if at else len(frame),
                }
            )
        self.ifindexes.append(packet.ifindex)

    async def done(self):
        """Waits until all packets and all their words are out."""
        while self.packets or self.inside or self.words != self.stepped:
            await RisingEdge(self.dut.clk_i)

    async def _enter(self):
        """The interface comes in the cycle behind a first beat, and is anything else otherwise."""
        dut, first, cycle = self.dut, True, 0
        while True:
            await RisingEdge(dut.clk_i)
            cycle += 1
            taken = int(dut.rst_ni.value) and int(dut.in_valid_i.value) and int(dut.in_ready_o.value)
            dut.in_ifindex_i.value = self.rng.getrandbits(32)
            if not taken:
                continue
            self.beats_in.append((int(dut.in_beat_o.value), int(dut.in_last_i.value)))
            if first:
                dut.in_ifindex_i.value = self.ifindexes.popleft()
                packet = self.packets.pop(0)
                packet.cycle_in = cycle
                self.inside.append(packet)
            first = int(dut.in_last_i.value)

    def _host(self, cycle):
        """What the host asks of counters and sets in this cycle, which counts none of its packets yet."""
        dut = self.dut
        if not int(dut.rst_ni.value):
            self.answers.clear()
            return
        due = bool(self.answers) and self.answers[0][0] == cycle
        assert int(dut.hits_valid_o.value) == due, f"an answer is due: {due} (cycle {cycle})"
        if due:
            _, index, wanted = self.answers.popleft()
            found = int(dut.hits_o.value)
            assert found == wanted, f"hits at {index}: {found}, expected {wanted} (cycle {cycle})"
            self.hit_reads += 1
        if int(dut.hits_read_valid_i.value):
            index = int(dut.hits_read_index_i.value)
            self.answers.append((cycle + READ, index, self.hits[index]))
        if int(dut.write_valid_i.value) and int(dut.write_table_i.value) == HITS:
            index = int(dut.write_index_i.value)
            if index < LEAVES * 2 * self.modules and index % LEAVES < self.rules:
                self.hits[index] = int(dut.write_row_i.value) & MOST_HITS

    async def _leave(self):
        """Each beat and each word as it leaves."""
        dut, first, cycle, checked, words = self.dut, True, 0, 0, 0
        self.latencies, self.out_cycles, self.set_cycles, self.kinds = [], [], [], []
        while True:
            await RisingEdge(dut.clk_i)
            cycle += 1
            self._host(cycle)
            plain = int(dut.out_plain_i.value)
            dut.out_plain_i.value = self.rng.random() < self.plain
            # A word that is offered belongs to a packet whose first beat left in an earlier cycle.
            offered = int(dut.set_valid_o.value) and int(dut.rst_ni.value)
            assert not offered or self.waiting, f"a word of nobody (cycle {cycle})"
            while words < len(self.sets.items):
                word = as_told(self.sets.items[words])
                wanted = self.waiting[0][1].pop(0)
                assert word == wanted, f"word {words}: {word}, expected {wanted} (cycle {cycle})"
                words += 1
                self.set_cycles.append(cycle)
                if not self.waiting[0][1]:
                    self.waiting.popleft()
                    self.words += 1
            while checked < len(self.sink.items):
                item = self.sink.items[checked]
                checked += 1
                assert (item["beat"], item["last"]) == self.beats_in.popleft(), f"beat {checked} (cycle {cycle})"
                packet = self.inside[0]
                self._check_leaf(item, packet)
                self.out_cycles.append(cycle)
                if first:
                    self.latencies.append(cycle - packet.cycle_in)
                    self.kinds.append(packet.leaf.get("kind", PLAIN))
                    if packet.leaf and not plain:
                        index = counter(packet.module, packet.generation, packet.rule)
                        self.hits[index] = (self.hits[index] + 1) & MOST_HITS
                    if packet.sets and not plain:
                        self.waiting.append(((packet.module, packet.generation), list(packet.sets)))
                        self.stepped += 1
                first = item["last"]
                if first:
                    self.inside.popleft()

    def _check_leaf(self, item, packet):
        leaf = packet.leaf
        kind = leaf.get("kind", PLAIN)
        of = f"{packet.module}, generation {packet.generation}, {len(packet.frame)} bytes: {packet.frame[:64].hex()}"
        wanted = {"kind": kind, "length": len(packet.frame), "has_steps": 0, "looks_up": 0, "counts": 0}
        wanted |= {"ifindex": packet.ifindex}
        if kind != PLAIN:
            wanted["rule"] = packet.rule
        if kind == VERDICT:
            counted = [row("xdp_warp_count", **one) for one in leaf["counts"]]
            wanted |= {
                "verdict": leaf["verdict"],
                "counts": leaf["counts"][0]["valid"] | leaf["counts"][1]["valid"] << 1,
                "counted": counted[0] | counted[1] << 41,
            }
        elif kind == RESUME:
            wanted |= {name: leaf[name] for name in ("start", "work", "looks_up", "map", "key_bytes")}
            wanted |= {"has_steps": leaf["steps"] > 0, "counts": leaf["counts"][0]["valid"]}
            found_nothing = item["counted"] & (1 << 41) - 1
            assert not wanted["counts"] or found_nothing == row("xdp_warp_count", **leaf["counts"][0]), of
        found = {name: item[name] for name in wanted}
        assert found == wanted, f"{of}: {found}, expected {wanted}"


def nowhere(rng, modules, rules, steps):
    """A write to a row that is not there."""
    tables, span = 2 * modules, 1 << 17
    firsts = [
        (0, tables),
        (1, 2 * tables),
        (2, 24 * 32 * tables),
        (3, LEAVES * tables),
        (4, STEPS * tables),
        (5, LEAVES * tables),
        (6, 0),
        (7, 0),
    ]
    table, first = rng.choice(firsts)
    if table in (3, 5) and rules < LEAVES and rng.randrange(2):
        return table, LEAVES * rng.randrange(tables) + rng.randrange(rules, LEAVES), rng.getrandbits(228)
    if table == 4 and steps < STEPS and rng.randrange(2):
        return table, STEPS * rng.randrange(tables) + rng.randrange(steps, STEPS), rng.getrandbits(228)
    return table, rng.randrange(first, span), rng.getrandbits(228)
