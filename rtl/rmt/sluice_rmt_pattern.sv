/// Deparse pattern of a packet: the lowest that matches picks a row (docs/design/rmt.md, "Deparser").
///
/// `hit_o` and `row_o` are of what came with the last `load_i`.
///
/// Latency: 1 cycle. Throughput: one packet a cycle.
module sluice_rmt_pattern
  import sluice_rmt_rows_pkg::*;
(
    input logic clk_i,

    input  logic                     load_i,
    input  rmt_patterns_row_t        patterns_i,
    input  logic              [19:0] key_i,       // path in bits 3:0, valid headers in bits 19:4
    output logic                     hit_o,
    output logic              [ 3:0] row_o
);

  logic [15:0] hit;

  for (genvar p = 0; p < 16; p++) begin : gen_pattern
    // "Bits of signal are not used": the structure travels whole, this module takes the fields that concern it.
    // verilator lint_off UNUSEDSIGNAL
    rmt_pattern_t pattern;
    // verilator lint_on UNUSEDSIGNAL
    assign pattern = patterns_i.patterns[p];
    sluice_agree #(
        .Width(20)
    ) u_agree (
        .enable_i(pattern.valid),
        .a_i     (key_i),
        .b_i     (pattern.value),
        .mask_i  (pattern.mask),
        .agree_o (hit[p])
    );
  end

  // Four patterns each, then the four.
  function automatic logic [3:0] lowest(logic [2:0] hits, logic [3:0][3:0] rows);
    return hits[0] ? rows[0] : hits[1] ? rows[1] : hits[2] ? rows[2] : rows[3];
  endfunction

  logic [3:0] any_q;
  logic [3:0][3:0] row_q;

  for (genvar g = 0; g < 4; g++) begin : gen_four
    logic [3:0][3:0] row;
    for (genvar i = 0; i < 4; i++) begin : gen_row
      assign row[i] = patterns_i.patterns[4*g+i].row;
    end
    always_ff @(posedge clk_i) begin
      if (load_i) begin
        any_q[g] <= |hit[4*g+:4];
        row_q[g] <= lowest(hit[4*g+:3], row);
      end
    end
  end

  assign hit_o = |any_q;
  assign row_o = lowest(any_q[2:0], row_q);

endmodule
