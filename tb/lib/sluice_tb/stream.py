"""Valid/ready streams: a source and a sink with stalls, a monitor that checks the handshake.

After `await RisingEdge(clk)` a read gives the value just before the edge, which is what the
flip-flops see, and a write takes effect just after it.

Payload is one handle (items are integers) or a dict of handles (items are dicts).
"""

from collections import deque
from collections.abc import Iterable, Iterator

import cocotb
from cocotb.triggers import RisingEdge

from .stalls import never


class _Payload:
    """Reads and writes a payload of either shape."""

    def __init__(self, data):
        self.is_dict = isinstance(data, dict)
        self.handles = data if self.is_dict else {"data": data}

    def read(self):
        values = {name: int(handle.value) for name, handle in self.handles.items()}
        return values if self.is_dict else values["data"]

    def write(self, item) -> None:
        fields = item if self.is_dict else {"data": item}
        if fields.keys() != self.handles.keys():
            raise ValueError(f"item has fields {sorted(fields)}, the stream has {sorted(self.handles)}")
        for name, value in fields.items():
            self.handles[name].value = value


class StreamSource:
    """Drives valid and payload; once valid, holds both until ready, whatever the stalls say."""

    def __init__(self, clk, *, valid, ready, data, stalls: Iterator[bool] | None = None):
        self._clk, self._valid, self._ready, self._payload = clk, valid, ready, _Payload(data)
        self.stalls = stalls or never()
        self._queue = deque()
        self._offered = False
        self.sent = 0
        valid.value = 0
        cocotb.start_soon(self._run())

    def send(self, item) -> None:
        """Queues one item."""
        self._queue.append(item)

    def send_all(self, items: Iterable) -> None:
        """Queues all items."""
        self._queue.extend(items)

    async def drain(self) -> None:
        """Waits until everything queued has been taken."""
        while self._queue or self._offered:
            await RisingEdge(self._clk)

    async def _run(self) -> None:
        while True:
            await RisingEdge(self._clk)
            if self._offered and int(self._ready.value):
                self._offered = False
                self.sent += 1
                self._valid.value = 0
            stalled = next(self.stalls)
            if not self._offered and self._queue and not stalled:
                self._payload.write(self._queue.popleft())
                self._valid.value = 1
                self._offered = True


class StreamMonitor:
    """Collects what passes, with the cycle; fails when valid or payload give way before ready.

    With `reset` (the rst_ni handle) it ignores the cycles in which reset is low.
    """

    def __init__(self, clk, *, valid, ready, data, reset=None, name: str = "stream"):
        self._clk, self._valid, self._ready, self._payload = clk, valid, ready, _Payload(data)
        self._reset = reset
        self.name = name
        self.items = []
        self.cycles = []
        self.cycle = 0
        cocotb.start_soon(self._watch())

    async def wait_for(self, count: int) -> list:
        """Waits until `count` items have passed in total, and returns all."""
        while len(self.items) < count:
            await RisingEdge(self._clk)
        return self.items

    async def _watch(self) -> None:
        pending = None
        while True:
            await RisingEdge(self._clk)
            self.cycle += 1
            if self._reset is not None and not int(self._reset.value):
                pending = None
                continue
            valid, ready = int(self._valid.value), int(self._ready.value)
            if pending is not None:
                assert valid, f"{self.name}: valid fell before ready (cycle {self.cycle})"
            if not valid:
                continue
            item = self._payload.read()
            if pending is not None:
                assert item == pending[0], f"{self.name}: payload changed before ready: {pending[0]} -> {item}"
            if ready:
                self.items.append(item)
                self.cycles.append(self.cycle)
                pending = None
            else:
                pending = (item,)


class StreamSink(StreamMonitor):
    """A monitor that also drives ready, without looking at valid."""

    def __init__(self, clk, *, valid, ready, data, stalls: Iterator[bool] | None = None, **monitor):
        self.stalls = stalls or never()
        ready.value = 0
        super().__init__(clk, valid=valid, ready=ready, data=data, **monitor)
        cocotb.start_soon(self._drive())

    async def _drive(self) -> None:
        while True:
            await RisingEdge(self._clk)
            self._ready.value = int(not next(self.stalls))
