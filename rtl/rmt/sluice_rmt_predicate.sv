/// Predicate of a stage: `(a & mask) op (b & mask)`, 48 bits, unsigned (docs/design/rmt.md).
///
/// All six comparisons are one carry chain. ~a + b + 1 carries out when a <= b, without the 1 when a < b; for equality
/// a bit that differs gives no carry of its own, so that the carry that goes in comes out only if all bits agree. The
/// result or its opposite is what holds. An `a` or `b` that the row format does not name reads as anything.
///
/// Latency: 1 cycle, fixed. Throughput: 1 predicate a cycle. Never stalls.
module sluice_rmt_predicate
  import sluice_rmt_pkg::*;
  import sluice_rmt_rows_pkg::*;
(
    input  logic           clk_i,
    input  rmt_phv_t       phv_i,
    input  rmt_predicate_t row_i,
    output logic           holds_o
);

  localparam int unsigned Width = 48;

  logic [7:0][47:0] c4_wide, c2_wide;
  logic [Width-1:0] a, b;

  for (genvar i = 0; i < 8; i++) begin : gen_wide
    assign c2_wide[i] = 48'(phv_i.c.c2[i]);
    assign c4_wide[i] = 48'(phv_i.c.c4[i]);
  end

  always_comb begin
    unique case (row_i.a[5:3])
      3'd0:    a = c2_wide[row_i.a[2:0]];
      3'd1:    a = c4_wide[row_i.a[2:0]];
      3'd2:    a = phv_i.c.c6[row_i.a[2:0]];
      default: a = 48'(phv_i.words[{~row_i.a[3], row_i.a[2:0]}]);  // from code 24 on
    endcase
    unique case (row_i.b[4:3])
      2'd0:    b = c2_wide[row_i.b[2:0]];
      2'd1:    b = c4_wide[row_i.b[2:0]];
      2'd2:    b = phv_i.c.c6[row_i.b[2:0]];
      default: b = row_i.immediate;
    endcase
  end

  logic equality, carry_in, carry, carry_q, opposite_q;
  logic [Width-1:0] differ, one, other, unused_sum;

  // Codes of op: == != < <= > >=.
  assign equality = row_i.op[2:1] == 2'd0;
  assign carry_in = equality || row_i.op == 3'd3 || row_i.op == 3'd4;
  assign differ = (a ^ b) & row_i.mask;
  // Where the bits agree one of the two is set and the carry passes; where they differ both are as b, or clear.
  assign other = b & row_i.mask & {Width{!equality}};
  assign one = other ^ ~differ;
  assign {carry, unused_sum} = {1'b0, one} + {1'b0, other} + (Width + 1)'(carry_in);

  always_ff @(posedge clk_i) begin
    carry_q    <= carry;
    opposite_q <= row_i.op == 3'd1 || row_i.op == 3'd4 || row_i.op == 3'd5;
  end

  assign holds_o = carry_q ^ opposite_q;

endmodule
