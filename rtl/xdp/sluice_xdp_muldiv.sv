/// Multiplies and divides for all contexts, one operation at a time.
///
/// `valid_i` with `ready_o` takes an operation: what docs/design/xdp.md says of it, 32-bit operations with the lower halves.
/// `done_o` is high for a cycle with `result_o`, and `busy` ends with it.
///
/// Latency: multiplication 3 cycles; division and remainder 66, of 32 bits 34, by zero 2. Stall behaviour: `ready_o` is low while an
/// operation is under way.
module sluice_xdp_muldiv
  import sluice_xdp_rows_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,

    input  logic        valid_i,
    output logic        ready_o,
    input  logic [ 7:0] op_i,
    input  logic        wide_i,
    input  logic [63:0] a_i,
    input  logic [63:0] b_i,

    output logic        done_o,
    output logic [63:0] result_o
);

  typedef enum logic [2:0] {
    Idle,
    Signs,  // operands without their signs
    Divide,  // a bit of the quotient a cycle
    Multiply,
    Add,
    Done
  } state_e;

  state_e state_q;
  logic [7:0] op_q;
  logic wide_q, negate_q, is_signed;
  logic [5:0] left_q;
  logic [63:0] a_q, b_q, quotient_q, remainder_q, product_q;
  logic [64:0] trial;

  assign ready_o   = state_q == Idle;
  assign is_signed = op_q inside {XdpOpSdiv, XdpOpSmod};
  // The next bit of the dividend goes in at the bottom of the remainder.
  assign trial     = {remainder_q, quotient_q[63]} - {1'b0, b_q};

  // Halves: low by low, and both mixed ones.
  logic [63:0] low_q;
  logic [31:0] mixed_q, other_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Idle;
    end else begin
      case (state_q)
        Idle: if (valid_i) state_q <= (op_i == XdpOpMul) ? Multiply : Signs;
        Signs: state_q <= (b_q == '0) ? Done : Divide;
        Divide: if (left_q == '0) state_q <= Done;
        Multiply: state_q <= Add;
        Add: state_q <= Done;
        default: state_q <= Idle;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (state_q == Idle) begin
      op_q   <= op_i;
      wide_q <= wide_i;
      a_q    <= wide_i ? a_i : {{32{op_i inside {XdpOpSdiv, XdpOpSmod} && a_i[31]}}, a_i[31:0]};
      b_q    <= wide_i ? b_i : {{32{op_i inside {XdpOpSdiv, XdpOpSmod} && b_i[31]}}, b_i[31:0]};
    end
    if (state_q == Signs) begin
      // A quotient is negative when one of both is, a remainder when the dividend is.
      negate_q    <= is_signed && ((op_q == XdpOpSdiv) ? a_q[63] != b_q[63] : a_q[63]);
      // A dividend of 32 bits begins in the upper half: 32 bits to go.
      quotient_q  <= wide_q ? magnitude(a_q) : {magnitude(a_q) [31:0], 32'd0};
      b_q         <= magnitude(b_q);
      remainder_q <= (b_q == '0) ? magnitude(a_q) : '0;
      if (b_q == '0) quotient_q <= '0;
      left_q <= wide_q ? 6'd63 : 6'd31;
    end
    if (state_q == Divide) begin
      left_q      <= left_q - 6'd1;
      quotient_q  <= {quotient_q[62:0], !trial[64]};
      remainder_q <= trial[64] ? {remainder_q[62:0], quotient_q[63]} : trial[63:0];
    end
    if (state_q == Multiply) begin
      low_q   <= 64'(a_q[31:0]) * 64'(b_q[31:0]);
      mixed_q <= a_q[63:32] * b_q[31:0];
      other_q <= a_q[31:0] * b_q[63:32];
    end
    if (state_q == Add) product_q <= low_q + {mixed_q + other_q, 32'd0};
  end

  function automatic logic [63:0] magnitude(logic [63:0] x);
    return (is_signed && x[63]) ? -x : x;
  endfunction

  // A product is not negated.
  logic negates;
  logic [63:0] found, value;
  assign negates = negate_q && op_q != XdpOpMul;
  always_comb begin
    case (op_q)
      XdpOpMul: found = product_q;
      XdpOpDiv, XdpOpSdiv: found = quotient_q;
      default: found = remainder_q;
    endcase
  end
  assign value = (found ^ {64{negates}}) + 64'(negates);

  assign done_o = state_q == Done;
  assign result_o = {wide_q ? value[63:32] : 32'd0, value[31:0]};

endmodule
