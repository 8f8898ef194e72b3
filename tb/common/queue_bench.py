"""Claims that every word queue of rtl/common keeps; the benches choose capacity and latency.

The ports are valid_i/ready_o/data_i, valid_o/ready_i/data_o and, where there is one, level_o.
"""

import itertools

import cocotb
from cocotb.triggers import FallingEdge, RisingEdge, Timer
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
    start,
)

# Cycles after which a test counts as stuck; none here takes a tenth of them at the depths in use.
LIMIT = 50_000


class Queue:
    """A queue under test with a source, a sink and a monitor at its entry."""

    def __init__(self, dut, source_stalls, sink_stalls):
        clk, reset = dut.clk_i, dut.rst_ni
        self.width = len(dut.data_i)
        self.entry = StreamMonitor(clk, valid=dut.valid_i, ready=dut.ready_o, data=dut.data_i, reset=reset)
        self.sink = StreamSink(
            clk, valid=dut.valid_o, ready=dut.ready_i, data=dut.data_o, stalls=sink_stalls, reset=reset
        )
        self.source = StreamSource(clk, valid=dut.valid_i, ready=dut.ready_o, data=dut.data_i, stalls=source_stalls)


async def begin(dut, source_stalls=None, sink_stalls=None) -> Queue:
    """Resets the queue and connects it."""
    await start(dut, valid_i=0, data_i=0, ready_i=0, limit=LIMIT)
    return Queue(dut, source_stalls, sink_stalls)


async def _level_follows(dut, queue: Queue) -> None:
    # The monitors see the same edge as this loop does; only their sums of the edges before are certain here.
    taken = given = 0
    while True:
        await RisingEdge(dut.clk_i)
        assert int(dut.level_o.value) == taken - given
        taken += int(dut.valid_i.value) and int(dut.ready_o.value)
        given += int(dut.valid_o.value) and int(dut.ready_i.value)


async def words_arrive_once_and_in_order(dut, count: int = 400) -> None:
    """Random words under every mix of stalls; the level, if there is one, is exact in every cycle."""
    rng = bench_rng("order")
    queue = await begin(dut)
    if hasattr(dut, "level_o"):
        cocotb.start_soon(_level_follows(dut, queue))
    sent = []
    rates = [never, lambda: random_stalls(rng, 0.2), lambda: random_stalls(rng, 0.7), lambda: burst_stalls(rng, 30)]
    for source_stalls, sink_stalls in itertools.product(rates, rates):
        queue.source.stalls, queue.sink.stalls = source_stalls(), sink_stalls()
        words = [rng.getrandbits(queue.width) for _ in range(count // 16)]
        sent += words
        queue.source.send_all(words)
        await queue.sink.wait_for(len(sent))
    await cycles(dut, 20)
    assert queue.sink.items == sent == queue.entry.items


async def full_rate_is_one_word_a_cycle(dut) -> None:
    """Without stalls both sides move in every cycle."""
    queue = await begin(dut)
    count = 100
    words = [bench_rng("rate").getrandbits(queue.width) for _ in range(count)]
    queue.source.send_all(words)
    await queue.sink.wait_for(count)
    assert queue.entry.cycles[-1] - queue.entry.cycles[0] == count - 1
    assert queue.sink.cycles[-1] - queue.sink.cycles[0] == count - 1
    assert queue.sink.items == words


async def a_lone_word_takes(dut, latency: int) -> None:
    """The latency of the contract, on an empty queue, several times."""
    queue = await begin(dut)
    for k in range(12):
        queue.source.send(k % 2)
        await queue.sink.wait_for(k + 1)
        await cycles(dut, 1 + k % 3)
        assert queue.sink.cycles[k] - queue.entry.cycles[k] == latency


async def a_blocked_queue_takes_exactly(dut, capacity: int) -> None:
    """Fills to the last entry, at every position of the pointers, and gives all back without a bubble."""
    queue = await begin(dut, sink_stalls=always())
    rng, sent = bench_rng("full"), []
    for _ in range(min(capacity, 20) + 2):
        # One word more than fits: it has to wait at the entry.
        words = [rng.getrandbits(queue.width) for _ in range(capacity + 1)]
        before = len(sent)
        sent += words
        # The first one has come to rest at the output before the others follow: they have to close up to it.
        queue.source.send(words[0])
        await cycles(dut, 6)
        queue.source.send_all(words[1:])
        await cycles(dut, capacity + 8)
        assert len(queue.entry.items) == before + capacity
        assert not int(dut.ready_o.value)
        queue.sink.stalls = never()
        await queue.sink.wait_for(len(sent))
        left = queue.sink.cycles[before : before + capacity]
        assert left == list(range(left[0], left[0] + capacity)), "a bubble between words that waited"
        queue.sink.stalls = always()
        await cycles(dut, 2)
    assert queue.sink.items == sent


async def reset_empties_it(dut, capacity: int) -> None:
    """A reset at any filling leaves nothing behind; the queue then works as from the start."""
    queue = await begin(dut, sink_stalls=always())
    rng = bench_rng("reset")
    for filling in [0, 1, 2, capacity // 2, capacity]:
        queue.sink.stalls = always()
        await cycles(dut, 2)
        queue.source.send_all(rng.getrandbits(queue.width) for _ in range(filling))
        await queue.source.drain()
        await cycles(dut, rng.randint(0, 5))
        dut.rst_ni.value = 0
        await cycles(dut, rng.randint(1, 3))
        dut.rst_ni.value = 1
        await FallingEdge(dut.clk_i)
        assert not int(dut.valid_o.value)
        queue.sink.items.clear()
        queue.sink.stalls = random_stalls(rng, 0.3)
        words = [rng.getrandbits(queue.width) for _ in range(2 * capacity)]
        queue.source.send_all(words)
        await queue.sink.wait_for(len(words))
        await cycles(dut, 8)
        assert queue.sink.items == words


async def handshakes_follow_no_input_within_a_cycle(dut, capacity: int) -> None:
    """ready_o and valid_o stay as they are while valid_i, ready_i and data_i change between two edges."""
    rng = bench_rng("paths")
    await start(dut, valid_i=0, data_i=0, ready_i=0, limit=LIMIT)
    seen = set()
    for k in range(40 * capacity):
        # Filling and emptying in turn, so that both ends are met.
        filling = (k // (4 * capacity)) % 2
        await RisingEdge(dut.clk_i)
        dut.valid_i.value = int(rng.random() < (0.9 if filling else 0.3))
        dut.ready_i.value = int(rng.random() < (0.3 if filling else 0.9))
        await Timer(1, "ns")
        before = (int(dut.ready_o.value), int(dut.valid_o.value))
        seen.add(before)
        kept = (int(dut.valid_i.value), int(dut.ready_i.value))
        for valid, ready in itertools.product((0, 1), (0, 1)):
            dut.valid_i.value, dut.ready_i.value, dut.data_i.value = valid, ready, rng.getrandbits(len(dut.data_i))
            await Timer(1, "ns")
            assert (int(dut.ready_o.value), int(dut.valid_o.value)) == before
        dut.valid_i.value, dut.ready_i.value = kept
    assert seen == {(1, 0), (1, 1), (0, 1)}
