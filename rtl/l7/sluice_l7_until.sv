/// Finds the first stop byte of a look (sluice_l7_window): columns from the look's own on are in its segment, those in front
/// of it hold bytes of the segment after it.
///
/// Latency: 0 cycles (combinational).
module sluice_l7_until
  import sluice_l7_rows_pkg::*;
  import sluice_l7_pkg::*;
  import sluice_l7_matcher_pkg::*;
(
    /// Columns that hold the stop byte.
    input  logic      [L7SegmentBytes-1:0] stops_i,
    /// Where the look was.
    input  position_t                      at_i,
    output logic                           found_o,
    output position_t                      at_o
);

  localparam int unsigned GroupColumns = 8;
  localparam int unsigned Groups = L7SegmentBytes / GroupColumns;
  localparam int unsigned ColumnBits = $clog2(L7SegmentBytes);
  localparam int unsigned LaneBits = $clog2(GroupColumns);
  localparam int unsigned SegmentWidth = PositionBits - ColumnBits;

  // Only of use where one is set.
  function automatic logic [LaneBits-1:0] lowest(logic [GroupColumns-2:0] of);
    return {
      !(|of[3:0]),
      !(|of[1:0]) && ((|of[3:2]) || !(|of[5:4])),
      !of[0] && (of[1] || (!of[2] && (of[3] || (!of[4] && (of[5] || !of[6])))))
    };
  endfunction

  logic [Groups-1:0] any, ahead, behind, behind_look;
  logic [Groups-1:0][LaneBits-1:0] lanes;
  logic [ColumnBits-LaneBits-1:0] own_group, group;
  logic [LaneBits-1:0] lane;
  logic [GroupColumns-1:0] own, from_look, own_ahead;
  logic [GroupColumns-2:0] own_behind;
  logic [SegmentWidth-1:0] segment;
  logic in_segment;

  assign own_group = at_i[ColumnBits-1:LaneBits];
  assign own = stops_i[own_group*GroupColumns+:GroupColumns];
  assign from_look = {GroupColumns{1'b1}} << at_i[LaneBits-1:0];
  assign own_ahead = own & from_look;
  assign own_behind = own[GroupColumns-2:0] & ~from_look[GroupColumns-2:0];

  // Groups in front of the look's own.
  assign behind_look = ~({Groups{1'b1}} << own_group);

  for (genvar g = 0; g < int'(Groups); g++) begin : gen_group
    assign any[g] = |stops_i[g*GroupColumns+:GroupColumns];
    assign lanes[g] = lowest(stops_i[g*GroupColumns+:GroupColumns-1]);
    assign ahead[g] = any[g] && own_group != (ColumnBits - LaneBits)'(g) && !behind_look[g];
    assign behind[g] = any[g] && behind_look[g];
  end

  // The look's own group, those behind it, those of the segment after, and the rest of its own.
  assign in_segment = (|own_ahead) || (|ahead);
  assign group = lowest((|ahead) ? ahead[Groups-2:0] : behind[Groups-2:0]);

  always_comb begin
    lane = lanes[group];
    if (|own_ahead) lane = lowest(own_ahead[GroupColumns-2:0]);
    else if (!(|ahead) && !(|behind)) lane = lowest(own_behind);
  end

  assign segment = at_i[PositionBits-1:ColumnBits] + SegmentWidth'(!in_segment);
  assign found_o = |stops_i;
  assign at_o = {segment, ((|own_ahead) || (!(|ahead) && !(|behind))) ? own_group : group, lane};

endmodule
