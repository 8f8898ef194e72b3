"""sluice_shell_clear, with a ring of any delay between its ends.

Claims
- behind a reset the numbers 0 to Rows - 1 go into the ring, once and in order, the last one as a message's last word,
  one a cycle where the ring takes them; they do not come out at the host
- the host's words wait for that and follow, none lost or changed, under any stalls; then both ends are wires
- `clearing_o` is high from the reset until the last number has come round, and not after
- a reset in the middle begins it anew
- what the ring shows while it has no word ends nothing
"""

import cocotb
import pytest
from cocotb.triggers import FallingEdge, RisingEdge
from sluice_tb import StreamSink, StreamSource, bench_rng, burst_stalls, cycles, never, random_stalls, run_bench, start

INPUTS = ["s_valid_i", "s_data_i", "s_last_i", "first_ready_i", "last_valid_i", "last_last_i", "m_ready_i"]


class Bench:
    """Host on both sides; what goes into the ring comes out some cycles later."""

    async def begin(self, dut, name, again=None):
        """With `again` a second reset comes after so many cycles."""
        self.dut, self.rng = dut, bench_rng(name)
        self.rows = int(dut.Rows.value)
        await start(dut, **dict.fromkeys(INPUTS, 0))
        if again is not None:
            dut.first_ready_i.value = 1
            await cycles(dut, again)
            dut.rst_ni.value, dut.first_ready_i.value = 0, 0
            await cycles(dut, 1)
            dut.rst_ni.value = 1
            await RisingEdge(dut.clk_i)
        clk, rst = dut.clk_i, dut.rst_ni
        into = {"data": dut.s_data_i, "last": dut.s_last_i}
        first = {"data": dut.first_data_o, "last": dut.first_last_o}
        self.host = StreamSource(clk, valid=dut.s_valid_i, ready=dut.s_ready_o, data=into)
        self.ring = StreamSink(
            clk, valid=dut.first_valid_o, ready=dut.first_ready_i, data=first, reset=rst, name="ring"
        )
        self.end = StreamSource(clk, valid=dut.last_valid_i, ready=dut.last_ready_o, data=dut.last_last_i)
        self.out = StreamSink(
            clk, valid=dut.m_valid_o, ready=dut.m_ready_i, data=dut.last_last_i, reset=rst, name="host"
        )
        cocotb.start_soon(self._ring())
        return self

    async def _ring(self):
        moved = 0
        while True:
            await RisingEdge(self.dut.clk_i)
            while moved < len(self.ring.items):
                self.end.send(self.ring.items[moved]["last"])
                moved += 1

    def stall(self, make):
        for stream in (self.host, self.ring, self.end, self.out):
            stream.stalls = make(self.rng)

    def messages(self, count):
        """Words of messages; the host sends them."""
        words = []
        for _ in range(count):
            length = self.rng.randint(1, 6)
            words += [{"data": self.rng.getrandbits(32), "last": int(i == length - 1)} for i in range(length)]
        self.host.send_all(words)
        return words

    async def check(self, words):
        """Everything that went in and came out since the reset."""
        numbers = [{"data": i, "last": int(i == self.rows - 1)} for i in range(self.rows)]
        await self.ring.wait_for(self.rows + len(words))
        assert self.ring.items == numbers + words
        await self.out.wait_for(len(words))
        await cycles(self.dut, 20)
        assert self.out.items == [word["last"] for word in words]
        assert not int(self.dut.clearing_o.value)


@cocotb.test()
async def numbers_go_first_one_a_cycle(dut):
    bench = await Bench().begin(dut, "first")
    words = bench.messages(5)
    # One cycle of the bench's own before the ring is ready.
    for _ in range(bench.rows):
        assert int(dut.clearing_o.value) and not int(dut.s_ready_o.value) and not int(dut.m_valid_o.value)
        await RisingEdge(dut.clk_i)
    await bench.check(words)
    taken = bench.ring.cycles[: bench.rows]
    assert taken == list(range(taken[0], taken[0] + bench.rows))


@cocotb.test()
@cocotb.parametrize(part=[0, 1, 2, 3])
async def nothing_is_lost_under_any_stalls(dut, part):
    bench = await Bench().begin(dut, f"stalls{part}")
    bench.stall([lambda _: never(), lambda rng: random_stalls(rng, 0.4), lambda rng: burst_stalls(rng, 9)][part % 3])
    words = bench.messages(40)
    cleared = 0
    while int(dut.clearing_o.value):
        # No message comes out, and no row's number has come round before all have gone in.
        assert not bench.out.items
        cleared += 1
        await RisingEdge(dut.clk_i)
        assert cleared < 2_000
    assert cleared >= bench.rows
    await bench.check(words)


@cocotb.test()
@cocotb.parametrize(at=[0, 1, 2, 5, 40])
async def a_reset_in_the_middle_begins_anew(dut, at):
    bench = await Bench().begin(dut, f"again{at}", again=at)
    bench.stall(lambda rng: random_stalls(rng, 0.3))
    await bench.check(bench.messages(4))


@cocotb.test()
async def only_a_word_that_is_there_ends_the_clearing(dut):
    await start(dut, **dict.fromkeys(INPUTS, 0))
    dut.first_ready_i.value = dut.last_last_i.value = 1
    for _ in range(int(dut.Rows.value) + 20):
        await FallingEdge(dut.clk_i)
        assert int(dut.clearing_o.value), "ended by a last word that was not valid"
        await RisingEdge(dut.clk_i)
    dut.last_valid_i.value = 1
    await RisingEdge(dut.clk_i)
    await FallingEdge(dut.clk_i)
    assert not int(dut.clearing_o.value)


@pytest.mark.parametrize("rows", [1, 2, 13, 64])
def test_clear(rows):
    run_bench("sluice_shell_clear", parameters={"Rows": rows})
