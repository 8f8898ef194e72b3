"""sluice_l7_matchers.

Claims
- each message gets one verdict, and it is that of the model (crates/l7/src/step.rs), with its steps, whatever tables,
  messages, stalls, and whoever is under way beside it
- rows can be written and read while messages are under way
- a message alone takes the cycles that the model says, and a fixed number more
- of messages of one step one matcher dispatches one in two cycles
- no module holds all places of a matcher, and a message of many steps goes on beside those of one

The reference is the Rust model: crates/l7/examples/vectors.rs makes tables, messages and verdicts.
`SLUICE_SEED` repeats a run. Few random tables come here in CI: there the matchers get most of their messages in the
engine's plug-in, where a cycle costs less (crates/rtlsim/tests/l7_lockstep.rs). `make long` has many.
"""

import json
import os
import subprocess
from collections import Counter, deque
from functools import cache
from pathlib import Path

import cocotb
import pytest
from cocotb.triggers import RisingEdge
from common.lookup_bench import parameter
from sluice_tb import (
    StreamMonitor,
    StreamSink,
    StreamSource,
    base_seed,
    bench_rng,
    burst_stalls,
    never,
    random_stalls,
    run_bench,
    start,
)

ROOT = Path(__file__).resolve().parents[3]
MATCH, START, GROUP = 1, 2, 4
SEGMENT = 64
TAGS = 512
# Cycles from a message's first segment to its verdict, beside those of the loop: to a queue or a drop, to a group, to
# one that hashes a field. One more where the program does not begin with the view's first field.
FIXED, FIXED_GROUP, FIXED_HASH = 3, 5, 10

JOB = [("tag", 9), ("module", 6), ("raw", 1), ("open", 1), ("bytes", 10), ("started", 1), ("start", 12), ("stop1", 8),
       ("stop0", 8), ("stop_count", 2), ("otherwise", 28), ("session", 32), ("message", 32)]  # fmt: skip
VERDICT = [("tag", 9), ("module", 6), ("malformed", 1), ("fault", 1), ("drop", 1), ("queue", 8), ("steps", 10)]
IDLE = {
    "job_valid_i": 0, "job_i": 0, "segment_valid_i": 0, "segment_i": 0, "verdict_ready_i": 0, "table_valid_i": 0,
    "table_write_i": 0, "table_i": 0, "table_index_i": 0, "table_row_i": 0,
}  # fmt: skip


def pack(layout, values):
    word = 0
    for name, width in layout:
        assert values[name] < 1 << width, (name, values[name])
        word = word << width | values[name]
    return word


def unpack(layout, word):
    values = {}
    for name, width in reversed(layout):
        values[name] = word & ((1 << width) - 1)
        word >>= width
    return values


def target_bits(target):
    return target["kind"] | target.get("number", 0) << 3


def job(message, tag):
    view = bytes.fromhex(message["view"])
    return pack(JOB, {
        "tag": tag, "module": message["module"], "raw": message["raw"], "open": message["open"], "bytes": len(view),
        "started": message["started"], "start": message["start"] & 4095, "stop0": message["stops"][0],
        "stop1": message["stops"][1], "stop_count": message["stop_count"], "otherwise": message["otherwise"],
        "session": message["session"], "message": message["message"],
    })  # fmt: skip


def segments(message, rng):
    """The view's segments; behind its end there is anything."""
    view = bytes.fromhex(message["view"])
    view += rng.randbytes(-len(view) % SEGMENT)
    return [int.from_bytes(view[n : n + SEGMENT], "little") for n in range(0, len(view), SEGMENT)]


@cache
def vectors(cases, messages):
    """[(tables, messages)]."""
    sizes = [os.environ[name] for name in ("L7_ROWS", "L7_STARTS", "L7_GROUPS")]
    command = [os.environ["L7_VECTORS"], str(base_seed()), str(cases), str(messages), *sizes]
    made = []
    for line in subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines():
        value = json.loads(line)
        if "rows" in value:
            made.append((value, []))
        else:
            made[-1][1].append(value)
    return made


