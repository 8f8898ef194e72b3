/// Which bytes of a beat a checksum's span covers (docs/design/rmt.md, "Deparser").
///
/// S4 span; S5 `counts_o`, a LUT for each byte.
///
/// Latency: 1 cycle to `counts_o`, `reach_o` at once. Throughput: one beat a cycle. Never stalls.
module sluice_rmt_checksum_span
  import sluice_rmt_deparse_pkg::*;
#(
    parameter int unsigned Bytes = 64
) (
    input logic clk_i,

    // S4
    input  logic       valid_i,
    input  logic [6:0] start_i,
    input  logic [5:0] words_i,
    input  logic       window_i,
    input  logic [1:0] beat_i,
    output logic [1:0] reach_o,   // the beat of the window in which the span ends; 0 without one

    // S5
    output logic [Bytes-1:0] counts_o
);

  if (Bytes != 32 && Bytes != 64) begin : gen_bad_bytes
    $fatal(1, "rmt_checksum_span: Bytes is %0d, expected 32 or 64 (%m)", Bytes);
  end

  localparam int unsigned ByteBits = $clog2(Bytes);

  // Bytes of the beat before a place of the window.
  function automatic leading_t up_to(logic [7:0] place, logic [1:0] beat);
    logic [7-ByteBits:0] place_beat;
    place_beat = place[7:ByteBits];
    up_to = leading(place_beat > (8 - ByteBits)'(beat),
                    (place_beat == (8 - ByteBits)'(beat)) ? 6'(place[ByteBits-1:0]) : 6'd0);
  endfunction

  logic [7:0] first, behind, last;
  leading_t first_d, behind_d;
  (* keep *) leading_t first_q, behind_q;

  assign first = {1'b0, start_i};
  assign behind = first + {1'b0, words_i, 1'b0};
  assign last = first + {1'b0, words_i, 1'b0} - 8'd1;
  assign reach_o = valid_i ? 2'(last >> ByteBits) : 2'd0;
  assign first_d = up_to(first, beat_i);
  assign behind_d = (valid_i && window_i) ? up_to(behind, beat_i) : '0;

  always_ff @(posedge clk_i) begin
    first_q  <= first_d;
    behind_q <= behind_d;
  end

  assign counts_o = Bytes'(leading_bytes(behind_q) & ~leading_bytes(first_q));

endmodule
