/// What an atomic operation makes of a word: `code_i` is the lower bits of its operation (add, or, and, xor, exchange,
/// compare and exchange; 6 and 7 are sums, of the first of two words). Of 4 bytes the lower halves count, and the result's upper half is 0.
///
/// Latency: 0 cycles (combinational).
module sluice_xdp_atomic (
    input  logic [ 2:0] code_i,
    input  logic        wide_i,
    input  logic [63:0] old_i,
    input  logic [63:0] operand_i,
    input  logic [63:0] expected_i,
    output logic [63:0] new_o
);

  // Sums, or one of the other operations and nothing added. It is exchanged if it is as expected.
  logic equal, adds;
  logic [63:0] made, value;

  assign equal = old_i[31:0] == expected_i[31:0] && (!wide_i || old_i[63:32] == expected_i[63:32]);
  assign adds  = code_i inside {3'd0, 3'd6, 3'd7};

  always_comb begin
    case (code_i)
      3'd1: made = old_i | operand_i;
      3'd2: made = old_i & operand_i;
      3'd3: made = old_i ^ operand_i;
      3'd4: made = operand_i;
      default: made = old_i;
    endcase
    value = made + (operand_i & {64{adds}});
    if (code_i == 3'd5 && equal) value = operand_i;
    new_o = {wide_i ? value[63:32] : 32'd0, value[31:0]};
  end

endmodule
