/// Tokens between an engine in line and the one behind it: whose packet it is that enters the next, and one stream of
/// tokens that come back.
///
/// The first engine gives a token back (`leave_valid_i`) in the order of its packets; `verdict_valid_i` of the same packet
/// comes in that cycle or before, and in that order. Tokens of dropped packets go back at once. The others wait for their
/// packets: `token_o` is that of the packet whose last beat the next engine takes now (`take_i`), and stays until then.
/// The next engine gives it back by `back_valid_i`, in any order, in the cycle of `take_i` or later.
///
/// Latency: 0 cycles for tokens of the first engine, 1 or more for those of the next, which wait while others go. Throughput: a token
/// a cycle. Never stalls: no more than `Tokens` and `BackTokens` are under way.
module sluice_shell_handover
  import sluice_engine_pkg::*;
#(
    // Of packets on their way to the next engine, and of those that come back from it.
    parameter int unsigned Tokens = 255,
    parameter int unsigned BackTokens = Tokens
) (
    input logic clk_i,
    input logic rst_ni,

    input logic   leave_valid_i,
    input token_t leave_i,
    input logic   verdict_valid_i,
    input logic   verdict_dropped_i,

    input  logic   take_i,
    output token_t token_o,

    input logic   back_valid_i,
    input token_t back_i,

    output logic   leave_valid_o,
    output token_t leave_o
);

  if (BackTokens < 4) begin : gen_bad_back_tokens
    $fatal(1, "shell_handover: BackTokens is %0d, expected at least 4 (%m)", BackTokens);
  end
  if (Tokens < 2) begin : gen_bad_tokens
    $fatal(1, "shell_handover: Tokens is %0d, expected at least 2 (%m)", Tokens);
  end

  logic dropped, dropped_q, first_ready, first_valid, back_ready, back_valid;
  token_t back;
  logic [$clog2(Tokens+1)-1:0] unused_first_level;
  logic [$clog2(BackTokens+1)-1:0] unused_back_level;

  assign dropped = verdict_valid_i ? verdict_dropped_i : dropped_q;
  always_ff @(posedge clk_i) if (verdict_valid_i) dropped_q <= verdict_dropped_i;

  // Tokens that wait for their packets.
  sluice_fifo #(
      .Width($bits(token_t)),
      .Depth(Tokens)
  ) u_first (
      .clk_i,
      .rst_ni,
      .valid_i(leave_valid_i && !dropped),
      .ready_o(first_ready),
      .data_i (leave_i),
      .valid_o(first_valid),
      .ready_i(take_i),
      .data_o (token_o),
      .level_o(unused_first_level)
  );

  // Tokens that wait for a cycle in which none of the first engine goes back.
  sluice_fifo_ram #(
      .Width($bits(token_t)),
      .Depth(BackTokens)
  ) u_back (
      .clk_i,
      .rst_ni,
      .valid_i(back_valid_i),
      .ready_o(back_ready),
      .data_i (back_i),
      .valid_o(back_valid),
      .ready_i(!(leave_valid_i && dropped)),
      .data_o (back),
      .level_o(unused_back_level)
  );

  assign leave_valid_o = (leave_valid_i && dropped) || back_valid;
  assign leave_o = (leave_valid_i && dropped) ? leave_i : back;

`ifndef SYNTHESIS
  TokensHaveRoom_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) (!leave_valid_i || first_ready) && (!back_valid_i || back_ready));
  ATokenComesBeforeThePacketsLastBeat_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !take_i || first_valid);
`endif

endmodule
