"""Random PHVs, actions and packets that meet the corners often."""

from rmt.act.act_bench import Packet
from rmt.act.reference import ACCESS, BITS, METER, OLD, Action, Alu, Phv, Picks, State, WordWrite
from rmt.codes import AluA, AluB, AluOp, Cross, IndexSource, Relation, StateKind, StateOperand, When, WordSource

ALWAYS = When.ALWAYS
LAST = Cross.NUMBER  # source that is not zero


def any_value(rng, width: int) -> int:
    """Often a corner, or few bits."""
    ones = (1 << width) - 1
    kind = rng.random()
    if kind < 0.15:
        return rng.choice((0, 1, ones, ones - 1, 1 << width - 1))
    if kind < 0.3:
        return rng.getrandbits(4)
    return rng.getrandbits(width)


def any_mask(rng, width: int) -> int:
    kind = rng.random()
    if kind < 0.35:
        return (1 << width) - 1
    if kind < 0.45:
        return 0
    if kind < 0.7:
        low, high = sorted(rng.sample(range(width + 1), 2))
        return (1 << high) - (1 << low)
    return rng.getrandbits(width)


def any_phv(rng) -> Phv:
    c = [any_value(rng, width) for width in BITS]
    # Equal and neighbouring containers, for the comparisons.
    for first in (0, 8, 16):
        a, b = rng.sample(range(first, first + 8), 2)
        c[a] = (c[b] + rng.choice((-1, 0, 0, 1))) % (1 << BITS[b])
    words = [any_value(rng, 16) for _ in range(16)]
    return Phv(c, words, rng.choice((0, 1, 0xFFFF, rng.getrandbits(16))))


def any_state(rng) -> State:
    s = State(
        kind=rng.choice((StateKind.NONE, ACCESS, ACCESS, METER)), when=rng.choice((ALWAYS, ALWAYS, *When)),
        source=rng.randrange(len(IndexSource)),
        index_mask=rng.choice((0, 1, 3, 0x3F, 0xFC3, 0xFFF)), base=rng.choice((0, 1, 63, 0xFFF, rng.getrandbits(12))),
        relation=rng.randrange(len(Relation)), condition=rng.choice((*When, OLD, OLD, OLD, OLD)),
        o_source=rng.randrange(len(StateOperand)), o=any_value(rng, 32),
        t_source=rng.randrange(len(StateOperand)), t=any_value(rng, 32),
        f_source=rng.randrange(len(StateOperand)), f=any_value(rng, 32),
        t_old=rng.getrandbits(1), t_negate=rng.getrandbits(1), f_old=rng.getrandbits(1), f_negate=rng.getrandbits(1),
        old_to=rng.getrandbits(4), new_to=rng.getrandbits(4),
    )  # fmt: skip
    if s.kind == METER:
        # limit <= top < 2^31
        s.per_packet, s.shift = rng.getrandbits(1), rng.choice((8, rng.randrange(64)))
        s.f = rng.choice((rng.getrandbits(31), rng.getrandbits(12), 2**31 - 1))
        s.o = rng.randrange(s.f + 1)
        s.t = rng.choice((rng.getrandbits(32), rng.getrandbits(8), s.f - s.o))
    return s


def any_action(rng, owner: int, noise: bool = False) -> Action:
    """A random row; with `noise` every field has any bits, also such as mean nothing."""
    action = Action(owner=owner)
    action.picks = [
        Picks([rng.randrange(8) for _ in range(3)], [rng.randrange(8) for _ in range(2)], rng.randrange(width),
              any_mask(rng, width))
        for width in (16, 32, 48)
    ]  # fmt: skip
    action.cross_source = rng.choice(
        (rng.randrange(LAST + 1), rng.randrange(LAST + 1), Cross.HASH - 2, Cross.HASH - 1, Cross.HASH, LAST)
    )
    action.cross_shift = rng.randrange(3)
    action.cross_cut = rng.choice((0, 0, 1, 2))
    action.state = any_state(rng)
    action.alus = [
        Alu(rng.randrange(len(AluOp)), rng.randrange(len(AluA)), rng.randrange(len(AluB)), rng.choice((ALWAYS, *When)),
            any_value(rng, width), any_mask(rng, width))
        for width in BITS
    ]  # fmt: skip
    action.words = [
        WordWrite(rng.randrange(len(WordSource)), any_mask(rng, 16), any_value(rng, 16), rng.choice((ALWAYS, *When)))
        for _ in range(7)
    ]
    if noise:
        for alu, width in zip(action.alus, BITS, strict=True):
            alu.op, alu.b, alu.when = rng.getrandbits(4), rng.getrandbits(4), rng.getrandbits(3)
            alu.immediate, alu.mask = rng.getrandbits(width), rng.getrandbits(width)
        s = action.state
        s.o, s.t, s.f, s.shift = (rng.getrandbits(n) for n in (32, 32, 32, 6))
    return action


def any_packet(rng, owners: dict[int, int], data: list[int]) -> Packet:
    """Mostly of the module whose row it meets."""
    action = rng.choice(list(owners))
    module, system = owners[action], 0
    if module == 0:
        system = int(rng.random() < 0.8)
        module = rng.choice(list(owners.values()))
    elif rng.random() < 0.05:
        module = rng.choice(list(owners.values()))
        system = int(rng.random() < 0.3)
    return Packet(
        any_phv(rng), module, rng.getrandbits(1), rng.getrandbits(1), int(rng.random() < 0.05), system,
        int(rng.random() < 0.95), action, rng.getrandbits(11), rng.choice(data),
        [rng.getrandbits(1), rng.getrandbits(1)], rng.getrandbits(32),
    )  # fmt: skip
