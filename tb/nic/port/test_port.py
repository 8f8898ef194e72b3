"""sluice_nic_port, against the ingress of docs/design/nic.md in ingress.py.

Claims
- every frame has one trace with its ID, owner, length and first reason, errors before overload; what is stored
  leaves whole, in order, with its descriptor, the cycle before the trace as its arrival, the tag taken off or kept:
  any VLAN rows and policies, lengths around every limit and beat, back to back and under any stalls of the output
- byte enables with a hole, in any beat, and tuser make a frame bad; a frame of more than 65,535 bytes is a giant
- the policy of a frame's first beat decides, also when it is written meanwhile
- a frame is dropped as overload, whole, when its beats or its descriptor have no room, and never otherwise
- a good frame beyond its module's share is stored exactly while the cost of what is stored, with its own, is at most
  the excess, else dropped as over_share; frames within their share are never dropped so; the trace says which is which
- counters of packets, bytes and drops equal the traces, live and at the snapshot, whenever the epoch changes
- accesses are answered after 4 cycles; wrong ones with their status, changing nothing
"""

from collections import Counter, deque

import cocotb
import pytest
from cocotb.triggers import RisingEdge
from common.lookup_bench import start
from nic.nic_bench import (
    BAD_ADDRESS,
    BAD_LENGTH,
    CFG_REQ,
    CFG_RSP,
    OK,
    PACKAGES,
    PORT_DESC,
    PORT_POLICY_ROW,
    PORT_TRACE,
    READ_ONLY,
    SHARE_ROW,
    TARGETS,
    VLAN_ROW,
    fields,
    pack_fields,
)
from nic.port.ingress import BAD_FRAME, DROPS_PER_MODULE, GIANT, OVER_SHARE, OVERLOAD, Ingress, Policy, Row, Share
from sluice_tb import always, bench_rng, burst_stalls, never, random_stalls, run_bench

VLAN, POLICY, PACKETS, BYTES, DROPS, SHARE, EXCESS = range(7)
SNAPSHOT = 1 << 23
ANSWER = 4
IDS = (0, 1, 2, 3, 100, 101, 4094, 4095)


