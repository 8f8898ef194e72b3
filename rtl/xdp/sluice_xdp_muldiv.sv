/// Multiplies and divides for all contexts: a multiplication a cycle, or one division.
///
/// `valid_i` with `ready_o` takes an operation: what docs/design/xdp.md says of it, 32-bit operations with the lower halves.
/// `done_o` is high for a cycle with `result_o`, of operations in the order in which they were taken.
///
/// A dividend is made positive first, and what was found gets its sign last, both by one negation. A negative divisor is added, not subtracted.
/// Behind a division by zero the remainder is the dividend, and no bit of a quotient is set.
///
/// Latency: multiplication 3 cycles; division and remainder 66, of 32 bits 34. Throughput: a multiplication a cycle. Stall behaviour: `ready_o` is low while a
/// division is under way; a result does not wait.
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

  typedef enum logic [1:0] {
    Idle,
    Sign,    // the dividend without its sign
    Divide,  // a bit of the quotient a cycle
    Done
  } state_e;

  state_e state_q;
  logic wide_q, signed_q, remainder_q, nothing_q;
  // Of multiplications: operands, halves' products, and the product are there; whether of 64 bits.
  logic [2:0] multiplies_q;
  logic low_wide_q, product_wide_q;
  logic negative_q;  // the result of a division
  logic [5:0] left_q;
  // The dividend, whose place the quotient takes bit by bit; the divisor; what is left of the dividend.
  logic [63:0] first_q, second_q, rest_q;
  logic [64:0] trial;

  assign ready_o = state_q == Idle;

  // The next bit of the dividend goes in at the bottom of the rest, the divisor's magnitude away from it.
  logic subtracts;
  assign subtracts = !(signed_q && second_q[63]);
  assign trial = {rest_q, first_q[63]} + ({signed_q && second_q[63], second_q} ^ {65{subtracts}}) + 65'(subtracts);

  // Halves: low by low, and both mixed ones.
  logic [63:0] low_q, product_q;
  logic [31:0] mixed_q, other_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Idle;
    end else begin
      case (state_q)
        Idle: if (valid_i && op_i != XdpOpMul) state_q <= Sign;
        Sign: state_q <= Divide;
        Divide: if (left_q == '0) state_q <= Done;
        default: state_q <= Idle;
      endcase
    end
    if (!rst_ni) multiplies_q <= '0;
    else multiplies_q <= {multiplies_q[1:0], valid_i && ready_o && op_i == XdpOpMul};
    low_wide_q <= wide_q;
    product_wide_q <= low_wide_q;
  end

  // One negation: of a dividend, or of what was found.
  logic negates;
  logic [63:0] found, turned;
  assign found   = (state_q == Done && remainder_q) ? rest_q : first_q;
  assign negates = (state_q == Done) ? negative_q : (signed_q && first_q[63]);
  assign turned  = (found ^ {64{negates}}) + 64'(negates);

  // A dividend of 32 bits begins in the upper half: 32 bits to go.
  logic is_signed, halves;
  assign is_signed = op_i inside {XdpOpSdiv, XdpOpSmod};
  assign halves = !wide_i && op_i != XdpOpMul;

  always_ff @(posedge clk_i) begin
    case (state_q)
      Idle: begin
        wide_q      <= wide_i;
        signed_q    <= is_signed;
        remainder_q <= op_i inside {XdpOpMod, XdpOpSmod};
        first_q     <= halves ? {a_i[31:0], 32'd0} : a_i;
        second_q    <= wide_i ? b_i : {{32{is_signed && b_i[31]}}, b_i[31:0]};
        left_q      <= wide_i ? 6'd63 : 6'd31;
      end
      Sign: first_q <= turned;
      Divide: begin
        left_q  <= left_q - 6'd1;
        first_q <= {first_q[62:0], !trial[64] && !nothing_q};
      end
      default: ;
    endcase
    if (state_q == Sign) begin
      // A quotient is negative when one of both is, a remainder when the dividend is.
      negative_q <= signed_q && first_q[63] != (second_q[63] && !remainder_q);
      nothing_q  <= second_q == '0;
    end
    if (state_q == Divide) rest_q <= trial[64] ? {rest_q[62:0], first_q[63]} : trial[63:0];
    else if (state_q == Sign) rest_q <= '0;
    low_q <= 64'(first_q[31:0]) * 64'(second_q[31:0]);
    mixed_q <= first_q[63:32] * second_q[31:0];
    other_q <= first_q[31:0] * second_q[63:32];
    product_q <= low_q + {mixed_q + other_q, 32'd0};
  end

  // A division takes longer than a multiplication before it.
  logic product;
  logic [63:0] value;
  assign product = multiplies_q[2];
  assign value = product ? product_q : turned;
  assign done_o = product || state_q == Done;
  assign result_o = {(product ? product_wide_q : wide_q) ? value[63:32] : 32'd0, value[31:0]};

endmodule
