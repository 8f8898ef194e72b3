"""sluice_shell_cfg_node, as node 5 of a ring.

Claims (message layout: docs/design/formats.md, "Configuration messages")
- a right message for the node gives the tables one access of one cycle, stable until the answer, with exactly
  its op, table, index and data; the answer leaves as one reply with the request's node, sequence, table, index
- the row also stands at the top of `row_o`, with its number of words, up to RowWords (36 in a second build)
- a message for the node with a wrong checksum (any bit), fewer than 3 or more than 3 + RowWords words is discarded,
  reported once, neither accessed nor answered
- so is one with a pause of more than MessageTimeoutCycles, up to its last word; a shorter pause does no harm,
  nor does the time that a message waits because the node itself is not ready
- messages for other nodes, whatever their shape or checksum, pass unchanged and unbroken, in order with the
  replies, under any stalls; at full rate one word a cycle, a cycle late
- behind a reset the first message clears: its words are the rows, one a cycle, zeros are to be written there, and it
  passes on; the tests' own messages come behind it
- back-to-back messages are all answered; a repeated message is carried out and answered again
- an unknown op is answered with bad op, a read with data with bad length; neither reaches the tables as such
"""

import os
from collections import Counter

import cocotb
import pytest
from cocotb.triggers import RisingEdge
from nic.nic_bench import (
    BAD_ADDRESS,
    BAD_LENGTH,
    BAD_OP,
    BUSY,
    CFG_REQ,
    CFG_RSP,
    OK,
    PACKAGES,
    READ_ONLY,
    crc32c,
    fields,
    pack_fields,
    words_of,
)
from sluice_tb import (
    StreamMonitor,
    StreamSink,
    StreamSource,
    always,
    bench_rng,
    burst_stalls,
    cycles,
    never,
    random_stalls,
    run_bench,
    start,
)

NODE, OTHER = 5, 9
READ, WRITE, READ_REPLY, WRITE_REPLY = 1, 2, 9, 10
TIMEOUT = 4096
MOST_DATA = int(os.environ.get("ROW_WORDS", "8"))


def checksum(words):
    return crc32c(b"".join(word.to_bytes(4, "little") for word in words))


def message(op, table, index, data=(), *, node=NODE, sequence=0, status=OK):
    words = [op << 28 | status << 24 | node << 16 | sequence, table << 24 | index, *data]
    return [*words, checksum(words)]


WORDS = {0: 1, 1: 2, 2: 3, 3: 6, 4: 8}
if MOST_DATA > 8:
    WORDS |= {5: 16, 6: MOST_DATA}
READ_ONLY_TABLE = 4


class Rows:
    """Rows of different widths, and what a table answers."""

    def __init__(self):
        self.rows = {}

    def answer(self, write, table, index, data):
        """Status and data."""
        if table not in WORDS or index >= 64:
            return BAD_ADDRESS, []
        if write and table == READ_ONLY_TABLE:
            return READ_ONLY, []
        if write and len(data) != WORDS[table]:
            return BAD_LENGTH, []
        if write and index == 63:
            return BUSY, []
        if write:
            self.rows[table, index] = data
            return OK, []
        return OK, self.rows.get((table, index), [0] * WORDS[table])[:8]


class Tables:
    """The tables behind the node; they answer after any number of cycles, once per access."""

    def __init__(self, dut, rng):
        self.dut, self.rng = dut, rng
        self.rows = Rows()
        self.accesses = []
        cocotb.start_soon(self._run())

    async def _run(self):
        dut = self.dut
        while True:
            await RisingEdge(dut.clk_i)
            dut.rsp_valid_i.value = 0
            dut.rsp_i.value = self.rng.getrandbits(len(dut.rsp_i))
            if not int(dut.rst_ni.value) or not int(dut.req_valid_o.value):
                continue
            asked = int(dut.req_o.value)
            request = fields(CFG_REQ, asked)
            count = int(dut.words_o.value)
            data = words_of(int(dut.row_o.value) >> 32 * (MOST_DATA - count), count)
            assert request["words"] == min(count, 15)
            assert words_of(request["data"], min(count, 8)) == data[:8]
            self.accesses.append((request["write"], request["table"], request["index"], data))
            status, row = self.rows.answer(*self.accesses[-1])
            for _ in range(self.rng.choice((1, 2, 4, 12)) - 1):
                await RisingEdge(dut.clk_i)
                assert not int(dut.req_valid_o.value), "a second access before the answer to the first"
                assert int(dut.req_o.value) == asked, "the access changed before its answer"
            value = sum(word << 32 * i for i, word in enumerate(row))
            value |= self.rng.getrandbits(256) >> 32 * len(row) << 32 * len(row)
            dut.rsp_i.value = pack_fields(CFG_RSP, status=status, words=len(row), data=value)
            dut.rsp_valid_i.value = 1