class Bench:
    """Jobs, segments and verdicts of the matchers, with their tables."""

    def __init__(self, dut, rng, stalls=never):
        self.dut, self.rng = dut, rng
        clk = dut.clk_i
        self.jobs = StreamSource(clk, valid=dut.job_valid_i, ready=dut.job_ready_o, data=dut.job_i, stalls=stalls())
        self.segments = StreamSource(
            clk, valid=dut.segment_valid_i, ready=dut.segment_ready_o, data=dut.segment_i, stalls=stalls()
        )
        self.verdicts = StreamSink(
            clk,
            valid=dut.verdict_valid_o,
            ready=dut.verdict_ready_i,
            data=dut.verdict_o,
            stalls=stalls(),
            name="verdict",
        )
        self.free, self.waiting, self.seen = deque(range(TAGS)), {}, 0
        self.kinds = Counter()

    async def access(self, table, index, row=None):
        """Writes a row, or reads one."""
        dut = self.dut
        dut.table_valid_i.value, dut.table_write_i.value = 1, row is not None
        dut.table_i.value, dut.table_index_i.value, dut.table_row_i.value = table, index, row or 0
        await RisingEdge(dut.clk_i)
        while not int(dut.table_ready_o.value):
            await RisingEdge(dut.clk_i)
        dut.table_valid_i.value = 0
        while row is None:
            await RisingEdge(dut.clk_i)
            if int(dut.table_answer_valid_o.value):
                return int(dut.table_answer_o.value)

    async def load(self, tables):
        for table, name in ((MATCH, "rows"), (START, "starts"), (GROUP, "groups")):
            for index, row in enumerate(tables[name]):
                await self.access(table, index, int(row, 16))

    def send(self, message):
        tag = self.free.popleft()
        self.waiting[tag] = message
        self.jobs.send(job(message, tag))
        self.segments.send_all(segments(message, self.rng))
        return tag

    def check(self):
        """Checks the verdicts that have come."""
        for word in self.verdicts.items[self.seen :]:
            verdict = unpack(VERDICT, word)
            assert verdict["tag"] in self.waiting, f"a verdict without a message: {verdict}"
            message = self.waiting.pop(verdict["tag"])
            self.free.append(verdict["tag"])
            self.same(message, verdict)
        self.seen = len(self.verdicts.items)

    def same(self, message, verdict):
        what = f"{message}\n{verdict}"
        assert verdict["module"] == message["module"], what
        assert verdict["malformed"] == message["malformed"], what
        self.kinds["malformed" if message["malformed"] else "fault" if message["fault"] else "decided"] += 1
        if message["malformed"]:
            return
        assert verdict["fault"] == message["fault"], what
        assert verdict["drop"] == (message["queue"] is None), what
        assert message["queue"] is None or verdict["queue"] == message["queue"], what
        assert verdict["steps"] == message["steps"], what

    async def settle(self):
        """Waits until every message has its verdict."""
        quiet = 0
        while self.waiting:
            await RisingEdge(self.dut.clk_i)
            before = len(self.waiting)
            self.check()
            quiet = quiet + 1 if len(self.waiting) == before else 0
            assert quiet < 5000, f"no verdict of {list(self.waiting.values())[0]}"


async def begin(dut, name, stalls=never):
    await start(dut, limit=3_000_000, **IDLE)
    return Bench(dut, bench_rng(name), stalls)


