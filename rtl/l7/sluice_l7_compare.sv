/// Compares a row's alternatives with a window and chooses where to go (docs/design/l7.md, "Matcher programs").
///
/// The first alternative that is hit counts; its target is `target_o`, the row's miss otherwise.
///
/// Latency: 0 cycles (combinational).
module sluice_l7_compare
  import sluice_l7_rows_pkg::*;
  import sluice_l7_matcher_pkg::*;
(
    /// Those that are hit if the bytes are theirs, and those that are hit anyway.
    input  logic       [L7Alternatives-1:0]                     enabled_i,
    input  logic       [L7Alternatives-1:0]                     anyway_i,
    input  logic       [L7Alternatives-1:0][8*L7MatchBytes-1:0] bytes_i,
    input  l7_target_t [L7Alternatives-1:0]                     targets_i,
    input  l7_class_t  [L7Alternatives-1:0]                     classes_i,
    input  l7_target_t                                          miss_i,
    input  l7_class_t                                           miss_class_i,
    /// Zero where the row does not compare.
    input  logic       [  L7MatchBytes-1:0][               7:0] window_i,
    output logic                                                hit_o,
    output l7_target_t                                          target_o,
    output l7_class_t                                           class_o
);

  logic [L7Alternatives-1:0] hits;

  for (genvar a = 0; a < int'(L7Alternatives); a++) begin : gen_alternative
    assign hits[a] = anyway_i[a] || (enabled_i[a] && bytes_i[a] == window_i);
  end

  assign hit_o = |hits;

  // Two halves, so that the choice is two LUTs deep behind the hits.
  l7_target_t low, high;
  l7_class_t low_class, high_class;
  assign low = hits[0] ? targets_i[0] : targets_i[1];
  assign low_class = hits[0] ? classes_i[0] : classes_i[1];
  assign high = hits[2] ? targets_i[2] : hits[3] ? targets_i[3] : miss_i;
  assign high_class = hits[2] ? classes_i[2] : hits[3] ? classes_i[3] : miss_class_i;
  assign target_o = (|hits[1:0]) ? low : high;
  assign class_o = (|hits[1:0]) ? low_class : high_class;

endmodule