async def cleared(dut, rng):
    """The first message behind a reset: each word clears a row of zeros a cycle later, and passes on."""
    words = [rng.getrandbits(32) for _ in range(rng.randint(1, 9))]
    dut.m_ready_i.value = 1
    for before, word in zip([None, *words], [*words, None], strict=True):
        dut.s_valid_i.value, dut.s_data_i.value = int(word is not None), word or rng.getrandbits(32)
        dut.s_last_i.value = int(word is None or len(words) == 1 or word is words[-1])
        await RisingEdge(dut.clk_i)
        request = fields(CFG_REQ, int(dut.req_o.value))
        assert request["clear"] and request["write"] and not request["data"]
        assert not int(dut.row_o.value) and not int(dut.req_valid_o.value)
        assert int(dut.m_valid_o.value) == int(before is not None)
        if before is not None:
            assert request["table"] << 24 | request["index"] == before == int(dut.m_data_o.value)
    dut.m_ready_i.value = 0
    await RisingEdge(dut.clk_i)
    assert not fields(CFG_REQ, int(dut.req_o.value))["clear"] and not int(dut.m_valid_o.value)


class Bench:
    """The ring on both sides, the tables, and what the node reports."""

    async def begin(self, dut, name, *, sink=None, limit=200_000):
        self.dut, self.rng = dut, bench_rng(name)
        await start(dut, limit=limit, s_valid_i=0, s_data_i=0, s_last_i=0, m_ready_i=0, rsp_valid_i=0, rsp_i=0)
        await cleared(dut, self.rng)
        inward = {"valid": dut.s_valid_i, "ready": dut.s_ready_o, "data": {"data": dut.s_data_i, "last": dut.s_last_i}}
        outward = {"valid": dut.m_valid_o, "ready": dut.m_ready_i, "data": {"data": dut.m_data_o, "last": dut.m_last_o}}
        self.tables = Tables(dut, self.rng)
        self.entry = StreamMonitor(dut.clk_i, **inward, reset=dut.rst_ni, name="in")
        self.sink = StreamSink(dut.clk_i, **outward, stalls=sink, reset=dut.rst_ni, name="out")
        self.source = StreamSource(dut.clk_i, **inward)
        self.reports = Counter()
        cocotb.start_soon(self._count())
        return self

    async def _count(self):
        while True:
            await RisingEdge(self.dut.clk_i)
            self.reports["bad"] += int(self.dut.bad_message_o.value)
            self.reports["timeout"] += int(self.dut.timeout_o.value)

    def send(self, words):
        self.source.send_all({"data": w, "last": int(i == len(words) - 1)} for i, w in enumerate(words))

    async def settle(self, quiet=60):
        """Waits until all is sent and nothing has come out for a while."""
        await self.source.drain()
        seen = -1
        while seen != len(self.sink.items):
            seen = len(self.sink.items)
            await cycles(self.dut, quiet)

    def messages(self):
        out, words = [], []
        for item in self.sink.items:
            words.append(item["data"])
            if item["last"]:
                out.append(words)
                words = []
        assert not words, "the output ends in the middle of a message"
        return out


