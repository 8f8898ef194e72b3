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

  logic [15:0] hit_q;
  logic [15:0][3:0] row_q;

  for (genvar p = 0; p < 16; p++) begin : gen_pattern
    rmt_pattern_t pattern;
    assign pattern = patterns_i.patterns[p];
    always_ff @(posedge clk_i) begin
      if (load_i) begin
        hit_q[p] <= pattern.valid && ((key_i ^ pattern.value) & pattern.mask) == '0;
        row_q[p] <= pattern.row;
      end
    end
  end

  // Four patterns each, then the four.
  function automatic logic [3:0] lowest(logic [2:0] hit, logic [3:0][3:0] row);
    return hit[0] ? row[0] : hit[1] ? row[1] : hit[2] ? row[2] : row[3];
  endfunction

  logic [3:0] any;
  logic [3:0][3:0] row;

  for (genvar g = 0; g < 4; g++) begin : gen_four
    assign any[g] = |hit_q[4*g+:4];
    assign row[g] = lowest(hit_q[4*g+:3], row_q[4*g+:4]);
  end

  assign hit_o = |any;
  assign row_o = lowest(any[2:0], row);

endmodule