@cocotb.test()
async def verdicts_are_those_of_the_model(dut):
    rng = bench_rng("l7_matchers")
    choices = [never, lambda: random_stalls(rng, 0.5), lambda: burst_stalls(rng)]
    bench = await begin(dut, "l7_matchers_data")
    for tables, messages in vectors(int(os.environ["L7_TABLES"]), 400):
        bench.jobs.stalls, bench.segments.stalls, bench.verdicts.stalls = (rng.choice(choices)() for _ in range(3))
        await bench.load(tables)
        rows = {}
        for n, message in enumerate(messages):
            bench.send(message)
            if rng.random() < 0.2:
                # A row that no message uses; one that goes astray finds it to be somebody else's.
                index = rng.randrange(tables["unused"], len(tables["rows"]))
                if index in rows and rng.random() < 0.5:
                    assert await bench.access(MATCH, index) == rows[index]
                else:
                    rows[index] = rng.getrandbits(432) & ~63 | 7
                    await bench.access(MATCH, index, rows[index])
            if rng.random() < 0.05:
                index = rng.randrange(len(tables["starts"]))
                assert await bench.access(START, index) == int(tables["starts"][index], 16)
                index = rng.randrange(len(tables["groups"]))
                assert await bench.access(GROUP, index) == int(tables["groups"][index], 16)
            while len(bench.waiting) > (40 if n % 100 < 50 else 3):
                await RisingEdge(dut.clk_i)
                bench.check()
        await bench.settle()
        for index, row in rows.items():
            # What was there is a row of zeros again.
            await bench.access(MATCH, index, 0)
            assert await bench.access(MATCH, index) == 0, row
    dut._log.info(f"verdicts: {dict(bench.kinds)}")
    assert min(bench.kinds[kind] for kind in ("malformed", "fault", "decided")) > 30, bench.kinds


@cocotb.test()
async def a_message_alone_takes_the_cycles_that_the_model_says(dut):
    bench = await begin(dut, "l7_matchers_alone")
    came = StreamMonitor(dut.clk_i, valid=dut.segment_valid_i, ready=dut.segment_ready_o, data=dut.segment_valid_i)
    exact, short = Counter(), Counter()
    for tables, messages in vectors(int(os.environ["L7_TABLES"]), 200):
        await bench.load(tables)
        for message in messages:
            # Where a fault comes is not of interest.
            if not message["view"] or message["malformed"] or message["fault"]:
                continue
            await bench.segments.drain()
            before = len(came.cycles)
            bench.send(message)
            await bench.settle()
            beside = bench.verdicts.cycles[-1] - came.cycles[before] - message["cycles"]
            view = bytes.fromhex(message["view"])
            first = 1 if message["raw"] else view[0]
            field = int(tables["starts"][message["start"]], 16) >> 6 & 15 if message["started"] else 0
            late = field not in (0, first)
            exact[beside - late] += 1
            # What the walk looks at: fields, and what comes behind them. The first look is made as the segment comes; a
            # field behind it is known cycles later, and a segment that is still to come can cost a round as well.
            if len(view) <= SEGMENT and (message["raw"] or first > 15 or 2 + view[1] == len(view)):
                short[beside - late] += 1
                assert beside - late in (FIXED, FIXED_GROUP, FIXED_HASH), f"{beside} {message}"
            rounds = len(view) // (2 * SEGMENT) + message["fields"] + 1
            assert FIXED <= beside - late <= FIXED_HASH + 2 * rounds, f"{beside} {message}"
    dut._log.info(f"cycles beside the loop's: {sorted(exact.items())}")
    dut._log.info(f"cycles of those that are walked over at once: {sorted(short.items())}")
    assert exact[FIXED] > 100 and all(short[fixed] > 5 for fixed in (FIXED, FIXED_GROUP, FIXED_HASH))


@cocotb.test()
async def a_message_of_one_step_takes_every_other_cycle(dut):
    bench = await begin(dut, "l7_matchers_rate")
    # Modules 5 and 6, start rows 0 and 1: they compare nothing at the beginning of field 1, and go to queue 7.
    alternative = 1 | target_bits({"kind": 1, "number": 7}) << 67
    for module in (5, 6):
        await bench.access(MATCH, module, module | alternative << 52)
        await bench.access(START, module, module | 1 << 6 | target_bits({"kind": 4, "number": module}) << 20)
        await bench.access(START, module)
    message = {
        "raw": False, "open": False, "view": "013e" + 62 * "61", "started": True, "stops": [0, 0], "stop_count": 0,
        "otherwise": 0, "session": 0, "message": 0, "malformed": False, "fault": False, "queue": 7, "steps": 1,
    }  # fmt: skip
    for modules in (2, 1):
        first = len(bench.verdicts.items)
        for n in range(100):
            bench.send(message | {"module": 5 + n % modules, "start": 5 + n % modules})
        await bench.settle()
        cycles = bench.verdicts.cycles[-1] - bench.verdicts.cycles[first]
        dut._log.info(f"cycles of 99 messages of one step from {modules} modules: {cycles}")
        assert cycles <= 2 * 99 + 2


