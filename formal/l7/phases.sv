/// Proof about sluice_l7_prepare and sluice_l7_decide, the two phases of a matcher's loop: a message stays in its place and in its kind of visit, does one
/// thing at a time, and one that hashes a field for a group never leaves for another one.
///
/// Everything that they read is free. They hold no state, so a cycle is all.
module phases
  import sluice_l7_rows_pkg::*;
  import sluice_l7_pkg::*;
  import sluice_l7_matcher_pkg::*;
  import sluice_l7_phase_pkg::*;
(
    input logic                                                 clk_i,
    input logic                                                 goes_on_i,
    input l7_b_t                                                b_i,
    input l7_entry_t                                            entry_i,
    input l7_match_row_t                                        row_i,
    input logic          [L7MatchBytes-1:0][               7:0] lanes_i,
    input l7_stops_t                                            stops_i,
    input l7_field_t                                            field_i,
    input l7_field_t                                            entry_field_i,
    input logic          [             1:0][2**SegmentBits-1:0] come_i,
    input logic          [             1:0]                     complete_i,
    input l7_a_t                                                a_i
);

  l7_a_t prepared;
  l7_b_t decided;

  sluice_l7_prepare #(
      .Places(2),
      .Rows  (2)
  ) u_prepare (
      .goes_on_i,
      .b_i,
      .entry_i,
      .row_i,
      .lanes_i,
      .stops_i,
      .field_o(),
      .field_i,
      .entry_field_i,
      .come_i,
      .complete_i,
      .a_o    (prepared)
  );

  sluice_l7_decide u_decide (
      .a_i,
      .b_o  (decided),
      .row_o()
  );

  APreparedMessageStaysInItsPlace_A :
  assert property (@(posedge clk_i) prepared.place == (goes_on_i ? b_i.place : entry_i.place));
  APreparedVisitStaysOfItsKind_A :
  assert property (@(posedge clk_i) prepared.hash == (goes_on_i ? b_i.hash : entry_i.hash));
  APreparedMessageDoesOneThing_A :
  assert property (@(posedge clk_i) !(!goes_on_i || $onehot(b_i.does)) || $onehot(prepared.does));
  ADecidedMessageStaysInItsPlace_A :
  assert property (@(posedge clk_i) decided.place == a_i.place && decided.hash == a_i.hash);
  ADecidedMessageWantsOneThing_A :
  assert property (@(posedge clk_i) $onehot(decided.does));
  AHashDoesNotYield_A :
  assert property (@(posedge clk_i) !decided.yields || !decided.hash);

endmodule
