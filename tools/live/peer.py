"""Jobs inside a namespace: traffic and its echo, and what this kernel may not have as devices.

Jobs that end print one JSON document; those that go on print `ready`, and end with their input.
"""

import array
import collections
import fcntl
import hashlib
import json
import os
import random
import select
import socket
import statistics
import struct
import sys
import threading
import time

TIMEOUT = 10.0
CHUNK = 65536
# Of linux/ethtool.h: generic segmentation, TCP segmentation, merging on receipt, checksums on sending.
SIOCETHTOOL = 0x8946
OFFLOADS = {"tso": 0x1F, "gso": 0x24, "gro": 0x2C, "tx": 0x17}
# Of linux/if_packet.h and linux/if_tun.h.
SOL_PACKET, PACKET_AUXDATA, PACKET_IGNORE_OUTGOING = 263, 8, 23
# Of asm/socket.h.
SO_RCVBUFFORCE = 33
TP_STATUS_VLAN_VALID = 1 << 4
ETH_P_ALL, VLAN = 3, 0x8100
TUNSETIFF, IFF_TUN, IFF_TAP, IFF_NO_PI = 0x400454CA, 1, 2, 0x1000
# Datagrams on their way at one time.
WINDOW = 32


def ready() -> None:
    print("ready", flush=True)


