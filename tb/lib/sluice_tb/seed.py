"""One seed for a whole run, from SLUICE_SEED (a number, or `random` to draw one); one generator per use."""

import os
import random

SEED_BITS = 31
# Without SLUICE_SEED every run is the same (docs/decisions/seeds.md).
USUAL_SEED = 1


def base_seed() -> int:
    """The seed of this run. Drawn once, then in the environment, so that simulators inherit it."""
    text = os.environ.get("SLUICE_SEED", str(USUAL_SEED))
    if text == "random":
        text = str(random.SystemRandom().getrandbits(SEED_BITS))
    os.environ["SLUICE_SEED"] = text
    try:
        seed = int(text, 0)
    except ValueError:
        seed = -1
    if not 0 <= seed < 2**SEED_BITS:
        raise ValueError(f"SLUICE_SEED is {text!r}, expected `random` or a number from 0 to {2**SEED_BITS - 1}")
    return seed


def bench_rng(name: str) -> random.Random:
    """A generator that depends on the run's seed and this name only, not on who drew before."""
    return random.Random(f"{base_seed()}/{name}")
