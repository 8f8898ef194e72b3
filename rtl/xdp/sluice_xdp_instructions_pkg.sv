/// What a core reads from an instruction: its class, what it writes, and how many bytes it accesses (docs/design/hxdp.md).
package sluice_xdp_instructions_pkg;

  import sluice_xdp_rows_pkg::*;

  // "Bits of function variable are not used": a function takes the fields that concern it.
  // verilator lint_off UNUSEDSIGNAL

  function automatic logic is_access(logic [7:0] op);
    return op[7:4] == 4'h4;
  endfunction

  function automatic logic is_atomic(logic [7:0] op);
    return op[7:4] == 4'h3;
  endfunction

  // A sum of two neighbouring words.
  function automatic logic is_pair(logic [7:0] op);
    return op inside {XdpOpAddPair, XdpOpAddPairSwapped};
  endfunction

  function automatic logic is_store(logic [7:0] op);
    return op[7:3] == 5'b01001;
  endfunction

  // Multiplication, division, remainder.
  function automatic logic is_muldiv(logic [7:0] op);
    return op inside {XdpOpMul, XdpOpDiv, XdpOpMod, XdpOpSdiv, XdpOpSmod};
  endfunction

  // Whether an instruction is arithmetic, a move or a condition of 32 bits.
  function automatic logic takes_halves(xdp_lane_t lane);
    return !lane.wide && ((lane.op[7:4] == 4'h0 && lane.op != XdpOpNone) || lane.op inside {XdpOpMove, XdpOpNegate} ||
        (lane.op[7:4] == 4'h2 && lane.op[3:2] != 2'b11));
  endfunction

  // Whether an instruction writes its destination. An atomic operation does when it fetches.
  function automatic logic writes(xdp_lane_t lane);
    logic [7:0] op;
    op = lane.op;
    return (is_atomic(
        op
    ) && (lane.extra || op[2:0] == 3'd5)) || (op[7:4] == 4'h0 && op != XdpOpNone) ||
        op inside {XdpOpMove, XdpOpNegate, XdpOpHelper, XdpOpElement, XdpOpIndexed, XdpOpExitValue} ||
        op[7:3] == 5'b00011 || op[7:3] == 5'b01000 || op[7:4] == 4'h5;
  endfunction

  // Bytes of an access, from the lower bits of its operation.
  function automatic logic [3:0] bytes_of(logic [2:0] size);
    case (size)
      3'd0: return 4'd1;
      3'd1: return 4'd2;
      3'd2: return 4'd4;
      3'd3: return 4'd6;
      default: return 4'd8;
    endcase
  endfunction

  // The number of an instruction whose lane holds 64 bits of it: a constant; of a per-CPU array's value its address, and the distance of copies above.
  function automatic logic is_constant(logic [7:0] op);
    return op inside {XdpOpConstant, XdpOpElement};
  endfunction
  function automatic logic [63:0] constant_of(xdp_lane_t lane);
    return {lane.high, lane.imm, lane.off, lane.spare, lane.extra, lane.wide, lane.immediate, lane.b};
  endfunction

  // ---------------------------------------------------------------------------------------------------------------
  // What arithmetic does, as the lane's operation says (sluice_xdp_alu).

  // A bit of the result that is no sum and was not shifted: of both operands' bits.
  typedef enum logic [2:0] {
    LogicZero,
    LogicFirst,
    LogicSecond,
    LogicOr,
    LogicAnd,
    LogicXor
  } xdp_logic_e;

  // What stands in the place of the first operand's bit; behind the lowest 16 bits the last one is the second operand's lower part.
  typedef enum logic [1:0] {
    PlaceOwn,
    PlaceSwapped32,
    PlaceSwapped64,
    PlaceSwapped16
  } xdp_place_e;
  localparam xdp_place_e PlaceSecond = PlaceSwapped16;

  typedef struct packed {
    logic             sums;        // the result is the sum
    logic             subtracts;
    logic             wide;        // of 64 bits
    logic             left;        // shifts
    logic             right;
    logic             turns;
    logic             indexed;     // by as many bits as the lane says
    logic             arithmetic;  // and fills with the sign
    logic             given;       // somebody else has made the result
    xdp_place_e       low;         // bits 0 to 15
    xdp_place_e       middle;      // to 31
    xdp_place_e       high;
    xdp_logic_e [3:0] bits;        // 0 to 7, to 15, to 31, to 63
    // Bits above 7, 15, 31 are those ones' copies.
    logic             extends8;
    logic             extends16;
    logic             extends32;
  } xdp_arithmetic_t;

  function automatic xdp_arithmetic_t arithmetic_of(xdp_lane_t lane);
    xdp_arithmetic_t does;
    logic [7:0] op;
    op = lane.op;
    does = '0;
    does.sums = op inside {XdpOpAdd, XdpOpSub, XdpOpNegate};
    does.subtracts = !(op inside {XdpOpAdd, XdpOpLength});
    does.wide = lane.wide || op == XdpOpLength;
    does.left = op inside {XdpOpLsh, XdpOpIndexed};
    does.right = op inside {XdpOpRsh, XdpOpArsh};
    does.turns = op == XdpOpRotate;
    does.indexed = op == XdpOpIndexed;
    does.arithmetic = op == XdpOpArsh;
    does.given = op inside {XdpOpNone, XdpOpHelper} || is_muldiv(op) || is_access(op) || is_atomic(op);
    does.extends8 = op == XdpOpExtend8;
    does.extends16 = op == XdpOpExtend16;
    does.extends32 = op == XdpOpExtend32;
    case (op)
      XdpOpOr: does.bits = {4{LogicOr}};
      XdpOpXor: does.bits = {4{LogicXor}};
      XdpOpAnd, XdpOpSet, XdpOpClear: does.bits = {4{LogicAnd}};
      XdpOpMove, XdpOpExitValue, XdpOpConstant: does.bits = {4{LogicSecond}};
      XdpOpLittle64, XdpOpBig64, XdpOpSwap64, XdpOpPack32: does.bits = {4{LogicFirst}};
      XdpOpLittle32, XdpOpBig32, XdpOpSwap32, XdpOpExtend32, XdpOpPack16: does.bits = {LogicZero, {3{LogicFirst}}};
      XdpOpLittle16, XdpOpBig16, XdpOpSwap16, XdpOpExtend16: does.bits = {{2{LogicZero}}, {2{LogicFirst}}};
      XdpOpExtend8: does.bits = {{3{LogicZero}}, LogicFirst};
      default: ;
    endcase
    case (op)
      XdpOpBig16, XdpOpSwap16: does.low = PlaceSwapped16;
      XdpOpBig32, XdpOpSwap32: {does.middle, does.low} = {2{PlaceSwapped32}};
      XdpOpBig64, XdpOpSwap64: {does.high, does.middle, does.low} = {3{PlaceSwapped64}};
      XdpOpPack16: does.middle = PlaceSecond;
      XdpOpPack32: does.high = PlaceSecond;
      default: ;
    endcase
    return does;
  endfunction

  // verilator lint_on UNUSEDSIGNAL
endpackage
