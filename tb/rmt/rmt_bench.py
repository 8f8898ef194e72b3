"""What the benches of the rmt pipeline's ends share: targets, layouts by hand, packets and what they have to become."""

from dataclasses import dataclass, field

from nic.nic_bench import SIDEBAND, pack_fields
from rmt.codes import Event

PACKAGES = [
    "rtl/gen/sluice_pkg.sv",
    "rtl/gen/sluice_rmt_rows_pkg.sv",
    "rtl/shell/sluice_engine_pkg.sv",
    "rtl/shell/sluice_shell_pkg.sv",
    "rtl/rmt/sluice_rmt_pkg.sv",
    "rtl/rmt/sluice_rmt_act_pkg.sv",
    "rtl/rmt/sluice_rmt_sum_pkg.sv",
    "rtl/rmt/sluice_rmt_deparse_pkg.sv",
]
TARGETS = {
    0: {"bus_bytes": 64, "modules": 64, "stages": 5, "groups": 256},
    1: {"bus_bytes": 32, "modules": 8, "stages": 3, "groups": 16},
}
WINDOW, LONGEST, PERIOD = 128, 9216, 256

# Packed structures: the last member is the lowest.
CTL = {"reason": 4, "dropped": 1, "system_generation": 1, "generation": 1, "module_id": 6}
DESC = {"queueing": 48, "arrival": 48, "length": 14, "tenant": 12, "port": 4, "ctl": 13}
CFG_REQ = {"words": 7, "index": 16, "slice": 7, "snapshot": 1, "table": 8, "write": 1, "clear": 1}
ROUTE = {"tags": 128, "egress_queue": 3, "destinations": 8}
EVENTS = {event.name.lower(): event for event in Event}


def any_sideband(rng, **values):
    """A sideband as it comes in; what the pipeline does not look at is noise."""
    noise = {name: rng.getrandbits(width) for name, width in SIDEBAND.items()}
    return noise | values


def keep_of(left: int, width: int) -> int:
    """The bytes that a beat has when `left` bytes are to come."""
    return (1 << min(left, width)) - 1 if left > 0 else 0


@dataclass
class Packet:
    """What is put on the input: beats of (data, keep), and the sideband."""

    side: dict
    beats: list = field(default_factory=list)

    @classmethod
    def of(cls, frame: bytes, side: dict, width: int, rng):
        """A right one; what lies behind the end is noise."""
        beats = []
        for at in range(0, len(frame), width):
            part = frame[at : at + width]
            data = part + rng.randbytes(width - len(part))
            beats.append((int.from_bytes(data, "little"), keep_of(len(part), width)))
        return cls(side, beats)

    def items(self, rng):
        """Beats for a StreamSource; the sideband counts with the first only."""
        for i, (data, keep) in enumerate(self.beats):
            user = pack_fields(SIDEBAND, **(self.side if i == 0 else any_sideband(rng)))
            yield {"data": data, "keep": keep, "last": int(i == len(self.beats) - 1), "user": user}

    def fitted(self, width: int):
        """(bytes of `length`, misfit within the window, misfit behind it) by docs/design/rmt.md."""
        said = self.side["length"]
        length = min(max(said, 1), LONGEST)
        out = bytearray(length)
        for i in range(min(length, said)):
            beat, lane = divmod(i, width)
            if beat < len(self.beats) and self.beats[beat][1] >> lane & 1:
                out[i] = self.beats[beat][0] >> 8 * lane & 0xFF
        count = -(-length // width)
        bad = None
        for b in range(count):
            there = b < len(self.beats)
            right = there and self.beats[b][1] == keep_of(said - b * width, width)
            right = right and (b == len(self.beats) - 1) == (b == count - 1)
            if not right or said != length:
                bad = b
                break
        return bytes(out), bad is not None and bad * width < WINDOW, bad is not None and bad * width >= WINDOW


def spoil(packet: Packet, width: int, rng) -> Packet:
    """The packet with a wrong length, a hole, or beats too few or too many."""
    kind = rng.randrange(5)
    side, beats = dict(packet.side), list(packet.beats)
    if kind == 0:
        side["length"] = rng.choice((0, 1, LONGEST + 1, 0x3FFF, max(0, side["length"] + rng.choice((-1, 1, -64, 64)))))
    elif kind == 1:
        at = rng.randrange(len(beats))
        beats[at] = (beats[at][0], beats[at][1] & ~(1 << rng.randrange(width)))
    elif kind == 2:
        beats = beats[: rng.randint(1, len(beats))]
    elif kind == 3:
        beats += [(rng.getrandbits(8 * width), rng.getrandbits(width)) for _ in range(rng.randint(1, 6))]
    else:
        side["length"] = rng.choice((rng.randint(1, 300), rng.randint(0, 0x3FFF)))
    return Packet(side, beats)


def any_length(rng) -> int:
    edges = (1, 14, 31, 32, 33, 60, 63, 64, 65, 96, 97, 127, 128, 129, 192, 193)
    return rng.choice((rng.choice(edges), rng.choice(edges), 64, rng.randint(14, 400), rng.randint(14, 1600)))
