"""sluice_crc32c.

Claims
- equals the bit-serial definition at the sizes of crc32c_sizes.sv, from 1 to 64 bytes, on random and on one-hot data
- gives the published values: "123456789", and the four 32-byte patterns of RFC 3720, B.4
"""

import cocotb
from cocotb.triggers import Timer
from common.lookup_bench import parameter, unpack
from sluice_tb import bench_rng, run_bench

PUBLISHED = {
    b"123456789": 0xE3069283,
    bytes(32): 0x8A9136AA,
    b"\xff" * 32: 0x62A8AB43,
    bytes(range(32)): 0x46DD794E,
    bytes(reversed(range(32))): 0x113FDB5C,
}


def crc32c(message: bytes) -> int:
    """Bit by bit, lowest bit of each byte first."""
    register = 0xFFFFFFFF
    for byte in message:
        for i in range(8):
            feedback = (register ^ byte >> i) & 1
            register = register >> 1 ^ (0x82F63B78 if feedback else 0)
    return register ^ 0xFFFFFFFF


async def all_sizes(dut, message: bytes) -> dict[int, int]:
    """The values by number of bytes."""
    dut.data_i.value = int.from_bytes(message, "little")
    await Timer(1, "ns")
    count = len(dut.crc_o.value) // 32
    return dict(zip(unpack(parameter(dut, "Sizes"), 8, count), unpack(int(dut.crc_o.value), 32, count), strict=True))


@cocotb.test()
async def published_values(dut):
    for message, value in PUBLISHED.items():
        assert crc32c(message) == value
        assert (await all_sizes(dut, message))[len(message)] == value


@cocotb.test()
async def each_size_equals_the_definition(dut):
    rng = bench_rng("crc32c")
    messages = [bytes(64), b"\xff" * 64, *((1 << i).to_bytes(64, "little") for i in range(0, 512, 7))]
    messages += [rng.randbytes(64) for _ in range(60)]
    for message in messages:
        for size, value in (await all_sizes(dut, message)).items():
            assert value == crc32c(message[:size]), f"{size} bytes of {message.hex()}"


def test_crc32c():
    run_bench("crc32c_sizes", sources=["tb/common/crc32c/crc32c_sizes.sv"])
