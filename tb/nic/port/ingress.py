"""Ingress of a port as docs/design/nic.md has it, frame by frame, in plain Python."""

from dataclasses import dataclass, field

from nic.codes import Reason

OVERLOAD, UNMAPPED, RUNT = Reason.OVERLOAD, Reason.UNMAPPED, Reason.RUNT
GIANT, BAD_FRAME, DOUBLE_TAG = Reason.GIANT, Reason.BAD_FRAME, Reason.DOUBLE_TAG
OVER_SHARE = Reason.OVER_SHARE
DROPS_PER_MODULE = 8


@dataclass
class Policy:
    untagged_valid: int = 0
    untagged_module: int = 0
    untagged_tenant: int = 0
    drop_double_tag: int = 0
    min_frame: int = 0
    max_frame: int = 0


@dataclass
class Row:
    valid: int = 0
    keep_tag: int = 0
    module_id: int = 0
    tenant: int = 0


@dataclass
class Share:
    """GCRA in cost beats; times in 2^-16 ticks."""

    ticks_per_beat: int = 0
    burst: int = 0
    growth: int = 0
    tat: int = 0

    def cost(self, length: int, width: int) -> int:
        return -(-min(length + self.growth, 9216) // width)

    def is_beyond(self, cost: int, now: int) -> bool:
        """Charges a packet that conforms."""
        if not self.ticks_per_beat:
            return False
        after = max(self.tat, now << 16) + cost * self.ticks_per_beat
        beyond = after - (now << 16) > self.burst << 16
        if not beyond:
            self.tat = after
        return beyond


@dataclass
class Verdict:
    """What has to happen to a frame; `reason` is None when it is stored if there is room."""

    reason: int | None
    owner: int
    length: int
    stored: bytes = b""
    desc: dict = field(default_factory=dict)


def ethertype(frame: bytes, at: int) -> int | None:
    return int.from_bytes(frame[at : at + 2], "big") if len(frame) >= at + 2 else None


class Ingress:
    def __init__(self, port: int, modules: int):
        self.port, self.modules = port, modules
        self.policy = Policy()
        self.vlan: dict[int, Row] = {}
        self.frames = 0

    def arrive(self, frame: bytes, bad: bool) -> Verdict:
        policy, size = self.policy, len(frame)
        tagged = size >= 16 and ethertype(frame, 12) == 0x8100
        tci = int.from_bytes(frame[14:16], "big") if tagged else 0
        if tagged:
            row = self.vlan.get(tci & 0xFFF, Row())
        else:
            row = Row(policy.untagged_valid, 0, policy.untagged_module, policy.untagged_tenant)
        valid = row.valid and row.module_id < self.modules
        reason = None
        if bad:
            reason = BAD_FRAME
        elif size < max(14, policy.min_frame):
            reason = RUNT
        elif size > min(9216, policy.max_frame):
            reason = GIANT
        elif not valid:
            reason = UNMAPPED
        elif policy.drop_double_tag and tagged and ethertype(frame, 16) in (0x8100, 0x88A8):
            reason = DOUBLE_TAG
        off = tagged and not row.keep_tag
        stored = frame[:12] + frame[16:] if off else frame
        desc = {
            "id": self.port << 28 | self.frames % 2**28,
            "module_id": row.module_id,
            "tenant": row.tenant,
            "tci": tci,
            "tag_off": int(off),
            "length": len(stored) % 2**14,
        }
        self.frames += 1
        return Verdict(reason, row.module_id if valid else 0, min(size, 65535), stored, desc)
