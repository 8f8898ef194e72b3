//! What every device must do, written once: run each of [`CHECKS`] on a device after reset.
//!
//! A check panics with what it found. The checks hold for devices that are slow, that report
//! outcomes of different queues in any order, and that take loads late.

mod accounting;
mod bench;
mod configuration;
mod flow;
mod programs;
mod refusals;

pub use bench::{BLUE, Bench, RED, RawLoad, sender, tagged_frame};

use sluice_device::Device;

/// A check of one behaviour on a device after reset.
pub type Check = fn(&mut dyn Device);

/// Every check by name.
pub const CHECKS: &[(&str, Check)] = &[
    ("every_packet_has_one_outcome_and_leaves_with_its_bytes", flow::every_packet_has_one_outcome),
    ("packets_of_one_queue_leave_in_the_order_they_came", flow::one_queue_keeps_order),
    ("a_multicast_packet_has_an_outcome_for_each_copy", flow::multicast_has_every_copy),
    ("a_packet_starts_at_its_tick_and_not_before", flow::packets_start_at_their_tick),
    ("poll_gives_no_more_events_than_asked_for", flow::poll_is_bounded),
    ("a_blocked_destination_stops_nobody_else", flow::blocked_destination),
    ("a_blocked_queue_drops_exactly_what_exceeds_its_limit", flow::tail_drop_is_exact),
    ("a_load_ends_and_its_rows_read_back", configuration::rows_read_back),
    ("loads_run_one_after_the_other", configuration::loads_run_in_order),
    ("a_load_that_fails_says_where_and_the_next_one_runs", configuration::a_failing_load_says_where),
    ("each_packet_sees_all_of_the_old_or_all_of_the_new", configuration::replacement_is_consistent),
    (EVERY_ROW, configuration::snapshot_holds_every_row),
    ("the_host_sees_tags_state_words_and_hits_of_a_program", programs::tags_state_and_hits),
    ("loads_for_another_format_or_target_are_refused", refusals::foreign_loads),
    ("packets_that_cannot_be_offered_are_refused_and_none_is_taken", refusals::bad_offers),
    ("destinations_and_rows_that_do_not_exist_are_refused", refusals::bad_addresses),
    ("the_accounting_closes_at_every_moment", accounting::closes_at_every_moment),
    ("counters_tell_packets_bytes_copies_and_drops", accounting::counts_everything),
];

/// The check that reads every row there is: on a simulated NIC of the default size it takes minutes.
pub const EVERY_ROW: &str = "a_snapshot_holds_every_configuration_row";

/// Runs every check, each on a device of its own, and says which one is running.
pub fn run_all(make: impl FnMut() -> Box<dyn Device>) {
    run_all_but(&[], make);
}

/// The same without the checks of these names.
pub fn run_all_but(left_out: &[&str], mut make: impl FnMut() -> Box<dyn Device>) {
    let wanted = CHECKS.iter().filter(|(name, _)| !left_out.contains(name));
    for (name, check) in wanted {
        println!("conformance: {name}");
        check(make().as_mut());
    }
}
