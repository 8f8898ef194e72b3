"""sluice_nic_tag_strip.

Claims
- a frame of n bytes leaves as ceil((n - 4) / Bytes) beats without its bytes 12 to 15 where off_i asks for it,
  and as it came where not; every length around every beat, tagged and untagged ones mixed, back to back and
  with gaps
- meta_i leaves with the last beat, which leaves a cycle after the frame's last beat at the latest
- a beat that is not the last leaves when the next beat of its frame arrives, not before
"""

import cocotb
import pytest
from cocotb.triggers import FallingEdge, RisingEdge
from nic.nic_bench import beats_of, bytes_of
from sluice_tb import bench_rng, burst_stalls, cycles, never, random_stalls, run_bench, start

TAG_AT, TAG = 12, 4


def frames_of_all_lengths(rng, width):
    """Every length to four beats and a bit, with the tag off and on, in random order; none may take a tag below 16."""
    lengths = range(1, 4 * width + 9)
    frames = [(rng.randbytes(n), off) for n in lengths for off in (0, 1) if n >= TAG_AT + TAG or not off]
    rng.shuffle(frames)
    return frames


async def drive(dut, rng, frames, stalls):
    """Sends the frames; returns the cycle of each beat and the meta word of each frame."""
    width, meta_bits = int(dut.Bytes.value), len(dut.meta_i)
    at, metas = [], []
    cycle = 0
    for frame, off in frames:
        metas.append(rng.getrandbits(meta_bits))
        at.append([])
        for beat in beats_of(frame, width, rng):
            while next(stalls):
                dut.valid_i.value = 0
                for pin in (dut.data_i, dut.bytes_i, dut.first_i, dut.last_i, dut.off_i, dut.meta_i):
                    pin.value = rng.getrandbits(len(pin))
                await RisingEdge(dut.clk_i)
                cycle += 1
            dut.valid_i.value = 1
            dut.data_i.value, dut.bytes_i.value = beat["data"], beat["bytes"]
            dut.first_i.value, dut.last_i.value, dut.off_i.value = beat["first"], beat["last"], off
            # The word that comes with the last beat counts.
            dut.meta_i.value = metas[-1] if beat["last"] else rng.getrandbits(meta_bits)
            await RisingEdge(dut.clk_i)
            at[-1].append(cycle)
            cycle += 1
    dut.valid_i.value = 0
    return at, metas


async def collect(dut, out):
    """All beats that leave, with their cycle, the last one's meta word."""
    cycle = 0
    while True:
        await FallingEdge(dut.clk_i)
        if int(dut.valid_o.value):
            out.append((cycle, int(dut.data_o.value), int(dut.last_o.value), int(dut.meta_o.value)))
        cycle += 1


async def run(dut, name, frames_of, stalls_of):
    await start(dut, valid_i=0, data_i=0, bytes_i=0, first_i=0, last_i=0, off_i=0, meta_i=0)
    rng, width, out = bench_rng(name), int(dut.Bytes.value), []
    frames = frames_of(rng, width)
    cocotb.start_soon(collect(dut, out))
    at, metas = await drive(dut, rng, frames, stalls_of(rng))
    await cycles(dut, 4)
    position = 0
    for number, ((frame, off), came, meta) in enumerate(zip(frames, at, metas, strict=True)):
        expected = frame[:TAG_AT] + frame[TAG_AT + TAG :] if off else frame
        count = -(-len(expected) // width)
        beats = out[position : position + count]
        where = f"frame {number} of {len(frame)} bytes, off {off}"
        assert [last for _, _, last, _ in beats] == [0] * (count - 1) + [1], where
        assert bytes_of([data for _, data, _, _ in beats], width)[: len(expected)] == expected, where
        assert beats[-1][3] == meta, where
        left = [cycle for cycle, *_ in beats]
        assert left[:-1] == came[1:count], where
        assert came[-1] <= left[-1] <= came[-1] + 1, where
        position += count
    assert position == len(out)


@cocotb.test()
async def every_length_back_to_back(dut):
    await run(dut, "strip_back", frames_of_all_lengths, lambda rng: never())


@cocotb.test()
async def every_length_with_gaps(dut):
    await run(dut, "strip_gaps", frames_of_all_lengths, lambda rng: random_stalls(rng, 0.4))


@cocotb.test()
async def every_length_in_bursts(dut):
    await run(dut, "strip_bursts", frames_of_all_lengths, lambda rng: burst_stalls(rng, 9))


@cocotb.test()
async def long_frames_keep_their_bytes(dut):
    def frames(rng, width):
        lengths = [rng.choice((9216, 1518, 16, 64, width, width + 4, width + 5)) for _ in range(60)]
        return [(rng.randbytes(n), rng.getrandbits(1)) for n in lengths]

    await run(dut, "strip_long", frames, lambda rng: random_stalls(rng, 0.1))


@cocotb.test()
async def a_reset_forgets_the_frame(dut):
    rng, out = bench_rng("strip_reset"), []
    await start(dut, valid_i=0, data_i=0, bytes_i=0, first_i=0, last_i=0, off_i=0, meta_i=0)
    width = int(dut.Bytes.value)
    await drive(dut, rng, [(rng.randbytes(2 * width + 2), 1)], never())
    dut.rst_ni.value = 0
    await cycles(dut, 2)
    dut.rst_ni.value = 1
    await RisingEdge(dut.clk_i)
    cocotb.start_soon(collect(dut, out))
    frame = rng.randbytes(20)
    await drive(dut, rng, [(frame, 0)], never())
    await cycles(dut, 4)
    assert len(out) == 1 and bytes_of([out[0][1]], width)[:20] == frame and out[0][2]


@pytest.mark.parametrize("width, meta", [(64, 97), (32, 1)])
def test_tag_strip(width, meta):
    run_bench("sluice_nic_tag_strip", parameters={"Bytes": width, "MetaWidth": meta})
