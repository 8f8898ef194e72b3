"""A hand-made program for the pipeline, what it makes of a packet, and the ring that brings it in."""

from dataclasses import dataclass

from nic.codes import Op, Status
from nic.nic_bench import crc32c
from rmt.codes import AluOp, LaneSize, Relation
from rmt.rows import row, words_of_layout
from sluice_tb.plugin import REPLIES, PluginTop

SYSTEM, STAMP, PARSER, DEPARSER, STAGE0 = 0, 1, 5, 6, 32
READ, WRITE = Op.READ, Op.WRITE
OK, BUSY = Status.OK, Status.BUSY
OTHER_LANE = row("rmt_lane", size=LaneSize.PACKET)
C6 = 16


@dataclass(frozen=True)
class Program:
    """Changes the destination MAC, sends to `destinations` or a group, puts 4 bytes behind the MACs if `tag` is given.

    Only IPv4 is let through.
    """

    module: int
    generation: int = 0
    flip: int = 0
    destinations: int = 0xFF
    queue: int = 0
    group: int = 0
    tag: int | None = None
    action: int = 1

    def rows(self, stages: int, beats: int):
        """(node, table, index, layout, row) of everything that the program needs."""
        at = 2 * self.module + self.generation
        any_bytes = row("rmt_alternative", valid=1, to=0)
        yield PARSER, 0, at, "rmt_select_row", row("rmt_select_row", valid=1, alternatives=[any_bytes] + [0] * 7)
        ipv4 = row("rmt_alternative", valid=1, value=0x0008, mask=0xFFFF, to=5)
        select = row("rmt_select_row", valid=1, offsets=[12, 13] + [0] * 6, alternatives=[0, ipv4] + [0] * 6)
        yield PARSER, 1, 4 * at, "rmt_select_row", select
        extract = [0] * 24
        extract[C6], extract[C6 + 1] = row("rmt_extract", taken=1), row("rmt_extract", taken=1, offset=6)
        yield PARSER, 2, 16 * at + 5, "rmt_path_row", row("rmt_path_row", extract=extract, headers=1, least=14)
        never = row("rmt_predicate", op=Relation.NE)
        key = row("rmt_key_row", predicates=[never, never], default_valid=1, default_action=self.action)
        yield STAGE0 + 1, 1, at, "rmt_key_row", key
        egress = row("rmt_word_write", mask=0xFFFF, immediate=self.destinations | self.queue << 8)
        group = row("rmt_word_write", mask=0xFFFF, immediate=self.group) if self.group else 0
        alus = [0] * 24
        alus[C6] = row("rmt_alu", op=AluOp.XOR)
        fields = {"immediate6": [self.flip] + [0] * 7, "mask6": [(1 << 48) - 1] + [0] * 7}
        if self.tag is not None:
            # A container that nobody extracted is 0.
            alus[8] = row("rmt_alu", op=AluOp.ADD)
            fields |= {"immediate4": [self.tag] + [0] * 7, "mask4": [0xFFFFFFFF] + [0] * 7}
        action = row("rmt_action_row", owner=self.module, alus=alus, words=[0, 0, egress, group, 0, 0, 0], **fields)
        yield STAGE0 + 1, 8, self.action, "rmt_action_row", action
        pattern = row("rmt_pattern", valid=1, value=5 | 1 << 4, mask=0x1F, row=3)
        yield DEPARSER, 0, at, "rmt_patterns_row", row("rmt_patterns_row", patterns=[0, pattern] + [0] * 14)
        for beat in range(beats):
            sources = [OTHER_LANE] * 64
            for lane in range(16 if beat == 0 else 0):
                if lane < 6:
                    sources[lane] = row("rmt_lane", size=LaneSize.SIX)
                elif lane < 12:
                    sources[lane] = row("rmt_lane", size=LaneSize.SIX, place=1)
                elif lane < 16 and self.tag is not None:
                    sources[lane] = row("rmt_lane", size=LaneSize.FOUR)
            deparse = row(
                "rmt_deparse_row",
                half_delta=0 if self.tag is None else 2,
                split=12,
                least=14,
                lanes=sources,
            )
            yield DEPARSER, 1, beats * (16 * at + 3) + beat, "rmt_deparse_row", deparse
        yield DEPARSER, 3, self.module, "rmt_granted_row", row("rmt_granted_row", destinations=0xFF)

    def result(self, frame: bytes) -> bytes:
        """What leaves."""
        dmac = (int.from_bytes(frame[:6], "big") ^ self.flip).to_bytes(6, "big")
        tag = b"" if self.tag is None else self.tag.to_bytes(4, "big")
        return dmac + frame[6:12] + tag + frame[12:]


class Ring:
    """The configuration ring of a plug-in's top, one message after the other. Its owner hands it the answers."""

    # Cycles until a message must have been answered, whatever else goes on.
    LIMIT = 20_000

    def __init__(self, top: PluginTop):
        self.top, self.sent, self.answer = top, 0, None

    def take(self, event):
        """An answer has come."""
        self.answer = [int.from_bytes(event.data[at : at + 4], "little") for at in range(0, len(event.data), 4)]

    def access(self, op, node, table, index, data=()):
        """Status and words of the answer."""
        words = [op << 28 | node << 16 | self.sent & 0xFFFF, table << 24 | index, *data]
        words.append(crc32c(b"".join(word.to_bytes(4, "little") for word in words)))
        self.sent, self.answer = self.sent + 1, None
        self.top.send(words)
        assert self.top.run(self.LIMIT, replies=1) & REPLIES, f"no answer of node {node}, table {table}, index {index}"
        answer = self.answer
        assert answer[0] >> 28 == op | 8 and answer[0] >> 16 & 0xFF == node, "not an answer"
        assert answer[-1] == crc32c(b"".join(word.to_bytes(4, "little") for word in answer[:-1])), "a wrong CRC"
        return answer[0] >> 24 & 0xF, answer[2:-1]

    def write(self, node, table, index, value, words):
        status, _ = self.access(WRITE, node, table, index, [value >> 32 * i & 0xFFFFFFFF for i in range(words)])
        return status

    def read(self, node, table, index, words):
        """A whole row, 8 words at a time."""
        value = 0
        for at in range(0, words, 8):
            status, data = self.access(READ, node, table, index | at // 8 << 16)
            assert status == OK and len(data) == min(8, words - at), (node, table, index, status, data)
            value |= sum(word << 32 * (at + i) for i, word in enumerate(data))
        return value

    def load(self, program, stages, beats):
        for node, table, index, layout, value in program.rows(stages, beats):
            status = self.write(node, table, index, value, words_of_layout(layout))
            assert status == OK, (node, table, index, status)
