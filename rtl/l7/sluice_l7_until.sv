/// Finds the first stop byte of a look (sluice_l7_window): columns ahead in the look's segment come first, those behind
/// hold bytes of the segment after it.
///
/// Latency: 0 cycles (combinational).
module sluice_l7_until
  import sluice_l7_rows_pkg::*;
  import sluice_l7_pkg::*;
  import sluice_l7_matcher_pkg::*;
(
    input  logic      [L7SegmentBytes-1:0] ahead_i,
    input  logic      [L7SegmentBytes-1:0] behind_i,
    // Where the look was.
    input  position_t                      at_i,
    output logic                           found_o,
    output position_t                      at_o
);

  localparam int unsigned GroupColumns = 8;
  localparam int unsigned Groups = 2 * L7SegmentBytes / GroupColumns;
  localparam int unsigned ColumnBits = $clog2(L7SegmentBytes);
  localparam int unsigned LaneBits = $clog2(GroupColumns);
  localparam int unsigned SegmentWidth = PositionBits - ColumnBits;

  logic [2*L7SegmentBytes-1:0] columns;
  logic [Groups-1:0] any, first;
  logic [Groups-1:0][LaneBits-1:0] lane;
  logic [ColumnBits-1:0] column;
  logic [SegmentWidth-1:0] segment, next_segment;

  assign columns = {behind_i, ahead_i};
  assign segment = at_i[PositionBits-1:ColumnBits];
  assign next_segment = segment + 1'b1;

  for (genvar g = 0; g < int'(Groups); g++) begin : gen_group
    logic [GroupColumns-1:0] of;
    assign of = columns[g*GroupColumns+:GroupColumns];
    assign any[g] = |of;
    // Only of use where one is set.
    assign lane[g] = {
      !(|of[3:0]),
      !(|of[1:0]) && ((|of[3:2]) || !(|of[5:4])),
      !of[0] && (of[1] || (!of[2] && (of[3] || (!of[4] && (of[5] || !of[6])))))
    };
    if (g == 0) begin : gen_first
      assign first[g] = any[g];
    end else begin : gen_later
      assign first[g] = any[g] && !(|any[g-1:0]);
    end
  end

  assign found_o = |any;

  always_comb begin
    column = '0;
    for (int unsigned g = 0; g < Groups; g++) begin
      if (first[g]) column |= {3'(g), lane[g]};
    end
  end

  assign at_o = {(|any[Groups/2-1:0]) ? segment : next_segment, column};

endmodule
