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

  // Pieces of 3 bits, by 6, so that a hit is three LUTs deep; of a long compare all pieces in a carry chain, which is as deep.
  localparam int unsigned Pieces = (8 * L7MatchBytes + 2) / 3;
  localparam int unsigned Parts = (Pieces + 5) / 6;
  logic [6*Parts*3-1:0] window;
  assign window = (6 * Parts * 3)'(window_i);

  for (genvar a = 0; a < int'(L7Alternatives); a++) begin : gen_alternative
    logic [6*Parts*3-1:0] bytes;
    logic [6*Parts-1:0] piece;
    logic same;
    assign bytes = (6 * Parts * 3)'(bytes_i[a]);
    for (genvar i = 0; i < int'(6 * Parts); i++) begin : gen_piece
      assign piece[i] = bytes[3*i+:3] == window[3*i+:3];
    end
    if (L7MatchBytes > 8) begin : gen_chain
      logic [6*Parts-1:0] unused_sum;
      assign {same, unused_sum} = {1'b0, piece} + (6 * Parts + 1)'(1);
    end else begin : gen_tree
      logic [Parts-1:0] part;
      for (genvar i = 0; i < int'(Parts); i++) begin : gen_part
        assign part[i] = &piece[6*i+:6];
      end
      assign same = &part;
    end
    assign hits[a] = anyway_i[a] || (enabled_i[a] && same);
  end

  assign hit_o = |hits;

  // By pairs, the last of which has the miss, and then by pairs of these: two LUTs deep behind 4 hits, three behind 8.
  typedef struct packed {
    l7_target_t target;
    l7_class_t  about;
  } choice_t;
  localparam int unsigned Pairs = L7Alternatives / 2;
  choice_t [Pairs-1:0] pair;
  // Pairs that are hit; the last one is chosen anyhow.
  logic [Pairs-2:0] some;
  choice_t chosen;

  for (genvar p = 0; p < int'(Pairs); p++) begin : gen_pair
    if (p < int'(Pairs) - 1) begin : gen_some
      assign some[p] = |hits[2*p+:2];
    end
    always_comb begin
      pair[p] = '{target: targets_i[2*p+1], about: classes_i[2*p+1]};
      if (p == int'(Pairs) - 1 && !hits[2*p+1]) pair[p] = '{target: miss_i, about: miss_class_i};
      if (hits[2*p]) pair[p] = '{target: targets_i[2*p], about: classes_i[2*p]};
    end
  end

  if (Pairs == 2) begin : gen_two
    assign chosen = some[0] ? pair[0] : pair[1];
  end else begin : gen_four
    choice_t low, high;
    assign low = some[0] ? pair[0] : pair[1];
    assign high = some[2] ? pair[2] : pair[3];
    assign chosen = (some[0] || some[1]) ? low : high;
  end

  assign target_o = chosen.target;
  assign class_o  = chosen.about;
  assign row_o    = hashed_i ? wide_number_i : NumberBits'(chosen.target.number);

endmodule
