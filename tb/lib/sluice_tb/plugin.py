"""A whole top through its plug-in (crates/rtlsim/cpp/sluice_rtl.h): frames in, events out, cycles in between in C++.

The tops are Verilated once, as plug-ins; benches of blocks use cocotb. The shim holds the top to the rules of
AXI-Stream on every cycle, and a failed assertion of the RTL ends the run with its message.
"""

import ctypes
import os
import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from .build import ROOT

ABI = 8
MESSAGE_BITS = 9
ARRIVED, LEFT, REPLY, EPOCH, PORT, MERGE, VERDICT, QUEUE, LEAVE = range(1, 10)
# Why a run ended.
CYCLES, FRAMES, REPLIES, QUIET, BUFFER, ERROR = (1 << i for i in range(6))
HEAD = struct.Struct("<BBHIQ")
OFFER = struct.Struct("<IBBHQ")
ALWAYS_READY = 256


class _Info(ctypes.Structure):
    _fields_ = [("abi", ctypes.c_uint32), ("flags", ctypes.c_uint32), ("config", ctypes.c_char_p)]


class _Layout(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_uint32)
        for name in (
            "bus_bytes", "ports", "destinations", "sideband_bits", "port_trace_bits", "merge_trace_bits",
            "verdict_trace_bits", "queue_trace_bits", "leave_trace_bits", "engines", "steps", "step_trace_bits",
            "input_user_bits",
        )
    ]  # fmt: skip


class _Until(ctypes.Structure):
    _fields_ = [
        ("max_cycles", ctypes.c_uint64), ("frames", ctypes.c_uint32), ("replies", ctypes.c_uint32),
        ("quiet_cycles", ctypes.c_uint32), ("event_bytes", ctypes.c_uint32),
    ]  # fmt: skip


@dataclass(frozen=True)
class Event:
    """One row of a trace, frame or message; `begin` is the tick of a frame's first beat."""

    kind: int
    source: int
    tick: int
    begin: int
    words: int
    data: bytes


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 8)


