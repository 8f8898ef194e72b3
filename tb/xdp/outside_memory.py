"""External memory at the port: late, in any order, with errors or no answers. It checks the rules of AXI4."""

BEAT = 16
MASTER = [
    ("aw_valid", 1), ("aw_id", 6), ("aw_addr", 32), ("aw_len", 8), ("w_valid", 1), ("w_data", 128), ("w_strb", 16),
    ("w_last", 1), ("b_ready", 1), ("ar_valid", 1), ("ar_id", 6), ("ar_addr", 32), ("ar_len", 8), ("r_ready", 1),
]  # fmt: skip
SLAVE = [
    ("aw_ready", 1), ("w_ready", 1), ("b_valid", 1), ("b_id", 6), ("b_resp", 2), ("ar_ready", 1), ("r_valid", 1),
    ("r_id", 6), ("r_data", 128), ("r_resp", 2),
]  # fmt: skip


def packed(layout, fields):
    """A packed struct, its first field highest."""
    value = 0
    for name, width in layout:
        value = value << width | fields.get(name, 0)
    return value


def unpacked(layout, value):
    fields = {}
    for name, width in reversed(layout):
        fields[name] = value & ((1 << width) - 1)
        value >>= width
    return fields


class Memory:
    """External memory at the port: noise until it is written."""

    def __init__(self, rng, size):
        self.rng = rng
        self.bytes = bytearray(rng.randbytes(size))
        self.reads, self.writes, self.asked, self.beats, self.bursts = [], [], [], [], []
        self.reading = self.answering = None
        self.pace, self.read_errors, self.write_errors = (1, 10, 1.0), 0.0, 0.0
        # How often a read or a write is not answered until `release`; channels that take nothing.
        self.lost_reads, self.lost_writes, self.deaf = 0.0, 0.0, set()
        self.now, self.held, self.read_lines = 0, {}, 0

    def due(self):
        return self.now + self.rng.randint(self.pace[0], self.pace[1])

    def choose(self, queue):
        """One whose time has come, the first of its ID."""
        first = {}
        for entry in queue:
            first.setdefault(entry["id"], entry)
        can = [entry for entry in first.values() if entry["due"] <= self.now and entry["beat"] != entry["lost"]]
        return self.rng.choice(can) if can else None

    def lost(self, chance, beats):
        """The beat from which on nothing comes, if it is lost."""
        return self.rng.randrange(beats) if self.rng.random() < chance else None

    def release(self):
        """All that was not answered is."""
        self.lost_reads, self.lost_writes, self.deaf = 0.0, 0.0, set()
        for entry in self.reads + self.writes:
            entry["lost"] = None

    def owes(self, queue, age, **fields):
        """Whether one of these has had no answer for so long."""
        return any(self.now - entry["since"] >= age and fields.items() <= entry.items() for entry in queue)

    def drive(self):
        names = [name for name in ("aw_ready", "w_ready", "ar_ready") if name not in self.deaf]
        self.ready = dict.fromkeys(("aw_ready", "w_ready", "ar_ready"), 0)
        self.ready |= {name: int(self.rng.random() < self.pace[2]) for name in names}
        ready = dict(self.ready)
        self.reading = self.reading or self.choose(self.reads)
        self.answering = self.answering or self.choose(self.writes)
        if self.reading is not None:
            read = self.reading
            if read["data"] is None:
                read["data"] = bytes(self.bytes[read["addr"] : read["addr"] + 4 * BEAT])
            data = int.from_bytes(read["data"][BEAT * read["beat"] : BEAT * (read["beat"] + 1)], "little")
            data ^= read["noise"]
            ready |= {"r_valid": 1, "r_id": read["id"], "r_data": data, "r_resp": 2 * read["bad"]}
        if self.answering is not None:
            ready |= {"b_valid": 1, "b_id": self.answering["id"], "b_resp": 2 * self.answering["bad"]}
        return packed(SLAVE, ready)

    def holds(self, channel, valid, ready, fields):
        """What was offered and not taken is offered again."""
        if channel in self.held:
            assert valid and fields == self.held[channel], (channel, fields, self.held[channel])
        self.held.pop(channel, None)
        if valid and not ready:
            self.held[channel] = fields
        return valid and ready

    def sample(self, master):
        self.now += 1
        if self.reading is not None and master["r_ready"]:
            self.reading["beat"] += 1
            if self.reading["beat"] == 4:
                self.reads.remove(self.reading)
            self.reading = None
        if self.answering is not None and master["b_ready"]:
            write = self.answering
            for beat, (data, strobes) in enumerate(write["beats"]):
                for byte in range(BEAT):
                    if strobes >> byte & 1 and not (write["bad"] and self.rng.random() < 0.5):
                        self.bytes[write["addr"] + BEAT * beat + byte] = data >> 8 * byte & 0xFF
            self.writes.remove(write)
            self.answering = None
        for name in ("aw", "ar"):
            fields = {part: master[f"{name}_{part}"] for part in ("id", "addr", "len")}
            taken = self.holds(name, master[f"{name}_valid"], self.ready[f"{name}_ready"], fields)
            if taken:
                last = fields["addr"] + BEAT * (fields["len"] + 1) - 1
                assert fields["addr"] % BEAT == 0 and fields["addr"] // 4096 == last // 4096, fields
            if taken and name == "ar":
                assert fields["len"] == 3 and fields["addr"] % 64 == 0
                self.read_lines += 1
                bad = self.rng.random() < self.read_errors
                early = bytes(self.bytes[fields["addr"] : fields["addr"] + 4 * BEAT])
                self.reads.append({
                    **fields, "due": self.due(), "beat": 0, "bad": bad, "since": self.now,
                    "lost": self.lost(self.lost_reads, 4),
                    "noise": self.rng.getrandbits(128) if bad else 0,
                    "data": early if self.rng.random() < 0.5 else None,
                })  # fmt: skip
            elif taken:
                self.asked.append(fields)
        fields = {part: master[f"w_{part}"] for part in ("data", "strb", "last")}
        if self.holds("w", master["w_valid"], self.ready["w_ready"], fields):
            self.beats.append((fields["data"], fields["strb"]))
            if fields["last"]:
                self.bursts.append(self.beats)
                self.beats = []
        while self.asked and self.bursts:
            asked, beats = self.asked.pop(0), self.bursts.pop(0)
            assert len(beats) == asked["len"] + 1
            bad = self.rng.random() < self.write_errors
            lost = self.lost(self.lost_writes, 1)
            entry = {"due": self.due(), "beat": 0, "beats": beats, "bad": bad, "since": self.now, "lost": lost}
            self.writes.append(asked | entry)
