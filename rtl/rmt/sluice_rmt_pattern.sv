/// Deparse pattern of a packet: the lowest that matches picks a row (docs/design/rmt.md, "Deparser").
///
/// Latency: 0 cycles (combinational).
module sluice_rmt_pattern
  import sluice_rmt_rows_pkg::*;
(
    input  rmt_patterns_row_t        patterns_i,
    input  logic              [19:0] key_i,       // path in bits 3:0, valid headers in bits 19:4
    output logic                     hit_o,
    output logic              [ 3:0] row_o
);

  // Level l has 16 >> l groups of 2^l patterns: whether one of the group matches, and the lowest one's row.
  logic [15:0] hit[5];
  logic [15:0][3:0] row[5];

  for (genvar p = 0; p < 16; p++) begin : gen_pattern
    rmt_pattern_t pattern;
    assign pattern   = patterns_i.patterns[p];
    assign hit[0][p] = pattern.valid && ((key_i ^ pattern.value) & pattern.mask) == '0;
    assign row[0][p] = pattern.row;
  end

  for (genvar l = 1; l < 5; l++) begin : gen_level
    for (genvar g = 0; g < 16; g++) begin : gen_group
      if (g < (16 >> l)) begin : gen_used
        assign hit[l][g] = hit[l-1][2*g] || hit[l-1][2*g+1];
        assign row[l][g] = hit[l-1][2*g] ? row[l-1][2*g] : row[l-1][2*g+1];
      end else begin : gen_unused
        assign hit[l][g] = 1'b0;
        assign row[l][g] = '0;
      end
    end
  end

  assign hit_o = hit[4][0];
  assign row_o = row[4][0];

endmodule
