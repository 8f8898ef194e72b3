/// Views of a matcher's messages, read at any offset.
///
/// Byte p of a view stands in column p mod 64 of its segment. Behind these columns stand the first bytes of the segment after, once
/// more, 1 less than are compared: so all columns are read at one address. A look at a position gives as many bytes from there on as
/// are compared, and of its segment the bytes from there on that are the stop byte. Bytes that were not written are those of older messages: whoever looks has to
/// know where the view ends.
///
/// Writes take a cycle and are seen from the next one on. A look gives its results one cycle later; they then stay until the
/// next look:
/// - `lanes_o`: the bytes from the position on, by words of 8, each with byte p in lane p mod 8;
/// - `stops_o`: columns from the position's on that hold the stop byte (sluice_l7_until finds the first one).
///
/// Latency: 1 cycle, fixed. Throughput: 1 write and 1 look per cycle. Never stalls.
module sluice_l7_window
  import sluice_l7_rows_pkg::*;
  import sluice_l7_pkg::*;
  import sluice_l7_matcher_pkg::*;
  import sluice_l7_phase_pkg::*;
#(
    parameter int unsigned Places = 4
) (
    input logic clk_i,

    input logic                             write_i,
    input place_t                           write_place_i,
    input logic   [   SegmentBits-1:0]      write_segment_i,
    input logic   [L7SegmentBytes-1:0][7:0] write_data_i,

    input  logic                              look_i,
    input  place_t                            look_place_i,
    // Modulo the view's size: behind its end there is nothing of use.
    input  logic      [    LookBits-1:0]      look_at_i,
    input  logic      [             7:0]      stop_i,
    output logic      [L7MatchBytes-1:0][7:0] lanes_o,
    output l7_stops_t                         stops_o
);

  localparam int unsigned Columns = L7SegmentBytes;
  localparam int unsigned Lanes = L7HashBytes;
  localparam int unsigned Groups = Columns / Lanes;
  localparam int unsigned Words = L7MatchBytes / Lanes;
  localparam int unsigned ColumnBits = $clog2(Columns);
  localparam int unsigned LaneBits = $clog2(Lanes);
  localparam int unsigned GroupBits = ColumnBits - LaneBits;
  localparam int unsigned Depth = Places * 2 ** SegmentBits;
  localparam int unsigned AddrWidth = $clog2(Depth);
  localparam int unsigned StopColumns = Columns / StopGroups;

  logic [ColumnBits-1:0] column;
  logic [ GroupBits-1:0] group;
  logic [AddrWidth-1:0] write_at, write_before, look_at;
  logic [Groups+Words-1:0][Lanes-1:0][7:0] bytes;
  logic [Words-1:0][Lanes-1:0][7:0] lanes;
  l7_stops_t stops;

  assign write_at = AddrWidth'({write_place_i, write_segment_i});
  assign write_before = AddrWidth'({write_place_i, SegmentBits'(write_segment_i - 1'b1)});
  assign look_at = AddrWidth'({look_place_i, look_at_i[ColumnBits+:SegmentBits]});
  assign column = look_at_i[ColumnBits-1:0];
  assign group = column[ColumnBits-1:LaneBits];

  for (genvar c = 0; c < int'(Columns + L7MatchBytes - 1); c++) begin : gen_column
    sluice_ram_lut #(
        .Width(8),
        .Depth(Depth),
        .InitZero(1'b0)
    ) u_bytes (
        .clk_i(clk_i),
        .we_i(write_i),
        .waddr_i((c < int'(Columns)) ? write_at : write_before),
        .wdata_i(write_data_i[c%Columns]),
        .raddr_i(look_at),
        .rdata_o(bytes[c/Lanes][c%Lanes])
    );
  end
  assign bytes[Groups+Words-1][Lanes-1] = '0;

  // Columns in front of the position's: those of groups in front, and of the own group some lanes.
  logic [Groups-1:0] groups_before, own;
  logic [Lanes-1:0] lanes_before;
  assign groups_before = ~({Groups{1'b1}} << group);
  assign own = Groups'(1) << group;
  assign lanes_before = ~({Lanes{1'b1}} << column[LaneBits-1:0]);

  for (genvar c = 0; c < int'(Columns); c++) begin : gen_stop
    // By pieces of 3 bits, so that it is two LUTs deep.
    logic [7:0] here;
    logic [2:0] same;
    assign here = bytes[c/Lanes][c%Lanes];
    assign same = {here[7:6] == stop_i[7:6], here[5:3] == stop_i[5:3], here[2:0] == stop_i[2:0]};
    assign stops.columns[c] = (&same) && !groups_before[c/Lanes] && !(own[c/Lanes] && lanes_before[c%Lanes]);
  end

  for (genvar g = 0; g < int'(StopGroups); g++) begin : gen_stop_group
    assign stops.groups[g] = |stops.columns[g*StopColumns+:StopColumns];
  end

  // A lane's byte is in the word's group from the position's on, or in the one behind it.
  for (genvar w = 0; w < int'(Words); w++) begin : gen_word
    for (genvar l = 0; l < int'(Lanes); l++) begin : gen_lane
      logic [Groups-1:0][7:0] of_group;
      for (genvar g = 0; g < int'(Groups); g++) begin : gen_group
        assign of_group[g] = lanes_before[l] ? bytes[g+w+1][l] : bytes[g+w][l];
      end
      assign lanes[w][l] = of_group[group];
    end
  end

  always_ff @(posedge clk_i) begin
    if (look_i) begin
      lanes_o <= lanes;
      stops_o <= stops;
    end
  end

endmodule
