/// Whether the two bytes at a place of the outgoing header are 0: a UDP checksum that is not there.
///
/// They may stand in two beats. `pair_i` counts 16-bit places of the beat from the last one before it, as
/// sluice_rmt_checksum_update does; with an odd place the second byte is the first one of the next.
///
/// S5 place; S6 bytes; S7 `some_o`, over this beat and the packet's before it.
///
/// Latency: 1 cycle from `data_i`. Throughput: one beat a cycle. Never stalls.
module sluice_rmt_checksum_none #(
    parameter  int unsigned Bytes = 64,
    localparam int unsigned Words = Bytes / 2
) (
    input logic clk_i,

    // S5
    input logic       odd_i,
    input logic [5:0] pair_i, // 63: not in this beat

    // S6
    input logic                  begin_i,  // the beat is a packet's first
    input logic [Bytes-1:0][7:0] data_i,

    // S7
    input  logic valid_i,  // the beat is one of a packet's
    output logic some_o    // one of the bytes is not 0
);

  localparam int unsigned WordBits = $clog2(Words);

  // Bytes at even and at odd places of the beat are chosen apart.
  logic high_valid_q, low_valid_q;
  logic [WordBits-1:0] high_q, low_q;

  always_ff @(posedge clk_i) begin
    low_valid_q  <= pair_i != 6'd0 && pair_i <= 6'(Words);
    low_q        <= WordBits'(pair_i - 6'd1);
    high_valid_q <= odd_i ? pair_i < 6'(Words) : (pair_i != 6'd0 && pair_i <= 6'(Words));
    high_q       <= odd_i ? WordBits'(pair_i) : WordBits'(pair_i - 6'd1);
  end

  logic [Words-1:0] high_some, low_some;
  logic found_q, before_q;

  always_comb begin
    for (int unsigned k = 0; k < Words; k++) begin
      high_some[k] = |data_i[2*k];
      low_some[k]  = |data_i[2*k+1];
    end
  end

  assign some_o = found_q || before_q;

  always_ff @(posedge clk_i) begin
    found_q <= (high_valid_q && high_some[high_q]) || (low_valid_q && low_some[low_q]);
    if (begin_i) before_q <= 1'b0;
    else if (valid_i) before_q <= some_o;
  end

endmodule
