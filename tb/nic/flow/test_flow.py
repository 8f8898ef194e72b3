"""sluice_nic_flow.

Claims (docs/design/nic.md, "Flow hash")
- under any stalls packets leave whole and in order, with the byte enables of their length and, on the first beat, their
  descriptor's sideband and the flow hash of their bytes: tagged or not, TCP, UDP, other protocols, fragments, options,
  cut off anywhere, whatever lies behind their end, under any secret
- a beat a cycle goes through, packets of one beat too; an idle block takes 4 cycles
- it says that it waits while it has a beat
"""

import cocotb
import pytest
from cocotb.triggers import RisingEdge
from nic.nic_bench import PACKAGES, PORT_DESC, SIDEBAND, beats_of, fields, flow_hash, pack_fields
from sluice_tb import StreamMonitor, StreamSink, StreamSource, bench_rng, burst_stalls, never, random_stalls, run_bench
from sluice_tb import start as start_bench

LATENCY = 4


def any_frame(rng) -> bytes:
    """Nearly always IPv4 in some form, of any length."""
    length = rng.choice(
        (rng.randint(14, 60), rng.choice((14, 31, 32, 33, 37, 38, 41, 42, 63, 64, 65)), rng.randint(14, 400))
    )
    frame = bytearray(rng.randbytes(max(length, 80)))
    o = rng.choice((0, 0, 4))
    if o:
        frame[12:14] = b"\x81\x00"
    frame[12 + o : 14 + o] = rng.choice((*[b"\x08\x00"] * 8, b"\x86\xdd", b"\x81\x00"))
    frame[14 + o] = rng.choice((*[0x45] * 8, 0x46, 0x65))
    frame[20 + o : 22 + o] = rng.choice((b"\0\0", b"\x40\0", b"\0\1", b"\x20\0", b"\x1f\0"))
    frame[23 + o] = rng.choice((6, 17, 1, rng.getrandbits(8)))
    return bytes(frame[:length])


class Bench:
    async def begin(self, dut, name):
        self.dut, self.rng = dut, bench_rng(name)
        self.width = int(dut.Bytes.value)
        self.secret = self.rng.getrandbits(128)
        await start_bench(dut, valid_i=0, data_i=0, last_i=0, desc_i=0, flow_secret_i=self.secret, m_axis_tready=0)
        into = {"data": dut.data_i, "last": dut.last_i, "desc": dut.desc_i}
        handshake = {"valid": dut.valid_i, "ready": dut.ready_o}
        self.source = StreamSource(dut.clk_i, **handshake, data=into)
        self.entry = StreamMonitor(dut.clk_i, **handshake, data=into, reset=dut.rst_ni, name="in")
        out = {name: getattr(dut, f"m_axis_t{name}") for name in ("data", "keep", "last", "user")}
        self.sink = StreamSink(
            dut.clk_i, valid=dut.m_axis_tvalid, ready=dut.m_axis_tready, data=out, reset=dut.rst_ni, name="out"
        )
        self.sent = []
        cocotb.start_soon(self._watch())
        return self

    def send(self, frame):
        values = {name: self.rng.getrandbits(bits) for name, bits in PORT_DESC.items()}
        desc = values | {"length": len(frame)}
        self.sent.append((desc, frame))
        for beat in beats_of(frame, self.width, self.rng):
            self.source.send({"data": beat["data"], "last": beat["last"], "desc": pack_fields(PORT_DESC, **desc)})

    async def _watch(self):
        """Beats inside, and whether it says so."""
        dut, inside = self.dut, 0
        while True:
            await RisingEdge(dut.clk_i)
            assert int(dut.waiting_o.value) == int(inside > 0)
            inside += int(dut.valid_i.value) and int(dut.ready_o.value)
            inside -= int(dut.m_axis_tvalid.value) and int(dut.m_axis_tready.value)

    async def drain(self):
        await self.source.drain()
        await self.sink.wait_for(self.source.sent)

    def check(self):
        beats = iter(self.sink.items)
        for desc, frame in self.sent:
            for at in range(0, len(frame), self.width):
                beat, part = next(beats), frame[at : at + self.width]
                assert beat["keep"] == (1 << len(part)) - 1
                assert beat["data"].to_bytes(self.width, "little")[: len(part)] == part
                assert beat["last"] == int(at + self.width >= len(frame))
                if at == 0:
                    side = fields(SIDEBAND, beat["user"])
                    same = ("id", "tenant", "module_id", "length", "tci", "tag_off")
                    wanted = dict.fromkeys(SIDEBAND, 0) | {name: desc[name] for name in same}
                    wanted |= {"stamp": desc["arrival"], "flow_hash": flow_hash(frame, self.secret)}
                    assert side == wanted, frame.hex()
        assert next(beats, None) is None


@cocotb.test()
async def packets_get_their_sideband_and_flow_hash(dut):
    bench = await Bench().begin(dut, "flow_any")
    rng = bench.rng
    rates = (never, lambda: random_stalls(rng, 0.5), lambda: burst_stalls(rng, 12), lambda: random_stalls(rng, 0.85))
    for _ in range(25):
        for _ in range(40):
            bench.send(any_frame(rng))
        bench.source.stalls, bench.sink.stalls = rng.choice(rates)(), rng.choice(rates)()
        await bench.source.drain()
    bench.sink.stalls = never()
    await bench.drain()
    bench.check()
    hashes = [flow_hash(frame, bench.secret) for _, frame in bench.sent]
    assert 100 < hashes.count(0) < len(hashes) - 200


@cocotb.test()
async def every_cycle_has_a_beat(dut):
    bench = await Bench().begin(dut, "flow_rate")
    for length in (bench.width, 64, 200):
        bench.entry.cycles.clear(), bench.sink.cycles.clear()
        for _ in range(100):
            bench.send(bench.rng.randbytes(length))
        await bench.drain()
        beats = 100 * -(-length // bench.width)
        for cycles in (bench.entry.cycles, bench.sink.cycles):
            assert len(cycles) == beats and cycles[-1] - cycles[0] == beats - 1, f"{length} bytes"
        if length <= bench.width:
            assert bench.sink.cycles[0] == bench.entry.cycles[0] + LATENCY
    bench.check()


@pytest.mark.parametrize("width", [32, 64])
def test_flow(width):
    sources = ["rtl/nic/sluice_nic_flow.sv", "tb/nic/flow/nic_flow_target.sv"]
    run_bench("nic_flow_target", packages=PACKAGES, sources=sources, parameters={"Bytes": width})