@cocotb.test()
async def a_light_module_is_not_shut_out_by_a_heavy_one(dut):
    bench = await begin(dut, "l7_matchers_light")
    # Module 5 goes from row 3 to row 3 until it is a fault, module 6 to its default.
    await bench.access(MATCH, 3, 5 | target_bits({"kind": 4, "number": 3}) << 24)
    await bench.access(START, 0, 5 | target_bits({"kind": 4, "number": 3}) << 20)
    await bench.access(START, 0)
    heavy = {
        "module": 5, "raw": True, "open": False, "view": "61", "started": True, "start": 0, "stops": [0, 0],
        "stop_count": 0, "otherwise": target_bits({"kind": 1, "number": 1}), "session": 0, "message": 0,
        "malformed": False, "fault": True, "queue": 1, "steps": 256,
    }  # fmt: skip
    light = heavy | {"module": 6, "started": False, "fault": False, "steps": 0}
    places, matchers = parameter(dut, "Places"), parameter(dut, "Matchers")
    for _ in range((places - 1) * matchers):
        bench.send(heavy)
    await bench.jobs.drain()
    # Heavy ones take hundreds of cycles each. A light one goes through beside them at once.
    latencies = []
    for _ in range(12):
        sent = bench.verdicts.cycle
        bench.send(light)
        while len(bench.verdicts.items) == len(latencies):
            await RisingEdge(dut.clk_i)
        bench.check()
        latencies.append(bench.verdicts.cycle - sent)
    dut._log.info(f"latencies of the light ones: {latencies}")
    assert max(latencies) <= 24
    # Nothing more of the heavy module is taken.
    bench.send(heavy)
    for _ in range(20):
        await RisingEdge(dut.clk_i)
    assert int(dut.job_valid_i.value) and not int(dut.job_ready_o.value) and not bench.seen > len(latencies)
    await bench.settle()


@cocotb.test()
async def a_heavy_message_goes_on_beside_light_ones(dut):
    bench = await begin(dut, "l7_matchers_heavy")
    # Module 5 as above; messages of module 6 compare once and go to queue 7.
    await bench.access(MATCH, 3, 5 | target_bits({"kind": 4, "number": 3}) << 24)
    await bench.access(MATCH, 6, 6 | (1 | target_bits({"kind": 1, "number": 7}) << 67) << 52)
    await bench.access(START, 0, 5 | target_bits({"kind": 4, "number": 3}) << 20)
    await bench.access(START, 1, 6 | 1 << 6 | target_bits({"kind": 4, "number": 6}) << 20)
    await bench.access(START, 1)
    message = {
        "raw": True, "open": False, "view": 62 * "61", "started": True, "stops": [0, 0], "stop_count": 0,
        "otherwise": target_bits({"kind": 1, "number": 1}), "session": 0, "message": 0, "malformed": False,
    }  # fmt: skip
    matchers = parameter(dut, "Matchers")
    heavy = {bench.send(message | {"module": 5, "start": 0, "fault": True, "queue": 1, "steps": 256})
             for _ in range(matchers)}  # fmt: skip
    await bench.jobs.drain()
    light = 0
    while heavy & bench.waiting.keys():
        while len(bench.waiting) < 20 * matchers:
            bench.send(message | {"module": 6, "start": 1, "fault": False, "queue": 7, "steps": 1})
            light += 1
        await RisingEdge(dut.clk_i)
        bench.check()
        assert light < 1000 * matchers, "the heavy ones never end"
    dut._log.info(f"light messages beside heavy ones: {light}")
    await bench.settle()


