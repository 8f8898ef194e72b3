"""sluice_nic_top behind a reset in the middle of traffic.

Claims (docs/design/nic.md, "Reset")
- no row of any table is left, of those of ports, queues and pipeline
- nobody owns a VLAN on the way out whose row is not there
- frames of every old tenant are dropped for what an empty NIC gives as the reason, table by table as the host fills
  them again: closed ports, no VLAN row, no program, no limit; then they leave as the new rows say
"""

import pytest
from nic.codes import Reason
from nic.nic_bench import OK, PORT_POLICY_ROW, VLAN_ROW, pack_fields
from rmt.rows import row, words_of_layout
from rmt.tables import Table, left_over, rmt_tables
from sluice_tb import plugin
from test_nic_top import (
    CONFIGS,
    DEPARSER,
    DESTS,
    EGRESS,
    EVENTS,
    FIRST_REASON,
    GROUP_DESTS,
    GROUP_TAGS,
    LIMIT,
    PORT0,
    PORTS,
    PROGRAMS,
    QUANTUM,
    QUEUE_TRACE,
    SPREAD,
    UNTAGGED,
    VLANS,
    WINDOW,
    Bench,
    configs,
    fields,
)

VLAN_ROWS = 4096
# Those whose frames lose their tag: the programs take them. None: untagged.
TENANTS = [None, *(vid for vid, (_, keep) in VLANS.items() if not keep)]
# Rows read of a table.
SOME, ALL = 16, 1 << 20


class Reset(Bench):
    def __init__(self, config, name):
        self.queue_reasons = set()
        super().__init__(config, name)
        queues = DESTS * self.modules
        ports = [Table(f"vlan {p}", PORT0 + p, 0, VLAN_ROWS, 1) for p in range(PORTS)]
        ports += [Table(f"policy {p}", PORT0 + p, 1, 1, 2) for p in range(PORTS)]
        own = [Table("limit", EGRESS, LIMIT, queues, 1), Table("quantum", EGRESS, QUANTUM, self.modules, 1)]
        self.tables = [*rmt_tables(CONFIGS[config][0]), *own, *ports]

    def _event(self, event):
        super()._event(event)
        if event.kind == plugin.QUEUE:
            trace = fields(QUEUE_TRACE, event.words)
            if trace["dropped"]:
                self.queue_reasons.add(trace["reason"])

    def left_over(self, at_most):
        return left_over(self.ring, self.rng, self.tables, at_most)

    def traffic_and_reset(self):
        """Stops in the middle of everything."""
        self.top.set_ready(range(DESTS), 51)
        for _ in range(120):
            self.send(self.rng.randrange(PORTS), self.any_frame())
        self.top.run(self.rng.randint(100, 400))
        self.top.reset()
        self.top.set_ready(range(DESTS))
        self.numbers = [0] * PORTS
        self.again()

    def again(self):
        self.forget()
        self.queue_reasons.clear()

    def of_all_tenants(self):
        """A frame of every tenant; those that stood at the ports when the reset came are gone before."""
        self.settle(quiet=500)
        self.again()
        for vid in TENANTS:
            self.send(self.rng.randrange(PORTS), self.frame(self.rng.choice((64, 200, 1500)), vid=vid))
        self.settle(quiet=500)
        assert not any(self.left), "a frame has left"

    def policies(self, untagged):
        value = pack_fields(
            PORT_POLICY_ROW,
            untagged_valid=int(untagged),
            untagged_module=UNTAGGED if untagged else 0,
            untagged_tenant=100 + UNTAGGED if untagged else 0,
            drop_double_tag=0,
            min_frame=14,
            max_frame=9216,
        )
        for port in range(PORTS):
            assert self.ring.write(PORT0 + port, 1, 0, value, 2) == OK

    def vlan(self, port, vid, module):
        value = pack_fields(VLAN_ROW, valid=1, keep_tag=0, module_id=module, tenant=100 + module)
        assert self.ring.write(PORT0 + port, 0, vid, value, 1) == OK

    def reasons(self):
        return {verdict["reason"] for verdict in self.verdicts.values() if verdict["dropped"]}


