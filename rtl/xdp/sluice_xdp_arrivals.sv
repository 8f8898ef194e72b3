/// Packets that come into a core: put into its memory, with what they begin with, until a context takes them or their verdict is known without one.
///
/// What each part does: sluice_xdp_load, sluice_xdp_words, sluice_xdp_settled. Words go to registers (`set_o`) and to packet memory, which they have before beats.
/// Packets whose verdict is known end in cycles in which the core ends none (`settled_*`).
///
/// Latency and stalls: those of its parts.
module sluice_xdp_arrivals
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_start_pkg::*;
  import sluice_xdp_room_pkg::*;
  import sluice_xdp_streams_pkg::*;
  import sluice_warp_pkg::*;
#(
    parameter int unsigned Slots = 16,
    parameter int unsigned Contexts = 8,
    parameter int unsigned Modules = 64,
    parameter bit Outside = 1'b0,
    localparam int unsigned SlotBits = $clog2(Slots),
    localparam int unsigned ContextCountBits = $clog2(Contexts + 1)
) (
    input logic clk_i,
    input logic rst_ni,

    input logic [ClockBits-1:0] now_i,

    input  logic                        s_axis_tvalid,
    output logic                        s_axis_tready,
    input  logic        [        511:0] s_axis_tdata,
    input  beat_bytes_t                 s_axis_bytes,
    input  logic                        s_axis_tlast,
    input  sideband_t                   s_axis_side,
    input  route_t                      s_axis_route,
    input  token_t                      s_axis_token,
    input  logic                        s_axis_broken,
    input  logic        [ClockBits-1:0] s_axis_came,
    input  xdp_room_t                   s_axis_room,
    input  xdp_need_t                   s_axis_need,
    input  warp_leaf_t                  s_axis_leaf,

    output logic                            look_valid_o,
    output logic             [SlotBits-1:0] enter_slot_o,
    input  xdp_program_row_t                program_i,
    input  logic             [        31:0] ifindex_i,

    input  logic              word_valid_i,
    output logic              word_ready_o,
    input  xdp_made_t         word_i,
    input  logic              answer_valid_i,
    input  xdp_early_answer_t answer_i,

    output xdp_set_t set_o,
    input  logic     set_ready_i,

    output logic                   write_valid_o,
    input  logic                   write_ready_i,
    output xdp_place_t             write_place_o,
    output logic       [7:0][ 7:0] write_enable_o,
    output logic       [7:0][63:0] write_data_o,

    output logic                     slot_valid_o,
    output logic      [SlotBits-1:0] slot_o,
    output xdp_slot_t                slot_data_o,
    output logic                     slot_waits_o,

    output logic                              start_valid_o,
    input  logic                              start_ready_i,
    output xdp_start_t                        start_o,
    input  logic       [           Slots-1:0] flow_waits_i,
    input  logic       [ContextCountBits-1:0] shared_contexts_i,
    input  logic                              core_end_valid_i,
    input  logic       [        SlotBits-1:0] core_end_slot_i,
    input  logic                              left_valid_i,
    input  logic       [        SlotBits-1:0] left_slot_i,

    output logic               count_valid_o,
    input  logic               count_ready_i,
    output xdp_request_t       count_o,
    output logic         [7:0] count_slot_o,
    input  logic               count_done_i,
    output logic               settled_valid_o,
    output xdp_end_t           settled_o,

    output logic waiting_o
);

  logic word_valid, beat_valid;
  xdp_place_t word_place, beat_place;
  logic [63:0] word_data;
  logic [7:0][63:0] beat_data;
  assign write_valid_o  = word_valid || beat_valid;
  assign write_place_o  = word_valid ? word_place : beat_place;
  assign write_enable_o = word_valid ? 64'hff : '1;
  assign write_data_o   = word_valid ? {8{word_data}} : beat_data;

  logic base_valid, words_done, answered, begin_fault, begin_found, settle_valid;
  logic [SlotBits-1:0] base_slot, words_slot, answered_slot, begin_slot;
  logic [RowBits-1:0] base;
  xdp_given_t begin_given;
  steps_t begin_steps;
  xdp_settled_t settle;

  sluice_xdp_load #(
      .Slots   (Slots),
      .Contexts(Contexts),
      .Modules (Modules),
      .Outside (Outside)
  ) u_load (
      .clk_i,
      .rst_ni,
      .s_axis_tvalid,
      .s_axis_tready,
      .s_axis_tdata,
      .s_axis_bytes,
      .s_axis_tlast,
      .s_axis_side,
      .s_axis_route,
      .s_axis_token,
      .s_axis_broken,
      .s_axis_came,
      .s_axis_room,
      .s_axis_need,
      .s_axis_leaf,
      .look_valid_o,
      .enter_slot_o,
      .program_i,
      .ifindex_i,
      .write_valid_o (beat_valid),
      .write_ready_i (write_ready_i && !word_valid),
      .write_place_o (beat_place),
      .write_data_o  (beat_data),
      .slot_valid_o,
      .slot_o,
      .slot_data_o,
      .slot_waits_o,
      .base_valid_o  (base_valid),
      .base_slot_o   (base_slot),
      .base_o        (base),
      .words_valid_i (words_done),
      .words_slot_i  (words_slot),
      .answer_valid_i(answered),
      .answer_slot_i (answered_slot),
      .begin_slot_o  (begin_slot),
      .begin_given_i (begin_given),
      .begin_fault_i (begin_fault),
      .begin_found_i (begin_found),
      .begin_steps_i (begin_steps),
      .settle_valid_o(settle_valid),
      .settle_o      (settle),
      .start_valid_o,
      .start_ready_i,
      .start_o,
      .flow_waits_i,
      .shared_contexts_i,
      .end_valid_i   (core_end_valid_i),
      .end_slot_i    (core_end_slot_i),
      .left_valid_i,
      .left_slot_i,
      .waiting_o
  );

  sluice_xdp_words #(
      .Slots(Slots)
  ) u_words (
      .clk_i,
      .rst_ni,
      .base_valid_i    (base_valid),
      .base_slot_i     (base_slot),
      .base_i          (base),
      .word_valid_i,
      .word_ready_o,
      .word_i,
      .answer_valid_i,
      .answer_i,
      .set_o,
      .set_ready_i,
      .write_valid_o   (word_valid),
      .write_ready_i   (write_ready_i),
      .write_place_o   (word_place),
      .write_data_o    (word_data),
      .done_valid_o    (words_done),
      .done_slot_o     (words_slot),
      .answered_valid_o(answered),
      .answered_slot_o (answered_slot),
      .begin_slot_i    (begin_slot),
      .begin_given_o   (begin_given),
      .begin_fault_o   (begin_fault),
      .begin_found_o   (begin_found),
      .begin_steps_o   (begin_steps)
  );

  sluice_xdp_settled #(
      .Slots(Slots)
  ) u_settled (
      .clk_i,
      .rst_ni,
      .now_i,
      .put_valid_i(settle_valid),
      .put_i      (settle),
      .count_valid_o,
      .count_ready_i,
      .count_o,
      .count_slot_o,
      .count_done_i,
      .end_valid_o(settled_valid_o),
      .end_ready_i(!core_end_valid_i),
      .end_o      (settled_o)
  );

endmodule
