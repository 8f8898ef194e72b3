//! The l7 engine on its own top does what its model does, on the target `tiny`: filter, staging buffer, message table.

use crate::dispatching;
use crate::entries;

#[test]
fn engine_and_model_in_lockstep() {
    dispatching::in_lockstep("tiny", "l7_tiny_lockstep", 30, 150);
}

#[test]
fn a_frame_that_is_no_message_leaves_soon() {
    dispatching::a_frame_that_is_no_message_leaves_soon("tiny", 5);
}

#[test]
fn messages_beyond_the_quota_have_no_state() {
    dispatching::messages_beyond_the_quota_have_no_state("tiny");
}

#[test]
fn a_beat_a_cycle_goes_through() {
    dispatching::a_beat_a_cycle_goes_through("tiny");
}

#[test]
fn a_compare_is_hit_at_every_place_of_the_view() {
    dispatching::a_compare_is_hit_at_every_place_of_the_view("tiny");
}

#[test]
fn fields_are_found_wherever_they_begin() {
    dispatching::fields_are_found_wherever_they_begin("tiny");
}

#[test]
fn a_stop_byte_that_the_application_has_not_is_found_nowhere() {
    dispatching::a_stop_byte_that_the_application_has_not_is_found_nowhere("tiny");
}

#[test]
fn entries_come_and_go_as_in_the_model() {
    entries::come_and_go_as_in_the_model();
}

#[test]
fn a_packet_keeps_the_row_that_it_came_with() {
    dispatching::a_packet_keeps_the_row_that_it_came_with("tiny");
}

#[test]
fn alternatives_of_one_row_cost_no_cycle() {
    dispatching::alternatives_of_one_row_cost_no_cycle("tiny");
}