@configs
def test_what_the_rams_begin_with_is_cleared(config):
    bench = Reset(config, "nic_reset_cold")
    assert not bench.left_over(SOME)


@configs
def test_rows_of_before_are_gone(config):
    bench = Reset(config, "nic_reset_rows")
    for at_most in (SOME, SOME):
        bench.set_up()
        # Any other rows too, of nobody's packets.
        for table in bench.tables:
            if table.name.startswith(("vlan", "limit", "quantum")):
                for index in {0, table.rows - 1, *bench.rng.sample(range(table.rows), 3)}:
                    value = bench.rng.getrandbits(31)
                    assert bench.ring.write(table.node, table.table, index, value, table.words) == OK
        bench.traffic_and_reset()
        assert not bench.left_over(at_most)
        assert not any(bench.ring.read(PORT0 + p, 0, vid, 1) for p in range(PORTS) for vid in VLANS)


@pytest.mark.long
@configs
def test_every_row_of_before_is_gone(config):
    bench = Reset(config, "nic_reset_long")
    bench.set_up()
    bench.traffic_and_reset()
    assert not bench.left_over(ALL)


@configs
def test_frames_behind_a_reset_meet_an_empty_nic(config):
    bench = Reset(config, "nic_reset_frames")
    beats, stages = WINDOW // bench.width, bench.target["stages"]
    for _ in range(3):
        bench.set_up()
        bench.traffic_and_reset()
        # The ports are closed.
        bench.of_all_tenants()
        assert set(bench.drops.values()) == {Reason.GIANT} and not bench.verdicts
        # Open ports, and no rows.
        bench.policies(untagged=False)
        bench.of_all_tenants()
        assert set(bench.drops.values()) == {Reason.UNMAPPED} and not bench.verdicts
        # Rows, and no programs.
        bench.open_ports()
        bench.of_all_tenants()
        assert not bench.drops and bench.reasons() == {FIRST_REASON + EVENTS["no_module"]}
        assert len(bench.verdicts) == len(TENANTS)
        # Programs, and no group: it is nobody's and leads nowhere.
        for program in PROGRAMS.values():
            bench.ring.load(program, stages, beats)
        bench.of_all_tenants()
        # No queue has room for anybody.
        assert bench.queue_reasons == {Reason.TAIL_LIMIT}
        assert bench.reasons() == {FIRST_REASON + EVENTS[name] for name in ("no_module", "no_destination")}
        group = row("rmt_group_row", owner=SPREAD.module, destinations=GROUP_DESTS, tags=GROUP_TAGS)
        assert bench.ring.write(DEPARSER, 2, SPREAD.group, group, words_of_layout("rmt_group_row")) == OK
        bench.of_all_tenants()
        assert bench.reasons() == {FIRST_REASON + EVENTS["no_module"]}
        # And all of it.
        bench.set_up()
        bench.settle()
        bench.again()
        for _ in range(40):
            bench.send(bench.rng.randrange(PORTS), bench.any_frame())
        bench.settle(quiet=500)
        bench.check()
        bench.top.reset()
        bench.again()
        bench.numbers = [0] * PORTS


@configs
def test_nobody_owns_a_vlan_of_before(config):
    """The owners beside the VLAN rows, which no host can read: frames leave where only an old row names another."""
    bench = Reset(config, "nic_reset_owners")
    own = {module: vid for vid, (module, keep) in VLANS.items() if not keep}
    others = dict.fromkeys(own.values())
    for _ in range(2):
        bench.set_up()
        for port in range(1, PORTS):
            for vid in others:
                # Of another module than all that send into it below.
                bench.vlan(port, vid, 6)
        bench.traffic_and_reset()
        bench.set_up(ports=False)
        bench.policies(untagged=False)
        for module, vid in own.items():
            bench.vlan(0, vid, module)
        bench.settle(quiet=500)
        bench.again()
        for _ in range(30):
            bench.send(0, bench.frame(bench.rng.choice((64, 200, 1500)), vid=own[bench.rng.choice(list(PROGRAMS))]))
        bench.settle(quiet=500)
        bench.check()
        assert not bench.tail_drops, bench.queue_reasons
        bench.top.reset()
        bench.again()
        bench.numbers = [0] * PORTS
