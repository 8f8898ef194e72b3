/// For measurements alone: says of how many accesses in 256 the line is forgotten behind them, so that it is fetched again. A line that the next access waits for stays until that is done.
///
/// `SLUICE_XDP_FORGET` is that number. Without it nothing is forgotten, and nothing is built. Latency: none.
module sluice_xdp_outside_forget (
    input  logic clk_i,
    input  logic rst_ni,
    output logic forget_o
);

`ifdef SLUICE_XDP_FORGET
  logic [15:0] random_q;
  // x^16 + x^14 + x^13 + x^11 + 1.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) random_q <= 16'd1;
    else random_q <= {random_q[14:0], random_q[15] ^ random_q[13] ^ random_q[12] ^ random_q[10]};
  end
  assign forget_o = 32'(random_q[15:8]) < `SLUICE_XDP_FORGET;
`else
  // "Signal is not used": nothing is built.
  // verilator lint_off UNUSEDSIGNAL
  logic [1:0] unused;
  // verilator lint_on UNUSEDSIGNAL
  assign unused   = {clk_i, rst_ni};
  assign forget_o = 1'b0;
`endif

endmodule
