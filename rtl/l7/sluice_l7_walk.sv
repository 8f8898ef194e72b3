/// Walks over the fields of the message that is being loaded into a matcher (docs/design/l7.md, "What the NIC sees of a
/// message").
///
/// The first field is looked at in the cycle in which the first segment comes: it begins at the first byte. Further ones are
/// looked at one a cycle, in a copy of their segment; meanwhile no segment is taken. Segments in which no field begins pass.
/// Of a raw message all is field 1, and there is nothing to walk over.
///
/// `begin_i` announces a message, in the cycle of its first segment or before. `busy_o` says that the walk is not over; it
/// is, at the latest, a number of cycles behind the last segment that the message's fields bound.
///
/// Latency: a field that begins in a segment is written 0 (the first of a message) or 1 cycle and more behind it.
/// Throughput: 1 field per cycle, 1 segment per cycle. Stalls segments while a field begins in the one that it has.
module sluice_l7_walk
  import sluice_l7_rows_pkg::*;
  import sluice_l7_pkg::*;
  import sluice_l7_matcher_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,

    input logic      begin_i,
    input logic      raw_i,
    // Of the message that begins, and from then on until the walk is over.
    input position_t bytes_i,

    // A segment comes; only with `segment_ready_o`.
    input  logic                           segment_i,
    output logic                           segment_ready_o,
    input  logic [L7SegmentBytes-1:0][7:0] data_i,
    output logic                           busy_o,

    // A field.
    output logic            write_o,
    output logic      [3:0] index_o,
    output position_t       start_o,
    output position_t       stop_o,

    // The walk is over; only once a message.
    output logic over_o,
    output logic malformed_o
);

  localparam int unsigned OffsetBits = $clog2(L7SegmentBytes);
  localparam int unsigned SegmentWidth = PositionBits - OffsetBits;

  // Awaiting a segment or walking in one.
  logic walking_q, held_q;
  // The segment that comes next.
  logic [SegmentWidth-1:0] coming_q;
  logic [L7SegmentBytes-1:0][7:0] data_q;
  // Where the next field begins, the byte behind and the first one of its value; with `half_q` it has begun in the segment
  // before, `at_q` is its length and `behind_q` is not of use.
  position_t at_q, behind_q, value_q, bytes_q;
  logic half_q;
  logic [3:0] half_index_q, last_q;

  // The field that is looked at.
  logic first, looks;
  logic [7:0] index, length, first_byte;
  position_t value, stop, bytes;
  logic half, last_byte;
  logic [3:0] last;

  assign first = segment_i && (begin_i ? !raw_i : walking_q) && (begin_i || coming_q == '0);
  assign looks = first || held_q;

  assign first_byte = data_q[at_q[OffsetBits-1:0]];
  assign half = !first && half_q;
  assign index = first ? data_i[0] : half_q ? {4'h0, half_index_q} : first_byte;
  assign length = first ? data_i[1] : half_q ? data_q[0] : data_q[behind_q[OffsetBits-1:0]];
  assign value = first ? position_t'(2) : value_q;
  assign bytes = begin_i ? bytes_i : bytes_q;
  assign last = first ? '0 : last_q;
  assign stop = value + position_t'(length);
  assign last_byte = !first && !half_q && (&at_q[OffsetBits-1:0]);

  logic other, wrong, cut, ends, goes_on, finished, empty;
  // The first one that is no dispatch field.
  assign other = !half && index > 8'(L7Fields);
  assign wrong = !half && index[3:0] <= last;
  // Its length byte, or its value's end, lies beyond the view.
  assign cut = half ? stop > bytes : (first ? bytes < position_t'(2) : behind_q >= bytes) || (!last_byte && stop > bytes);
  assign ends = stop == bytes;
  assign finished = looks && (other || wrong || cut || (ends && !last_byte));
  assign goes_on = looks && !finished;

  // A message without bytes, or raw.
  assign empty = begin_i && (raw_i || bytes_i == '0);

  assign over_o = finished || empty;
  assign malformed_o = finished && !other && (wrong || cut);
  assign write_o = (goes_on && !last_byte) || (finished && !other && !wrong && !cut) || (begin_i && raw_i);
  assign index_o = begin_i && raw_i ? 4'd1 : index[3:0];
  assign start_o = begin_i && raw_i ? '0 : value;
  assign stop_o = begin_i && raw_i ? bytes_i : stop;

  assign segment_ready_o = !held_q;
  assign busy_o = walking_q;

  position_t at_d;
  assign at_d = !looks ? at_q : last_byte ? at_q + 1'b1 : stop;

  // Where a segment stands, and whether the next field begins there.
  logic [SegmentWidth-1:0] coming, here;
  logic begins_here;
  assign coming = begin_i ? '0 : coming_q;
  assign here = first ? '0 : held_q ? coming_q - 1'b1 : coming;
  assign begins_here = at_d[PositionBits-1:OffsetBits] == here;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      walking_q <= 1'b0;
      held_q <= 1'b0;
    end else begin
      walking_q <= (walking_q || begin_i) && !over_o;
      if (looks) held_q <= goes_on && begins_here;
      else if (segment_i) held_q <= walking_q && begins_here;
    end
  end

  always_ff @(posedge clk_i) begin
    if (begin_i) bytes_q <= bytes_i;
    coming_q <= coming + SegmentWidth'(segment_i);
    if (segment_i) data_q <= data_i;
    if (begin_i || looks) begin
      at_q <= looks ? at_d : '0;
      behind_q <= at_d + 1'b1;
      value_q <= (looks && last_byte) ? at_q + position_t'(2) : at_d + position_t'(2);
      half_q <= looks && goes_on && last_byte;
      half_index_q <= index[3:0];
      last_q <= looks && !last_byte ? index[3:0] : last;
    end
  end

endmodule
