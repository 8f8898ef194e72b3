/// Words of the incoming header that an incremental checksum covered (docs/design/rmt.md, "Deparser"), beat by beat.
///
/// Words come out so that their complements are to be added: what the span does not cover is all ones, whose complement
/// adds nothing. Without a span all is. To set registers costs no LUT.
///
/// S4 span, S5 bytes that count; S6 `words_o`.
///
/// Latency: `words_o` one cycle behind `data_i`. Throughput: one beat a cycle. Never stalls.
module sluice_rmt_checksum_old
  import sluice_rmt_rows_pkg::*;
  import sluice_rmt_deparse_pkg::*;
#(
    parameter  int unsigned Bytes = 64,
    localparam int unsigned Words = Bytes / 2
) (
    input logic clk_i,

    // S4
    input  logic       valid_i,
    input  logic [6:0] start_i,
    input  logic [5:0] count_i,   // words
    input  logic       window_i,
    input  logic [1:0] beat_i,
    output logic [1:0] reach_o,   // the beat of the window in which the span ends; 0 without one

    // S5
    input logic [Words-1:0][15:0] data_i,

    // S6
    output logic [Words-1:0][15:0] words_o
);

  if (Bytes != 32 && Bytes != 64) begin : gen_bad_bytes
    $fatal(1, "rmt_checksum_old: Bytes is %0d, expected 32 or 64 (%m)", Bytes);
  end

  localparam int unsigned ByteBits = $clog2(Bytes);

  // Bytes of the beat before the span's begin, and before its end.
  logic [7:0] first, last;
  leading_t begin_d, end_d;
  (* keep *) leading_t begin_q, end_q;

  function automatic leading_t up_to(logic [7:0] place, logic [1:0] beat);
    logic [7-ByteBits:0] place_beat;
    place_beat = place[7:ByteBits];
    up_to = leading(place_beat > (8 - ByteBits)'(beat),
                    (place_beat == (8 - ByteBits)'(beat)) ? 6'(place[ByteBits-1:0]) : 6'd0);
  endfunction

  assign first = {1'b0, start_i};
  assign last = first + {1'b0, count_i, 1'b0};
  assign begin_d = up_to(first, beat_i);
  assign end_d = (valid_i && window_i) ? up_to(last, beat_i) : '0;

  // The beat of the last byte, which is the one before `last`.
  logic [7:0] last_byte;
  assign last_byte = first + {1'b0, count_i, 1'b0} - 8'd1;
  assign reach_o   = valid_i ? 2'(last_byte >> ByteBits) : 2'd0;

  always_ff @(posedge clk_i) begin
    begin_q <= begin_d;
    end_q   <= end_d;
  end

  logic [Bytes-1:0] counts;
  assign counts = Bytes'(leading_bytes(end_q) & ~leading_bytes(begin_q));

  always_ff @(posedge clk_i) begin
    for (int unsigned k = 0; k < Words; k++) begin
      // A word's first byte is its high one.
      if (!counts[2*k]) words_o[k][15:8] <= '1;
      else words_o[k][15:8] <= data_i[k][7:0];
      if (!counts[2*k+1]) words_o[k][7:0] <= '1;
      else words_o[k][7:0] <= data_i[k][15:8];
    end
  end

endmodule
