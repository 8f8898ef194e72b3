/// Makes the segments of a message's view out of a packet's beats.
///
/// `first_i` begins a packet; `raw_i` and `bytes_i` (of the view) count in its first beat. A view begins at byte 64 of the frame, of a raw
/// application at byte 42. It leaves in segments of 64 bytes, byte 0 lowest; what lies in the last one behind the view's end is
/// undefined. All beats of a packet come here; those without a byte of the view are taken and forgotten.
///
/// Latency: 0 cycles from the beat that fills a segment; a raw view's last bytes may need 1. Throughput: a beat a cycle. Stall behaviour:
/// with `segment_ready_i`; `segment_valid_o` does not depend on it.
module sluice_l7_feeder
  import sluice_l7_rows_pkg::*;
  import sluice_l7_pkg::*;
#(
    parameter int unsigned Bytes = 64
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic                    valid_i,
    output logic                    ready_o,
    input  logic                    first_i,
    input  logic [     8*Bytes-1:0] data_i,
    input  logic                    raw_i,
    input  logic [PositionBits-1:0] bytes_i,

    output logic                        segment_valid_o,
    input  logic                        segment_ready_i,
    output logic [8*L7SegmentBytes-1:0] segment_data_o
);

  // Where a raw view begins in its beat, and beats in front of both views.
  localparam int unsigned Shift = L7RawHeaderBytes % Bytes;
  localparam int unsigned Tail = Bytes - Shift;
  localparam int unsigned RawSkip = L7RawHeaderBytes / Bytes;
  localparam int unsigned Skip = L7HeaderBytes / Bytes;
  localparam int unsigned Pieces = L7SegmentBytes / Bytes;

  // `left`: bytes of the view that have not left in a piece. A piece is as long as a beat.
  logic raw, raw_q, has_tail, has_tail_q, flush_q;
  logic [1:0] skip, skip_q;
  logic [PositionBits-1:0] left, left_q, left_after;
  logic [ 8*Tail-1:0] tail_q;
  logic [8*Bytes-1:0] piece;
  logic in_view, gives, ends, piece_valid, piece_last, piece_taken, taken;

  assign raw = first_i ? raw_i : raw_q;
  assign skip = first_i ? (raw_i ? 2'(RawSkip) : 2'(Skip)) : skip_q;
  assign left = first_i ? bytes_i : left_q;
  assign has_tail = !first_i && has_tail_q;

  assign in_view = skip == '0 && left != '0;
  // A raw view's first beat gives nothing but its upper bytes.
  assign gives = in_view && (!raw || has_tail);
  assign left_after = !gives ? left : (left > PositionBits'(Bytes)) ? left - PositionBits'(Bytes) : '0;
  // The rest of the view lies in the upper bytes of this beat.
  assign ends = in_view && raw && left_after != '0 && left_after <= PositionBits'(Tail);

  // A flush's own beat is gone: the one behind it gives nothing.
  assign piece_valid = flush_q || (valid_i && gives);
  assign piece_last = flush_q || left_after == '0;
  always_comb begin
    piece = data_i;
    if (raw) piece = {data_i[8*Shift-1:0], tail_q};
    if (flush_q) piece = {data_i[8*Shift-1:0], tail_q};
  end

  assign ready_o = !piece_valid || piece_taken;
  assign taken   = valid_i && ready_o;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      flush_q <= 1'b0;
    end else begin
      if (piece_taken) flush_q <= 1'b0;
      if (taken && ends) flush_q <= 1'b1;
    end
    if (taken) begin
      raw_q <= raw;
      skip_q <= (skip == '0) ? '0 : skip - 2'd1;
      left_q <= ends ? '0 : left_after;
      has_tail_q <= in_view;
      tail_q <= data_i[8*Bytes-1:8*Shift];
    end
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
  assert property (@(posedge clk_i) disable iff (!rst_ni) !(flush_q && valid_i && gives));
`endif

endmodule
