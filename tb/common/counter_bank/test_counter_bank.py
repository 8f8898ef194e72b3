"""sluice_counter_bank.

Claims
- an increment every cycle, also on one counter back to back, is never lost; counters wrap modulo 2^Width
- a read is answered 3 cycles later; live, it has exactly the increments of cycles before its own
- a snapshot has exactly the increments of cycles before the last change of epoch_i, also when the
  increment, the change and the read fall in the same or adjacent cycles, and across the wrap of epoch_i
- values outlive a reset
"""

import cocotb
import pytest
from common.lookup_bench import parameter, start, step
from sluice_tb import bench_rng, run_bench

LATENCY = 3
IDLE = {
    "epoch_i": 0, "inc_valid_i": 0, "inc_index_i": 0, "inc_amount_i": 0, "rd_valid_i": 0, "rd_snapshot_i": 0,
    "rd_index_i": 0,
}  # fmt: skip


class Bank:
    """The counters as an array; runs one cycle and checks the answers due in it."""

    def __init__(self, dut):
        self.dut = dut
        self.modulus = 2 ** parameter(dut, "Width")
        self.entries = parameter(dut, "Entries")
        self.values = [0] * self.entries
        self.at_change = [0] * self.entries
        self.epoch = 0
        self.due = [None] * LATENCY
        self.answers = 0

    async def cycle(self, epoch=None, inc=None, read=None):
        """inc: (index, amount); read: (index, snapshot)."""
        if epoch is not None and epoch != self.epoch:
            self.epoch, self.at_change = epoch, list(self.values)
        self.due.append(None if read is None else (self.at_change if read[1] else self.values)[read[0]])
        index, amount = inc or (0, 0)
        rd_index, snapshot = read or (0, 0)
        await step(
            self.dut, epoch_i=self.epoch, inc_valid_i=inc is not None, inc_index_i=index, inc_amount_i=amount,
            rd_valid_i=read is not None, rd_snapshot_i=snapshot, rd_index_i=rd_index,
        )  # fmt: skip
        if inc:
            self.values[index] = (self.values[index] + amount) % self.modulus
        expected = self.due.pop(0)
        assert self.dut.rd_valid_o.value == (expected is not None)
        if expected is not None:
            assert self.dut.rd_data_o.value == expected
            self.answers += 1


@cocotb.test()
async def back_to_back_increments_of_one_counter_add_up(dut):
    await start(dut, **IDLE)
    bank = Bank(dut)
    most = 2 ** parameter(dut, "IncWidth") - 1
    for _ in range(300):
        await bank.cycle(inc=(bank.entries - 1, most), read=(bank.entries - 1, False))
    for _ in range(LATENCY):
        await bank.cycle()
    assert bank.answers == 300


@cocotb.test()
async def increment_change_and_read_at_every_distance(dut):
    """One increment, one change and one read, up to 6 cycles apart in any order."""
    rng = bench_rng("counter_bank_distances")
    await start(dut, **IDLE)
    bank = Bank(dut)
    await adopt(bank)
    epoch = 1000
    for change in range(7):
        for read in range(7):
            for second in range(7):
                epoch += 1
                index = rng.randrange(bank.entries)
                for cycle in range(7):
                    await bank.cycle(
                        epoch=epoch if cycle >= change else None,
                        inc=(index, 1 + cycle % 2) if cycle in (3, second) else None,
                        read=(index, True) if cycle >= read else None,
                    )
    for _ in range(LATENCY):
        await bank.cycle()


async def adopt(bank):
    """Takes over what earlier tests left in the RAMs, with an epoch of its own."""
    for value in range(bank.entries):
        await step(bank.dut, rd_valid_i=1, rd_index_i=value, rd_snapshot_i=0)
        for _ in range(LATENCY):
            await step(bank.dut, rd_valid_i=0)
        bank.values[value] = int(bank.dut.rd_data_o.value)
    bank.at_change = list(bank.values)


@cocotb.test()
async def random_traffic_equals_an_array(dut):
    rng = bench_rng("counter_bank")
    await start(dut, **IDLE)
    bank = Bank(dut)
    await adopt(bank)
    amounts = 2 ** parameter(dut, "IncWidth")
    limit = 2 ** parameter(dut, "EpochWidth")
    # Starts below the wrap of the epoch number; no number comes twice.
    epoch = limit - 100
    for _ in range(8000):
        few = rng.choice((1, 2, bank.entries))
        if rng.random() < 0.06:
            epoch += 1
        await bank.cycle(
            epoch=epoch % limit,
            inc=(rng.randrange(min(few, bank.entries)), rng.randrange(amounts)) if rng.random() < 0.8 else None,
            read=(rng.randrange(min(few, bank.entries)), rng.random() < 0.6) if rng.random() < 0.7 else None,
        )
    assert epoch > limit + 100 and bank.answers > 4000


@cocotb.test()
async def values_outlive_a_reset(dut):
    rng = bench_rng("counter_bank_reset")
    await start(dut, **IDLE)
    bank = Bank(dut)
    await adopt(bank)
    for _ in range(20):
        await bank.cycle(epoch=5000, inc=(rng.randrange(bank.entries), 1))
    for _ in range(LATENCY):
        await bank.cycle()
    dut.rst_ni.value = 0
    for _ in range(4):
        await step(dut)
    dut.rst_ni.value = 1
    for index in range(bank.entries):
        await bank.cycle(read=(index, False))
        await bank.cycle(read=(index, True))
    for _ in range(LATENCY):
        await bank.cycle()
    assert bank.answers == 2 * bank.entries


@pytest.mark.parametrize("entries, width, inc_width", [(16, 64, 16), (5, 8, 8), (1, 12, 3)])
def test_counter_bank(entries, width, inc_width):
    run_bench("sluice_counter_bank", parameters={"Entries": entries, "Width": width, "IncWidth": inc_width})
