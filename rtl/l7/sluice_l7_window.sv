/// Views of a matcher's messages: 64 columns of bytes, read at any offset.
///
/// Byte p of a view stands in column p mod 64, at the address of its place and segment. A look at a position reads from every
/// column the byte of the 64 from there on that it holds: columns in front of the position's have it one segment later. So
/// a look sees 64 bytes for a stop byte, and 8 bytes for a compare. Bytes that were not written are those of older messages:
/// whoever looks has to know where the view ends.
///
/// Writes take a cycle and are seen from the next one on. A look gives its results one cycle later; they then stay until the
/// next look:
/// - `lanes_o`: the 8 bytes from the position on, byte p in lane p mod 8;
/// - `stops_o`: columns that hold the stop byte (sluice_l7_until finds the first one).
///
/// Latency: 1 cycle, fixed. Throughput: 1 write and 1 look per cycle. Never stalls.
module sluice_l7_window
  import sluice_l7_rows_pkg::*;
  import sluice_l7_pkg::*;
  import sluice_l7_matcher_pkg::*;
  import sluice_l7_loop_pkg::*;
#(
    parameter int unsigned Places = 4
) (
    input logic clk_i,

    input logic                          write_i,
    input place_t                        write_place_i,
    input logic   [     SegmentBits-1:0] write_segment_i,
    input logic   [L7SegmentBytes*8-1:0] write_data_i,

    input  logic                                                 look_i,
    input  place_t                                               look_place_i,
    // Modulo the view's size: behind its end there is nothing of use.
    input  logic   [SegmentBits+$clog2(L7SegmentBytes)-1:0]      look_at_i,
    input  logic   [                                   7:0]      stop_i,
    output logic   [                      L7MatchBytes-1:0][7:0] lanes_o,
    output l7_stops_t                                            stops_o
);

  localparam int unsigned Columns = L7SegmentBytes;
  localparam int unsigned Groups = Columns / L7MatchBytes;
  localparam int unsigned ColumnBits = $clog2(Columns);
  localparam int unsigned LaneBits = $clog2(L7MatchBytes);
  localparam int unsigned Depth = Places * 2 ** SegmentBits;
  localparam int unsigned AddrWidth = $clog2(Depth);

  localparam int unsigned StopColumns = Columns / StopGroups;

  logic [SegmentBits-1:0] segment, next_segment;
  logic [ColumnBits-LaneBits-1:0] own_group;
  logic [ColumnBits-1:0] column;
  logic [Columns-1:0] wrapped;
  logic [Columns-1:0][7:0] bytes;
  logic [L7MatchBytes-1:0][7:0] lanes;
  l7_stops_t stops;

  assign segment = look_at_i[ColumnBits+:SegmentBits];
  // Written out, here and below: an adder of a few bits is longer than LUTs.
  assign next_segment = {segment[2] ^ (&segment[1:0]), segment[1] ^ segment[0], !segment[0]};
  assign column = look_at_i[ColumnBits-1:0];
  assign own_group = column[ColumnBits-1:LaneBits];

  // Columns in front of the position's, by groups of lanes: two LUTs deep.
  logic [Groups-1:0] groups_before, own;
  logic [L7MatchBytes-1:0] lanes_before;
  assign groups_before = ~({Groups{1'b1}} << own_group);
  assign own = Groups'(1) << own_group;
  assign lanes_before = ~({L7MatchBytes{1'b1}} << column[LaneBits-1:0]);

  for (genvar c = 0; c < int'(Columns); c++) begin : gen_column
    assign wrapped[c] = groups_before[c/L7MatchBytes] || (own[c/L7MatchBytes] && lanes_before[c%L7MatchBytes]);

    sluice_ram_lut #(
        .Width(8),
        .Depth(Depth),
        .InitZero(1'b0)
    ) u_bytes (
        .clk_i(clk_i),
        .we_i(write_i),
        .waddr_i(AddrWidth'({write_place_i, write_segment_i})),
        .wdata_i(write_data_i[8*c+:8]),
        .raddr_i(AddrWidth'({look_place_i, wrapped[c] ? next_segment : segment})),
        .rdata_o(bytes[c])
    );

    // By pieces of 3 bits, so that it is two LUTs deep.
    logic [2:0] same;
    assign same = {bytes[c][7:6] == stop_i[7:6], bytes[c][5:3] == stop_i[5:3], bytes[c][2:0] == stop_i[2:0]};
    assign stops.ahead[c] = (&same) && !wrapped[c];
    assign stops.behind[c] = (&same) && wrapped[c];
  end

  for (genvar g = 0; g < int'(StopGroups); g++) begin : gen_stop_group
    assign stops.ahead_groups[g]  = |stops.ahead[g*StopColumns+:StopColumns];
    assign stops.behind_groups[g] = |stops.behind[g*StopColumns+:StopColumns];
  end

  logic [ColumnBits-LaneBits-1:0] next_group;
  assign next_group = {own_group[2] ^ (&own_group[1:0]), own_group[1] ^ own_group[0], !own_group[0]};

  // The group of 8 columns that a lane's byte is in: the position's, or the one behind it.
  for (genvar l = 0; l < int'(L7MatchBytes); l++) begin : gen_lane
    logic [Groups-1:0][7:0] of_group;
    logic [ColumnBits-LaneBits-1:0] group;
    if (l == L7MatchBytes - 1) begin : gen_last
      assign group = own_group;
    end else begin : gen_other
      assign group = lanes_before[l] ? next_group : own_group;
    end
    for (genvar g = 0; g < int'(Groups); g++) begin : gen_group
      assign of_group[g] = bytes[g*L7MatchBytes+l];
    end
    assign lanes[l] = of_group[group];
  end

  always_ff @(posedge clk_i) begin
    if (look_i) begin
      lanes_o <= lanes;
      stops_o <= stops;
    end
  end

endmodule
