"""sluice_rmt_refuse.

Claims (docs/design/rmt.md, "Entrance")
- a packet's ctl leaves dropped for the first of: a module of no row, a misfit in the window, its rate limit, a
  reconfiguration packet; else as the parser gave it, one a cycle or not, whatever the parser's time for it
- a reconfiguration packet is IPv4 without options and fragments, UDP to port 0xf1f2, maybe behind one 0x8100 tag,
  with all bytes that say so within its length
"""

from collections import Counter, deque

import cocotb
from cocotb.triggers import RisingEdge
from nic.nic_bench import fields, pack_fields
from rmt.rmt_bench import CTL, EVENTS, PACKAGES
from sluice_tb import bench_rng, run_bench, start

INPUTS = [
    *("token_valid_i", "token_foreign_i", "token_length_i", "token_window_i", "conform_i"),
    *("window_valid_i", "window_misfit_i", "ctl_valid_i", "ctl_i"),
]
ANSWER, PARSER = 4, 6


def is_reconfig(frame: bytes) -> bool:
    """docs/design/nic.md, "Match and action"."""
    at = 4 if len(frame) >= 16 and frame[12:14] == b"\x81\x00" else 0
    ipv4 = len(frame) >= at + 34 and frame[12 + at : 14 + at] == b"\x08\x00" and frame[14 + at] == 0x45
    fragment = ipv4 and (frame[20 + at] & 0x1F or frame[21 + at])
    whole = len(frame) >= at + 38
    return bool(ipv4 and not fragment and whole and frame[23 + at] == 17 and frame[36 + at : 38 + at] == b"\xf1\xf2")


def any_frame(rng) -> bytes:
    frame = bytearray(rng.randbytes(64))
    at = rng.choice((0, 4))
    if at:
        frame[12:14] = b"\x81\x00"
    frame[12 + at : 14 + at], frame[14 + at], frame[20 + at : 22 + at] = b"\x08\x00", 0x45, b"\x40\x00"
    frame[23 + at], frame[36 + at : 38 + at] = 17, b"\xf1\xf2"
    if rng.random() < 0.4:
        frame[at + rng.choice((12, 13, 14, 20, 21, 23, 36, 37))] ^= 1 << rng.randrange(8)
    return bytes(frame[: rng.choice((64, 64, 64, 42, 41, 38, 37, 34, 14, 1))])


@cocotb.test()
async def the_first_reason_counts(dut):
    rng = bench_rng("refuse")
    await start(dut, limit=50_000, **dict.fromkeys(INPUTS, 0))
    conforms, parsing, seen = deque([0] * ANSWER), deque(), Counter()
    for cycle in range(12_000):
        # Times when packets come singly and when there is one in each cycle.
        busy = (0.2, 1.0, 0.7)[cycle // 500 % 3]
        values = {name: 0 for name in INPUTS}
        values["token_window_i"] = rng.getrandbits(512)
        if rng.random() < busy and len(parsing) < 8:
            frame = any_frame(rng)
            foreign, misfit, conform = rng.random() < 0.05, rng.random() < 0.1, rng.random() < 0.9
            window = frame + rng.randbytes(64 - len(frame))
            values |= {"token_valid_i": 1, "token_foreign_i": int(foreign), "token_length_i": len(frame)}
            values |= {"token_window_i": int.from_bytes(window, "little")}
            values |= {"window_valid_i": 1, "window_misfit_i": int(misfit)}
            conforms.append(int(conform))
            reason = "no_module" if foreign else "bad_length" if misfit else None if conform else "rate"
            reason = reason or ("reconfig" if is_reconfig(frame) else None)
            parsing.append((cycle, reason))
        else:
            conforms.append(rng.getrandbits(1))
        values["conform_i"] = conforms.popleft()
        expected = None
        # A parser takes longer for some packets, but one a cycle and in order.
        if parsing and cycle - parsing[0][0] >= PARSER and rng.random() < 0.9:
            _, reason = parsing.popleft()
            ctl = {name: rng.getrandbits(width) for name, width in CTL.items()}
            ctl["reason"] = rng.choice(list(EVENTS.values()))
            values |= {"ctl_valid_i": 1, "ctl_i": pack_fields(CTL, **ctl)}
            expected = ctl | ({"dropped": 1, "reason": EVENTS[reason]} if reason else {})
            seen[reason] += 1
        for name, value in values.items():
            getattr(dut, name).value = value
        await RisingEdge(dut.clk_i)
        if expected:
            assert fields(CTL, int(dut.ctl_o.value)) == expected
    assert min(seen.values()) > 100 and len(seen) == 5, seen


def test_refuse():
    run_bench("sluice_rmt_refuse", packages=PACKAGES)
