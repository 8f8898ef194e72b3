/// Arithmetic and conditions of one lane.
///
/// Of an operation of 32 bits the operands' upper halves are zero; extensions and byte orders take `a_i` as it is. `result_o`, `holds_o` and the
/// sum or difference alone, `sum_o`, belong to the inputs of the cycle before. What a unit or somebody else has made is `given_i`: the result of
/// multiplications, accesses and helpers, and of a lane without an operation. Of an index `result_o` is what is to be added to the array's address.
/// What each does: docs/design/xdp.md, "Instructions"; a shift takes the low bits of its count.
///
/// Latency: 1 cycle, of which the second part of shifts and the choice of the result come behind the register.
/// Throughput: 1 a cycle. Never stalls.
module sluice_xdp_alu
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_instructions_pkg::*;
(
    input logic clk_i,

    input logic [ 7:0] op_i,
    // What the operation says, decoded before: whether the sum is a difference, and 64 bits count.
    input logic        subtracts_i,
    input logic        wide_i,
    // Of a negation 0 and what is negated.
    input logic [63:0] a_i,
    input logic [63:0] b_i,
    input logic [63:0] constant_i,
    input logic [63:0] given_i,
    // Of an index: how far it is shifted to the left.
    input logic [ 4:0] shift_i,

    output logic [63:0] sum_o,
    output logic [63:0] result_o,
    output logic        holds_o
);

  // Sum, difference, and the difference that conditions look at.
  logic [64:0] sum;
  assign sum = {1'b0, a_i} + {1'b0, b_i ^ {64{subtracts_i}}} + 65'(subtracts_i);

  // Shifts turn to the right, those to the left by what is left of 64. By 0 to 15 here, the rest behind the register, where what
  // came around is cut off.
  logic left, turns, right, sign, fill;
  logic [5:0] count, amount, span;
  logic [63:0] from, turned, kept;
  assign left   = op_i inside {XdpOpLsh, XdpOpIndexed};
  // 32 bits turn as 64 that hold them twice.
  assign turns  = op_i == XdpOpRotate;
  assign right  = op_i inside {XdpOpRsh, XdpOpArsh};
  assign sign   = wide_i ? a_i[63] : a_i[31];
  assign fill   = op_i == XdpOpArsh && sign;
  assign count  = (op_i == XdpOpIndexed) ? {1'b0, shift_i} : {wide_i && b_i[5], b_i[4:0]};
  assign amount = left ? -count : count;
  assign from   = {(turns && !wide_i) ? a_i[31:0] : a_i[63:32], a_i[31:0]};
  assign turned = 64'({from[14:0], from} >> amount[3:0]);
  // Bits from 64 - `span` on came around; of 32 bits that go right, those from the half's end on.
  always_comb begin
    span = '0;
    if (left) span = amount;
    if (right) span = {amount[5] || !wide_i, amount[4:0]};
    for (int unsigned i = 0; i < 64; i++) begin
      kept[i] = (span > 6'(63 - i)) != (right || turns || (left && count == '0)) && (i < 32 || wide_i);
    end
  end

  // Bytes the other way round.
  function automatic logic [63:0] reversed(logic [63:0] x);
    logic [63:0] y;
    for (int unsigned i = 0; i < 8; i++) y[8*i+:8] = x[56-8*i+:8];
    return y;
  endfunction

  logic [63:0] swapped, misc;
  assign swapped = reversed(a_i);

  always_comb begin
    case (op_i)
      XdpOpAdd, XdpOpSub, XdpOpNegate, XdpOpElement, XdpOpIndexed: misc = '0;
      XdpOpLsh, XdpOpRsh, XdpOpArsh, XdpOpRotate: misc = {{32{fill && wide_i}}, {32{fill}}};
      XdpOpOr: misc = a_i | b_i;
      XdpOpXor: misc = a_i ^ b_i;
      XdpOpAnd, XdpOpSet, XdpOpClear: misc = a_i & b_i;
      XdpOpMove, XdpOpExitValue: misc = b_i;
      XdpOpLittle64: misc = a_i;
      XdpOpPack16: misc = {32'd0, b_i[15:0], a_i[15:0]};
      XdpOpPack32: misc = {b_i[31:0], a_i[31:0]};
      XdpOpExtend8: misc = {{32{a_i[7] && wide_i}}, {24{a_i[7]}}, a_i[7:0]};
      XdpOpExtend16: misc = {{32{a_i[15] && wide_i}}, {16{a_i[15]}}, a_i[15:0]};
      XdpOpExtend32: misc = {{32{a_i[31] && wide_i}}, a_i[31:0]};
      XdpOpLittle16: misc = {48'd0, a_i[15:0]};
      XdpOpLittle32: misc = {32'd0, a_i[31:0]};
      XdpOpBig16, XdpOpSwap16: misc = {48'd0, a_i[7:0], a_i[15:8]};
      XdpOpBig32, XdpOpSwap32: misc = {32'd0, swapped[63:32]};
      XdpOpBig64, XdpOpSwap64: misc = swapped;
      default:
      misc = (op_i inside {XdpOpNone, XdpOpHelper} || is_muldiv(op_i) || is_access(op_i) || is_atomic(op_i)) ? given_i :
          constant_i;
    endcase
  end

  logic [7:0] op_q;
  logic carry_q, a_sign_q, b_sign_q;
  // Whether the result is the sum, of its lower and upper half.
  logic [1:0] sums_q, far_q;
  logic [63:0] sum_q, misc_q, turned_q, kept_q;

  always_ff @(posedge clk_i) begin
    op_q     <= op_i;
    far_q    <= amount[5:4];
    carry_q  <= sum[64];
    a_sign_q <= sign;
    b_sign_q <= wide_i ? b_i[63] : b_i[31];
    sums_q   <= {2{op_i inside {XdpOpAdd, XdpOpSub, XdpOpNegate}}} & {wide_i, 1'b1};
    sum_q    <= sum[63:0];
    misc_q   <= misc;
    turned_q <= turned;
    kept_q   <= kept;
  end

  logic [63:0] far;
  always_comb begin
    far = 64'({turned_q[47:0], turned_q} >> {far_q, 4'd0});
    for (int unsigned i = 0; i < 64; i++) result_o[i] = kept_q[i] ? far[i] : sums_q[i/32] ? sum_q[i] : misc_q[i];
  end

  logic equal, below, below_signed;
  assign sum_o = sum_q;
  assign equal = sum_q == '0;
  assign below = !carry_q;
  assign below_signed = (a_sign_q != b_sign_q) ? a_sign_q : !carry_q;

  always_comb begin
    case (op_q)
      XdpOpEq: holds_o = equal;
      XdpOpNe: holds_o = !equal;
      XdpOpSet: holds_o = misc_q != '0;
      XdpOpClear: holds_o = misc_q == '0;
      XdpOpGt: holds_o = !below && !equal;
      XdpOpGe: holds_o = !below;
      XdpOpLt: holds_o = below;
      XdpOpLe: holds_o = below || equal;
      XdpOpSgt: holds_o = !below_signed && !equal;
      XdpOpSge: holds_o = !below_signed;
      XdpOpSlt: holds_o = below_signed;
      XdpOpSle: holds_o = below_signed || equal;
      default: holds_o = 1'b0;
    endcase
  end

endmodule