def family_of(host: str) -> int:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def offloads(device: str) -> None:
    """Switches off what merges frames or leaves checksums to hardware that a veth pair does not have."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        for command in OFFLOADS.values():
            value = array.array("I", [command, 0])
            request = struct.pack("16sP", device.encode(), value.buffer_info()[0])
            fcntl.ioctl(control, SIOCETHTOOL, request)
    print("{}")


def inject(device: str, count: str, pause: str = "0") -> None:
    """Sends frames that the machine's own stack might send: to all, of an EtherType for experiments. With so many
    seconds between them."""
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as wire:
        wire.bind((device, 0))
        for number in range(int(count)):
            wire.send(b"\xff" * 6 + wire.getsockname()[4] + b"\x88\xb5" + struct.pack("!I", number).ljust(46, b"\0"))
            time.sleep(float(pause))
    print(json.dumps({"sent": int(count)}))


def checksum(data: bytes) -> int:
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ping(host: str, count: str, timed: str = "") -> None:
    """Echo requests of different lengths; how many replies came to each, and with which time to live. If `timed`, also
    how long they took."""
    version6 = family_of(host) == socket.AF_INET6
    request, reply = (128, 129) if version6 else (8, 0)
    kind = (socket.AF_INET6, socket.IPPROTO_ICMPV6) if version6 else (socket.AF_INET, socket.IPPROTO_ICMP)
    mark = os.getpid() & 0xFFFF
    replies, ttls, wrong, spans = [0] * int(count), set(), 0, []
    with socket.socket(kind[0], socket.SOCK_RAW, kind[1]) as raw:
        if version6:
            raw.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVHOPLIMIT, 1)

        def take(until: float, done) -> None:
            nonlocal wrong
            while not done() and (left := until - time.monotonic()) > 0:
                if not select.select([raw], [], [], left)[0]:
                    return
                data, extra, _, source = raw.recvmsg(CHUNK, 64)
                if not version6:
                    ttl, data = data[8], data[(data[0] & 15) * 4 :]
                else:
                    ttl = next((struct.unpack("i", d)[0] for _, t, d in extra if t == socket.IPV6_HOPLIMIT), None)
                if data[0] != reply or struct.unpack_from("!H", data, 4)[0] != mark:
                    continue
                number = struct.unpack_from("!H", data, 6)[0]
                wrong += data[8:] != payload(number) or source[0] != host
                replies[number] += 1
                ttls.add(ttl)

        def payload(number: int) -> bytes:
            return random.Random(number).randbytes(16 + number * 64 % 1200)

        for number in range(int(count)):
            header = struct.pack("!BBHHH", request, 0, 0, mark, number)
            packet = header + payload(number)
            if not version6:
                packet = header[:2] + struct.pack("!H", checksum(packet)) + packet[4:]
            begin = time.monotonic()
            raw.sendto(packet, (host, 0))
            # The first one waits for addresses to be resolved.
            take(time.monotonic() + (1.5 if number == 0 else 0.5), lambda n=number: replies[n] > 0)
            spans.append(1e3 * (time.monotonic() - begin))
            if number == 0 and not replies[0]:
                break
        # What is seen twice comes late.
        take(time.monotonic() + 0.2, lambda: False)
    result = {"sent": number + 1, "replies": sum(n > 0 for n in replies), "twice": sum(n > 1 for n in replies)}
    result |= {"wrong": wrong, "ttls": sorted(ttls)}
    # The first one has waited for addresses.
    times = {"median_ms": statistics.median(spans[1:]), "longest_ms": max(spans[1:])} if timed else {}
    print(json.dumps(result | times))


def tcp(host: str, port: str, size: str, connections: str = "1") -> None:
    """Sends random bytes over each connection and takes back its echo; whether it is the same."""
    sent = received = same = 0
    for number in range(int(connections)):
        data = random.Random(number).randbytes(int(size))
        with socket.create_connection((host, int(port)), TIMEOUT) as connection:

            def send(connection=connection, data=data) -> None:
                connection.sendall(data)
                connection.shutdown(socket.SHUT_WR)

            sender = threading.Thread(target=send)
            sender.start()
            hashed, back = hashlib.sha256(), 0
            while part := connection.recv(CHUNK):
                hashed.update(part)
                back += len(part)
            sender.join()
        sent, received = sent + len(data), received + back
        same += hashed.digest() == hashlib.sha256(data).digest()
    print(json.dumps({"sent": sent, "received": received, "same": same}))


def udp(host: str, port: str, count: str, longest: str = "1200") -> None:
    """Datagrams of all lengths; how many came back once, more than once, or other than they went."""
    replies, wrong, octets = [0] * int(count), 0, 0

    def payload(number: int) -> bytes:
        length = number * 37 % (int(longest) - 4)
        return struct.pack("!I", number) + random.Random(number).randbytes(length)

    with socket.socket(family_of(host), socket.SOCK_DGRAM) as datagrams:
        datagrams.connect((host, int(port)))
        datagrams.settimeout(1.0)
        sent = 0

        def take() -> None:
            nonlocal wrong, octets
            data = datagrams.recv(CHUNK)
            octets += len(data)
            number = struct.unpack_from("!I", data)[0] if len(data) >= 4 else int(count)
            if number < int(count) and data == payload(number):
                replies[number] += 1
            else:
                wrong += 1

        try:
            while sent < int(count) or sum(replies) < sent:
                while sent < int(count) and sent - sum(replies) < WINDOW:
                    datagrams.send(payload(sent))
                    sent += 1
                take()
            datagrams.settimeout(0.2)
            take()
        except TimeoutError:
            pass
    expected = sum(len(payload(number)) for number in range(int(count)))
    result = {"sent": sent, "replies": sum(n > 0 for n in replies), "twice": sum(n > 1 for n in replies)}
    print(json.dumps(result | {"wrong": wrong, "sent_bytes": expected, "received_bytes": octets}))


def echo(port: str, *hosts: str) -> None:
    """Gives TCP connections and datagrams back what they send."""

    def answer(connection: socket.socket) -> None:
        with connection:
            connection.settimeout(TIMEOUT)
            while part := connection.recv(CHUNK):
                connection.sendall(part)

    def accept(listener: socket.socket) -> None:
        while True:
            threading.Thread(target=answer, args=(listener.accept()[0],), daemon=True).start()

    def repeat(datagrams: socket.socket) -> None:
        while True:
            data, client = datagrams.recvfrom(CHUNK)
            datagrams.sendto(data, client)

    for host in hosts:
        listener = socket.create_server((host, int(port)), family=family_of(host))
        datagrams = socket.socket(family_of(host), socket.SOCK_DGRAM)
        datagrams.bind((host, int(port)))
        threading.Thread(target=accept, args=(listener,), daemon=True).start()
        threading.Thread(target=repeat, args=(datagrams,), daemon=True).start()
    ready()
    sys.stdin.read()


def open_tun(name: str, mode: int) -> int:
    """A TUN or TAP device in the hands of this process."""
    device = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", name.encode(), mode | IFF_NO_PI))
    return device


def decapsulate(name: str) -> None:
    """The end of IP-in-IP tunnels of both families: what they carry comes out of a TUN device. At the end it reports
    the packets by the outer header's family."""
    device = open_tun(name, IFF_TUN)
    count = {"4": 0, "6": 0}
    tunnels = []
    for family, word in ((socket.AF_INET, "4"), (socket.AF_INET6, "6")):
        for protocol in (socket.IPPROTO_IPIP, socket.IPPROTO_IPV6):
            tunnels.append((socket.socket(family, socket.SOCK_RAW, protocol), word))
    ready()
    while True:
        for at in select.select([t[0] for t in tunnels] + [sys.stdin], [], [])[0]:
            if at is sys.stdin:
                # A line asks for the count, the end of the input ends it.
                if not sys.stdin.readline():
                    return
                print(json.dumps(count), flush=True)
                continue
            word = next(w for t, w in tunnels if t is at)
            packet = at.recv(CHUNK)
            # A raw socket of IPv4 gives the outer header too.
            inner = packet[(packet[0] & 15) * 4 :] if word == "4" else packet
            count[word] += 1
            os.write(device, inner)


