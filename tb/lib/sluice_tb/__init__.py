"""What every bench needs, once: build and run, clock and reset, streams with stalls, seeds."""

from .axis import axis_monitor, axis_sink, axis_source
from .clocking import cycles, start
from .runner import run_bench
from .seed import base_seed, bench_rng
from .sizes import DEFAULT, TINY
from .stalls import always, burst_stalls, never, pattern, random_stalls
from .stream import StreamMonitor, StreamSink, StreamSource

__all__ = [
    "DEFAULT",
    "StreamMonitor",
    "StreamSink",
    "StreamSource",
    "TINY",
    "always",
    "axis_monitor",
    "axis_sink",
    "axis_source",
    "base_seed",
    "bench_rng",
    "burst_stalls",
    "cycles",
    "never",
    "pattern",
    "random_stalls",
    "run_bench",
    "start",
]
