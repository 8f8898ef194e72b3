/// Counts the times that work waited without progress for `limit_i` cycles; 0 turns it off.
///
/// `wedged_o` is one cycle long. It fires again after every further `limit_i` cycles.
/// Latency: fires in the cycle after the `limit_i`-th cycle with `waiting_i` and no `progress_i`.
module sluice_shell_watchdog (
    input logic clk_i,
    input logic rst_ni,

    input  logic [31:0] limit_i,
    input  logic        waiting_i,
    input  logic        progress_i,
    output logic        wedged_o
);

  logic [31:0] count_q;
  logic fire;

  assign fire = limit_i != '0 && waiting_i && !progress_i && count_q >= limit_i - 32'd1;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      count_q  <= '0;
      wedged_o <= 1'b0;
    end else begin
      wedged_o <= fire;
      if (!waiting_i || progress_i || fire) count_q <= '0;
      else count_q <= count_q + 32'd1;
    end
  end

endmodule
