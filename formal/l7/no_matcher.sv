/// Stands for sluice_l7_matcher in l7/matchers: its outputs are free, the harness says what a verdict that waits does.
module sluice_l7_matcher
  import sluice_pkg::*;
  import sluice_l7_rows_pkg::*;
  import sluice_l7_pkg::*;
  import sluice_l7_matcher_pkg::*;
  import sluice_l7_phase_pkg::*;
#(
    parameter int unsigned Places = 4,
    parameter int unsigned Rows = 512,
    parameter int unsigned Groups = 64,
    localparam int unsigned RowBits = $clog2(Rows),
    localparam int unsigned GroupBits = (Groups > 1) ? $clog2(Groups) : 1
) (
    input logic clk_i,
    input logic rst_ni,

    // A place is free, and the one before has been loaded.
    output logic                                    free_o,
    // Places that are taken, and whose; the one that is as good as free, for its message leaves the loop for a queue or a drop.
    output logic   [    Places-1:0]                 taken_o,
    output logic                                    gone_o,
    output place_t                                  gone_place_o,
    output logic   [    Places-1:0][ModuleBits-1:0] modules_o,
    input  logic                                    take_i,
    input  logic   [ModuleBits-1:0]                 take_module_i,
    // It has a view.
    input  logic                                    take_bytes_i,

    // In the cycle behind `take_i`; the job also for as long as its segments come.
    // "Bits of signal are not used": the job comes whole; session and message are in the hash beside it.
    // verilator lint_off UNUSEDSIGNAL
    input l7_job_t job_i,
    // verilator lint_on UNUSEDSIGNAL

    input logic                      start_bad_i,
    input l7_move_t                  start_step_i,
    input l7_target_t                start_target_i,
    input logic       [SlotBits-1:0] identity_hash_i,

    input  logic                        segment_valid_i,
    output logic                        segment_ready_o,
    input  logic                        segment_last_i,
    input  logic [L7SegmentBytes*8-1:0] segment_i,

    output logic        verdict_valid_o,
    input  logic        verdict_ready_i,
    output l7_verdict_t verdict_o,

    // Tables, written at any time.
    input  logic                          row_write_i,
    input  logic          [  RowBits-1:0] row_write_index_i,
    input  l7_match_row_t                 row_write_row_i,
    // A read is under way from the cycle with `row_read_done_o` on; its row is there one cycle later.
    input  logic                          row_read_i,
    input  logic          [  RowBits-1:0] row_read_index_i,
    output logic                          row_read_done_o,
    output l7_match_row_t                 row_o,
    input  logic                          group_write_i,
    input  logic          [GroupBits-1:0] group_write_index_i,
    input  l7_group_row_t                 group_write_row_i,
    input  logic                          group_read_i,
    input  logic          [GroupBits-1:0] group_read_index_i,
    output logic                          group_read_done_o,
    output l7_group_row_t                 group_o
);
endmodule
