/// Arithmetic and conditions of one lane.
///
/// Of an operation of 32 bits the operands' upper halves are zero; extensions and byte orders take `a_i` as it is. `result_o`, `holds_o` and the
/// sum or difference alone, `sum_o`, belong to the inputs of the cycle before. What a unit or somebody else has made is `given_i`: the result of
/// multiplications, accesses and helpers, and of a lane without an operation. A constant is the second operand. Of an index `result_o` is what is to be added to the
/// array's address. What the operation is, but for its condition, was decoded before (`does_i`).
/// What each does: docs/design/xdp.md, "Instructions"; a shift takes the low bits of its count.
///
/// Latency: 1 cycle, of which the second part of shifts and the choice of the result come behind the register.
/// Throughput: 1 a cycle. Never stalls.
module sluice_xdp_alu
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_instructions_pkg::*;
(
    input logic clk_i,

    input logic            [ 7:0] op_i,
    input xdp_arithmetic_t        does_i,
    // Of a negation 0 and what is negated.
    input logic            [63:0] a_i,
    input logic            [63:0] b_i,
    input logic            [63:0] given_i,
    input logic                   nothing_i,  // it is zero, or
    input logic                   refused_i,  // ErrorPermission
    // Of an index: how far it is shifted to the left.
    input logic            [ 4:0] shift_i,

    output logic [63:0] sum_o,
    output logic [63:0] result_o,
    output logic        holds_o
);

  // Sum, difference, and the difference that conditions look at.
  logic [64:0] sum;
  assign sum = {1'b0, a_i} + {1'b0, b_i ^ {64{does_i.subtracts}}} + 65'(does_i.subtracts);

  // Shifts turn to the right, those to the left by what is left of 64. By 0 to 15 here, the rest behind the register, where what
  // came around is cut off.
  logic wide, sign, fill, rest;
  logic [5:0] count, amount, span;
  logic [63:0] from, turned, kept;
  assign wide  = does_i.wide;
  assign sign  = wide ? a_i[63] : a_i[31];
  assign fill  = does_i.arithmetic && sign;
  assign count = does_i.indexed ? {1'b0, shift_i} : {wide && b_i[5], b_i[4:0]};
  // What is left of 64: the bits above the lowest one the other way round. Without a carry, which would be waited for by all that turns.
  always_comb
    for (int unsigned i = 0; i < 6; i++) amount[i] = count[i] != (does_i.left && (count & ~(6'h3f << i)) != '0);
  // 32 bits turn as 64 that hold them twice.
  assign from   = {(does_i.turns && !wide) ? a_i[31:0] : a_i[63:32], a_i[31:0]};
  assign turned = 64'({from[14:0], from} >> amount[3:0]);

  // Bits from 64 - `span` on came around; of 32 bits that go right, those from the half's end on.
  logic [7:0] over, at, low;
  always_comb begin
    span = '0;
    if (does_i.left) span = amount;
    if (does_i.right) span = {amount[5] || !wide, amount[4:0]};
    rest = does_i.right || does_i.turns || (does_i.left && count == '0);
    // By eight bits: all of them, or some.
    for (int unsigned g = 0; g < 8; g++) begin
      over[g] = span[5:3] > 3'(g);
      at[g]   = span[5:3] == 3'(g);
      low[g]  = span[2:0] > 3'(g);
    end
    for (int unsigned i = 0; i < 64; i++) begin
      kept[i] = ((over[(63-i)/8] || (at[(63-i)/8] && low[(63-i)%8])) != rest) && (i < 32 || wide);
    end
  end

  // Bytes the other way round.
  function automatic logic [63:0] reversed(logic [63:0] x);
    logic [63:0] y;
    for (int unsigned i = 0; i < 8; i++) y[8*i+:8] = x[56-8*i+:8];
    return y;
  endfunction

  // What is no sum and was not shifted: bits of both operands, and copies of a sign.
  logic [63:0] swapped, first, misc;
  logic extended;
  logic [3:0] fills;
  assign swapped = reversed(a_i);
  assign extended = (does_i.extends8 && a_i[7]) || (does_i.extends16 && a_i[15]) || (does_i.extends32 && a_i[31]);
  assign fills = {
    ((extended || fill) && wide) || refused_i,
    (extended && !does_i.extends32) || fill || refused_i,
    (extended && does_i.extends8) || fill || refused_i,
    fill || refused_i
  };

  function automatic logic placed(xdp_place_e place, logic own, logic swapped32, logic swapped64, logic other);
    case (place)
      PlaceOwn: return own;
      PlaceSwapped32: return swapped32;
      PlaceSwapped64: return swapped64;
      default: return other;
    endcase
  endfunction
  function automatic logic made(xdp_logic_e bits, logic a, logic b);
    case (bits)
      LogicFirst: return a;
      LogicSecond: return b;
      LogicOr: return a || b;
      LogicAnd: return a && b;
      LogicXor: return a != b;
      default: return 1'b0;
    endcase
  endfunction
  always_comb begin
    for (int unsigned i = 0; i < 16; i++)
    first[i] = placed(does_i.low, a_i[i], swapped[32+i], swapped[i], swapped[48+i]);
    for (int unsigned i = 16; i < 32; i++)
    first[i] = placed(does_i.middle, a_i[i], swapped[32+i], swapped[i], b_i[i-16]);
    for (int unsigned i = 32; i < 64; i++) first[i] = placed(does_i.high, a_i[i], swapped[i], swapped[i], b_i[i-32]);
    for (int unsigned i = 0; i < 64; i++) begin
      misc[i] = made(does_i.bits[(i<8)?0 : (i<16)?1 : (i<32)?2 : 3], first[i], b_i[i]) ||
          fills[(i<8)?0 : (i<16)?1 : (i<32)?2 : 3];
    end
  end

  logic [7:0] op_q;
  logic carry_q, a_sign_q, b_sign_q;
  // Whether the result is the sum, of its lower and upper half.
  logic [1:0] sums_q, far_q;
  logic [63:0] sum_q, misc_q, given_q, turned_q, kept_q;

  always_ff @(posedge clk_i) begin
    op_q     <= op_i;
    far_q    <= amount[5:4];
    carry_q  <= sum[64];
    a_sign_q <= sign;
    b_sign_q <= wide ? b_i[63] : b_i[31];
    sums_q   <= {2{does_i.sums}} & {wide, 1'b1};
    sum_q    <= sum[63:0];
    misc_q   <= misc;
    given_q  <= given_i;
    if (!does_i.given || nothing_i || refused_i) given_q <= '0;
    turned_q <= turned;
    kept_q   <= kept;
  end

  logic [63:0] far;
  always_comb begin
    far = 64'({turned_q[47:0], turned_q} >> {far_q, 4'd0});
    for (int unsigned i = 0; i < 64; i++)
    result_o[i] = kept_q[i] ? far[i] : sums_q[i/32] ? sum_q[i] : (misc_q[i] || given_q[i]);
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
