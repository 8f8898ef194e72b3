/// Makes the segments of a message's view out of a packet's beats.
///
/// `look_i`: a packet's first beat stands there, with `raw_i` and `bytes_i` (of the view); `first_i` that it goes on, which may be known much
/// later in the cycle. `rest_i`: a beat behind it. A view begins at byte 64 of the frame, of a raw
/// application at byte 42. It leaves in segments of 64 bytes, byte 0 lowest; what lies in the last one behind the view's end is
/// undefined. All beats of a packet come here; those without a byte of the view are taken and forgotten. A first beat fills no segment.
///
/// Latency: 0 cycles from the beat that fills a segment; a raw view's last bytes may need 1. Throughput: a beat a cycle. Stall behaviour:
/// with `segment_ready_i`; `segment_valid_o` does not depend on it, nor on `first_i`.
module sluice_l7_feeder
  import sluice_l7_rows_pkg::*;
  import sluice_l7_pkg::*;
#(
    parameter int unsigned Bytes = 64
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic                    look_i,
    input  logic                    first_i,
    input  logic                    rest_i,
    output logic                    ready_o,
    input  logic [     8*Bytes-1:0] data_i,
    input  logic                    raw_i,
    input  logic [PositionBits-1:0] bytes_i,

    output logic                        segment_valid_o,
    input  logic                        segment_ready_i,
    output logic [8*L7SegmentBytes-1:0] segment_data_o
);

  // Where a raw view begins in its beat. A beat behind the first one gives nothing where it is header, or the first one of a raw view.
  localparam int unsigned Shift = L7RawHeaderBytes % Bytes;
  localparam int unsigned Tail = Bytes - Shift;
  localparam int unsigned Waits = L7HeaderBytes / Bytes - 1;
  localparam int unsigned Pieces = L7SegmentBytes / Bytes;

  if (Waits > 1 || L7RawHeaderBytes / Bytes != Waits) begin : gen_bad_bytes
    $fatal(1, "l7_feeder: Bytes is %0d, expected 32 or 64 (%m)", Bytes);
  end

  // `left`: bytes of the view that have not left in a piece; `more`: there are some. A piece is as long as a beat.
  logic raw_q, waits_q, more_q, flush_q;
  logic [PositionBits-1:0] left_q, left, left_after;
  logic [ 8*Tail-1:0] tail_q;
  logic [8*Bytes-1:0] piece;
  logic gives, ends, ends_first, piece_valid, piece_last, piece_taken;

  assign gives = more_q && !waits_q;
  assign left_after = !gives ? left_q : (left_q > PositionBits'(Bytes)) ? left_q - PositionBits'(Bytes) : '0;
  // The rest of a raw view lies in the upper bytes of this beat.
  assign ends = raw_q && left_after != '0 && left_after <= PositionBits'(Tail);
  assign ends_first = Waits == 0 && raw_i && bytes_i != '0 && bytes_i <= PositionBits'(Tail);
  assign left = look_i ? (ends_first ? '0 : bytes_i) : (ends ? '0 : left_after);

  // A flush's own beat is gone: the one behind it gives nothing.
  assign piece_valid = flush_q || (rest_i && gives);
  assign piece_last = flush_q || left_after == '0;
  assign piece = raw_q ? {data_i[8*Shift-1:0], tail_q} : data_i;

  assign ready_o = !piece_valid || piece_taken;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      flush_q <= 1'b0;
    end else begin
      if (piece_taken) flush_q <= 1'b0;
      if ((first_i && ready_o && ends_first) || (rest_i && ready_o && ends)) flush_q <= 1'b1;
    end
    if ((look_i || rest_i) && ready_o) begin
      waits_q <= look_i && Waits != 0;
      left_q  <= left;
      more_q  <= left != '0;
      tail_q  <= data_i[8*Bytes-1:8*Shift];
    end
    if (look_i && ready_o) raw_q <= raw_i;
  end

  if (Pieces == 1) begin : gen_whole
    assign segment_valid_o = piece_valid;
    assign segment_data_o  = piece;
    assign piece_taken     = piece_valid && segment_ready_i;
    logic unused;
    assign unused = piece_last;
  end else begin : gen_halves
    // The lower piece waits for the upper one, unless there is none.
    logic odd_q;
    logic [8*Bytes-1:0] low_q;

    assign segment_valid_o = piece_valid && (odd_q || piece_last);
    assign segment_data_o  = odd_q ? {piece, low_q} : {piece, piece};
    assign piece_taken     = piece_valid && (segment_ready_i || !segment_valid_o);

    always_ff @(posedge clk_i) begin
      if (!rst_ni) odd_q <= 1'b0;
      else if (piece_taken) odd_q <= !odd_q && !piece_last;
      if (piece_taken) low_q <= piece;
    end
  end

`ifndef SYNTHESIS
  NoPieceBesideAFlush_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !(flush_q && rest_i && gives));
`endif

endmodule
