"""sluice_nic_slots.

Claims (docs/decisions/output-slots.md)
- a grant in every cycle with a request, to one that requests: who has the slot, else the next in turn
- of `Period` slots the last is a host queue's, the others are the ports', one after the other
- a port that keeps requesting is granted within Ports + 1 cycles, a host queue within Period x Hosts
- of cycles that all want, each port has its part to a cycle; a port and a host queue that are alone share what is left
"""

import cocotb
import pytest
from common.lookup_bench import parameter, start, step
from sluice_tb import bench_rng, run_bench


class Slots:
    """Who is granted in each cycle, by the page."""

    def __init__(self, ports, hosts, period):
        self.ports, self.hosts, self.period = ports, hosts, period
        self.tick, self.turn = 0, 0

    def owner(self):
        rounds, place = divmod(self.tick, self.period)
        return self.ports + rounds % self.hosts if place == self.period - 1 else (self.tick - rounds) % self.ports

    def grant(self, requests):
        owner, count = self.owner(), self.ports + self.hosts
        self.tick += 1
        if requests >> owner & 1:
            # The next in turn keeps its turn: the search begins with it.
            order = [(self.turn + i) % count for i in range(count)]
            self.turn = next(d for d in order if requests >> d & 1)
            return owner
        for i in range(count):
            d = (self.turn + i) % count
            if requests >> d & 1:
                self.turn = (d + 1) % count
                return d
        return None


def granted(dut):
    if not dut.valid_o.value:
        assert dut.grant_o.value == 0
        return None
    index = int(dut.index_o.value)
    assert dut.grant_o.value == 1 << index
    return index


async def begin(dut):
    ports, hosts, period = (parameter(dut, name) for name in ("Ports", "Hosts", "Period"))
    await start(dut, req_i=0)
    return Slots(ports, hosts, period)


async def find(dut, model):
    """Lets the model's slots begin where the device's are; they come again after Period x Hosts."""
    seen, everybody = [], 2 ** (model.ports + model.hosts) - 1
    for _ in range(model.period * model.hosts):
        await step(dut, req_i=everybody)
        seen.append(granted(dut))
    for tick in range(model.period * model.hosts):
        model.tick = tick
        if [model.grant(everybody) for _ in seen] == seen:
            return
    raise AssertionError(f"no slots of the page: {seen}")


@cocotb.test()
async def grants_are_slots_and_turns(dut):
    rng = bench_rng("nic_slots_order")
    model = await begin(dut)
    await find(dut, model)
    count = model.ports + model.hosts
    for i in range(6000):
        requests = rng.getrandbits(count) & rng.getrandbits(count) | rng.choice((0, 0, 2**count - 1))
        await step(dut, req_i=requests)
        found, expected = granted(dut), model.grant(requests)
        assert found == expected, f"cycle {i}: {found} of {requests:#x}, expected {expected}"


@cocotb.test()
async def nobody_waits_longer_than_the_page_says(dut):
    rng = bench_rng("nic_slots_wait")
    model = await begin(dut)
    count = model.ports + model.hosts
    waited, longest, requests = [0] * count, [0] * count, 0
    for i in range(8000):
        requests |= 2**count - 1 if i % 100 < 80 else rng.getrandbits(count)
        await step(dut, req_i=requests)
        index = granted(dut)
        for d in range(count):
            waited[d] = waited[d] + 1 if requests >> d & 1 and d != index else 0
            longest[d] = max(longest[d], waited[d])
        if index is not None and i % 100 >= 80:
            requests &= ~(1 << index)
    assert max(longest[: model.ports]) <= model.ports, longest
    assert max(longest[model.ports :]) < model.period * model.hosts, longest


@cocotb.test()
async def parts_are_those_of_the_slots(dut):
    model = await begin(dut)
    count = model.ports + model.hosts
    cycles = model.period * model.hosts * model.ports
    taken = [0] * count
    for _ in range(cycles):
        await step(dut, req_i=2**count - 1)
        taken[granted(dut)] += 1
    for d, cells in enumerate(taken):
        part = (model.period - 1, model.ports) if d < model.ports else (1, model.hosts)
        assert abs(cells - cycles * part[0] // (model.period * part[1])) <= 1, taken
    # A port and a host queue: what the port's slots leave goes to both in turns.
    taken = [0] * count
    for _ in range(cycles):
        await step(dut, req_i=1 | 1 << model.ports)
        taken[granted(dut)] += 1
    assert sum(taken) == cycles and taken[model.ports] * 3 > cycles, taken


@pytest.mark.parametrize(("ports", "hosts", "period"), [(4, 4, 16), (2, 2, 5), (3, 5, 4)])
def test_slots(ports, hosts, period):
    run_bench("sluice_nic_slots", parameters={"Ports": ports, "Hosts": hosts, "Period": period})