class Expected:
    """What a list of messages has to give, from the message format and the tables' answers alone."""

    def __init__(self):
        self.rows = Rows()
        self.out, self.accesses, self.bad = [], [], 0

    def add(self, words):
        if words[0] >> 16 & 0xFF != NODE:
            self.out.append(words)
            return
        if not 3 <= len(words) <= 3 + MOST_DATA or words[-1] != checksum(words[:-1]):
            self.bad += 1
            return
        op, data = words[0] >> 28, words[2:-1]
        table, index, sequence = words[1] >> 24, words[1] & 0xFFFFFF, words[0] & 0xFFFF
        assert op in (READ, WRITE)
        self.accesses.append((int(op == WRITE), table, index, data))
        status, row = self.rows.answer(*self.accesses[-1])
        self.out.append(message(op | 8, table, index, row, sequence=sequence, status=status))


def any_request(rng):
    table = rng.choice((*WORDS, 7))
    index = rng.choice((0, 1, 2, 62, 63, 64, 0xFFFFFF))
    sequence = rng.getrandbits(16)
    if rng.random() < 0.4:
        return message(READ, table, index, sequence=sequence)
    words = WORDS.get(table, 1) if rng.random() < 0.8 else rng.randint(0, MOST_DATA)
    return message(WRITE, table, index, [rng.getrandbits(32) for _ in range(words)], sequence=sequence)


def any_bad(rng):
    words = any_request(rng)
    kind = rng.randrange(4)
    if kind == 0:
        words[-1] ^= 1 << rng.randrange(32)
        return words
    if kind == 1:
        return words[: rng.randint(1, 2)]
    if kind == 2:
        # A right checksum does not make up for the length.
        return message(WRITE, 0, 0, [rng.getrandbits(32) for _ in range(MOST_DATA + rng.choice((1, 2, 9, 10, 17)))])
    words.pop(rng.randrange(1, len(words) - 1))
    return words if len(words) < 3 or words[-1] != checksum(words[:-1]) else words[:2]


def any_foreign(rng):
    words = [rng.getrandbits(32) for _ in range(rng.choice((1, 2, 3, 5, 11, 12, 40)))]
    node = rng.choice((0, 4, 6, OTHER, NODE ^ 0x80, 255))
    words[0] = words[0] & ~(0xFF << 16) | node << 16
    return words if rng.random() < 0.5 else message(rng.choice((READ, READ_REPLY)), 1, 2, [3] * 6, node=node)


async def exchange(bench, messages):
    """Sends the messages and compares everything that the node does with what has to be."""
    expected = Expected()
    for words in messages:
        expected.add(words)
        bench.send(words)
    await bench.settle()
    assert bench.messages() == expected.out
    assert bench.tables.accesses == expected.accesses
    assert bench.reports["bad"] == expected.bad and bench.reports["timeout"] == 0
    return expected


@cocotb.test()
async def rows_are_written_and_read_back(dut):
    bench = await Bench().begin(dut, "rows")
    sent = []
    for table, words in WORDS.items():
        data = [bench.rng.getrandbits(32) for _ in range(words)]
        sent.append(message(WRITE, table, 7, data, sequence=table))
        sent.append(message(READ, table, 7, sequence=0xFF00 | table))
    expected = await exchange(bench, sent)
    assert expected.out[1][2:-1] == sent[0][2:-1] and len(expected.out) == len(sent)


@cocotb.test()
async def any_mixture_under_any_stalls_is_as_expected(dut):
    bench = await Bench().begin(dut, "mixture", limit=400_000)
    rng = bench.rng
    rates = (never, lambda: random_stalls(rng, 0.5), lambda: burst_stalls(rng, 30), lambda: random_stalls(rng, 0.9))
    bench.source.stalls, bench.sink.stalls = burst_stalls(rng, 30), random_stalls(rng, 0.5)

    async def change():
        while True:
            await cycles(dut, 700)
            bench.source.stalls, bench.sink.stalls = rng.choice(rates)(), rng.choice(rates)()

    cocotb.start_soon(change())
    kinds = [rng.choice((any_request, any_request, any_bad, any_foreign)) for _ in range(900)]
    expected = await exchange(bench, [kind(rng) for kind in kinds])
    assert expected.bad > 100 and len(expected.accesses) > 300


