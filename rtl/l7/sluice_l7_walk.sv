/// Walks over the fields of the message that is being loaded into a matcher (docs/design/l7.md, "What the NIC sees of a
/// message").
///
/// The first field is looked at in the cycle in which the first segment comes: it begins at the first byte. Further ones are
/// looked at one a cycle, in a copy of their segment, and written a cycle later; meanwhile no segment is taken. Segments in
/// which no field begins pass.
/// Of a raw message all is field 1, and there is nothing to walk over.
///
/// `begin_i` announces a message, in the cycle of its first segment or before. `busy_o` says that the walk is not over; it
/// is, at the latest, a number of cycles behind the last segment that the message's fields bound.
///
/// Latency: a field that begins in a segment is written 0 (the first of a message) or 2 cycles and more behind it.
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
  logic walking_q;
  // The segment that comes next, and the one that is here.
  logic [SegmentWidth-1:0] coming_q, here_q;
  logic [L7SegmentBytes-1:0][7:0] data_q;
  // Where the next field begins; with `half_q` its index was in the segment before, and its length is there.
  position_t at_q, bytes_q;
  // The even column at or behind `at_q`, halved.
  logic [OffsetBits-2:0] even_q;
  logic half_q;
  logic [3:0] half_index_q, last_q;

  logic first, looks, held, finished, first_finished;
  position_t bytes;

  // --- The first field, in its segment as it comes ---
  logic first_other, first_cut;
  position_t first_stop;
  // "Bits of signal are not used": only the column's pair is.
  // verilator lint_off UNUSEDSIGNAL
  position_t first_even;
  // verilator lint_on UNUSEDSIGNAL

  assign first = segment_i && (begin_i ? !raw_i : walking_q) && (begin_i || coming_q == '0);
  assign bytes = begin_i ? bytes_i : bytes_q;
  assign first_stop = position_t'(2) + position_t'(data_i[1]);
  assign first_even = position_t'(3) + position_t'(data_i[1]);
  assign first_other = data_i[0] > 8'(L7Fields);
  assign first_cut = data_i[0] == '0 || bytes < position_t'(2) || first_stop > bytes;
  assign first_finished = first && (first_other || first_cut || first_stop == bytes);

  // --- A look at a further one: where it ends, and so where the next one begins ---
  // Of what is found out a cycle later the looks behind it know nothing: they are forgotten then.
  // Of a field's first two bytes one stands in an even column, the other one in an odd one.
  localparam int unsigned Pairs = L7SegmentBytes / 2;
  logic [Pairs-1:0][7:0] even_data, odd_data;
  logic [7:0] even_byte, odd_byte;
  logic last_byte;
  logic [7:0] byte_here, length;
  position_t value, value_even, stop;
  // "Bits of signal are not used": only the column's pair is.
  // verilator lint_off UNUSEDSIGNAL
  position_t stop_even;
  // verilator lint_on UNUSEDSIGNAL

  assign held  = walking_q && coming_q != '0 && at_q[PositionBits-1:OffsetBits] == here_q;
  assign looks = held && !finished;
  for (genvar i = 0; i < int'(Pairs); i++) begin : gen_pair
    assign even_data[i] = data_q[2*i];
    assign odd_data[i]  = data_q[2*i+1];
  end
  assign even_byte = even_data[even_q];
  assign odd_byte = odd_data[at_q[OffsetBits-1:1]];
  assign byte_here = at_q[0] ? odd_byte : even_byte;
  assign length = (half_q || at_q[0]) ? even_byte : odd_byte;
  assign last_byte = !half_q && (&at_q[OffsetBits-1:0]);
  assign value = at_q + (half_q ? position_t'(1) : position_t'(2));
  assign stop = value + position_t'(length);
  assign value_even = at_q + (half_q ? position_t'(2) : position_t'(3));
  assign stop_even = value_even + position_t'(length);

  // --- What a look has found ---
  typedef struct packed {
    logic [7:0] index;
    logic half;
    logic last_byte;
    // Its length byte lies beyond the view.
    logic no_length;
    position_t start;
    position_t stop;
  } found_t;
  logic found_valid_q, other, wrong, cut, found_field;
  found_t found_q;

  assign other = !found_q.half && found_q.index > 8'(L7Fields);
  assign wrong = !found_q.half && found_q.index[3:0] <= last_q;
  // Or its value's end does.
  assign cut = found_q.no_length || (!found_q.last_byte && found_q.stop > bytes_q);
  assign finished = found_valid_q && (other || wrong || cut || (found_q.stop == bytes_q && !found_q.last_byte));
  assign found_field = found_valid_q && !found_q.last_byte && !other && !wrong && !cut;

  // A message without bytes, or raw.
  logic empty;
  assign empty = begin_i && (raw_i || bytes_i == '0);

  assign over_o = finished || first_finished || empty;
  assign malformed_o = first_finished ? !first_other && first_cut : finished && !other && (wrong || cut);
  assign write_o = found_field || (first && !first_other && !first_cut) || (begin_i && raw_i);
  assign index_o = (begin_i && raw_i) ? 4'd1 : first ? data_i[0][3:0] : found_q.index[3:0];
  assign start_o = (begin_i && raw_i) ? '0 : first ? position_t'(2) : found_q.start;
  assign stop_o = (begin_i && raw_i) ? bytes_i : first ? first_stop : found_q.stop;

  assign segment_ready_o = !held;
  assign busy_o = walking_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      walking_q <= 1'b0;
      found_valid_q <= 1'b0;
    end else begin
      walking_q <= (walking_q || begin_i) && !over_o;
      found_valid_q <= looks;
    end
  end

  always_ff @(posedge clk_i) begin
    if (begin_i) bytes_q <= bytes_i;
    coming_q <= (begin_i ? '0 : coming_q) + SegmentWidth'(segment_i);
    if (segment_i) begin
      data_q <= data_i;
      here_q <= begin_i ? '0 : coming_q;
    end
    if (first) begin
      at_q   <= first_stop;
      even_q <= first_even[OffsetBits-1:1];
    end else if (looks) begin
      at_q   <= last_byte ? at_q + 1'b1 : stop;
      even_q <= last_byte ? '0 : stop_even[OffsetBits-1:1];
    end
    if (begin_i) half_q <= 1'b0;
    else if (looks) half_q <= last_byte;
    if (looks) half_index_q <= byte_here[3:0];
    if (write_o) last_q <= index_o;
    found_q <= '{
        index: half_q ? {4'h0, half_index_q} : byte_here,
        half: half_q,
        last_byte: last_byte,
        no_length: !half_q && at_q >= bytes_q - 1'b1,
        start: value,
        stop: stop
    };
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      OneFieldIsWritten_A : assert ($onehot0({found_field, first, begin_i && raw_i}));
    end
  end
`endif

endmodule
