/// Numbers that nobody has: 0 to `Slots` - 1, each given out once until it comes back.
///
/// First those that were never given out, then those that came back, in that order. `take_i` takes `slot_o` in a cycle with
/// `valid_o`. A number that came back is there after at most 3 cycles. Latency: 0 cycles. Throughput: 1 out and 1 back a cycle. `back_i`
/// never stalls: no more come back than were given out.
module sluice_l7_slots #(
    parameter int unsigned Slots = 256,
    localparam int unsigned SlotBits = $clog2(Slots)
) (
    input logic clk_i,
    input logic rst_ni,

    output logic                valid_o,
    output logic [SlotBits-1:0] slot_o,
    input  logic                take_i,

    input logic                back_i,
    input logic [SlotBits-1:0] back_slot_i
);

  logic fresh_q, back_valid, back_ready;
  logic [SlotBits-1:0] fresh_slot_q, back_slot;
  logic [$clog2(Slots+1)-1:0] unused_level;

  sluice_fifo_ram #(
      .Width(SlotBits),
      .Depth(Slots)
  ) u_back (
      .clk_i,
      .rst_ni,
      .valid_i(back_i),
      .ready_o(back_ready),
      .data_i (back_slot_i),
      .valid_o(back_valid),
      .ready_i(take_i && !fresh_q),
      .data_o (back_slot),
      .level_o(unused_level)
  );

  assign valid_o = fresh_q || back_valid;
  assign slot_o  = fresh_q ? fresh_slot_q : back_slot;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      fresh_q      <= 1'b1;
      fresh_slot_q <= '0;
    end else if (take_i && fresh_q) begin
      fresh_slot_q <= fresh_slot_q + SlotBits'(1);
      fresh_q      <= fresh_slot_q != SlotBits'(Slots - 1);
    end
  end

`ifndef SYNTHESIS
  WhatComesBackHasRoom_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !back_i || back_ready);
  WhatIsTakenIsThere_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !take_i || valid_o);
`endif

endmodule
