"""What the benches of the NIC's blocks share: bit layouts by hand from formats.md, and one cycle at a time."""

from collections.abc import Mapping, Sequence

from cocotb.triggers import RisingEdge
from nic.codes import Status

PACKAGES = [
    "rtl/gen/sluice_pkg.sv",
    "rtl/shell/sluice_engine_pkg.sv",
    "rtl/shell/sluice_shell_pkg.sv",
    "rtl/nic/sluice_nic_pkg.sv",
]
TARGETS = {
    0: {"bus_bytes": 64, "modules": 64, "port_beats": 512, "port_packets": 512},
    1: {"bus_bytes": 32, "modules": 8, "port_beats": 512, "port_packets": 512},
}

# Fields from bit 0 upwards, with their widths.
VLAN_ROW = {"valid": 1, "keep_tag": 1, "module_id": 6, "tenant": 12}
PORT_POLICY_ROW = {
    "untagged_valid": 1,
    "untagged_module": 6,
    "untagged_tenant": 12,
    "drop_double_tag": 1,
    "min_frame": 14,
    "max_frame": 14,
}
SHARE_ROW = {"ticks_per_beat": 28, "burst": 24, "growth": 9}
SIDEBAND = {
    "id": 32,
    "stamp": 48,
    "tenant": 12,
    "module_id": 6,
    "generation": 1,
    "length": 14,
    "tci": 16,
    "tag_off": 1,
    "flow_hash": 32,
    "destinations": 8,
    "egress_queue": 3,
    "tag": 16,
}
PORT_TRACE = {"id": 32, "module_id": 6, "dropped": 1, "reason": 6, "length": 16, "beyond": 1, "arrival": 48}
# Inside the NIC (sluice_nic_pkg): the first member of a packed structure is its highest.
PORT_DESC = {"length": 14, "tag_off": 1, "tci": 16, "tenant": 12, "module_id": 6, "id": 32, "arrival": 48, "cost": 9}
CFG_REQ = {"data": 256, "words": 4, "index": 24, "table": 8, "write": 1, "clear": 1}
CFG_RSP = {"data": 256, "words": 4, "status": 4}

OK, BUSY, BAD_ADDRESS, BAD_LENGTH, READ_ONLY, BAD_OP, WRITE_ONLY = Status


def pack_fields(layout: Mapping[str, int], **values: int) -> int:
    """A row from its fields; all have to be there and fit."""
    assert values.keys() == layout.keys(), f"fields {sorted(values)}, expected {sorted(layout)}"
    word, at = 0, 0
    for name, width in layout.items():
        assert 0 <= values[name] < 1 << width, f"{name} is {values[name]}, expected {width} bits"
        word |= values[name] << at
        at += width
    return word


def fields(layout: Mapping[str, int], word: int) -> dict[str, int]:
    """The fields of a row."""
    values = {}
    for name, width in layout.items():
        values[name] = word & ((1 << width) - 1)
        word >>= width
    return values


def crc32c(message: bytes) -> int:
    """RFC 3720, bit by bit."""
    crc = 0xFFFFFFFF
    for byte in message:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


assert crc32c(b"123456789") == 0xE3069283


def _behind_tag(frame: bytes) -> int | None:
    """Where IPv4 without options begins less 14, one tag let pass, or None; by docs/design/nic.md."""
    o = 4 if len(frame) >= 16 and frame[12:14] == b"\x81\x00" else 0
    ipv4 = len(frame) >= o + 34 and frame[12 + o : 14 + o] == b"\x08\x00" and frame[14 + o] == 0x45
    return o if ipv4 else None


def _has_ports(frame: bytes, o: int) -> bool:
    fragment = int.from_bytes(frame[20 + o : 22 + o], "big") & 0x1FFF
    return frame[23 + o] in (6, 17) and fragment == 0 and len(frame) >= o + 38


# Words of the secret after a reset, and the bits of the hash that are under it.
FLOW_SECRET_AT_RESET = 0x3F84D5B5_34E90C6C_38D01377_452821E6
FLOW_SECRET_BITS = 4


def flow_hash(frame: bytes, secret: int = FLOW_SECRET_AT_RESET) -> int:
    """Of a frame as it came in."""
    o = _behind_tag(frame)
    if o is None:
        return 0
    ports = frame[34 + o : 38 + o] if _has_ports(frame, o) else bytes(4)
    key = frame[26 + o : 34 + o] + ports + frame[23 + o : 24 + o]
    number = int.from_bytes(key, "little")
    low = sum(((number & secret >> i).bit_count() & 1) << i for i in range(FLOW_SECRET_BITS))
    return crc32c(key) >> FLOW_SECRET_BITS << FLOW_SECRET_BITS | low


def is_reconfiguration(frame: bytes) -> bool:
    """Whether the pipeline's entrance takes it for a reconfiguration packet: UDP to port 0xf1f2."""
    o = _behind_tag(frame)
    return o is not None and _has_ports(frame, o) and frame[23 + o] == 17 and frame[36 + o : 38 + o] == b"\xf1\xf2"


def words_of(value: int, count: int) -> list[int]:
    """The value as 32-bit words, lowest first."""
    return [value >> 32 * i & 0xFFFFFFFF for i in range(count)]


def beats_of(frame: bytes, width: int, rng) -> list[dict]:
    """A frame as beats of `width` bytes; what lies behind its end is noise."""
    beats = []
    for at in range(0, len(frame), width):
        part = frame[at : at + width]
        data = part + rng.randbytes(width - len(part))
        beats.append(
            {
                "data": int.from_bytes(data, "little"),
                "bytes": len(part),
                "first": int(at == 0),
                "last": int(at + width >= len(frame)),
            }
        )
    return beats


def bytes_of(beats: Sequence[int], width: int) -> bytes:
    """The bytes of data words."""
    return b"".join(beat.to_bytes(width, "little") for beat in beats)


async def step(dut, **inputs: int) -> None:
    """Sets the inputs of this cycle and runs it; outputs read afterwards are still those of this cycle."""
    for name, value in inputs.items():
        getattr(dut, name).value = value
    await RisingEdge(dut.clk_i)
