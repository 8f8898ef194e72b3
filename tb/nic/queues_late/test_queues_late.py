"""sluice_nic_queues at the destination behind which an engine has room of its own.

Claims (docs/design/l7.md, "Room")
- a module whose packet finds no room is left out until room of its own has come back, in either way, or some of all:
  then its packet comes, and nobody else's
"""

import cocotb
from cocotb.triggers import FallingEdge, RisingEdge
from common.lookup_bench import start
from nic.nic_bench import PACKAGES
from sluice_tb import run_bench

MODULES = 8
# Cycles until a packet that finds room is there, or is known to find none.
SOON = 60
INPUTS = ["clear_i", "clear_index_i", "stored_valid_i", "stored_cell_i", "stored_module_i"]
INPUTS += ["fits_i", "freed_own_i", "freed_module_i", "freed_all_i"]


async def come(dut, cycles=SOON):
    """Cells that come out."""
    cells = []
    for _ in range(cycles):
        await FallingEdge(dut.clk_i)
        if int(dut.copy_valid_o.value):
            cells.append(int(dut.copy_cell_o.value))
        await RisingEdge(dut.clk_i)
    return cells


async def begin(dut):
    await start(dut, limit=20_000, **dict.fromkeys(INPUTS, 0))
    for module in range(MODULES):
        dut.clear_i.value, dut.clear_index_i.value = 1, module
        await RisingEdge(dut.clk_i)
    dut.clear_i.value = 0


async def store(dut, modules):
    """A packet of each; its cell is its module."""
    for module in modules:
        dut.stored_valid_i.value, dut.stored_cell_i.value, dut.stored_module_i.value = 1, module, module
        await RisingEdge(dut.clk_i)
    dut.stored_valid_i.value = 0


@cocotb.test()
@cocotb.parametrize(way=[0, 1, 2])
async def room_that_comes_back_is_seen_whichever_way_it_comes(dut, way):
    await begin(dut)
    modules = [2, 5, 6]
    await store(dut, modules)
    assert await come(dut) == [], "nobody has room"
    left = list(modules)
    for module in (5, 2):
        # Of the module alone; the other way names one that waits on.
        other = next(m for m in left if m != module)
        dut.fits_i.value = 1 << module
        names = [other, other]
        if way < 2:
            names[way] = module
            dut.freed_own_i.value = 1 << way
        dut.freed_module_i.value = names[0] | names[1] << 6
        dut.freed_all_i.value = int(way == 2)
        await RisingEdge(dut.clk_i)
        dut.freed_own_i.value = dut.freed_all_i.value = 0
        assert await come(dut) == [module], f"room of module {module} came back by way {way}"
        left.remove(module)
    # Without word of it room is not looked for.
    dut.fits_i.value = (1 << MODULES) - 1
    assert await come(dut) == []


@cocotb.test()
async def both_ways_at_once_are_two_modules(dut):
    await begin(dut)
    await store(dut, [1, 3, 4])
    assert await come(dut) == []
    dut.fits_i.value = (1 << MODULES) - 1
    dut.freed_own_i.value, dut.freed_module_i.value = 3, 4 | 1 << 6
    await RisingEdge(dut.clk_i)
    dut.freed_own_i.value = 0
    assert sorted(await come(dut)) == [1, 4]


def test_queues_late():
    sources = ["rtl/nic/sluice_nic_queues.sv", "tb/nic/queues_late/nic_queues_late.sv"]
    run_bench("nic_queues_late", parameters={"Target": 1}, packages=PACKAGES, sources=sources)