@cocotb.test()
async def back_to_back_messages_are_all_answered(dut):
    bench = await Bench().begin(dut, "back")
    messages = []
    for _ in range(150):
        messages += [any_request(bench.rng)] * bench.rng.choice((1, 1, 2))
        if bench.rng.random() < 0.3:
            messages.append(any_foreign(bench.rng))
        if bench.rng.random() < 0.2:
            messages.append(any_bad(bench.rng))
    await exchange(bench, messages)


@cocotb.test()
async def any_flipped_bit_is_found(dut):
    bench = await Bench().begin(dut, "bits")
    right = message(WRITE, 1, 3, [0x12345678, 0x9ABCDEF0], sequence=77)
    flipped = []
    for bit in range(32 * len(right)):
        # The node's number itself decides who looks at the checksum.
        if not 16 <= bit < 24:
            words = list(right)
            words[bit // 32] ^= 1 << bit % 32
            flipped.append(words)
    expected = await exchange(bench, [*flipped, right])
    assert expected.bad == len(flipped) and len(expected.out) == 1


@cocotb.test()
async def every_length_is_checked(dut):
    bench = await Bench().begin(dut, "lengths")
    messages = []
    most = MOST_DATA + 31
    for count in range(1, most + 1):
        if count < 3:
            messages.append(message(READ, 0, 0)[:count])
        else:
            messages.append(message(WRITE, 4, 0, [count] * (count - 3)))
        messages.append(message(READ, 0, 0, sequence=count))
    expected = await exchange(bench, messages)
    assert expected.bad == 2 + 28 and len(expected.out) == most + 1 + MOST_DATA


@cocotb.test()
async def foreign_messages_pass_at_full_rate_a_cycle_late(dut):
    bench = await Bench().begin(dut, "rate")
    await cycles(dut, 4)
    messages = [any_foreign(bench.rng) for _ in range(80)]
    await exchange(bench, messages)
    words = sum(len(words) for words in messages)
    assert bench.entry.cycles[-1] - bench.entry.cycles[0] == words - 1
    assert bench.sink.cycles == [cycle + 1 for cycle in bench.entry.cycles]


@cocotb.test()
async def a_blocked_reply_keeps_the_order_and_harms_nothing(dut):
    bench = await Bench().begin(dut, "blocked", sink=always())
    sent = [message(WRITE, 0, 1, [5], sequence=1), message(READ, 1, 2, node=OTHER), message(READ, 0, 1, sequence=2)]
    for words in sent:
        bench.send(words)
    # Longer than the pause that a message may have: who waits for the node has not paused.
    await cycles(dut, TIMEOUT + 500)
    assert bench.reports == {"bad": 0, "timeout": 0}
    bench.sink.stalls = never()
    await bench.settle()
    reply = message(WRITE_REPLY, 0, 1, sequence=1)
    assert bench.messages() == [reply, sent[1], message(READ_REPLY, 0, 1, [5], sequence=2)]
    assert bench.reports == {"bad": 0, "timeout": 0}


@cocotb.test()
async def a_foreign_message_may_be_blocked_or_pause_for_long(dut):
    bench = await Bench().begin(dut, "foreign_pause")
    words = message(WRITE, 3, 2, [1, 2, 3, 4, 5, 6], node=OTHER)
    for word in words[:4]:
        bench.source.send({"data": word, "last": 0})
    await bench.source.drain()
    await cycles(dut, TIMEOUT + 100)
    for i, word in enumerate(words[4:]):
        bench.source.send({"data": word, "last": int(i == len(words) - 5)})
    bench.send(message(READ, 0, 0, sequence=3))
    await bench.settle()
    assert bench.messages() == [words, message(READ_REPLY, 0, 0, [0], sequence=3)]
    assert bench.reports == {"bad": 0, "timeout": 0}


async def send_with_pauses(bench, words, pause):
    """Sends a message with `pause` cycles without a word between any two words."""
    for i, word in enumerate(words):
        bench.source.send({"data": word, "last": int(i == len(words) - 1)})
        # Drained is seen at the edge that takes the word, sent at the edge after the next send.
        await bench.source.drain()
        if i < len(words) - 1:
            await cycles(bench.dut, pause - 1)


@cocotb.test()
async def a_pause_shorter_than_the_timeout_does_no_harm(dut):
    bench = await Bench().begin(dut, "short_pause")
    replies = []
    for number in range(3):
        before = len(bench.entry.cycles)
        await send_with_pauses(bench, message(WRITE, 0, number, [number], sequence=number), TIMEOUT - 1)
        replies.append(message(WRITE_REPLY, 0, number, sequence=number))
        entered = bench.entry.cycles[before:]
        # Without a word for 4,095 cycles, three times: pauses do not add up.
        assert [b - a for a, b in zip(entered, entered[1:], strict=False)] == [TIMEOUT] * 3
    await bench.settle()
    assert bench.messages() == replies
    assert bench.reports == {"bad": 0, "timeout": 0}


@cocotb.test()
async def a_longer_pause_discards_the_message(dut):
    bench = await Bench().begin(dut, "long_pause")
    replies, accesses = [], []
    for number, at in enumerate((1, 2, 3), 1):
        words = message(WRITE, 0, at, [at], sequence=number)
        for word in words[:at]:
            bench.source.send({"data": word, "last": 0})
        await bench.source.drain()
        await cycles(dut, TIMEOUT + 2)
        assert bench.reports == {"bad": 0, "timeout": number}
        if number != 2:
            # The rest comes after all: it is no message, neither answered nor reported again.
            bench.send(words[at:])
        else:
            # The host has given up the old one and asks again: up to a last it is still the old one.
            bench.send(words)
        await bench.settle()
        assert bench.messages() == replies and bench.tables.accesses == accesses
        bench.send(message(WRITE, 0, at, [at + 10], sequence=number))
        replies.append(message(WRITE_REPLY, 0, at, sequence=number))
        accesses.append((1, 0, at, [at + 10]))
        await bench.settle()
        assert bench.messages() == replies and bench.tables.accesses == accesses
        assert bench.reports == {"bad": 0, "timeout": number}


@cocotb.test()
async def unknown_ops_are_answered_with_bad_op(dut):
    bench = await Bench().begin(dut, "ops")
    ops = [op for op in range(16) if op not in (READ, WRITE, READ_REPLY, WRITE_REPLY)]
    for op in ops:
        bench.send(message(op, 0, 1, [1] if op & 1 else [], sequence=100 + op))
    bench.send(message(READ, 0, 1, sequence=1))
    await bench.settle()
    *answers, last = bench.messages()
    assert last == message(READ_REPLY, 0, 1, [0], sequence=1)
    assert len(answers) == len(ops)
    for op, words in zip(ops, answers, strict=True):
        assert words[0] >> 24 & 0xF == BAD_OP, f"op {op}: {words[0]:#010x}"
        assert words[0] >> 31 == 1 and words[0] & 0xFFFFFF == NODE << 16 | 100 + op
        assert words[1] == 1 and len(words) == 3 and words[-1] == checksum(words[:-1])
    assert bench.tables.accesses == [(0, 0, 1, [])]
    assert bench.reports == {"bad": 0, "timeout": 0}


@cocotb.test()
async def a_read_with_data_is_answered_with_bad_length(dut):
    bench = await Bench().begin(dut, "read_data")
    for count in range(1, MOST_DATA + 1):
        bench.send(message(READ, 0, 1, [count] * count, sequence=count))
    await bench.settle()
    expected = [message(READ_REPLY, 0, 1, sequence=count, status=BAD_LENGTH) for count in range(1, MOST_DATA + 1)]
    assert bench.messages() == expected
    assert bench.reports == {"bad": 0, "timeout": 0}


@pytest.mark.parametrize("row_words", [8, 36])
def test_cfg_node(row_words):
    parameters = {"Node": NODE, "RowWords": row_words}
    run_bench("sluice_shell_cfg_node", packages=PACKAGES, parameters=parameters, env={"ROW_WORDS": str(row_words)})
