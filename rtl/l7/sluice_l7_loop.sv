/// The loop of a matcher: a step a cycle, of two messages in turn (docs/design/l7.md, "Matcher programs").
///
/// A message is in phase A and phase B by turns, a cycle each; while one is in A, another can be in B.
///
/// - **A** (sluice_l7_decide) compares the row with the window, chooses the target and reads its row. Beside it the next
///   window is read as if the row were hit: a row moves in one way, whatever is hit.
/// - **B** (sluice_l7_prepare) gets the row, turns the window's bytes into order, and says where the next one would be.
///
/// What cannot go on so takes another round of 2 cycles: a miss that goes on (the window is read again), each segment
/// that is looked through for a stop byte, wide rows (their hash is made in B, their row read in A), a field that the walk has not
/// passed yet, and bytes that have not come yet. A field that a group hashes comes as a message of its own, 8 bytes a round.
///
/// A message enters in B when there is none to go on. One that ends leaves in the B behind its last A, where another one
/// enters at once. So of messages of one step each one leaves every other cycle.
///
/// An entry that is urgent makes a message leave that has had `Slice` rounds: `save_o` says where it is, and it comes again as
/// an entry that resumes, which costs a round. So a short program does not wait for long ones.
///
/// `exit_valid_o` and `save_valid_o` are not to be stalled. With `pause_i` none enters, which makes slots for reading the row RAM from outside.
module sluice_l7_loop
  import sluice_l7_rows_pkg::*;
  import sluice_l7_pkg::*;
  import sluice_l7_matcher_pkg::*;
  import sluice_l7_phase_pkg::*;
#(
    parameter int unsigned Places = 4,
    parameter int unsigned Rows = 512,
    localparam int unsigned RowBits = $clog2(Rows)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic      pause_i,
    // `entry_i` is a message that waits, or (`direct_i`) one that begins in this cycle and enters.
    input  logic      direct_i,
    input  logic      entry_valid_i,
    output logic      entry_ready_o,
    input  l7_entry_t entry_i,

    // The field that the message in B moves to, and the one that the entry does, in the same cycle.
    output place_t          place_o,
    output logic      [3:0] field_o,
    input  l7_field_t       field_i,
    input  l7_field_t       entry_field_i,

    // Segments that have come, with the one that comes now; all of them.
    input logic [Places-1:0][2**SegmentBits-1:0] come_i,
    input logic [Places-1:0] complete_i,

    // The row RAM, with a registered read.
    output logic                        row_read_o,
    output logic          [RowBits-1:0] row_index_o,
    input  l7_match_row_t               row_i,

    // sluice_l7_window.
    output logic                              look_o,
    output place_t                            look_place_o,
    output logic      [    LookBits-1:0]      look_at_o,
    output logic      [             7:0]      look_stop_o,
    input  logic      [L7MatchBytes-1:0][7:0] lanes_i,
    input  l7_stops_t                         stops_i,

    output logic     exit_valid_o,
    output l7_exit_t exit_o,

    output logic      save_valid_o,
    output place_t    save_place_o,
    output l7_saved_t save_o
);

  logic a_valid_q, goes_q, ends_q;
  l7_a_t a_q, a_d;
  l7_b_t b_q, b_d;
  logic goes_on, enters;
  // "Bits of signal are not used": there may be fewer rows than the number can say.
  // verilator lint_off UNUSEDSIGNAL
  logic [NumberBits-1:0] row;
  // verilator lint_on UNUSEDSIGNAL

  assign save_valid_o = goes_q && b_q.yields && entry_valid_i && entry_i.urgent && !pause_i;
  assign save_place_o = b_q.place;
  assign save_o = '{
          target: b_q.target,
          position: b_q.position,
          stop_at: b_q.stop_at,
          past: b_q.past,
          steps: b_q.steps
      };
  assign goes_on = goes_q && !save_valid_o;
  assign enters = (entry_valid_i || direct_i) && !pause_i && !goes_on;
  assign entry_ready_o = !goes_on && !pause_i;
  assign exit_valid_o = ends_q;
  assign exit_o = '{
          place: b_q.place,
          kind: b_q.target.kind,
          number: b_q.target.number,
          fault: b_q.fault,
          steps: b_q.steps,
          hashed: b_q.hash,
          hash: ~b_q.crc[SlotBits-1:0]
      };
  assign place_o = b_q.place;

  sluice_l7_prepare #(
      .Places(Places),
      .Rows  (Rows)
  ) u_prepare (
      .goes_on_i(goes_on),
      .b_i(b_q),
      .entry_i(entry_i),
      .row_i(row_i),
      .lanes_i(lanes_i),
      .stops_i(stops_i),
      .field_o(field_o),
      .field_i(field_i),
      .entry_field_i(entry_field_i),
      .come_i(come_i),
      .complete_i(complete_i),
      .a_o(a_d)
  );

  sluice_l7_decide u_decide (
      .a_i  (a_q),
      .b_o  (b_d),
      .row_o(row)
  );

  assign row_read_o = a_valid_q;
  assign row_index_o = row[RowBits-1:0];
  assign look_o = a_valid_q;
  assign look_place_o = a_q.place;
  assign look_at_o = a_q.look[LookBits-1:0];
  assign look_stop_o = a_q.stop;

  // Of the message in B: it has a step more, or it ends.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      a_valid_q <= 1'b0;
      goes_q <= 1'b0;
      ends_q <= 1'b0;
    end else begin
      a_valid_q <= goes_on || enters;
      goes_q <= a_valid_q && b_d.goes;
      ends_q <= a_valid_q && !b_d.goes;
    end
  end

  always_ff @(posedge clk_i) begin
    a_q <= a_d;
    b_q <= b_d;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni && a_valid_q) begin
      AMessageDoesOneThing_A : assert ($onehot(a_q.does));
    end
    if (rst_ni && goes_on) begin
      AMessageWantsOneThing_A : assert ($onehot(b_q.does));
    end
  end
`endif

endmodule
