/// Lines of the cache of outside memory: two banks of words of 8 bytes.
///
/// `read_i` reads two words from a word on, of which the lower one may lie in either bank; they are there in the next cycle, by bank. A put changes bytes of two words
/// from a word on, each if its line is there (`hit_i`); a beat of a line that comes (`fill_i`) writes both banks, in cycles without a put.
///
/// Latency: 1 cycle. Throughput: a read and a write a cycle. Never stalls.
module sluice_xdp_outside_banks #(
    parameter int unsigned WordBits = 15
) (
    input logic clk_i,

    input  logic                      read_i,
    input  logic [WordBits-1:0]       read_word_i,
    output logic [         1:0][63:0] words_o,

    input logic                put_i,
    input logic [         1:0] hit_i,
    input logic [WordBits-1:0] put_word_i,
    input logic [        15:0] put_enable_i,
    input logic [       127:0] put_data_i,

    input logic                fill_i,
    input logic [WordBits-2:0] fill_row_i,
    input logic [       127:0] fill_data_i
);

  localparam Style = (WordBits < 13) ? "block" : "ultra";

  logic [1:0][WordBits-2:0] write_row;
  logic [1:0][7:0] write_enable;
  logic [1:0][63:0] write_data;

  for (genvar b = 0; b < 2; b++) begin : gen_bank
    sluice_ram_1r1w #(
        .Width   (64),
        .Depth   (2 ** (WordBits - 1)),
        .Lanes   (8),
        .InitZero(1'b0),
        .Style   (Style)
    ) u_ram (
        .clk_i,
        .wr_en_i  (write_enable[b]),
        .wr_addr_i(write_row[b]),
        .wr_data_i(write_data[b]),
        .rd_en_i  (read_i),
        .rd_addr_i(read_word_i[WordBits-1:1] + ((b == 0) ? (WordBits - 1)'(read_word_i[0]) : '0)),
        .rd_data_o(words_o[b])
    );
  end

  always_comb begin
    write_row[0] = put_word_i[WordBits-1:1] + (WordBits - 1)'(put_word_i[0]);
    write_row[1] = put_word_i[WordBits-1:1];
    write_data   = put_word_i[0] ? {put_data_i[63:0], put_data_i[127:64]} : put_data_i;
    write_enable = '0;
    for (int unsigned w = 0; w < 2; w++) begin
      if (put_i && hit_i[w]) write_enable[1'(w)^put_word_i[0]] = put_enable_i[8*w+:8];
    end
    if (fill_i) begin
      write_row = {2{fill_row_i}};
      write_data = fill_data_i;
      write_enable = '1;
    end
  end

`ifndef SYNTHESIS
  OneWriterAtATime_A :
  assert property (@(posedge clk_i) !(put_i && fill_i));
`endif

endmodule
