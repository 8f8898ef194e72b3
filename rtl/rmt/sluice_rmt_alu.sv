/// The ALU of one container (docs/design/rmt.md, "ALUs").
///
/// One carry chain for all operations: its sum input is one function of A, B, the mask and the operation, its carry
/// input is A or, for logic, nothing, so that no carry ever starts. A comparison writes B if the chain's carry says so.
/// The last LUT takes sum, B, the container as it came, the mask, whether to write and whether it is a comparison.
///
/// Latency: what is done (c5), operands (c6), then mask and `own_i` (c7), which give `result_o` in the same cycle.
/// Throughput: one a cycle. Never stalls. An operation or `when` without a meaning writes nothing.
module sluice_rmt_alu
  import sluice_rmt_rows_pkg::*;
  import sluice_rmt_act_pkg::*;
#(
    parameter int unsigned Width = 16
) (
    input logic       clk_i,
    input logic [6:5] valid_i, // whether c5, c6 hold a packet

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

  // The low bits of the operations' codes; ge and lt are a subtraction.
  typedef enum logic [2:0] {
    OpNone   = 3'(RmtAluOpNone),
    OpAdd    = 3'(RmtAluOpAdd),
    OpSub    = 3'(RmtAluOpSub),
    OpAnd    = 3'(RmtAluOpAnd),
    OpOr     = 3'(RmtAluOpOr),
    OpXor    = 3'(RmtAluOpXor),
    OpMove   = 3'(RmtAluOpMove),
    OpAndNot = 3'(RmtAluOpAndNot)
  } op_e;

  // c5: selects. What is not to be written is a comparison without a carry.
  logic [1:0] a_select_q, b_low_q, b_high_q;
  op_e op_d, op6_q, op_q;
  logic compare_d, compare6_q, compare_q;
  logic less_d, less6_q, less_q;

  always_comb begin
    compare_d = alu_i.op == RmtAluOpGe || alu_i.op == RmtAluOpLt;
    less_d = alu_i.op == RmtAluOpLt;
    op_d = compare_d ? OpSub : op_e'(alu_i.op[2:0]);
    if (!act_i || alu_i.op == RmtAluOpNone || alu_i.op > RmtAluOpLt || !act_when(alu_i.when, conditions_i)) begin
      compare_d = 1'b1;
      less_d = 1'b0;
      op_d = OpMove;
    end
  end

  // c6: operands. B takes four and then three more: two LUTs a bit.
  logic [Width-1:0] a_d, a_q, b_low, b_d, b_q;
  logic arithmetic_q;

  always_comb begin
    case (a_select_q)
      RmtAluAOwn: a_d = self_i;
      RmtAluAP0: a_d = p0_i;
      RmtAluAP1: a_d = p1_i;
      default: a_d = x_i;
    endcase
    case (b_low_q)
      2'(RmtAluBImmediate): b_low = immediate_i;
      2'(RmtAluBDataA): b_low = da_i;
      2'(RmtAluBDataB): b_low = db_i;
      default: b_low = p0_i;
    endcase
    case (b_high_q)
      2'd0: b_d = b_low;
      2'(RmtAluBP1 - RmtAluBP0): b_d = p1_i;
      2'(RmtAluBR - RmtAluBP0): b_d = r_i;
      default: b_d = x_i;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (valid_i[5]) begin
      a_select_q <= alu_i.a;
      b_low_q    <= alu_i.b[1:0];
    end
    // Set by choices: an enable would cost a LUT.
    b_high_q   <= alu_i.b[2] ? alu_i.b[1:0] + 2'd1 : 2'd0;
    op6_q      <= op_d;
    compare6_q <= compare_d;
    less6_q    <= less_d;
    if (valid_i[6]) begin
      a_q          <= a_d;
      b_q          <= b_d;
      op_q         <= op6_q;
      compare_q    <= compare6_q;
      less_q       <= less6_q;
      arithmetic_q <= op6_q == OpAdd || op6_q == OpSub;
    end
  end

  // c7: the chain.
  logic [Width-1:0] pass, into, sum;
  logic write, carry_in, unused, unused_over;

  always_comb begin
    case (op_q)
      OpAdd: pass = (a_q ^ b_q) & mask_i;
      OpSub: pass = ~(a_q ^ b_q) | ~mask_i;
      OpAnd: pass = a_q & b_q;
      OpOr: pass = a_q | b_q;
      OpXor: pass = a_q ^ b_q;
      OpMove: pass = b_q;
      default: pass = a_q & ~b_q;
    endcase
  end
  assign carry_in = op_q == OpSub;
  assign into = a_q & mask_i & {Width{arithmetic_q}};
  // A bit passes the carry where `pass` is set and puts in `into` where not. The carry enters through a bit of its own
  // below the sum. Two bits above it make the carry into whether to write: always but for a comparison, which writes
  // with a carry, or without one for lt. One chain for all that.
  assign {write, unused_over, sum, unused} = {1'b0, 1'b1, into, 1'b1} + {less_q, !compare_q, into ^ pass, carry_in};

  // All bits at once: simulation is several times slower bit by bit.
  logic [Width-1:0] written;
  assign written  = mask_i & {Width{write}};
  assign result_o = (written & (compare_q ? b_q : sum)) | (~written & own_i);

endmodule
