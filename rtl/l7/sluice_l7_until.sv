/// Finds the first stop byte of a look (sluice_l7_window), and the position behind it: columns in the look's own segment
/// come first, then those one segment later. Where there is none the position is one segment on.
///
/// Latency: 0 cycles (combinational).
module sluice_l7_until
  import sluice_l7_rows_pkg::*;
  import sluice_l7_pkg::*;
  import sluice_l7_matcher_pkg::*;
  import sluice_l7_loop_pkg::*;
(
    input  l7_stops_t stops_i,
    /// Where the look was.
    input  position_t at_i,
    output logic      found_o,
    output position_t behind_o
);

  localparam int unsigned Columns = L7SegmentBytes / StopGroups;
  localparam int unsigned ColumnBits = $clog2(L7SegmentBytes);
  localparam int unsigned SegmentWidth = PositionBits - ColumnBits;

  // The number of the lowest one and 1: 1 to 8. Only of use where one is set.
  function automatic logic [3:0] behind_lowest(logic [Columns-1:0] of);
    logic [3:0] number = 4'(Columns);
    for (int i = int'(Columns) - 2; i >= 0; i--) if (of[i]) number = 4'(i + 1);
    return number;
  endfunction

  // Groups in their order: those ahead, those behind. `first` has one bit.
  logic [2*StopGroups-1:0] any, first;
  logic [2*StopGroups-1:0][3:0] lanes;
  logic [ColumnBits:0] column;
  logic none, in_segment;
  logic [2*StopGroups/4-1:0] fours;

  assign any = {stops_i.behind_groups, stops_i.ahead_groups};
  assign none = fours == '0;
  assign in_segment = |fours[StopGroups/4-1:0];
  for (genvar i = 0; i < int'(2 * StopGroups / 4); i++) begin : gen_four
    assign fours[i] = |any[4*i+:4];
  end

  for (genvar g = 0; g < int'(2 * StopGroups); g++) begin : gen_group
    // By fours, so that it is two LUTs deep.
    logic earlier;
    always_comb begin
      earlier = 1'b0;
      for (int unsigned i = g / 4 * 4; i < g; i++) earlier |= any[i];
      for (int unsigned i = 0; i < g / 4; i++) earlier |= fours[i];
    end
    assign first[g] = any[g] && !earlier;
    if (g < int'(StopGroups)) begin : gen_ahead
      assign lanes[g] = behind_lowest(stops_i.ahead[g*Columns+:Columns]);
    end else begin : gen_behind
      assign lanes[g] = behind_lowest(stops_i.behind[(g-StopGroups)*Columns+:Columns]);
    end
  end

  // A group's first column and the lane are at most 64 together, so there is nothing to add but a group's number and 1.
  always_comb begin
    column = none ? {1'b0, at_i[ColumnBits-1:0]} : '0;
    for (int unsigned g = 0; g < 2 * StopGroups; g++) begin
      if (first[g]) begin
        column |= lanes[g][3] ? {4'(g % StopGroups) + 4'd1, 3'd0} : {4'(g % StopGroups), lanes[g][2:0]};
      end
    end
  end

  assign found_o = !none;
  assign behind_o = {
    at_i[PositionBits-1:ColumnBits] + SegmentWidth'(!in_segment || column[ColumnBits]), column[ColumnBits-1:0]
  };

endmodule
