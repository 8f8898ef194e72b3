/// Whether the 16-bit words of a span of the window add to 0xffff (ones' complement).
///
/// The span is the bytes whose bit is set in `mask_i`, in the window, which comes by slots; an even number of them in a
/// row. With an odd start the words of the sum lie across those of the slots; added by the slots' words, the sum
/// has its bytes swapped, which 0xffff does not show.
///
/// The sum stays in two words S and C without ripples: S + C is 0 modulo 0xffff, but not 0, where they are each
/// other's complement. (Or both 0xffff: that would take counts of 7 in every column of a step that counts 6 words.)
///
/// Latency: 1 cycle from the last slot to `wrong_o`, which is combinational behind partial sums. Throughput: 1
/// slot a cycle. Never stalls.
module sluice_rmt_checksum_verify
  import sluice_rmt_sum_pkg::*;
#(
    parameter int unsigned Bytes = 64
) (
    input logic clk_i,
    input logic rst_ni,

    input logic                  valid_i,
    input logic                  last_i,
    input logic [Bytes-1:0][7:0] data_i,
    input logic [Bytes-1:0]      mask_i,

    output logic wrong_o
);

  localparam int unsigned Words = Bytes / 2;
  localparam int unsigned Words1 = compressed(Words, 3);
  localparam int unsigned Words2 = compressed(Words1, 6);
  localparam int unsigned Words3 = compressed(Words2, 6);

  if (Bytes != 64 && Bytes != 32) begin : gen_bad_bytes
    $fatal(1, "rmt_checksum_verify: Bytes is %0d, expected 32 or 64 (%m)", Bytes);
  end

  // The slot's bytes of the span, as words.
  logic [Words-1:0][15:0] word;
  always_comb begin
    for (int unsigned w = 0; w < Words; w++) begin
      word[w] = {data_i[2*w] & {8{mask_i[2*w]}}, data_i[2*w+1] & {8{mask_i[2*w+1]}}};
    end
  end

  // By three: with each bit's mask, an adder's column is one LUT.
  logic [Words1-1:0][15:0] sum1;
  logic [Words2-1:0][15:0] sum2;
  logic [Words3-1:0][15:0] sum3_d, sum3_q;
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
      .data_o(sum2)
  );
  sluice_rmt_compress #(
      .Inputs(Words2),
      .Group (6)
  ) u_sum3 (
      .data_i(sum2),
      .data_o(sum3_d)
  );
  // Sum of the packet's slots so far: three words and, for the next slot, two.
  logic valid_q, last_q;
  logic [1:0][15:0] total_d, total_q;
  logic [2:0][15:0] sum4, sum;
  if (Words3 > 3) begin : gen_sum4
    sluice_rmt_compress #(
        .Inputs(Words3),
        .Group (6)
    ) u_sum4 (
        .data_i(sum3_q),
        .data_o(sum4)
    );
  end else begin : gen_no_sum4
    assign sum4 = sum3_q;
  end
  sluice_rmt_compress #(
      .Inputs(5),
      .Group (6)
  ) u_sum (
      .data_i({total_q, sum4}),
      .data_o(sum)
  );

  // S and C, as in a carry-save adder.
  (* keep *) logic [15:0] apart;
  logic [15:0] unused_sum;
  logic complement;
  always_comb begin
    for (int unsigned b = 0; b < 16; b++) begin
      total_d[0][b] = sum[0][b] ^ sum[1][b] ^ sum[2][b];
      total_d[1][(b+1)%16] = (sum[0][b] && sum[1][b]) || (sum[0][b] && sum[2][b]) || (sum[1][b] && sum[2][b]);
    end
    apart = total_d[0] ^ total_d[1];
  end
  // All bits are set: then a one that is added below comes out above, on a carry chain.
  assign {complement, unused_sum} = {1'b0, apart} + 17'd1;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_q <= 1'b0;
    else valid_q <= valid_i;
  end
  always_ff @(posedge clk_i) begin
    last_q <= last_i;
    sum3_q <= sum3_d;
    // Every packet begins at zero.
    if (valid_q && !last_q) total_q <= total_d;
    else total_q <= '0;
  end

  assign wrong_o = !complement;

endmodule
