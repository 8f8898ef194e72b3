"""Stall generators: endless iterators that say, cycle by cycle, whether a side holds still.

The same ones serve our streams and the pause generators of cocotbext-axi.
"""

import itertools
import random
from collections.abc import Iterable, Iterator


def never() -> Iterator[bool]:
    """Full rate."""
    return itertools.repeat(False)


def always() -> Iterator[bool]:
    """Blocked for good."""
    return itertools.repeat(True)


def pattern(bits: Iterable[bool]) -> Iterator[bool]:
    """The given cycles over and over."""
    return itertools.cycle([bool(bit) for bit in bits])


def random_stalls(rng: random.Random, probability: float) -> Iterator[bool]:
    """Each cycle on its own."""
    while True:
        yield rng.random() < probability


def burst_stalls(rng: random.Random, longest: int = 20) -> Iterator[bool]:
    """Stretches of stall and of full rate in turn, each of 1 to `longest` cycles.

    Fills and empties a queue, which independent cycles hardly ever do.
    """
    while True:
        yield from itertools.repeat(True, rng.randint(1, longest))
        yield from itertools.repeat(False, rng.randint(1, longest))
