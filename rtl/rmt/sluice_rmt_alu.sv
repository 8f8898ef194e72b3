/// The ALU of one container (docs/design/rmt.md, "ALUs").
///
/// One carry chain for all operations: its sum input is one function of A, B, the mask and the operation, its carry
/// input is A or, for logic, nothing, so that no carry ever starts. A comparison writes B by the chain's carry out.
/// The last LUT takes sum, B, the container as it came, the mask and whether it is written.
///
/// Latency: operands (c6) are registered, mask and `own_i` come in the next cycle (c7) and give `result_o` in it.
/// Throughput: one a cycle. Never stalls. An operation or `when` without a meaning writes nothing.
module sluice_rmt_alu
  import sluice_rmt_rows_pkg::*;
  import sluice_rmt_act_pkg::*;
#(
    parameter int unsigned Width = 16
) (
    input logic clk_i,

    // c6
    input logic                 act_i,         // the packet carries out an action
    input logic     [      1:0] conditions_i,
    input rmt_alu_t             alu_i,
    input logic     [Width-1:0] self_i,
    input logic     [Width-1:0] p0_i,
    input logic     [Width-1:0] p1_i,
    input logic     [Width-1:0] r_i,
    input logic     [Width-1:0] x_i,
    input logic     [Width-1:0] da_i,
    input logic     [Width-1:0] db_i,
    input logic     [Width-1:0] immediate_i,

    // c7
    input  logic [Width-1:0] mask_i,
    input  logic [Width-1:0] own_i,
    output logic [Width-1:0] result_o
);

  if (Width < 1) begin : gen_bad_width
    $fatal(1, "rmt_alu: Width is %0d, expected at least 1 (%m)", Width);
  end

  // Codes of the operations in the action row; ge and lt subtract.
  localparam logic [3:0] OpNone = 4'd0;
  localparam logic [2:0] OpAdd = 3'd1;
  localparam logic [2:0] OpSub = 3'd2;
  localparam logic [2:0] OpAnd = 3'd3;
  localparam logic [2:0] OpOr = 3'd4;
  localparam logic [2:0] OpXor = 3'd5;
  localparam logic [2:0] OpMove = 3'd6;
  localparam logic [3:0] OpGe = 4'd8;
  localparam logic [3:0] OpLt = 4'd9;

  logic [Width-1:0] a_d, a_q, b_low, b_d, b_q;
  logic [1:0] b_high;
  logic [2:0] op_d, op_q;
  logic compare_d, compare_q, less_q, allowed_d, allowed_q;

  always_comb begin
    unique case (alu_i.a)
      2'd0: a_d = self_i;
      2'd1: a_d = p0_i;
      2'd2: a_d = p1_i;
      default: a_d = x_i;
    endcase
    // Four and then three more: two LUTs a bit.
    unique case (alu_i.b[1:0])
      2'd0: b_low = immediate_i;
      2'd1: b_low = da_i;
      2'd2: b_low = db_i;
      default: b_low = p0_i;
    endcase
    b_high = alu_i.b[2] ? alu_i.b[1:0] + 2'd1 : 2'd0;
    unique case (b_high)
      2'd0: b_d = b_low;
      2'd1: b_d = p1_i;
      2'd2: b_d = r_i;
      default: b_d = x_i;
    endcase
    compare_d = alu_i.op == OpGe || alu_i.op == OpLt;
    op_d = compare_d ? OpSub : alu_i.op[2:0];
    allowed_d = act_i && alu_i.op != OpNone && alu_i.op <= OpLt && act_when(alu_i.when, conditions_i);
  end

  always_ff @(posedge clk_i) begin
    a_q       <= a_d;
    b_q       <= b_d;
    op_q      <= op_d;
    compare_q <= compare_d;
    less_q    <= alu_i.op == OpLt;
    allowed_q <= allowed_d;
  end

  logic [Width-1:0] x, y, sum;
  logic carry, carry_in, written, unused;

  always_comb begin
    x = '0;
    unique case (op_q)
      OpAdd: begin
        x = a_q & mask_i;
        y = b_q & mask_i;
      end
      OpSub: begin
        x = a_q & mask_i;
        y = ~(b_q & mask_i);
      end
      OpAnd: y = a_q & b_q;
      OpOr: y = a_q | b_q;
      OpXor: y = a_q ^ b_q;
      OpMove: y = b_q;
      default: y = a_q & ~b_q;
    endcase
  end
  assign carry_in = op_q == OpSub;
  // The carry enters through a bit of its own below the sum: one chain, no second adder.
  assign {carry, sum, unused} = {1'b0, x, 1'b1} + {1'b0, y, carry_in};

  assign written = allowed_q && (!compare_q || (carry ^ less_q));
  always_comb begin
    for (int unsigned i = 0; i < Width; i++) begin
      result_o[i] = (written && mask_i[i]) ? (compare_q ? b_q[i] : sum[i]) : own_i[i];
    end
  end

endmodule
