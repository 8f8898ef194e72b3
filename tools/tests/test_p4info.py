"""What `sluice p4 info` writes, read with P4Runtime's public definitions; its numbers are computed again."""

import json
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).parent.parent
sys.path.insert(0, str(TOOLS))

import p4info  # noqa: E402

FILES = TOOLS.parent / "crates" / "p4" / "tests" / "info"
# `@id` in everything.p4, and types of its headers of the controller.
GIVEN = {"In.send": 0x12}
HEADERS = {"packet_in": "in_t", "packet_out": "out_t"}


@pytest.fixture(scope="module")
def info():
    text = (FILES / "everything.p4info.txtpb").read_text()
    return p4info.read(text, (FILES / "everything.p4info.pb").read_bytes())


def test_numbers_and_aliases_are_those_of_the_specification(info):
    assert p4info.wrong(info, GIVEN, HEADERS) == []
    assert [len(getattr(info, field)) for field in p4info.KINDS] == [5, 6, 2, 2, 2, 2, 1, 1, 1, 2, 1]


def test_another_number_or_alias_is_found(info):
    other = type(info)()
    other.CopyFrom(info)
    other.tables[0].preamble.id += 1
    other.actions[0].preamble.alias = "x"
    assert len(p4info.wrong(other, GIVEN, HEADERS)) == 2


def test_the_json_form_is_the_same_message(info):
    from google.protobuf import json_format

    text = (FILES / "everything.p4info.json").read_text()
    assert json_format.Parse(text, type(info)()) == info
    assert json.loads(text)["pkgInfo"]["name"] == "everything.p4"


def test_numbers_are_those_that_the_public_compiler_writes():
    names = ["ingress.ecmp_group", "ingress.flowlet"]
    assert p4info.numbers(0x02, names, {}) == {"ingress.ecmp_group": 38446407, "ingress.flowlet": 42150575}
    assert p4info.numbers(0x01, ["NoAction"], {"other": 21257015})["NoAction"] == 21257016


def test_every_number_of_the_message_leads_to_something(info):
    tables = {table.preamble.id for table in info.tables}
    actions = {action.preamble.id: {param.id for param in action.params} for action in info.actions}
    direct = {of.preamble.id: of.direct_table_id for of in [*info.direct_counters, *info.direct_meters]}
    profiles = {profile.preamble.id: set(profile.table_ids) for profile in info.action_profiles}
    for table in info.tables:
        assert all(ref.id in actions for ref in table.action_refs)
        call = table.initial_default_action
        assert not call.action_id or {one.param_id for one in call.arguments} == actions[call.action_id]
        assert all(direct[resource] == table.preamble.id for resource in table.direct_resource_ids)
        assert not table.implementation_id or table.preamble.id in profiles[table.implementation_id]
    assert set(direct.values()) <= tables and set().union(*profiles.values()) <= tables
    types = info.type_info
    assert {"mac_t", "port_t", "vrf_t"} == set(types.new_types)
    assert types.serializable_enums["kind_t"].members[1].value == b"\x12\x34"
    assert list(types.error.members)[0] == "NoError"
