/// Whether the two bytes at a place of the outgoing header are 0: a UDP checksum that is not there.
///
/// They may stand in two beats, the first of them at an even or an odd place. `even_i` marks the one at an even
/// place, `odd_i` the other: a group of four words, and the word in it.
///
/// S6 place and bytes; S7 `some_o`, over this beat and the packet's before it.
///
/// Latency: 1 cycle. Throughput: one beat a cycle. Never stalls.
module sluice_rmt_checksum_none
  import sluice_rmt_deparse_pkg::*;
#(
    parameter  int unsigned Bytes = 64,
    localparam int unsigned Words = Bytes / 2
) (
    input logic clk_i,

    // S6
    input logic                            begin_i,  // the beat is a packet's first
    input deparse_place_t                  even_i,
    input deparse_place_t                  odd_i,
    input logic           [Bytes-1:0][7:0] data_i,

    // S7
    input  logic valid_i,  // the beat is one of a packet's
    output logic some_o    // one of the bytes is not 0
);

  logic [Bytes-1:0] found;
  logic found_q, before_q;

  always_comb begin
    for (int unsigned k = 0; k < Words; k++) begin
      found[2*k]   = |data_i[2*k] && even_i.group[k/4] && even_i.word[k%4];
      found[2*k+1] = |data_i[2*k+1] && odd_i.group[k/4] && odd_i.word[k%4];
    end
  end

  assign some_o = found_q || before_q;

  always_ff @(posedge clk_i) begin
    found_q <= |found;
    if (begin_i) before_q <= 1'b0;
    else if (valid_i) before_q <= some_o;
  end

endmodule
