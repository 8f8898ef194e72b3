/// The cross value X: a container, three metadata words, the hash or the entry's number, without its upper words, shifted
/// right (docs/design/rmt.md, "Operands").
///
/// Three lanes of 16 bits, chosen in three steps of four by the source's own bits, so that nothing is decoded before
/// (c4); the shift comes a cycle later, beside the rotators. A source without a meaning, a shift of 3 and a cut of 3 give
/// zero.
///
/// Latency: `nearly_o` in c4, `x_o` two cycles later, in c6. Throughput: a packet a cycle. Never stalls.
module sluice_rmt_cross
  import sluice_rmt_pkg::*;
  import sluice_rmt_rows_pkg::*;
(
    input  logic                       clk_i,
    input  logic     [ 5:4]            valid_i,   // whether c4, c5 hold a packet
    // "Bits of signal are not used": the structure travels whole, this module takes the fields that concern it.
    // verilator lint_off UNUSEDSIGNAL
    input  rmt_phv_t                   phv_i,
    // verilator lint_on UNUSEDSIGNAL
    input  logic     [31:0]            hash_i,
    input  logic     [10:0]            number_i,
    input  logic     [ 5:0]            source_i,
    input  logic     [ 1:0]            shift_i,
    input  logic     [ 1:0]            cut_i,     // 16-bit words that are cleared, the highest first
    output logic     [ 2:0][2:0][15:0] nearly_o,  // lanes, before the last step by source_i[5:4]; 3 gives zero
    output logic     [47:0]            x_o
);

  logic [2:0][63:0][15:0] sources;
  (* keep *) logic [2:0][15:0] lanes;
  logic [2:0][15:0] lanes_q;
  logic [1:0] shift_q;
  logic [47:0] x_d;

  function automatic logic [15:0] choose(logic [3:0][15:0] of, logic [1:0] which);
    return which[1] ? (which[0] ? of[3] : of[2]) : (which[0] ? of[1] : of[0]);
  endfunction

  always_comb begin
    sources = '0;
    for (int unsigned i = 0; i < 8; i++) begin
      sources[0][i] = phv_i.c.c2[i];
      for (int unsigned l = 0; l < 2; l++) sources[l][8+i] = phv_i.c.c4[i][16*l+:16];
      for (int unsigned l = 0; l < 3; l++) sources[l][16+i] = phv_i.c.c6[i][16*l+:16];
    end
    for (int unsigned l = 0; l < 3; l++) begin
      for (int unsigned k = 0; k + l < 16; k++) sources[l][6'(k)+RmtCrossWords] = phv_i.words[k+l];
    end
    for (int unsigned l = 0; l < 2; l++) sources[l][RmtCrossHash] = hash_i[16*l+:16];
    sources[0][RmtCrossNumber] = 16'(number_i);
  end

  for (genvar l = 0; l < 3; l++) begin : gen_lane
    // Kept, so that each step maps as it is written.
    // "Bits of signal are not used": the word has the width of what it is computed from; some of it decides nothing.
    // verilator lint_off UNUSEDSIGNAL
    (* keep *)logic [15:0][15:0] first;
    // verilator lint_on UNUSEDSIGNAL
    (* keep *)logic [ 2:0][15:0] second;
    for (genvar i = 0; i < 16; i++) begin : gen_first
      // The upper bit first in lane 2: pairs of words that are lane 0's too would be shared, a step deeper.
      if (l == 2) begin : gen_upper_first
        assign first[i] = choose(
            {sources[l][4*i+3], sources[l][4*i+1], sources[l][4*i+2], sources[l][4*i]}, {source_i[0], source_i[1]}
        );
      end else begin : gen_lower_first
        assign first[i] = choose(sources[l][4*i+:4], source_i[1:0]);
      end
    end
    for (genvar i = 0; i < 3; i++) begin : gen_second
      assign second[i] = choose(first[4*i+:4], source_i[3:2]);
    end
    assign lanes[l] = choose({16'd0, second}, source_i[5:4]);
    assign nearly_o[l] = second;
  end

  always_comb begin
    case (shift_q)
      2'd0: x_d = lanes_q;
      2'd1: x_d = {16'd0, lanes_q[2], lanes_q[1]};
      2'd2: x_d = {32'd0, lanes_q[2]};
      default: x_d = '0;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (valid_i[4]) begin
      shift_q <= shift_i;
      // What is cut off is a reset of the registers, which takes no LUT.
      for (int unsigned l = 0; l < 3; l++) begin
        if (32'(cut_i) + l < 3) lanes_q[l] <= lanes[l];
        else lanes_q[l] <= '0;
      end
    end
    if (valid_i[5]) x_o <= x_d;
  end

endmodule
