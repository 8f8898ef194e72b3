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

  // verilator lint_on UNUSEDSIGNAL
endpackage
