/// Stands for sluice_l7_prepare in l7/matcher: what a message has with it is free, the harness says what formal/l7/phases shows of it.
module sluice_l7_prepare
  import sluice_pkg::*;
  import sluice_l7_rows_pkg::*;
  import sluice_l7_pkg::*;
  import sluice_l7_matcher_pkg::*;
  import sluice_l7_phase_pkg::*;
#(
    parameter int unsigned Places = 4,
    parameter int unsigned Rows   = 512
) (
    // The message in B goes on; the entry enters otherwise.
    input logic      goes_on_i,
    // "Bits of signal are not used": some are for who leaves.
    // verilator lint_off UNUSEDSIGNAL
    input l7_b_t     b_i,
    input l7_entry_t entry_i,
    // verilator lint_on UNUSEDSIGNAL

    // What has been read for the message in B.
    input l7_match_row_t                         row_i,
    input logic          [L7MatchBytes-1:0][7:0] lanes_i,
    input l7_stops_t                             stops_i,

    // The fields that both move to.
    output logic      [3:0] field_o,
    input  l7_field_t       field_i,
    input  l7_field_t       entry_field_i,

    input logic [Places-1:0][2**SegmentBits-1:0] come_i,
    input logic [Places-1:0]                     complete_i,

    output l7_a_t a_o
);
endmodule
