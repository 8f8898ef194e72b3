#!/usr/bin/env python3
"""Reads a P4Info with the public definitions and computes its numbers and aliases again.

    p4info.py NAME.txtpb NAME.pb        both forms of one message; prints what has a number

Shares nothing with crates/p4/src/front/info but P4Runtime's specification. The definitions are the package `p4runtime`.
"""

import ast
import importlib.util
import sys
from pathlib import Path

KINDS = {
    "actions": 0x01,
    "tables": 0x02,
    "value_sets": 0x03,
    "controller_packet_metadata": 0x04,
    "action_profiles": 0x11,
    "counters": 0x12,
    "direct_counters": 0x13,
    "meters": 0x14,
    "direct_meters": 0x15,
    "registers": 0x16,
    "digests": 0x17,
}


def one_at_a_time(name: str) -> int:
    """Jenkins' hash."""
    value = 0
    for byte in name.encode():
        value = (value + byte) & 0xFFFFFFFF
        value = (value + (value << 10)) & 0xFFFFFFFF
        value ^= value >> 6
    value = (value + (value << 3)) & 0xFFFFFFFF
    value ^= value >> 11
    return (value + (value << 15)) & 0xFFFFFFFF


def numbers(kind: int, names: list[str], given: dict[str, int]) -> dict[str, int]:
    """The number of each name of a kind."""
    found = {name: number if number >> 24 else kind << 24 | number for name, number in given.items()}
    taken = set(found.values())
    for name in sorted(set(names) - set(given)):
        number = kind << 24 | one_at_a_time(name) & 0xFFFFFF
        while number in taken or not number & 0xFFFFFF:
            number = kind << 24 | (number + 1) & 0xFFFFFF
        taken.add(number)
        found[name] = number
    return found


def alias(name: str, names: list[str]) -> str:
    """The shortest last parts that no other name has."""
    parts = name.split(".")
    for count in range(1, len(parts) + 1):
        end = parts[-count:]
        if sum(other.split(".")[-count:] == end for other in names) == 1:
            return ".".join(end)
    return name


def message_class():
    """The class of the message, from the definitions that the package carries.

    Its generated code is for a protobuf of years ago; what it was generated from stands in it as bytes.
    """
    from google.protobuf import any_pb2, descriptor_pb2, descriptor_pool, message_factory

    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(any_pb2.DESCRIPTOR.serialized_pb)
    folder = Path(importlib.util.find_spec("p4.config.v1").submodule_search_locations[0])
    for name in ("p4types", "p4info"):
        tree = ast.parse((folder / f"{name}_pb2.py").read_text())
        keywords = (word for node in ast.walk(tree) if isinstance(node, ast.Call) for word in node.keywords)
        definitions = next(word.value.value for word in keywords if word.arg == "serialized_pb")
        pool.Add(descriptor_pb2.FileDescriptorProto.FromString(definitions))
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("p4.config.v1.P4Info"))


def read(text: str, binary: bytes):
    """The message, which both forms have to be."""
    from google.protobuf import text_format

    message = message_class()
    one = text_format.Parse(text, message())
    other = message.FromString(binary)
    if one != other:
        raise SystemExit("text and binary form are not the same message")
    if other.SerializeToString(deterministic=True) != binary:
        raise SystemExit("the binary form is not what the public definitions write")
    return one


def wrong(info, given: dict[str, int], headers: dict[str, str]) -> list[str]:
    """What has another number or alias than it should; `headers` are types of the controller's headers."""
    found = []
    for field, kind in KINDS.items():
        preambles = [entity.preamble for entity in getattr(info, field)]
        names = [preamble.name for preamble in preambles]
        hashed = {name: headers.get(name, name) if kind == 0x04 else name for name in names}
        own = {hashed[name]: given[name] for name in names if name in given}
        expected = numbers(kind, list(hashed.values()), own)
        for preamble in preambles:
            if preamble.id != expected[hashed[preamble.name]]:
                found.append(f"{field} {preamble.name}: {preamble.id}, expected {expected[hashed[preamble.name]]}")
            if preamble.alias != alias(preamble.name, names):
                found.append(f"{field} {preamble.name}: alias {preamble.alias}, expected {alias(preamble.name, names)}")
    return found


def main() -> None:
    """Prints a table of numbers."""
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    info = read(Path(sys.argv[1]).read_text(), Path(sys.argv[2]).read_bytes())
    for field in KINDS:
        for entity in getattr(info, field):
            print(f"0x{entity.preamble.id:08x} {field} {entity.preamble.name}")


if __name__ == "__main__":
    main()
