/// Stands for sluice_ram_dp in proofs about one word of a large RAM, as one_word_ram does for sluice_ram_1r1w: it keeps the
/// word at `chosen`, all others read as anything. common/ram_dp is about the RAM itself.
module sluice_ram_dp #(
    parameter int unsigned Width = 32,
    parameter int unsigned Depth = 512,
    parameter bit InitZero = 1'b1,
    localparam int unsigned AddrWidth = (Depth > 1) ? $clog2(Depth) : 1
) (
    input  logic                 clk_i,
    input  logic                 a_en_i,
    input  logic                 a_we_i,
    input  logic [AddrWidth-1:0] a_addr_i,
    input  logic [    Width-1:0] a_wdata_i,
    output logic [    Width-1:0] a_rdata_o,
    input  logic                 b_en_i,
    input  logic [AddrWidth-1:0] b_addr_i,
    output logic [    Width-1:0] b_rdata_o
);
  logic [AddrWidth-1:0] chosen;
  logic [Width-1:0] a_anything, b_anything, word_q;

  always_ff @(posedge clk_i) begin
    if (a_en_i && a_we_i && a_addr_i == chosen) word_q <= a_wdata_i;
    if (a_en_i && !a_we_i) a_rdata_o <= (a_addr_i == chosen) ? word_q : a_anything;
    if (b_en_i) b_rdata_o <= (b_addr_i == chosen) ? word_q : b_anything;
  end
endmodule
