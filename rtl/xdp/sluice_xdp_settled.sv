/// Ends packets of a core whose verdict the warp engine knows: no context has them. What they count is counted before.
///
/// `put_*` takes a packet that is whole in memory; as many as there are slots have room. Its counts are asked of values (`count_*`), and when they are done (`count_done_i`, in the order of requests) its
/// end is offered, in the order in which they came. A packet without a program ends too: what is said of it decides nothing.
///
/// Latency: 2 cycles to the end of a packet that counts nothing. Throughput: a packet a cycle, or a count. Stall behaviour: requests and ends hold until taken.
module sluice_xdp_settled
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_start_pkg::*;
#(
    parameter int unsigned Slots = 16
) (
    input logic clk_i,
    input logic rst_ni,

    input logic [ClockBits-1:0] now_i,

    input logic         put_valid_i,
    input xdp_settled_t put_i,

    output logic               count_valid_o,
    input  logic               count_ready_i,
    output xdp_request_t       count_o,
    output logic         [7:0] count_slot_o,
    input  logic               count_done_i,

    output logic     end_valid_o,
    input  logic     end_ready_i,
    output xdp_end_t end_o
);

  // Packets whose counts are under way.
  localparam int unsigned Ending = 8;
  localparam logic [31:0] ValuesAddress = 32'h4000_0000;

  typedef struct packed {
    logic [7:0]            slot;
    logic [2:0]            verdict;
    logic [OffsetBits-1:0] past;
    logic [1:0]            counts;
  } ending_t;

  logic head_valid, unused_ready, second_q, counts, counted, goes, ending_ready, ending_valid;
  xdp_settled_t head;
  xdp_warp_count_t count;
  ending_t ending_in, ending;
  logic [ $clog2(Slots+1)-1:0] unused_level;
  logic [$clog2(Ending+1)-1:0] unused_ending_level;

  sluice_fifo #(
      .Width($bits(xdp_settled_t)),
      .Depth(Slots)
  ) u_put (
      .clk_i,
      .rst_ni,
      .valid_i(put_valid_i),
      .ready_o(unused_ready),
      .data_i (put_i),
      .valid_o(head_valid),
      .ready_i(goes),
      .data_o (head),
      .level_o(unused_level)
  );

  // The first count, or the second one where the first is done or is none.
  logic second;
  assign second = second_q || !head.counts[0].valid;
  assign count = second ? head.counts[1] : head.counts[0];
  assign counts = head_valid && count.valid;
  assign count_valid_o = counts && ending_ready;
  assign counted = count_valid_o && count_ready_i;
  // Its last count is asked for, or it has none.
  assign goes = head_valid && ending_ready && (counts ? counted && (second || !head.counts[1].valid) : 1'b1);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) second_q <= 1'b0;
    else if (goes) second_q <= 1'b0;
    else if (counted) second_q <= 1'b1;
  end

  logic [OffsetBits-1:0] length;
  assign length = head.past - OffsetBits'(Headroom);
  assign count_slot_o = head.slot;
  assign count_o = '{
          kind: RequestAtomic,
          module_id: head.module_id,
          regions: head.regions,
          address: ValuesAddress + 32'(count.address),
          bytes: count.wide ? 4'd8 : 4'd4,
          span: count.wide ? 10'd8 : 10'd4,
          sign: 1'b0,
          code: 3'd0,
          data: count.length ? 64'(length) : 64'(count.number),
          expected: '0,
          map: '0,
          outside: 1'b0
      };

  assign ending_in = '{
          slot: head.slot,
          verdict: head.verdict,
          past: head.past,
          counts: 2'(head.counts[0].valid) + 2'(head.counts[1].valid)
      };
  sluice_fifo #(
      .Width($bits(ending_t)),
      .Depth(Ending)
  ) u_ending (
      .clk_i,
      .rst_ni,
      .valid_i(goes),
      .ready_o(ending_ready),
      .data_i (ending_in),
      .valid_o(ending_valid),
      .ready_i(end_valid_o && end_ready_i),
      .data_o (ending),
      .level_o(unused_ending_level)
  );

  // Counts that are done, of packets that have not ended.
  logic [$clog2(2*Ending+3)-1:0] done_q, needs;
  assign needs = $bits(done_q)'(ending.counts);
  assign end_valid_o = ending_valid && done_q >= needs;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) done_q <= '0;
    else done_q <= done_q + $bits(done_q)'(count_done_i) - ((end_valid_o && end_ready_i) ? needs : '0);
  end

  // What it costs: as much as a bundle, and each count as much again.
  assign end_o = '{
          slot: ending.slot,
          verdict: ending.verdict,
          bounds: '{meta: OffsetBits'(Headroom), data: OffsetBits'(Headroom), past: ending.past},
          redirected: 1'b0,
          to_host: 1'b0,
          ifindex: '0,
          cost: cost_t'(ending.counts) + cost_t'(1),
          outcome: '0,
          ended: now_i
      };

`ifndef SYNTHESIS
  PacketsHaveRoom_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !put_valid_i || unused_ready);
  WhatIsDoneWasAsked_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) 32'(done_q) <= 2 * Ending + 2);
`endif

endmodule
