//! The C driver in integration/driver brings the Verilated NIC up, loads a module and replaces it while packets run.

use crate::ring::{Driver, Fault, Run};

/// What a run of the unchanged driver has to be, whatever happens on the ring.
fn all_is_well(run: &Run) -> Result<(), String> {
    run.ended_well()?;
    run.blue_lost_nothing()?;
    run.red_is_of_one_program_then_of_the_other()
}

fn check(fault: Fault) -> Option<Run> {
    let run = Driver::compiled(&[]).play(fault)?;
    all_is_well(&run).unwrap_or_else(|e| panic!("{e}\n{}", run.said));
    Some(run)
}

#[test]
fn it_loads_and_replaces_with_packets_running() {
    let Some(run) = check(Fault::None) else { return };
    assert!(run.said.contains("0 repeated, 0 busy, 0 bad"), "{}", run.said);
    assert!(run.during_changes > 100, "{} packets arrived while rows were written", run.during_changes);
}

#[test]
fn answers_with_a_wrong_checksum_are_asked_for_again() {
    let Some(run) = check(Fault::WrongAnswers) else { return };
    assert!(run.faults > 10, "{} faults", run.faults);
}

#[test]
fn requests_that_get_lost_are_sent_again() {
    let Some(run) = check(Fault::LostRequests) else { return };
    assert!(run.faults > 10, "{} faults", run.faults);
}

#[test]
fn a_busy_commit_is_asked_again_until_it_is_done() {
    let Some(run) = check(Fault::BusyCommits) else { return };
    assert_eq!(run.faults, 6, "three for each of two commits");
}

#[test]
fn a_generation_in_flight_is_waited_for() {
    let Some(run) = check(Fault::InFlight) else { return };
    assert!(run.faults >= 3, "{} faults", run.faults);
}

/// Each part of the driver that these tests are there for is taken out of it, and they see that.
#[test]
fn a_driver_without_one_of_its_checks_is_found() {
    let mutants = [
        ("ring->answer[words - 1] == sluice_ring_crc32c(ring->answer, words - 1)", "1", Fault::WrongAnswers),
        ("0x82f63b78u", "0xedb88320u", Fault::None),
        ("if (ring->status != STATUS_BUSY) {", "if (1) {", Fault::BusyCommits),
        ("ring->attempts = 16;", "ring->attempts = 1;", Fault::LostRequests),
        ("if (kind == WRITE || kind == COMMIT)", "if (kind != CHECK)", Fault::InFlight),
        ("return SLUICE_RING_OTHER_NIC;", "return SLUICE_RING_OK;", Fault::OtherNic),
    ];
    for (part, instead, fault) in mutants {
        let Some(run) = Driver::compiled(&[(part, instead)]).play(fault) else { return };
        let noticed = all_is_well(&run).expect_err(&format!("without `{part}` nothing was noticed"));
        println!("without `{part}`: {noticed}");
    }
}

#[test]
fn another_target_is_left_alone() {
    let Some(run) = Driver::compiled(&[]).play(Fault::OtherNic) else { return };
    assert_eq!((run.exit, run.writes), (Some(1), 0), "{}", run.said);
}
