/// Compares a row's alternatives with a window and chooses where to go (docs/design/l7.md, "Matcher programs").
///
/// The first alternative that is hit counts; its target is `target_o`, the row's miss otherwise.
///
/// Latency: 0 cycles (combinational).
module sluice_l7_compare
  import sluice_l7_rows_pkg::*;
  import sluice_l7_matcher_pkg::*;
(
    input  l7_alternative_t [L7Alternatives-1:0]      alternatives_i,
    input  l7_class_t       [L7Alternatives-1:0]      classes_i,
    input  l7_target_t                                miss_i,
    input  l7_class_t                                 miss_class_i,
    /// Bytes that count.
    input  logic            [  L7MatchBytes-1:0]      mask_i,
    input  logic            [  L7MatchBytes-1:0][7:0] window_i,
    /// There is a row at all.
    input  logic                                      compare_i,
    /// The position is not past, and the bytes are in front of the field's end.
    input  logic                                      in_field_i,
    /// The field ends behind them.
    input  logic                                      at_end_i,
    output logic                                      hit_o,
    output l7_target_t                                target_o,
    output l7_class_t                                 class_o
);

  logic [L7MatchBytes-1:0][7:0] window;
  logic [L7Alternatives-1:0] hits;

  for (genvar i = 0; i < int'(L7MatchBytes); i++) begin : gen_byte
    assign window[i] = mask_i[i] ? window_i[i] : 8'h0;
  end

  for (genvar a = 0; a < int'(L7Alternatives); a++) begin : gen_alternative
    assign hits[a] = compare_i && alternatives_i[a].valid
        && (alternatives_i[a].anyway || (alternatives_i[a].bytes == window && in_field_i && (!alternatives_i[a].ends || at_end_i)));
  end

  assign hit_o = |hits;

  // Two halves, so that the choice is two LUTs deep behind the hits.
  l7_target_t low, high;
  l7_class_t low_class, high_class;
  assign low = hits[0] ? alternatives_i[0].target : alternatives_i[1].target;
  assign low_class = hits[0] ? classes_i[0] : classes_i[1];
  assign high = hits[2] ? alternatives_i[2].target : hits[3] ? alternatives_i[3].target : miss_i;
  assign high_class = hits[2] ? classes_i[2] : hits[3] ? classes_i[3] : miss_class_i;
  assign target_o = (|hits[1:0]) ? low : high;
  assign class_o = (|hits[1:0]) ? low_class : high_class;

endmodule
