/// Whether the 16-bit words of a span of the window add to 0xffff (ones' complement).
///
/// The span is the bytes [start_i, end_i) of the window, which comes by slots; an even number of them. With an odd
/// start the words of the sum lie across those of the slots; added by the slots' words, the sum has its bytes
/// swapped, which 0xffff does not show. Bytes behind the window do not count. `start_i` and `end_i` have to hold
/// from the packet's first slot to its last.
///
/// The sum stays in two words S and C without ripples: S + C is 0 modulo 0xffff, but not 0, where they are each
/// other's complement or both 0xffff.
///
/// Latency: 1 cycle from the last slot to `wrong_o`, which is combinational behind partial sums. Throughput: 1
/// slot a cycle. Never stalls.
module sluice_rmt_checksum_verify
  import sluice_rmt_rows_pkg::*;
  import sluice_rmt_sum_pkg::*;
#(
    parameter int unsigned Bytes = 64,
    localparam int unsigned BeatBits = $clog2(RmtWindowBytes / Bytes)
) (
    input logic clk_i,
    input logic rst_ni,

    input logic                     valid_i,
    input logic                     last_i,
    input logic [BeatBits-1:0]      beat_i,
    input logic [   Bytes-1:0][7:0] data_i,
    input logic [         6:0]      start_i,
    input logic [         7:0]      end_i,

    output logic wrong_o
);

  localparam int unsigned ByteBits = $clog2(Bytes);
  localparam int unsigned Words = Bytes / 2;
  localparam int unsigned Words1 = compressed(Words, 3);
  localparam int unsigned Words2 = compressed(Words1, 6);
  localparam int unsigned Words3 = compressed(Words2 + 2, 6);
  localparam int unsigned Words4 = compressed(Words3, 6);

  if (compressed(Words4, 6) != 3) begin : gen_bad_bytes
    $fatal(1, "rmt_checksum_verify: Bytes is %0d, expected 32 or 64 (%m)", Bytes);
  end

  // Row of 8 bytes of the window that row r of this slot is.
  function automatic logic [4:0] row(int unsigned r);
    return {1'b0, beat_i, (ByteBits - 3)'(r)};
  endfunction

  // The slot's bytes of the span. Each is one LUT behind what its row of 8 and its place there share.
  (* keep *) logic [Bytes-1:0] in_span;
  (* keep *) logic [Bytes/8-1:0] row_after_start, row_at_start, row_before_end, row_at_end;
  (* keep *) logic [7:0] place_from_start, place_before_end;
  logic [Words-1:0][15:0] word;
  always_comb begin
    row_after_start  = '0;
    row_before_end   = '0;
    place_from_start = '0;
    place_before_end = '0;
    // Equalities, for a comparison would be mapped to a carry chain.
    for (int unsigned r = 0; r < Bytes / 8; r++) begin
      row_at_start[r] = row(r) == 5'(start_i[6:3]);
      row_at_end[r]   = row(r) == end_i[7:3];
      for (int unsigned j = 0; j < RmtWindowBytes / 8; j++) begin
        for (int unsigned beat = 0; beat < RmtWindowBytes / Bytes; beat++) begin
          if (32'(beat_i) == beat && Bytes / 8 * beat + r > j && 32'(start_i[6:3]) == j) row_after_start[r] = 1'b1;
          if (32'(beat_i) == beat && Bytes / 8 * beat + r < j && 32'(end_i[7:3]) == j) row_before_end[r] = 1'b1;
        end
      end
      if (end_i[7]) row_before_end[r] = 1'b1;
    end
    for (int unsigned p = 0; p < 8; p++) begin
      for (int unsigned j = 0; j < 8; j++) begin
        if (p >= j && 32'(start_i[2:0]) == j) place_from_start[p] = 1'b1;
        if (p < j && 32'(end_i[2:0]) == j) place_before_end[p] = 1'b1;
      end
    end
    for (int unsigned i = 0; i < Bytes; i++) begin
      in_span[i] = (row_after_start[i/8] || (row_at_start[i/8] && place_from_start[i%8])) &&
          (row_before_end[i/8] || (row_at_end[i/8] && place_before_end[i%8]));
    end
    for (int unsigned w = 0; w < Words; w++) begin
      word[w] = {data_i[2*w] & {8{in_span[2*w]}}, data_i[2*w+1] & {8{in_span[2*w+1]}}};
    end
  end

  // By three: with each bit's mask, an adder's column is one LUT.
  logic [Words1-1:0][15:0] sum1;
  logic [Words2-1:0][15:0] sum2_d, sum2_q;
  sluice_rmt_compress #(
      .Inputs(Words),
      .Group (3)
  ) u_sum1 (
      .data_i(word),
      .data_o(sum1)
  );
  sluice_rmt_compress #(
      .Inputs(Words1),
      .Group (6)
  ) u_sum2 (
      .data_i(sum1),
      .data_o(sum2_d)
  );

  // Sum of the packet's slots so far: three words and, for the next slot, two.
  logic valid_q, last_q;
  logic [1:0][15:0] total_d, total_q;
  logic [2:0][15:0] sum;
  logic [Words3-1:0][15:0] sum3;
  logic [Words4-1:0][15:0] sum4;
  sluice_rmt_compress #(
      .Inputs(Words2 + 2),
      .Group (6)
  ) u_sum3 (
      .data_i({total_q, sum2_q}),
      .data_o(sum3)
  );
  sluice_rmt_compress #(
      .Inputs(Words3),
      .Group (6)
  ) u_sum4 (
      .data_i(sum3),
      .data_o(sum4)
  );
  if (Words4 > 3) begin : gen_sum5
    sluice_rmt_compress #(
        .Inputs(Words4),
        .Group (6)
    ) u_sum5 (
        .data_i(sum4),
        .data_o(sum)
    );
  end else begin : gen_no_sum5
    assign sum = sum4;
  end

  // S and C, as in a carry-save adder.
  logic [15:0] apart, both;
  always_comb begin
    for (int unsigned b = 0; b < 16; b++) begin
      total_d[0][b] = sum[0][b] ^ sum[1][b] ^ sum[2][b];
      total_d[1][(b+1)%16] = (sum[0][b] && sum[1][b]) || (sum[0][b] && sum[2][b]) || (sum[1][b] && sum[2][b]);
    end
    apart = total_d[0] ^ total_d[1];
    both  = total_d[0] & total_d[1];
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_q <= 1'b0;
    else valid_q <= valid_i;
  end
  always_ff @(posedge clk_i) begin
    last_q <= last_i;
    sum2_q <= sum2_d;
    // Every packet begins at zero.
    if (valid_q && !last_q) total_q <= total_d;
    else total_q <= '0;
  end

  assign wrong_o = apart != '1 && both != '1;

endmodule
