/// Stands for sluice_ram_1r1w_clear in proofs about one word of a large RAM, as one_word_ram does for sluice_ram_1r1w: it keeps
/// the word at `chosen`, all others read as anything. rmt/action_rows is proved with the RAM itself.
module sluice_ram_1r1w_clear #(
    parameter int unsigned Width = 32,
    parameter int unsigned Depth = 512,
    localparam int unsigned AddrWidth = (Depth > 1) ? $clog2(Depth) : 1
) (
    input  logic                 clk_i,
    input  logic                 wr_en_i,
    input  logic [AddrWidth-1:0] wr_addr_i,
    input  logic [    Width-1:0] wr_data_i,
    input  logic                 rd_clear_i,
    input  logic [AddrWidth-1:0] rd_addr_i,
    output logic [    Width-1:0] rd_data_o
);
  logic [AddrWidth-1:0] chosen;
  logic [Width-1:0] anything, word_q;

  always_ff @(posedge clk_i) begin
    if (wr_en_i && wr_addr_i == chosen) word_q <= wr_data_i;
    if (rd_clear_i) rd_data_o <= '0;
    else rd_data_o <= (rd_addr_i == chosen) ? word_q : anything;
  end
endmodule
