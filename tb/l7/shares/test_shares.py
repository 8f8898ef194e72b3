"""sluice_l7_shares.

Claims
- what is said to fit does: of the module's own, or of what nobody has reserved; `plenty` says that all share room for
  two longest packets. Four cycles behind the last change both say so exactly
- a module that was told that its packet does not fit is told when it does, within four cycles: by its own room that
  came back, by what all share, and by rows that are written
- no more is taken than there is, also while rows change, and where rows say more than there is
- with nothing inside, all room is there again
"""

import cocotb
from cocotb.triggers import FallingEdge, RisingEdge
from nic.nic_bench import CFG_REQ, fields, pack_fields
from sluice_tb import bench_rng, run_bench, start

MODULES, PACKETS, BEATS, MOST = 8, 32, 256, 40
# From the lowest bit on.
ASK = {"beats": 10, "module": 6}
TAKE = {"less": 10, "beats": 10, "own": 1, "valid": 1}
ROOM = {
    "freed_all": 1, "freed_module_0": 6, "freed_module_1": 6, "freed_own": 2, "plenty": 1, "own": 1, "fits": 1,
}  # fmt: skip
INPUTS = ["ask_i", "take_i", "back_valid_i", "back_module_i", "back_beats_i", "back_own_i", "weight_index_i"]
INPUTS += ["cfg_valid_i", "cfg_req_i"]


class Bench:
    async def begin(self, dut, name):
        self.dut, self.rng = dut, bench_rng(name)
        self.rows = [(0, 0)] * MODULES
        self.held = []  # module, beats, own
        self.blocked = set()
        self.changing = False
        self.next = [self.rng.randint(1, MOST) for _ in range(MODULES)]
        self.less = self.quiet = self.fitted = self.refused = self.told = 0
        await start(dut, limit=2_000_000, **dict.fromkeys(INPUTS, 0))
        for module in range(MODULES):
            dut.cfg_req_i.value = pack_fields(CFG_REQ, clear=1, write=1, table=5, index=module, words=0, data=0)
            await RisingEdge(dut.clk_i)
        dut.cfg_req_i.value = 0
        return self

    def used(self, module):
        own = [beats for m, beats, own in self.held if own and m == module]
        return len(own), sum(own)

    def shared(self):
        shared = [beats for _, beats, own in self.held if not own]
        packets, beats = (sum(row[n] for row in self.rows) for n in (0, 1))
        return max(PACKETS - packets, 0) - len(shared), max(BEATS - beats, 0) - sum(shared)

    def whole(self):
        return PACKETS - len(self.held), BEATS - sum(beats for _, beats, _ in self.held)

    def fits(self, module, beats):
        """Whether a packet fits, and whether of its module's own."""

        def within(room):
            return room[0] >= 1 and room[1] >= beats

        (packets, own_beats), row = self.used(module), self.rows[module]
        own = within((row[0] - packets, row[1] - own_beats))
        return (own or within(self.shared())) and within(self.whole()), own

    def plenty(self, packets):
        return all(room[0] >= packets and room[1] >= packets * MOST for room in (self.shared(), self.whole()))

    async def write(self, module, packets, beats):
        self.rows[module] = (packets, beats)
        self.dut.cfg_valid_i.value = 1
        self.dut.cfg_req_i.value = pack_fields(
            CFG_REQ, clear=0, write=1, table=5, index=module, words=2, data=beats << 16 | packets
        )
        self.quiet = 0

    async def cycle(self, takes, backs):
        """One cycle: a module is asked for, and its packet may be taken; some go."""
        dut, rng = self.dut, self.rng
        module = rng.randrange(MODULES)
        beats = self.next[module]
        dut.ask_i.value = pack_fields(ASK, module=module, beats=beats)
        dut.take_i.value = pack_fields(TAKE, valid=0, own=0, beats=0, less=self.less)
        dut.cfg_valid_i.value = 0
        ports = []
        for _ in range(2):
            if self.held and rng.random() < backs:
                ports.append(self.held.pop(rng.randrange(len(self.held))))
        went = [None] * 2
        for gone in ports:
            went[went.index(None) if rng.random() < 0.5 or went[1] else 1] = gone
        zero = (0, 0, False)
        first, second = (gone or zero for gone in went)
        dut.back_valid_i.value = sum(1 << n for n, gone in enumerate(went) if gone)
        dut.back_module_i.value = first[0] | second[0] << 3
        dut.back_beats_i.value = first[1] | second[1] << 10
        dut.back_own_i.value = first[2] | second[2] << 1
        if ports or self.less:
            self.quiet = 0
        if self.changing and takes and rng.random() < 0.1:
            others = [sum(row[n] for m, row in enumerate(self.rows) if m != 3) for n in (0, 1)]
            await self.write(3, rng.randint(0, PACKETS - 2 - others[0]), rng.randint(0, BEATS - 2 * MOST - others[1]))
        await FallingEdge(dut.clk_i)
        room = fields(ROOM, int(dut.room_o.value))
        if room["freed_all"]:
            self.blocked.clear()
        for n in range(2):
            if room["freed_own"] >> n & 1:
                self.blocked.discard(room[f"freed_module_{n}"])
        fits, own = self.fits(module, beats)
        steady = self.quiet >= 4
        if steady:
            assert (room["fits"], room["plenty"]) == (fits, self.plenty(2)), (module, beats, self.rows, self.held)
            assert not room["fits"] or room["own"] == own
            assert not (fits and module in self.blocked), f"module {module} was not told"
            self.told += fits
        elif not self.changing:
            assert not room["fits"] or fits
            # One of the two may have been taken in the cycle before.
            assert not room["plenty"] or self.plenty(1)
        less = 0
        if not room["fits"] and not room["plenty"]:
            self.refused += 1
            self.blocked.add(module)
        elif rng.random() < takes:
            known = room["fits"] and not (room["plenty"] and rng.random() < 0.5)
            own = bool(known and room["own"])
            taken = beats if known else MOST
            dut.take_i.value = pack_fields(TAKE, valid=1, own=own, beats=taken, less=self.less)
            less = MOST - beats if not known else 0
            self.held.append((module, taken - less, own))
            self.next[module] = rng.randint(1, MOST)
            self.fitted += 1
            self.quiet = 0
        await RisingEdge(dut.clk_i)
        self.quiet += 1
        self.less = less


