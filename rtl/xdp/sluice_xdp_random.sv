/// Random numbers for programs: a shift register of 64 bits, fed back at 64, 63, 61 and 60, that moves on by 32 bits a cycle
/// (docs/design/xdp-helpers.md). Not for secrets: whoever sees some numbers knows the next ones.
///
/// Latency: none, a number a cycle. It begins with `Seed` behind a reset.
module sluice_xdp_random #(
    parameter logic [63:0] Seed = 64'd1
) (
    input logic clk_i,
    input logic rst_ni,

    output logic [31:0] number_o
);

  if (Seed == '0) begin : gen_bad_seed
    $fatal(1, "xdp_random: Seed is 0, expected any other number (%m)");
  end

  logic [63:0] state_q;
  logic [31:0] next;

  // The bits that come in are of bits that are there: none depends on another one of this cycle.
  always_comb begin
    for (int unsigned i = 0; i < 32; i++) next[31-i] = state_q[63-i] ^ state_q[62-i] ^ state_q[60-i] ^ state_q[59-i];
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) state_q <= Seed;
    else state_q <= {state_q[31:0], next};
  end

  assign number_o = state_q[31:0];

endmodule
