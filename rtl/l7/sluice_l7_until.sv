/// Finds the first stop byte of a look (sluice_l7_window), and the position behind it. Where there is none the position is
/// the begin of the next segment.
///
/// Latency: 0 cycles (combinational).
module sluice_l7_until
  import sluice_l7_rows_pkg::*;
  import sluice_l7_pkg::*;
  import sluice_l7_matcher_pkg::*;
  import sluice_l7_phase_pkg::*;
(
    input  l7_stops_t stops_i,
    /// Where the look was: of the position its segment.
    // "Bits of signal are not used": so the column is not.
    // verilator lint_off UNUSEDSIGNAL
    input  position_t at_i,
    // verilator lint_on UNUSEDSIGNAL
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

  // A group's first column and the lane are at most 64 together, so there is nothing to add but a group's number and 1.
  logic [ColumnBits:0] column;
  logic [StopGroups-1:0][3:0] lanes;
  always_comb begin
    column = found_o ? '0 : (ColumnBits + 1)'(L7SegmentBytes);
    for (int unsigned g = 0; g < StopGroups; g++) begin
      lanes[g] = behind_lowest(stops_i.columns[g*Columns+:Columns]);
      if (stops_i.groups[g] && (stops_i.groups & StopGroups'((1 << g) - 1)) == '0) begin
        column |= lanes[g][3] ? {4'(g) + 4'd1, 3'd0} : {4'(g), lanes[g][2:0]};
      end
    end
  end

  assign found_o  = |stops_i.groups;
  assign behind_o = {at_i[PositionBits-1:ColumnBits] + SegmentWidth'(column[ColumnBits]), column[ColumnBits-1:0]};

endmodule
