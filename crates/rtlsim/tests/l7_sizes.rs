//! The l7 engine on its own top with other sizes than its targets have does what its model does. In `make long`; the plug-ins are built there.

#[path = "support/l7/host.rs"]
mod host;
#[path = "support/l7/mod.rs"]
mod l7;
#[path = "support/l7/receiving.rs"]
#[allow(dead_code)] // two of its tests are of sizes
mod receiving;

const MESSAGE_PACKETS: &str = "tiny MessagePackets=255";

#[test]
fn messages_of_255_packets_go_into_their_buffers() {
    receiving::a_message_has_as_many_packets_as_the_engine_takes(MESSAGE_PACKETS);
}

#[test]
fn engine_and_model_in_lockstep_with_messages_of_255_packets() {
    receiving::in_lockstep(MESSAGE_PACKETS, "l7_sizes_packets", 6, 900);
}
