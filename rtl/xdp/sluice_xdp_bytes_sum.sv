/// The sum of `csum_diff`: of 32-bit words with their carries. What is subtracted is the complement of a sum.
///
/// Words of the first range are added, then it is folded; those of the second one, and it is folded and closed: both sums to 16 bits.
///
/// Latency: 2 cycles to fold a range, 1 more to close. Throughput: a word a cycle. Never stalls.
module sluice_xdp_bytes_sum (
    input logic clk_i,
    input logic rst_ni,

    // A range begins: with the seed, or with its complement where there is nothing to add to the first sum.
    input logic        begins_i,
    input logic        second_i,
    input logic [31:0] seed_i,
    input logic        from_empty_i,
    input logic        to_empty_i,

    // A word arrives, which is there in the next cycle.
    input logic        arrives_i,
    input logic [63:0] word_i,

    input  logic        folds_i,   // the range has ended
    output logic        folded_o,
    output logic        closes_o,
    output logic [15:0] sum_o
);

  typedef enum logic [1:0] {
    Rest,
    Fold,    // the carries of a sum
    Refold,
    Close    // both sums to 16 bits
  } state_e;

  state_e state_q;
  logic adds_q;
  logic [47:0] sum_q;
  logic [31:0] first_q, total;
  // "Bits of signal are not used": the lower half gives its carry only.
  // verilator lint_off UNUSEDSIGNAL
  logic [31:0] turned;
  // verilator lint_on UNUSEDSIGNAL
  logic [32:0] both;

  assign folded_o = state_q == Refold;
  assign closes_o = state_q == Close;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Rest;
    end else begin
      case (state_q)
        Rest: if (folds_i) state_q <= Fold;
        Fold: state_q <= Refold;
        Refold: state_q <= second_i ? Close : Rest;
        default: state_q <= Rest;
      endcase
    end
    case (state_q)
      Fold:   sum_q <= 48'(sum_q[31:0]) + 48'(sum_q[47:32]);
      Refold: sum_q <= 48'(32'(sum_q[31:0] + 32'(sum_q[32])));
      default: begin
        // What has arrived is added in the step to the next piece.
        if (adds_q) sum_q <= sum_q + 48'(word_i[31:0]) + 48'(word_i[63:32]);
        if (begins_i) sum_q <= second_i ? 48'(seed_i) : to_empty_i ? 48'(32'(~seed_i)) : '0;
      end
    endcase
    adds_q <= arrives_i;
    if (state_q == Refold && !second_i) first_q <= ~(sum_q[31:0] + 32'(sum_q[32]));
  end

  assign both = 33'(first_q) + 33'(sum_q[31:0]);
  always_comb begin
    if (from_empty_i) total = sum_q[31:0];
    else if (to_empty_i) total = first_q;
    else total = 32'(both) + 32'(both[32]);
  end
  // The upper half of the sum of both halves, with the carry from the lower one.
  assign turned = total + {total[15:0], total[31:16]};
  assign sum_o  = turned[31:16];

endmodule
