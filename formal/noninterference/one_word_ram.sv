/// Stands for sluice_ram_1r1w in proofs about one word of a large RAM: it keeps the word at `chosen`, all others read as
/// anything.
///
/// That is more than a RAM can do, so that what is shown with it holds with the RAM. `chosen` and `anything` are driven
/// by nobody: the script makes them free, the harness says what `chosen` is. common/ram_1r1w is about the RAM itself.
module sluice_ram_1r1w #(
    parameter int unsigned Width = 32,
    parameter int unsigned Depth = 512,
    parameter int unsigned Lanes = 1,
    parameter bit InitZero = 1'b1,
    parameter Style = "auto",
    localparam int unsigned AddrWidth = (Depth > 1) ? $clog2(Depth) : 1
) (
    input  logic                 clk_i,
    input  logic [    Lanes-1:0] wr_en_i,
    input  logic [AddrWidth-1:0] wr_addr_i,
    input  logic [    Width-1:0] wr_data_i,
    input  logic                 rd_en_i,
    input  logic [AddrWidth-1:0] rd_addr_i,
    output logic [    Width-1:0] rd_data_o
);
  logic [AddrWidth-1:0] chosen;
  logic [Width-1:0] anything, word_q;

  if (Lanes != 1) begin : gen_bad_lanes
    $fatal(1, "one_word_ram: Lanes is %0d, expected 1 (%m)", Lanes);
  end

  always_ff @(posedge clk_i) begin
    if (wr_en_i[0] && wr_addr_i == chosen) word_q <= wr_data_i;
    if (rd_en_i) rd_data_o <= (rd_addr_i == chosen) ? word_q : anything;
  end
endmodule
