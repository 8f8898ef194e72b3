/// The ALU of one container (docs/design/rmt.md, "ALUs").
///
/// One carry chain for all operations: its sum input is one function of A, B, the mask and the operation, its carry
/// input is A or, for logic, nothing, so that no carry ever starts. A comparison writes B if the chain ends with a carry.
/// The last LUT takes sum, B, the container as it came, the mask, that carry and whether it is a comparison.
///
/// Latency: what is done (c5), operands (c6), then mask and `own_i` (c7), which give `result_o` in the same cycle.
/// Throughput: one a cycle. Never stalls. An operation or `when` without a meaning writes nothing.
module sluice_rmt_alu
  import sluice_rmt_rows_pkg::*;
  import sluice_rmt_act_pkg::*;
#(
    parameter int unsigned Width = 16
) (
    input logic clk_i,

    // c5
    input logic           act_i,         // the packet carries out an action
    input logic     [1:0] conditions_i,
    input rmt_alu_t       alu_i,

    // c6
    input logic [Width-1:0] self_i,
    input logic [Width-1:0] p0_i,
    input logic [Width-1:0] p1_i,
    input logic [Width-1:0] r_i,
    input logic [Width-1:0] x_i,
    input logic [Width-1:0] da_i,
    input logic [Width-1:0] db_i,
    input logic [Width-1:0] immediate_i,

    // c7
    input  logic [Width-1:0] mask_i,
    input  logic [Width-1:0] own_i,
    output logic [Width-1:0] result_o
);

  if (Width < 1) begin : gen_bad_width
    $fatal(1, "rmt_alu: Width is %0d, expected at least 1 (%m)", Width);
  end

  // Codes of the operations in the action row: 1 to 7 as here, 8 ge, 9 lt.
  localparam logic [3:0] CodeNone = 4'd0;
  localparam logic [3:0] CodeGe = 4'd8;
  localparam logic [3:0] CodeLt = 4'd9;

  typedef enum logic [2:0] {
    OpLess,   // b + ~a
    OpAdd,
    OpSub,    // and ge
    OpAnd,
    OpOr,
    OpXor,
    OpMove,
    OpAndNot
  } op_e;

  // c5: selects. What is not to be written is a comparison without a carry.
  logic [1:0] a_select_q, b_low_q, b_high_q;
  op_e op_d, op6_q, op_q;
  logic compare_d, compare6_q, compare_q;

  always_comb begin
    compare_d = alu_i.op == CodeGe || alu_i.op == CodeLt;
    unique case (alu_i.op)
      CodeGe:  op_d = OpSub;
      CodeLt:  op_d = OpLess;
      default: op_d = op_e'(alu_i.op[2:0]);
    endcase
    if (!act_i || alu_i.op == CodeNone || alu_i.op > CodeLt || !act_when(alu_i.when, conditions_i)) begin
      compare_d = 1'b1;
      op_d = OpMove;
    end
  end

  // c6: operands. B takes four and then three more: two LUTs a bit.
  logic [Width-1:0] a_d, a_q, b_low, b_d, b_q;

  always_comb begin
    unique case (a_select_q)
      2'd0: a_d = self_i;
      2'd1: a_d = p0_i;
      2'd2: a_d = p1_i;
      default: a_d = x_i;
    endcase
    unique case (b_low_q)
      2'd0: b_low = immediate_i;
      2'd1: b_low = da_i;
      2'd2: b_low = db_i;
      default: b_low = p0_i;
    endcase
    unique case (b_high_q)
      2'd0: b_d = b_low;
      2'd1: b_d = p1_i;
      2'd2: b_d = r_i;
      default: b_d = x_i;
    endcase
  end

  always_ff @(posedge clk_i) begin
    a_select_q <= alu_i.a;
    b_low_q    <= alu_i.b[1:0];
    b_high_q   <= alu_i.b[2] ? alu_i.b[1:0] + 2'd1 : 2'd0;
    op6_q      <= op_d;
    compare6_q <= compare_d;
    a_q        <= a_d;
    b_q        <= b_d;
    op_q       <= op6_q;
    compare_q  <= compare6_q;
  end

  // c7: the chain.
  logic [Width-1:0] x, y, sum;
  logic carry, carry_in, unused;

  always_comb begin
    x = '0;
    unique case (op_q)
      OpLess: begin
        x = ~(a_q & mask_i);
        y = b_q & mask_i;
      end
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

  always_comb begin
    for (int unsigned i = 0; i < Width; i++) begin
      result_o[i] = (mask_i[i] && (carry || !compare_q)) ? (compare_q ? b_q[i] : sum[i]) : own_i[i];
    end
  end

endmodule