class Bench:
    """Sends frames, takes what is stored, watches traces and answers; one coroutine counts the cycles."""

    async def begin(self, dut, name):
        self.dut, self.rng = dut, bench_rng(name)
        target = TARGETS[int(dut.Target.value)]
        self.width, self.modules = target["bus_bytes"], target["modules"]
        self.depth, self.desc_depth = target["port_beats"], target["port_packets"]
        self.model = Ingress(int(dut.Port.value), self.modules)
        inputs = ["s_axis_tvalid", "s_axis_tdata", "s_axis_tkeep", "s_axis_tlast", "s_axis_tuser", "desc_ready_i"]
        inputs += ["ready_i", "ticks_i", "epoch_i", "cfg_valid_i", "cfg_req_i"]
        # Time goes on from the reset without a jump.
        self.ticks = self.rng.getrandbits(47)
        await start(dut, **dict.fromkeys(inputs, 0) | {"ticks_i": self.ticks})
        self.desc_stalls = self.data_stalls = never()
        self.expected = deque()  # verdicts of frames sent, not traced yet
        self.stored = deque()  # verdicts of frames stored, their descriptor not taken yet
        self.leaving = deque()  # packets stored, their data not taken yet
        self.packet = []
        self.counters, self.frozen = Counter(), Counter()
        self.shares = {module: Share() for module in range(self.modules)}
        self.excess = 0
        self.cost_in, self.cost_before = 0, 0  # of what is stored, and as the frame that is traced found it
        self.beats_in, self.descs_in = 0, 0  # stored and not taken
        self.seen, self.judged = Counter(), Counter()
        self.epoch = 0
        self.now = 0
        self.traces = 0
        self.levels = deque(maxlen=self.beats(9300) + 8)
        cocotb.start_soon(self._watch())
        # Counters outlive a reset: what they have is this test's zero.
        self.zero = {}
        # Shares, too: a reset alone leaves their rows.
        for module in range(self.modules):
            await self.set_share(module)
        return self

    def beats(self, size):
        return -(-size // self.width)

    async def _watch(self):
        dut = self.dut
        epoch = 0
        while True:
            desc_ready, ready = not next(self.desc_stalls), not next(self.data_stalls)
            dut.desc_ready_i.value, dut.ready_i.value = desc_ready, ready
            dut.ticks_i.value = self.ticks
            await RisingEdge(dut.clk_i)
            self.now += 1
            self.ticks += 1
            self.levels.append((self.beats_in, self.descs_in))
            # The snapshot has what was counted in the cycles before the new epoch.
            if int(dut.epoch_i.value) != epoch:
                epoch = int(dut.epoch_i.value)
                self.frozen = self.counters.copy()
            if int(dut.trace_valid_o.value):
                self._trace(fields(PORT_TRACE, int(dut.trace_o.value)))
            self.cost_before = self.cost_in
            if ready and int(dut.valid_o.value):
                self._beat(int(dut.data_o.value), int(dut.last_o.value))
            if desc_ready and int(dut.desc_valid_o.value):
                self._desc(fields(PORT_DESC, int(dut.desc_o.value)))

    def _trace(self, trace):
        verdict = self.expected.popleft()
        reason = trace["reason"] if trace["dropped"] else None
        where = f"frame {trace['id'] & 0xFFFFFFF} of {verdict.length} bytes: {trace}, {verdict.desc}"
        assert trace["id"] == verdict.desc["id"], where
        if verdict.owner is not None:
            assert trace["module_id"] == verdict.owner, where
            assert trace["length"] == verdict.length, where
        # The cycle before the trace, in which `ticks` was two less.
        assert trace["arrival"] == self.ticks - 2, where
        if verdict.reason is not None:
            assert reason == verdict.reason, where
            assert not trace["beyond"], where
        else:
            share = self.shares[verdict.owner]
            verdict.desc["arrival"] = trace["arrival"]
            verdict.desc["cost"] = share.cost(len(verdict.stored), self.width)
            beyond = share.is_beyond(verdict.desc["cost"], verdict.desc["arrival"])
            assert trace["beyond"] == beyond, where
            self.judged["beyond" if beyond else "within"] += 1
            if beyond and self.cost_before + verdict.desc["cost"] > self.excess:
                assert reason == OVER_SHARE, where
            else:
                assert reason in (None, OVERLOAD), where
                self._room(verdict, reason)
                self.judged["full"] += not beyond and self.cost_before + verdict.desc["cost"] > self.excess
        self.seen[reason] += 1
        self.traces += 1
        owner = trace["module_id"]
        self.counters[PACKETS, owner] += 1
        self.counters[BYTES, owner] += trace["length"]
        if reason is not None:
            self.counters[DROPS, owner * DROPS_PER_MODULE + reason] += 1

    def _room(self, verdict, reason):
        need = self.beats(len(verdict.stored))
        fits = self.beats_in + need <= self.depth and self.descs_in < self.desc_depth
        if reason is None:
            assert fits, f"stored without room: {self.beats_in} + {need} beats, {self.descs_in} descriptors"
            self.beats_in += need
            self.descs_in += 1
            self.cost_in += verdict.desc["cost"]
            self.stored.append(verdict)
            self.leaving.append(verdict)
        else:
            # While nothing leaves this is exact; otherwise there was no room in one of the frame's cycles.
            beats, descs = (max(column) for column in zip(*self.levels, strict=True))
            assert beats + need > self.depth or descs >= self.desc_depth, f"overload with room: {beats} + {need} beats"

    def _beat(self, data, last):
        self.packet.append(data)
        self.beats_in -= 1
        if last:
            stored = self.leaving.popleft().stored
            got = b"".join(word.to_bytes(self.width, "little") for word in self.packet)
            assert len(self.packet) == self.beats(len(stored)) and got[: len(stored)] == stored
            self.packet = []

    def _desc(self, desc):
        self.descs_in -= 1
        self.cost_in -= desc["cost"]
        assert desc == self.stored.popleft().desc

    async def send(self, frame, bad=0, keep=None):
        """One frame, back to back with the one before; `keep` replaces the byte enables of beats by number."""
        dut, width, rng = self.dut, self.width, self.rng
        verdict = self.model.arrive(frame, bool(bad) or bool(keep))
        if keep:
            # What such a frame's bytes are is nobody's business; it is counted as the trace says.
            verdict.owner = None
        self.expected.append(verdict)
        for number in range(self.beats(len(frame))):
            part = frame[number * width : (number + 1) * width]
            enables = (1 << len(part)) - 1
            # Behind the end lies what would matter if it were looked at.
            behind = rng.choice((rng.randbytes(width), b"\x81\x00\x88\xa8" * width))[: width - len(part)]
            last = (number + 1) * width >= len(frame)
            dut.s_axis_tdata.value = int.from_bytes(part + behind, "little")
            dut.s_axis_tkeep.value = (keep or {}).get(number, enables)
            dut.s_axis_tlast.value, dut.s_axis_tuser.value = last, bad if last else rng.getrandbits(1)
            dut.s_axis_tvalid.value = 1
            await RisingEdge(dut.clk_i)
        dut.s_axis_tvalid.value = 0

    async def pause(self, count):
        for _ in range(count):
            await RisingEdge(self.dut.clk_i)

    async def drain(self):
        self.desc_stalls, self.data_stalls = never(), never()
        await self.pause(17)
        while self.stored or self.leaving:
            await RisingEdge(self.dut.clk_i)
        assert not self.expected and not self.packet and self.beats_in == self.descs_in == 0
        assert not int(self.dut.valid_o.value) and not int(self.dut.desc_valid_o.value)

    async def access(self, table, index, words=None):
        """Reads, or writes `words` (value, number of them); returns status, words and value."""
        dut, (value, count) = self.dut, words or (0, 0)
        request = pack_fields(
            CFG_REQ, clear=0, write=int(words is not None), table=table, index=index, words=count, data=value
        )
        dut.cfg_req_i.value, dut.cfg_valid_i.value = request, 1
        await RisingEdge(dut.clk_i)
        dut.cfg_valid_i.value = 0
        for _ in range(ANSWER):
            assert not int(dut.cfg_valid_o.value)
            await RisingEdge(dut.clk_i)
        assert int(dut.cfg_valid_o.value), f"no answer after {ANSWER} cycles"
        answer = fields(CFG_RSP, int(dut.cfg_rsp_o.value))
        return answer["status"], answer["words"], answer["data"] & ((1 << 32 * answer["words"]) - 1)

    async def set_row(self, vid, row):
        self.model.vlan[vid] = row
        status, *_ = await self.access(VLAN, vid, (pack_fields(VLAN_ROW, **vars(row)), 1))
        assert status == OK

    async def set_policy(self, **values):
        self.model.policy = Policy(**values)
        status, *_ = await self.access(POLICY, 0, (pack_fields(PORT_POLICY_ROW, **vars(self.model.policy)), 2))
        assert status == OK

    async def set_share(self, module, ticks_per_beat=0, burst=0, growth=0):
        self.shares[module] = Share(ticks_per_beat, burst, growth)
        row = pack_fields(SHARE_ROW, ticks_per_beat=ticks_per_beat, burst=burst, growth=growth)
        assert (await self.access(SHARE, module, (row, 2)))[0] == OK

    async def set_excess(self, beats):
        self.excess = beats
        assert (await self.access(EXCESS, 0, (beats, 1)))[0] == OK

    async def set_rows(self):
        """Random rows, those of modules that the target does not have among them."""
        rng = self.rng
        for vid in IDS:
            module = rng.choice((rng.randrange(self.modules), rng.randrange(64)))
            await self.set_row(vid, Row(int(rng.random() < 0.8), rng.getrandbits(1), module, rng.getrandbits(12)))

    async def open_port(self):
        await self.set_policy(
            untagged_valid=1, untagged_module=self.modules - 1, untagged_tenant=77, min_frame=14, max_frame=9216
        )

    async def counter_zero(self):
        """Reads all counters at rest as this test's zero."""
        for table, rows in ((PACKETS, self.modules), (BYTES, self.modules), (DROPS, self.modules * DROPS_PER_MODULE)):
            for index in range(rows):
                status, words, value = await self.access(table, index)
                assert (status, words) == (OK, 2)
                self.zero[table, index] = value

    def frame(self, size, kind=None):
        """A frame of `size` bytes: untagged, tagged, tagged twice, or only nearly so."""
        rng, body = self.rng, self.rng.randbytes(size)
        kind = rng.choice(("plain", "tag", "tag", "double", "almost")) if kind is None else kind
        tci = (rng.choice(IDS) | rng.getrandbits(4) << 12).to_bytes(2, "big")
        tag = b"\x81\x00" + tci
        head = {
            "plain": b"\x08\x00",
            "tag": tag + b"\x08\x00",
            "double": tag + rng.choice((b"\x81\x00", b"\x88\xa8")),
            "almost": rng.choice(
                (b"\x88\xa8\0\1", b"\x81\1\0\1", b"\0\x81\0\0", b"\x08\0\x45\0\x81\0", b"\x08\0\x45\0\x88\xa8")
            ),
        }[kind]
        return (body[:12] + head + body[12 + len(head) :])[:size]


def any_size(bench):
    rng, width = bench.rng, bench.width
    policy = bench.model.policy
    near = rng.choice((14, 16, 18, 20, 60, width, 2 * width, 3 * width, policy.min_frame, policy.max_frame, 9216))
    size = rng.choice((near + rng.randint(-2, 2), near + 4 * rng.randint(-1, 1), rng.randint(1, 300)))
    return min(max(size, 1), 9300)


@cocotb.test()
async def frames_are_judged_stored_and_counted_as_the_page_says(dut):
    bench = await Bench().begin(dut, "port_rules")
    rng = bench.rng
    await bench.counter_zero()
    for turn in range(12):
        await bench.set_rows()
        await bench.set_policy(
            untagged_valid=int(rng.random() < 0.8),
            untagged_module=rng.choice((rng.randrange(bench.modules), 63)),
            untagged_tenant=rng.getrandbits(12),
            # In most turns, so that each run sees the drops that it counts below.
            drop_double_tag=int(turn % 4 != 0),
            min_frame=rng.choice((0, 14, 60, 64)),
            max_frame=rng.choice((200, 1518, 9216, 16383)),
        )
        slow = rng.choice((never(), random_stalls(rng, 0.3), burst_stalls(rng, 40)))
        bench.desc_stalls, bench.data_stalls = slow, rng.choice((never(), random_stalls(rng, 0.2)))
        gaps = rng.choice((0, 0, 0.3))
        for _ in range(60):
            await bench.send(bench.frame(any_size(bench)), bad=int(rng.random() < 0.05))
            if rng.random() < gaps:
                await bench.pause(rng.randint(1, 6))
        await bench.drain()
    assert all(bench.seen[reason] > 5 for reason in (None, 1, 2, 3, 4, 5)), bench.seen
    for key, zero in bench.zero.items():
        status, _, value = await bench.access(*key)
        assert (status, value) == (OK, zero + bench.counters[key]), key


@cocotb.test()
async def every_length_of_every_kind(dut):
    bench = await Bench().begin(dut, "port_lengths")
    await bench.open_port()
    for vid in IDS:
        await bench.set_row(vid, Row(1, vid & 1, vid % bench.modules, vid))
    for size in range(1, 3 * bench.width + 7):
        for kind in ("plain", "tag", "double"):
            await bench.send(bench.frame(size, kind))
    await bench.drain()
    assert not bench.seen[OVERLOAD]


@cocotb.test()
async def holes_in_the_byte_enables_make_a_frame_bad(dut):
    bench = await Bench().begin(dut, "port_holes")
    rng, width = bench.rng, bench.width
    await bench.open_port()
    full = (1 << width) - 1
    for number in range(120):
        size = rng.choice((2 * width + 20, 3 * width, width + 30))
        at = rng.randrange(bench.beats(size))
        whole = full if at < bench.beats(size) - 1 else (1 << (size - at * width)) - 1
        # A hole inside, a missing first byte, or a short beat before the last.
        holes = [whole & ~(1 << rng.randrange(whole.bit_length() - 1)), whole & ~1]
        if at < bench.beats(size) - 1:
            holes.append(whole >> rng.randint(1, width - 1))
        await bench.send(bench.frame(size, "plain"), keep={at: rng.choice(holes)})
        if number % 3 == 0:
            await bench.send(bench.frame(100, "plain"))
    await bench.drain()
    assert bench.seen == {BAD_FRAME: 120, None: 40}


@cocotb.test()
async def errors_come_in_their_order(dut):
    bench = await Bench().begin(dut, "port_order")
    await bench.set_policy(drop_double_tag=1, min_frame=64, max_frame=100)
    await bench.set_row(1, Row(1, 0, 1, 1))
    await bench.set_row(2, Row(0, 0, 1, 1))
    for vid in (1, 2):
        for size in (40, 80, 200):
            for bad in (0, 1):
                tag = b"\x81\x00" + vid.to_bytes(2, "big") + b"\x88\xa8"
                await bench.send(bench.rng.randbytes(12) + tag + bench.rng.randbytes(size - 18), bad)
    await bench.drain()
    assert bench.seen == {4: 6, 2: 2, 3: 2, 1: 1, 5: 1}


@cocotb.test()
async def an_endless_frame_is_a_giant(dut):
    bench = await Bench().begin(dut, "port_giant")
    await bench.open_port()
    bench.desc_stalls, bench.data_stalls = always(), always()
    for size in (9217, 65535, 65536, 65536 + 100, 2 * 65536 + 64):
        await bench.send(bench.frame(size, "plain"))
        await bench.pause(13)
    assert bench.seen == {GIANT: 5}
    await bench.send(bench.frame(9216, "plain"))
    await bench.pause(13)
    assert bench.seen[None] == 1
    await bench.drain()


@cocotb.test()
async def it_drops_what_has_no_room_and_nothing_else(dut):
    bench = await Bench().begin(dut, "port_overload")
    rng, width = bench.rng, bench.width
    await bench.open_port()
    await bench.set_row(1, Row(1, 0, 1, 1))
    await bench.set_row(0, Row(0, 0, 0, 0))
    tagged = b"\x81\x00\x00\x01"

    def frame(size):
        body = rng.randbytes(size)
        return body[:12] + tagged + body[16:] if size >= 20 and rng.random() < 0.5 else bench.frame(size, "plain")

    for sizes in (
        lambda: rng.choice((14, 60, width)),
        lambda: rng.choice((9216, 9000, 60, 14)),
        lambda: rng.choice((width + 4, width + 5, 2 * width + 2, 1518, 14)),
    ):
        bench.desc_stalls, bench.data_stalls = always(), always()
        await bench.pause(3)
        for number in range(700):
            # Errors are errors also without room.
            bad = number % 50 == 49
            await bench.send(frame(sizes()), bad=int(bad))
            if number % 50 == 48:
                await bench.send(bench.frame(13, "plain"))
            if bench.seen[OVERLOAD] > 60:
                break
        assert bench.seen[OVERLOAD] > 60
        await bench.pause(10)
        full = bench.seen[OVERLOAD]
        await bench.drain()
        # All of it has room again.
        await bench.send(frame(9216))
        await bench.drain()
        assert bench.seen[OVERLOAD] == full
        bench.seen[OVERLOAD] = 0


@cocotb.test()
async def shares_decide_what_is_stored(dut):
    bench = await Bench().begin(dut, "port_share")
    rng, width = bench.rng, bench.width
    await bench.open_port()
    modules = (0, 1, 2, bench.modules - 1)
    for vid, module in enumerate(modules):
        await bench.set_row(vid, Row(1, vid & 1, module, vid))
    for turn in range(14):
        await bench.set_excess(rng.choice((0, 1, 40, 200, 300, 600)))
        for module in modules:
            rate = rng.choice((0, 1, rng.randint(1 << 16, 12 << 16), (1 << 28) - 1))
            # From no packet at all over one of a few beats to the longest ones.
            burst = rng.choice((0, 3, 40, 300, 20_000, (1 << 24) - 1)) if turn % 2 else rng.randint(0, 2_000)
            await bench.set_share(module, rate, burst, rng.choice((0, 1, 64, 511)))
        slow = rng.choice((always(), random_stalls(rng, 0.7), random_stalls(rng, 0.9), burst_stalls(rng, 60)))
        bench.desc_stalls, bench.data_stalls = slow, slow
        for _ in range(120):
            size = rng.choice((14, 60, width, width + 1, width + 4, width + 5, 2 * width, 1518, 9216))
            body = rng.randbytes(size)
            tag = b"\x81\x00" + rng.randrange(len(modules)).to_bytes(2, "big")
            await bench.send((body[:12] + tag + body[16:])[:size], bad=int(rng.random() < 0.15))
            if rng.random() < 0.2:
                await bench.pause(rng.randint(1, 30))
        await bench.drain()
    assert bench.seen[None] > 40 and bench.seen[OVER_SHARE] > 40 and bench.seen[BAD_FRAME] > 40, bench.seen
    assert all(bench.judged[what] > 40 for what in ("beyond", "within", "full")), bench.judged


@cocotb.test()
async def a_share_is_a_rate_and_a_burst_that_holds_the_packet(dut):
    bench = await Bench().begin(dut, "port_rate")
    width = bench.width
    await bench.open_port()
    module = bench.modules - 1
    bench.desc_stalls, bench.data_stalls = always(), always()
    # Nothing beyond the share; four beats at once, then one each eight ticks; a growth of a beat.
    await bench.set_excess(0)
    await bench.set_share(module, 8 << 16, 32, width)
    # What is dropped for what it is uses nothing.
    await bench.send(bench.frame(width, "plain"), bad=1)
    for _ in range(4):
        await bench.send(bench.frame(width, "plain"))
    await bench.pause(12)
    assert bench.seen[None] == 2 and bench.seen[OVER_SHARE] == 2
    for _ in range(20):
        await bench.send(bench.frame(width, "plain"))
        await bench.pause(15)
    assert bench.seen[None] == 22 and bench.seen[OVER_SHARE] == 2
    # Longer than the burst: never within the share, but stored while there is room for excess.
    await bench.send(bench.frame(4 * width, "plain"))
    await bench.pause(60)
    assert bench.seen[OVER_SHARE] == 3
    await bench.set_excess(22 * 2 + 5)
    await bench.send(bench.frame(4 * width, "plain"))
    await bench.pause(12)
    await bench.send(bench.frame(4 * width, "plain"))
    await bench.pause(12)
    assert bench.seen[None] == 23 and bench.seen[OVER_SHARE] == 4
    await bench.drain()


@cocotb.test()
async def snapshots_freeze_one_cycle(dut):
    bench = await Bench().begin(dut, "port_snapshot")
    rng = bench.rng
    await bench.open_port()
    await bench.set_row(1, Row(1, 0, 2, 1))
    await bench.set_row(3, Row(1, 1, 3, 1))
    await bench.counter_zero()
    modules = (2, 3, bench.modules - 1, 0)
    keys = [(table, m) for table in (PACKETS, BYTES) for m in modules]
    keys += [(DROPS, m * DROPS_PER_MODULE + reason) for m in modules for reason in range(6)]
    running = True

    async def traffic():
        while running:
            size = rng.choice((13, 14, 60, bench.width, bench.width + 1, 200, 9217))
            vid = rng.choice((b"\x00\x01", b"\x00\x03"))
            body = rng.randbytes(size)
            await bench.send(rng.choice((body[:12] + b"\x81\x00" + vid + body[16:], bench.frame(size, "plain")))[:size])

    sender = cocotb.start_soon(traffic())
    # Epochs of the test before would make the numbers go back.
    for epoch in range(1 + rng.getrandbits(20) * 2, 1 << 31, 1 + rng.getrandbits(24)):
        await bench.pause(rng.randint(1, 120))
        dut.epoch_i.value = epoch
        await bench.pause(2)
        for _ in range(6):
            key = rng.choice(keys)
            frozen = bench.frozen[key]
            status, words, value = await bench.access(key[0], key[1] | SNAPSHOT)
            assert (status, words, value) == (OK, 2, bench.zero[key] + frozen), (epoch, key)
        bench.seen["epochs"] += 1
        if bench.seen["epochs"] == 60:
            break
    running = False
    await sender
    await bench.drain()
    for key in keys:
        assert (await bench.access(*key))[2] == bench.zero[key] + bench.counters[key], key
        assert (await bench.access(key[0], key[1] | SNAPSHOT))[2] == bench.zero[key] + bench.frozen[key], key


@cocotb.test()
async def accesses_are_checked_and_read_back(dut):
    bench = await Bench().begin(dut, "port_cfg")
    rng = bench.rng
    rows = {}
    for vid in (0, 1, 255, 256, 2048, 4095):
        rows[vid] = rng.getrandbits(20)
        assert (await bench.access(VLAN, vid, (rows[vid], 1)))[0] == OK
    policy = rng.getrandbits(48)
    assert (await bench.access(POLICY, 0, (policy, 2)))[0] == OK
    shares = {module: rng.getrandbits(61) for module in (0, 1, bench.modules - 1)}
    for module, row in shares.items():
        assert (await bench.access(SHARE, module, (row, 2)))[0] == OK
    excess = rng.getrandbits(16)
    assert (await bench.access(EXCESS, 0, (excess, 1)))[0] == OK
    drops = bench.modules * DROPS_PER_MODULE
    wrong = [
        (VLAN, 4096, (1, 1), BAD_ADDRESS),
        (VLAN, 1 << 23, (1, 1), BAD_ADDRESS),
        (VLAN, 4096, None, BAD_ADDRESS),
        (POLICY, 1, (1, 2), BAD_ADDRESS),
        (SHARE, bench.modules, None, BAD_ADDRESS),
        (SHARE, 0, (1, 1), BAD_LENGTH),
        (EXCESS, 1, (1, 1), BAD_ADDRESS),
        (EXCESS, 0, (1, 2), BAD_LENGTH),
        (7, 0, None, BAD_ADDRESS),
        (255, 0, (1, 1), BAD_ADDRESS),
        (PACKETS, bench.modules, None, BAD_ADDRESS),
        (BYTES, bench.modules | SNAPSHOT, None, BAD_ADDRESS),
        (DROPS, drops, None, BAD_ADDRESS),
        (VLAN, 1, (1, 2), BAD_LENGTH),
        (VLAN, 1, (1, 0), BAD_LENGTH),
        (POLICY, 0, (1, 1), BAD_LENGTH),
        (POLICY, 0, (1, 3), BAD_LENGTH),
        (PACKETS, 0, (1, 2), READ_ONLY),
        (BYTES, 0, (1, 2), READ_ONLY),
        (DROPS, drops - 1, (1, 2), READ_ONLY),
    ]
    for table, index, words, status in wrong:
        assert (await bench.access(table, index, words))[0] == status, (table, index, words)
    for vid, row in rows.items():
        assert await bench.access(VLAN, vid) == (OK, 1, row)
    assert await bench.access(POLICY, 0) == (OK, 2, policy)
    for module, row in shares.items():
        assert await bench.access(SHARE, module) == (OK, 2, row)
    assert await bench.access(EXCESS, 0) == (OK, 1, excess)


@cocotb.test()
async def the_policy_of_the_first_beat_decides(dut):
    bench = await Bench().begin(dut, "port_policy")
    open_port = {"untagged_valid": 1, "untagged_module": 1, "untagged_tenant": 5, "min_frame": 14, "max_frame": 9216}
    shut = dict.fromkeys(open_port, 0)
    await bench.set_policy(**open_port)
    for policy in (shut, open_port) * 5:
        sender = cocotb.start_soon(bench.send(bench.frame(20 * bench.width, "plain")))
        await bench.pause(bench.rng.randint(3, 12))
        await bench.set_policy(**policy)
        await sender
        await bench.pause(12)
    await bench.drain()
    assert bench.seen == {None: 5, GIANT: 5}


@cocotb.test()
async def a_reset_closes_the_port(dut):
    bench = await Bench().begin(dut, "port_reset")
    # Policy 0: every frame is a giant, or a runt before that.
    for size, reason in ((14, GIANT), (60, GIANT), (9000, GIANT), (13, 2)):
        verdicts = bench.seen[reason]
        await bench.send(bench.frame(size, "plain"))
        await bench.pause(10)
        assert bench.seen[reason] == verdicts + 1


@pytest.mark.parametrize("target, port", [pytest.param(0, 0, marks=pytest.mark.long), (1, 3)])
def test_port(target, port):
    sources = ["rtl/nic/sluice_nic_port.sv", "tb/nic/port/nic_port_target.sv"]
    run_bench("nic_port_target", packages=PACKAGES, sources=sources, parameters={"Target": target, "Port": port})