@cocotb.test()
async def a_view_that_is_open_has_no_end(dut):
    bench = await begin(dut, "l7_matchers_open")
    # 255 bytes, then another 255 behind the hit of nothing, then the last two.
    skip = target_bits({"kind": 4, "number": 4}) << 20 | 255 << 10 | 1 << 6 | 5
    await bench.access(MATCH, 4, (1 | target_bits({"kind": 4, "number": 5}) << 67) << 52 | 255 << 14 | 5)
    ends = 1 | 1 << 1 | 0x6161 << 3 | target_bits({"kind": 1, "number": 1}) << 67
    await bench.access(MATCH, 5, ends << 52 | target_bits({"kind": 1, "number": 2}) << 24 | 2 << 6 | 5)
    await bench.access(START, 0, skip)
    await bench.access(START, 0)
    message = {
        "module": 5, "raw": True, "view": 512 * "61", "started": True, "start": 0, "stops": [0, 0], "stop_count": 0,
        "otherwise": 0, "session": 0, "message": 0, "malformed": False, "fault": False, "steps": 2,
    }  # fmt: skip
    bench.send(message | {"open": True, "queue": 2})
    bench.send(message | {"open": False, "queue": 1})
    await bench.settle()


@cocotb.test()
async def a_step_waits_for_the_segment_that_it_reads(dut):
    bench = await begin(dut, "l7_matchers_late")
    # From start row 0 over 200 bytes, from row 1 behind a stop byte; then "b" goes to queue 1, all else to queue 2.
    is_b = 1 | ord("b") << 3 | target_bits({"kind": 1, "number": 1}) << 67
    await bench.access(MATCH, 4, is_b << 52 | target_bits({"kind": 1, "number": 2}) << 24 | 1 << 6 | 5)
    await bench.access(START, 0, target_bits({"kind": 4, "number": 4}) << 20 | 200 << 10 | 1 << 6 | 5)
    await bench.access(START, 1, target_bits({"kind": 4, "number": 4}) << 20 | 1 << 18 | 1 << 6 | 5)
    await bench.access(START, 1)
    message = {
        "module": 5, "raw": True, "open": False, "started": True, "stops": [ord("/"), 0], "stop_count": 1,
        "otherwise": 0, "session": 0, "message": 0, "malformed": False, "fault": False, "steps": 1,
    }  # fmt: skip
    for stall in (0.0, 0.8):
        bench.segments.stalls = random_stalls(bench.rng, stall)
        for n, letter in enumerate("babbaabab"):
            # What the message before left in the window would lead elsewhere.
            skipped = bytearray(512 * b"c")
            skipped[200] = ord(letter)
            found = bytearray(512 * b"c")
            found[150 + n % 2 * 100] = ord("/")
            found[151 + n % 2 * 100] = ord(letter)
            for start_row, view in ((0, skipped), (1, found)):
                bench.send(message | {"start": start_row, "view": view.hex(), "queue": 1 if letter == "b" else 2})
                await bench.settle()


@pytest.fixture(scope="session")
def model():
    command = ["cargo", "build", "--quiet", "--workspace", "--example", "vectors"]
    tree = Path(os.environ.get("SLUICE_TREE", ROOT))
    subprocess.run(command, cwd=tree, check=True)
    return tree / "target" / "debug" / "examples" / "vectors"


TINY = {"Places": 4, "Rows": 64, "Starts": 64, "Groups": 8}
DEFAULT = {"Places": 4, "Rows": 512, "Starts": 1024, "Groups": 64}

PACKAGES = ["gen/sluice", "gen/sluice_l7_rows", "shell/sluice_engine", "l7/sluice_l7", "l7/sluice_l7_matcher",
            "l7/sluice_l7_phase"]  # fmt: skip


@pytest.mark.parametrize("matchers, tables", [
    *(pytest.param(matchers, 3, id=f"{matchers}") for matchers in (1, 4)),
    *(pytest.param(matchers, 10, id=f"{matchers}-many", marks=pytest.mark.long) for matchers in (1, 2, 4)),
])  # fmt: skip
def test_l7_matchers(matchers, tables, model):
    sizes = TINY if matchers < 4 else DEFAULT
    env = {"L7_VECTORS": str(model), "L7_TABLES": str(tables)}
    env |= {f"L7_{name.upper()}": str(sizes[name]) for name in ("Rows", "Starts", "Groups")}
    run_bench(
        "sluice_l7_matchers", parameters={"Matchers": matchers, **sizes},
        packages=[f"rtl/{name}_pkg.sv" for name in PACKAGES],
        env=env,
    )  # fmt: skip