def vlan(lower: str, name: str, number: str) -> None:
    """A VLAN of a device, as a TAP device: its frames are tagged below."""
    device = open_tun(name, IFF_TAP)
    wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    wire.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
    wire.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
    wire.bind((lower, ETH_P_ALL))
    mine = struct.pack("!HH", VLAN, int(number))
    ready()
    while True:
        at = select.select([device, wire, sys.stdin], [], [])[0]
        if sys.stdin in at:
            return
        if device in at:
            frame = os.read(device, CHUNK)
            try:
                wire.send(frame[:12] + mine + frame[12:])
            except OSError:
                # The device below is down.
                pass
        if wire in at:
            frame, extra, _, _ = wire.recvmsg(CHUNK, 64)
            for _, kind, data in extra:
                # status, len, snaplen, mac, net, vlan_tci, vlan_tpid
                status, *_, tci, tpid = struct.unpack("IIIHHHH", data)
                if kind == PACKET_AUXDATA and status & TP_STATUS_VLAN_VALID:
                    frame = frame[:12] + struct.pack("!HH", tpid or VLAN, tci) + frame[12:]
            if frame[12:16] == mine:
                os.write(device, frame[:12] + frame[16:])


def delay(lower: str, name: str, milliseconds: str) -> None:
    """A TAP device behind another one: what comes from there is held for so long."""
    device = open_tun(name, IFF_TAP)
    wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    wire.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
    wire.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 24)
    wire.bind((lower, ETH_P_ALL))
    ready()
    held = collections.deque()
    while True:
        wait = max(0.0, held[0][0] - time.monotonic()) if held else None
        at = select.select([device, wire, sys.stdin], [], [], wait)[0]
        if sys.stdin in at:
            return
        if device in at:
            wire.send(os.read(device, CHUNK))
        if wire in at:
            held.append((time.monotonic() + int(milliseconds) / 1000, wire.recv(CHUNK)))
        while held and held[0][0] <= time.monotonic():
            os.write(device, held.popleft()[1])


def sink(host: str, port: str, seconds: str) -> None:
    """Takes TCP connections, one after the other, and tells each at its end the bytes that came within so many
    seconds from its first one on."""
    listener = socket.create_server((host, int(port)))
    ready()

    def serve() -> None:
        while True:
            connection = listener.accept()[0]
            count, end = 0, None
            with connection:
                while part := connection.recv(CHUNK):
                    end = end or time.monotonic() + float(seconds)
                    count += len(part) if time.monotonic() < end else 0
                connection.sendall(str(count).encode())

    threading.Thread(target=serve, daemon=True).start()
    sys.stdin.read()


def stream(host: str, port: str, seconds: str, congestion: str) -> None:
    """Sends to `sink` for so many seconds and a little longer; the bytes that came there, and what was sent again."""
    with socket.socket() as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion.encode())
        connection.settimeout(TIMEOUT)
        connection.connect((host, int(port)))
        end = time.monotonic() + float(seconds) + 0.5
        while time.monotonic() < end:
            connection.sendall(bytes(CHUNK))
        # tcpi_total_retrans of linux/tcp.h.
        again = struct.unpack_from("I", connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104), 100)[0]
        connection.shutdown(socket.SHUT_WR)
        connection.settimeout(60)
        print(json.dumps({"bytes": int(connection.recv(CHUNK)), "again": again}))


JOBS = {job.__name__: job for job in (offloads, inject, ping, tcp, udp, echo, decapsulate, vlan, delay, sink, stream)}

if __name__ == "__main__":
    # SIGKILL with the parent is set by who starts it; it outlives no test.
    JOBS[sys.argv[1]](*sys.argv[2:])