async def rows(bench):
    for module, row in enumerate([(8, 48), (2, 40), (4, 60), (0, 0)]):
        await bench.cycle(0, 0)
        await bench.write(module, *row)
        await RisingEdge(bench.dut.clk_i)
    for _ in range(5):
        await bench.cycle(0, 0)


@cocotb.test()
async def room_is_told_as_it_is(dut):
    bench = await Bench().begin(dut, "l7_shares")
    await rows(bench)
    for _ in range(400):
        # Fuller and emptier, with pauses in which all is known exactly.
        takes, backs = bench.rng.choice([(0.9, 0.1), (0.5, 0.3), (0.1, 0.5)])
        for _ in range(bench.rng.randint(1, 60)):
            await bench.cycle(takes, backs)
        for _ in range(bench.rng.randint(0, 12)):
            await bench.cycle(0, 0)
    while bench.held:
        await bench.cycle(0, 1)
    for _ in range(30):
        await bench.cycle(0, 0)
    assert int(dut.empty_o.value)
    assert min(bench.fitted, bench.refused, bench.told) > 500, (bench.fitted, bench.refused, bench.told)


@cocotb.test()
async def rows_that_change_take_no_more_than_there_is(dut):
    bench = await Bench().begin(dut, "l7_shares_rows")
    await rows(bench)
    bench.changing = True
    for _ in range(300):
        for _ in range(bench.rng.randint(1, 30)):
            await bench.cycle(0.6, 0.25)
            held = sum(beats for _, beats, _ in bench.held)
            assert len(bench.held) <= PACKETS and held <= BEATS
        for _ in range(bench.rng.randint(0, 12)):
            await bench.cycle(0, 0)
    assert bench.told > 200


@cocotb.test()
async def shares_that_are_more_than_there_is_are_told(dut):
    """Then the whole buffer is full while a module has room of its own, which is told when it is not full any more."""
    bench = await Bench().begin(dut, "l7_shares_above")
    # Until four cycles behind the rows, what is told is still that of before them.
    bench.changing = True
    for module, row in enumerate([(128, 1024), (64, 512), (PACKETS, BEATS), (8, 48)]):
        await bench.cycle(0, 0)
        await bench.write(module, *row)
        await RisingEdge(bench.dut.clk_i)
    for _ in range(5):
        await bench.cycle(0, 0)
    bench.changing = False
    for _ in range(200):
        takes, backs = bench.rng.choice([(0.9, 0.02), (0.9, 0.1), (0.1, 0.3)])
        for _ in range(bench.rng.randint(1, 60)):
            await bench.cycle(takes, backs)
        for _ in range(bench.rng.randint(0, 12)):
            await bench.cycle(0, 0)
    assert min(bench.fitted, bench.refused, bench.told) > 200, (bench.fitted, bench.refused, bench.told)


def test_l7_shares():
    names = ["gen/sluice", "gen/sluice_l7_rows", "shell/sluice_engine"]
    run_bench(
        "sluice_l7_shares",
        parameters={"Modules": MODULES, "Packets": PACKETS, "Beats": BEATS, "MostBeats": MOST},
        packages=[f"rtl/{name}_pkg.sv" for name in names],
    )
