"""sluice_xdp_outside, with a module that asks for as much as it can.

Claims
- who has asked for no more than his module's share waits for what is on its way, not for others that wait
- two modules that store as fast as they can share the port by weight
"""

import cocotb
from common.lookup_bench import parameter
from sluice_tb import run_bench
from xdp.outside_bench import LOAD, PACKAGES, STORE, UNIT, opened

PAGE = 1 << 10


@cocotb.test()
async def a_module_within_its_share_waits_for_no_flood_of_another(dut):
    bench, rng = await opened(dut, "xdp_outside_shares")
    await bench.clear(0, bench.size // UNIT)
    bench.memory.pace = (100, 100, 1.0)
    own, flooders = bench.putter - 1, list(range(bench.putter - 1))
    # Its own pages are written. No line of them is in the cache, and each is read once: others share neither lines
    # nor their places.
    lines, cache = 256, 64 * parameter(dut, "Lines")
    for line in range(lines):
        await bench.cycle((own, {"op": STORE, "module_id": 2, "place": 64 * line, "bytes": 8, "data": line}))
        await bench.settle()
    unread = iter(range(lines))
    # The others write new pages, and read lines that are not there.
    fresh = iter(page for page in range(bench.size // PAGE) if page * PAGE % cache >= 64 * lines)
    written, longest, count, pause = [], {LOAD: 0, STORE: 0}, {LOAD: 0, STORE: 0}, 0
    since = None
    for _ in range(20_000):
        enter, free = None, bench.free()
        if own in free and since is not None:
            op, begin = since
            longest[op] = max(longest[op], bench.memory.now - begin)
            count[op] += 1
            since, pause = None, rng.randint(100, 300)
        pause -= 1
        if own in free and since is None and pause < 0:
            op = rng.choice((LOAD, STORE))
            since = op, bench.memory.now
            place = 64 * (next(unread) if op == LOAD else rng.randrange(lines))
            enter = own, {"op": op, "module_id": 2, "place": place, "bytes": 8, "data": rng.getrandbits(64)}
        elif idle := [asker for asker in flooders if asker in free]:
            asker = rng.choice(idle)
            if written and rng.random() < 0.3:
                request = {"op": LOAD, "place": rng.choice(written) * PAGE + 64 * rng.randrange(16)}
            else:
                written.append(next(fresh))
                request = {"op": STORE, "place": written[-1] * PAGE, "data": 7}
            enter = asker, {"module_id": 1, "bytes": 8} | request
        await bench.cycle(enter)
    await bench.settle()
    print(f"longest waits of {count}: load {longest[LOAD]}, store {longest[STORE]} cycles")
    assert min(count.values()) > 15 and len(written) > 200, (count, len(written))
    # A store: the page on its way. A load: memory, and of the page that it has written three pages and the answer.
    assert longest[STORE] < 100 and longest[LOAD] < 480, longest


async def flood(bench, rng, cycles, weights):
    """Stores of two modules that ask for as much as they can, one for each of the weights."""
    for module, weight in enumerate(weights, start=1):
        bench.dut.weight_module_i.value, bench.dut.weight_i.value = module, weight
        bench.dut.weight_valid_i.value = 1
        await bench.cycle()
    bench.dut.weight_valid_i.value = 0
    await bench.clear(0, bench.size // UNIT)
    half = bench.putter // 2
    for page in range(64):
        await bench.cycle((0, {"op": STORE, "place": page * PAGE, "bytes": 8, "data": page}))
        await bench.settle()
    count = [0, 0]
    for _ in range(cycles):
        enter, idle = None, [asker for asker in bench.free() if asker < bench.putter]
        if idle:
            asker = rng.choice(idle)
            module = asker // half
            place = PAGE * (32 * module + rng.randrange(32)) + 64 * rng.randrange(16)
            enter = asker, {"op": STORE, "module_id": 1 + module, "place": place, "bytes": 8, "data": 7}
            count[module] += 1
        await bench.cycle(enter)
    await bench.settle()
    return count


@cocotb.test()
async def two_modules_that_flood_share_writes_by_weight(dut):
    bench, rng = await opened(dut, "xdp_outside_weights")
    bench.memory.pace = (100, 100, 1.0)
    for weights, least, most in (((48, 16), 0.69, 0.79), ((16, 16), 0.45, 0.55)):
        first, second = await flood(bench, rng, 4_000, weights)
        print(f"stores at weights of {weights}: {first} and {second}")
        assert least < first / (first + second) < most and first + second > 1_500, (weights, first, second)


def test_xdp_outside_shares():
    parameters = {"PlaceBits": 20, "Lines": 4096, "Askers": 20, "Putter": 18}
    run_bench("sluice_xdp_outside", parameters=parameters, packages=PACKAGES)
