/// Compares a row's alternatives with a window and chooses where to go (docs/design/l7.md, "Matcher programs").
///
/// The first alternative that is hit counts; its target is `target_o`, the row's miss otherwise.
///
/// Latency: 0 cycles (combinational).
module sluice_l7_compare
  import sluice_l7_rows_pkg::*;
  import sluice_l7_matcher_pkg::*;
  import sluice_l7_phase_pkg::*;
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
    /// The row is this one, whatever the target says; there is no compare then.
    input  logic                                                hashed_i,
    input  logic       [    NumberBits-1:0]                     wide_number_i,
    output logic                                                hit_o,
    output l7_target_t                                          target_o,
    output l7_class_t                                           class_o,
    output logic       [    NumberBits-1:0]                     row_o
);

  logic [L7Alternatives-1:0] hits;

  // Pieces of 3 bits, by 6, so that a hit is three LUTs deep.
  localparam int unsigned Pieces = (8 * L7MatchBytes + 2) / 3;
  localparam int unsigned Parts = (Pieces + 5) / 6;
  logic [6*Parts*3-1:0] window;
  assign window = (6 * Parts * 3)'(window_i);

  for (genvar a = 0; a < int'(L7Alternatives); a++) begin : gen_alternative
    logic [6*Parts*3-1:0] bytes;
    logic [6*Parts-1:0] piece;
    logic [Parts-1:0] part;
    assign bytes = (6 * Parts * 3)'(bytes_i[a]);
    for (genvar i = 0; i < int'(6 * Parts); i++) begin : gen_piece
      assign piece[i] = bytes[3*i+:3] == window[3*i+:3];
    end
    for (genvar i = 0; i < int'(Parts); i++) begin : gen_part
      assign part[i] = &piece[6*i+:6];
    end
    assign hits[a] = anyway_i[a] || (enabled_i[a] && &part);
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
  assign row_o = hashed_i ? wide_number_i : NumberBits'((|hits[1:0]) ? low.number : high.number);
  assign class_o = (|hits[1:0]) ? low_class : high_class;

endmodule
