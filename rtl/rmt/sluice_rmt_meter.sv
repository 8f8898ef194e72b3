/// What a meter needs before its loop: the clock, the clock plus limit and plus top, and what the packet costs
/// (docs/design/rmt.md, "State").
///
///   c4  the stamp is shifted      c5  length times cost; now + limit, now + top      c6  `inc_o`, `next_o`
///
/// Latency: the outputs belong to c6, two cycles behind the stamp. Throughput: a packet a cycle. Never stalls.
module sluice_rmt_meter
  import sluice_pkg::*;
(
    input logic clk_i,

    // c4
    input logic [TickBits-1:0] queueing_i,
    input logic [         5:0] shift_i,
    input logic [        15:0] length_i,

    // c5
    input logic [31:0] limit_i,
    input logic [31:0] cost_i,
    input logic [31:0] top_i,

    // c6
    input  logic        per_packet_i,
    output logic [31:0] now_o,
    output logic [31:0] now_limit_o,
    output logic [31:0] now_top_o,
    output logic [31:0] inc_o,         // by bytes
    output logic [31:0] next_o         // now + the packet's time, by bytes or packet
);

  logic [31:0] now_d, now5_q, cost_q;
  logic [15:0] length5_q;
  // "Bits of signal are not used": the word has the width of what it is computed from; some of it decides nothing.
  // verilator lint_off UNUSEDSIGNAL
  logic [47:0] product_q;
  // verilator lint_on UNUSEDSIGNAL

  assign now_d = 32'({queueing_i, 8'd0} >> shift_i);

  always_ff @(posedge clk_i) begin
    now5_q      <= now_d;
    length5_q   <= length_i;
    product_q   <= length5_q * cost_i;
    cost_q      <= cost_i;
    now_o       <= now5_q;
    now_limit_o <= now5_q + limit_i;
    now_top_o   <= now5_q + top_i;
  end

  assign inc_o  = product_q[47:16];
  assign next_o = now_o + (per_packet_i ? cost_q : inc_o);

endmodule