class PluginTop:
    """One top after its reset.

    config   name in tools/configs.toml; its plug-in is built by `make plugins`
    layout   widths, as `sluice_rtl_layout` has them; the shim refuses what does not fit the ports
    seed     initial values, padding, gaps and stalls
    on_event sees each event in order
    """

    def __init__(self, config: str, layout: dict[str, int], seed: int, on_event: Callable[[Event], None]):
        folder = Path(os.environ.get("SLUICE_PLUGIN_DIR", ROOT / "build" / "plugins"))
        path = folder / f"libsluice_rtl_{config}.so"
        if not path.exists():
            raise FileNotFoundError(f"{path} is not there; `make plugins` builds it")
        self._c, self._on_event = _library(path), on_event
        # The last destination of a NIC has a message's queue above the sideband, and a bit that says whether it is one.
        is_nic = layout.get("input_user_bits", 0) == 0
        self._user_words = -(-(layout["sideband_bits"] + (MESSAGE_BITS if is_nic else 0)) // 32)
        error = ctypes.create_string_buffer(512)
        self._nic = self._c.sluice_rtl_open(ctypes.byref(_Layout(**layout)), seed, error, len(error))
        if not self._nic:
            raise RuntimeError(f"{config}: {error.value.decode()}")

    def close(self) -> None:
        if self._nic:
            self._c.sluice_rtl_close(self._nic)
            self._nic = None

    def now(self) -> int:
        """Tick of the cycle that comes next."""
        return self._c.sluice_rtl_now(self._nic)

    def reset(self) -> None:
        """Holds reset for some cycles; frames and messages that wait or are half in or out are gone."""
        if self._c.sluice_rtl_reset(self._nic):
            self._fail()

    def offer(self, port: int, frame: bytes, user: Sequence[int] = ()) -> None:
        """Queues a frame; `user` is its sideband, for tops that take one."""
        data = b"".join(word.to_bytes(4, "little") for word in user) + frame
        buffer = OFFER.pack(len(data), port, 0, 0, 0) + _padded(data)
        if self._c.sluice_rtl_offer_frames(self._nic, buffer, len(buffer)):
            raise ValueError(f"port {port}: a frame of {len(frame)} bytes with {len(user)} words beside it is refused")

    def send(self, words: Sequence[int]) -> None:
        """Queues a message for the configuration ring."""
        self._c.sluice_rtl_send(self._nic, (ctypes.c_uint32 * len(words))(*words), len(words), 1)

    def set_ready(self, destinations: Iterable[int], chance: int = ALWAYS_READY, burst: int = 0) -> None:
        """Chance in 256ths that a destination is ready; with `burst` above 1 in runs of up to that many cycles."""
        for destination in destinations:
            if self._c.sluice_rtl_set_ready(self._nic, destination, chance, burst):
                raise ValueError(f"there is no destination {destination}")

    def set_gaps(self, ports: Iterable[int], chance: int) -> None:
        """Chance in 256ths of a gap before each beat."""
        for port in ports:
            if self._c.sluice_rtl_set_gaps(self._nic, port, chance):
                raise ValueError(f"port {port}: chance {chance}, 0 to 255 on a port that exists are allowed")

    def run(self, cycles: int, replies: int = 0, quiet: int = 0) -> int:
        """Runs that many cycles at most; hands out the events; returns why it ended."""
        until = _Until(cycles, 0, replies, quiet, 0)
        why = self._c.sluice_rtl_run(self._nic, ctypes.byref(until))
        self._hand_out()
        if why & ERROR:
            self._fail()
        return why

    def _fail(self) -> None:
        raise AssertionError(self._c.sluice_rtl_error_text(self._nic).decode(errors="replace"))

    def _hand_out(self) -> None:
        pointer = ctypes.c_void_p()
        size = self._c.sluice_rtl_take_events(self._nic, ctypes.byref(pointer))
        events = ctypes.string_at(pointer, size) if size else b""
        at = 0
        while at < size:
            kind, source, _, length, tick = HEAD.unpack_from(events, at)
            payload = events[at + HEAD.size : at + HEAD.size + length]
            at += HEAD.size + (length + 7) // 8 * 8
            begin, words, data = 0, 0, payload
            if kind == LEFT:
                begin = int.from_bytes(payload[:8], "little")
                end = 8 + 4 * self._user_words
                words, data = int.from_bytes(payload[8:end], "little"), payload[end:]
            elif kind == ARRIVED:
                begin = int.from_bytes(payload[:8], "little")
            else:
                words = int.from_bytes(payload, "little")
            self._on_event(Event(kind, source, tick, begin, words, data))


def _library(path: Path) -> ctypes.CDLL:
    library = ctypes.CDLL(str(path))
    library.sluice_rtl_info_get.restype = ctypes.POINTER(_Info)
    found = library.sluice_rtl_info_get().contents.abi
    if found != ABI:
        raise RuntimeError(f"{path} has interface {found}, expected {ABI}; `make plugins` builds it anew")
    handle = ctypes.c_void_p
    library.sluice_rtl_open.restype = handle
    library.sluice_rtl_open.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_char_p, ctypes.c_size_t]
    for name, result, arguments in (
        ("close", None, []),
        ("reset", ctypes.c_int, []),
        ("now", ctypes.c_uint64, []),
        ("error_text", ctypes.c_char_p, []),
        ("offer_frames", ctypes.c_int, [ctypes.c_char_p, ctypes.c_size_t]),
        ("send", None, [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]),
        ("set_ready", ctypes.c_int, [ctypes.c_uint32] * 3),
        ("set_gaps", ctypes.c_int, [ctypes.c_uint32] * 2),
        ("run", ctypes.c_uint32, [ctypes.c_void_p]),
        ("take_events", ctypes.c_size_t, [ctypes.c_void_p]),
    ):
        function = getattr(library, f"sluice_rtl_{name}")
        function.restype, function.argtypes = result, [handle, *arguments]
    return library
