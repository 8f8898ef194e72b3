//! The l7 engine on its own top with other sizes than its targets have does what its model does. In `make long`; the plug-ins are built there (`make plugins-sizes`).

use crate::dispatching;
use crate::receiving;

const MESSAGE_PACKETS: &str = "tiny MessagePackets=255";

#[test]
fn messages_of_255_packets_go_into_their_buffers() {
    receiving::a_message_has_as_many_packets_as_the_engine_takes(MESSAGE_PACKETS);
}

#[test]
fn engine_and_model_in_lockstep_with_messages_of_255_packets() {
    receiving::in_lockstep(MESSAGE_PACKETS, "l7_sizes_packets", 6, 900);
}

/// Compares of 32 bytes, 8 alternatives, and a view of a whole MTU.
const LARGE: &str = "tiny SLUICE_L7_COMPARE_BYTES=32 SLUICE_L7_ALTERNATIVES=8 SLUICE_L7_VIEW_SEGMENTS=24";

#[test]
fn engine_and_model_in_lockstep_with_long_compares_and_views() {
    dispatching::in_lockstep(LARGE, "l7_sizes_large", 30, 150);
}

#[test]
fn a_long_compare_is_hit_at_every_place_of_the_view() {
    dispatching::a_compare_is_hit_at_every_place_of_the_view(LARGE);
}

#[test]
fn engine_and_model_in_lockstep_with_long_compares_and_rings() {
    receiving::in_lockstep(LARGE, "l7_sizes_large_rings", 6, 300);
}

#[test]
fn alternatives_of_one_row_cost_no_cycle() {
    dispatching::alternatives_of_one_row_cost_no_cycle(LARGE);
}
