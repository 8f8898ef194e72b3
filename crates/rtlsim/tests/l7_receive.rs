//! The receive side of the l7 engine on its own top does what its model does, on the target `tiny`: buffers and completions byte for byte, expiry, accounts.

use crate::receiving;

#[test]
fn engine_and_model_in_lockstep() {
    receiving::in_lockstep("tiny", "l7_receive_tiny", 24, 150);
}

#[test]
fn messages_of_one_packet_go_into_their_buffers() {
    receiving::messages_of_one_packet_go_into_their_buffers("tiny");
}

#[test]
fn a_burst_waits_for_its_descriptors() {
    receiving::a_burst_waits_for_its_descriptors("tiny");
}

#[test]
fn a_message_has_as_many_packets_as_the_engine_takes() {
    receiving::a_message_has_as_many_packets_as_the_engine_takes("tiny");
}

#[test]
fn a_beat_a_cycle_goes_into_host_memory() {
    receiving::a_beat_a_cycle_goes_into_host_memory("tiny");
}

#[test]
fn a_message_expires_after_its_time_and_may_begin_again() {
    receiving::a_message_expires_after_its_time_and_may_begin_again("tiny");
}

#[test]
fn buffers_that_are_too_short_and_rings_that_are_empty() {
    receiving::buffers_that_are_too_short_and_rings_that_are_empty("tiny");
}

#[test]
fn a_ring_goes_round_and_stops_when_nobody_looks() {
    receiving::a_ring_goes_round_and_stops_when_nobody_looks("tiny");
}

#[test]
fn a_ring_is_unmade_and_made_again() {
    receiving::a_ring_is_unmade_and_made_again("tiny");
}
