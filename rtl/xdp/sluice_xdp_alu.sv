/// Arithmetic and conditions of one lane.
///
/// `result_o`, `holds_o` and the sum or difference alone, `sum_o`, belong to the inputs of the cycle before. Multiplication and division are not here
/// (sluice_xdp_muldiv): they give an unspecified result. 32-bit operations take the lower halves and zero-extend.
/// What each does: docs/design/xdp.md, "Instructions"; a shift takes the low bits of its count.
///
/// Latency: 1 cycle, of which the second part of shifts and the choice of the result come behind the register.
/// Throughput: 1 a cycle. Never stalls.
module sluice_xdp_alu
  import sluice_xdp_rows_pkg::*;
(
    input logic clk_i,

    input logic [ 7:0] op_i,
    // What the operation says, decoded before: whether the sum is a difference, and 64 bits count.
    input logic        subtracts_i,
    input logic        wide_i,
    input logic [63:0] a_i,
    input logic [63:0] b_i,
    input logic [63:0] constant_i,

    output logic [63:0] sum_o,
    output logic [63:0] result_o,
    output logic        holds_o
);

  logic signed_op, left, turns, narrow;
  logic [63:0] a, b, lhs, rhs, logical, misc, shifted;
  logic [64:0] sum;

  // Operands of 32-bit operations, extended as the operation wants them.
  assign signed_op = op_i inside {XdpOpArsh, XdpOpSgt, XdpOpSge, XdpOpSlt, XdpOpSle};
  // 32 bits turn as 64 that hold them twice.
  assign turns = op_i == XdpOpRotate;
  assign a = wide_i ? a_i : {turns ? a_i[31:0] : {32{signed_op && a_i[31]}}, a_i[31:0]};
  assign b = wide_i ? b_i : {{32{signed_op && b_i[31]}}, b_i[31:0]};

  // Sum, difference, and the difference that conditions look at.
  assign lhs = (op_i == XdpOpNegate) ? '0 : a;
  assign rhs = (op_i == XdpOpNegate) ? a : b;
  assign sum = {1'b0, lhs} + {1'b0, rhs ^ {64{subtracts_i}}} + 65'(subtracts_i);

  always_comb begin
    case (op_i)
      XdpOpOr:  logical = a | b;
      XdpOpXor: logical = a ^ b;
      default:  logical = a & b;
    endcase
  end

  // Bytes the other way round.
  function automatic logic [63:0] reversed(logic [63:0] x);
    logic [63:0] y;
    for (int unsigned i = 0; i < 8; i++) y[8*i+:8] = x[56-8*i+:8];
    return y;
  endfunction

  logic [63:0] swapped;
  assign swapped = reversed(a_i);

  always_comb begin
    case (op_i)
      XdpOpMove, XdpOpLittle64: misc = (op_i == XdpOpMove) ? b : a_i;
      XdpOpExitValue: misc = b_i;
      XdpOpExtend8: misc = {{56{a_i[7]}}, a_i[7:0]};
      XdpOpExtend16: misc = {{48{a_i[15]}}, a_i[15:0]};
      XdpOpExtend32: misc = {{32{a_i[31]}}, a_i[31:0]};
      XdpOpLittle16: misc = {48'd0, a_i[15:0]};
      XdpOpLittle32: misc = {32'd0, a_i[31:0]};
      XdpOpBig16, XdpOpSwap16: misc = {48'd0, a_i[7:0], a_i[15:8]};
      XdpOpBig32, XdpOpSwap32: misc = {32'd0, swapped[63:32]};
      XdpOpBig64, XdpOpSwap64: misc = swapped;
      default: misc = constant_i;
    endcase
  end

  // Shifts go right; to the left on the bits the other way round. What is turned comes in again above. Counts of 0 to 15 here,
  // the rest behind the register.
  logic fill;
  logic [5:0] count;
  logic [63:0] from;
  assign left  = op_i == XdpOpLsh;
  assign count = {wide_i && b_i[5], b_i[4:0]};
  assign fill  = op_i == XdpOpArsh && a[63];
  always_comb begin
    for (int unsigned i = 0; i < 64; i++) from[i] = left ? a[63-i] : a[i];
    shifted = 64'({turns ? from[14:0] : {15{fill}}, from} >> count[3:0]);
  end

  // What narrow results lose: those of arithmetic, moves and extensions.
  assign narrow = !wide_i && (op_i[7:4] == 4'h0 || op_i inside {XdpOpMove, XdpOpNegate} || op_i[7:2] == 6'b000110);

  logic [7:0] op_q;
  logic narrow_q, fill_q, turns_q, carry_q, a_sign_q, b_sign_q;
  logic [1:0] count_q;
  logic [63:0] sum_q, logical_q, misc_q, shifted_q;

  always_ff @(posedge clk_i) begin
    op_q      <= op_i;
    narrow_q  <= narrow;
    fill_q    <= fill;
    turns_q   <= turns;
    count_q   <= count[5:4];
    carry_q   <= sum[64];
    a_sign_q  <= a[63];
    b_sign_q  <= b[63];
    sum_q     <= sum[63:0];
    logical_q <= logical;
    misc_q    <= misc;
    shifted_q <= shifted;
  end

  logic [63:0] far, result;
  always_comb begin
    far = 64'({turns_q ? shifted_q[47:0] : {48{fill_q}}, shifted_q} >> {count_q, 4'd0});
    case (op_q)
      XdpOpAdd, XdpOpSub, XdpOpNegate: result = sum_q;
      XdpOpOr, XdpOpAnd, XdpOpXor: result = logical_q;
      XdpOpRsh, XdpOpArsh, XdpOpRotate: result = far;
      XdpOpLsh: for (int unsigned i = 0; i < 64; i++) result[i] = far[63-i];
      default: result = misc_q;
    endcase
    result_o = {narrow_q ? 32'd0 : result[63:32], result[31:0]};
  end

  logic equal, below, below_signed;
  assign sum_o = sum_q;
  assign equal = sum_q == '0;
  assign below = !carry_q;
  assign below_signed = (a_sign_q != b_sign_q) ? a_sign_q : !carry_q;

  always_comb begin
    case (op_q)
      XdpOpEq:  holds_o = equal;
      XdpOpNe:  holds_o = !equal;
      XdpOpSet: holds_o = logical_q != '0;
      XdpOpGt:  holds_o = !below && !equal;
      XdpOpGe:  holds_o = !below;
      XdpOpLt:  holds_o = below;
      XdpOpLe:  holds_o = below || equal;
      XdpOpSgt: holds_o = !below_signed && !equal;
      XdpOpSge: holds_o = !below_signed;
      XdpOpSlt: holds_o = below_signed;
      XdpOpSle: holds_o = below_signed || equal;
      default:  holds_o = 1'b0;
    endcase
  end

endmodule
