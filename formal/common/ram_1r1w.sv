/// Proof about sluice_ram_1r1w: a read gives the last word written, lane by lane, the old one during a write.
module ram_1r1w #(
    parameter  int unsigned Width     = 4,
    parameter  int unsigned Depth     = 5,
    parameter  int unsigned Lanes     = 2,
    localparam int unsigned AddrWidth = $clog2(Depth)
) (
    input logic clk_i,
    input logic [AddrWidth-1:0] choose_i,
    input logic [Lanes-1:0] wr_en_i,
    input logic [AddrWidth-1:0] wr_addr_i,
    input logic [Width-1:0] wr_data_i,
    input logic rd_en_i,
    input logic [AddrWidth-1:0] rd_addr_i
);

  logic [Width-1:0] rd_data;

  sluice_ram_1r1w #(
      .Width(Width),
      .Depth(Depth),
      .Lanes(Lanes)
  ) u_dut (
      .clk_i,
      .wr_en_i,
      .wr_addr_i,
      .wr_data_i,
      .rd_en_i,
      .rd_addr_i,
      .rd_data_o(rd_data)
  );

  // One address, chosen at the start: what holds for any one holds for all.
  logic init_q = 1'b1;
  logic [AddrWidth-1:0] chosen_q;
  logic [Width-1:0] word_q = '0;
  logic was_read_q = 1'b0;
  logic [Width-1:0] shown_q;

  always_comb if (init_q) assume (choose_i < Depth && wr_en_i == '0 && !rd_en_i);

  always_ff @(posedge clk_i) begin
    init_q <= 1'b0;
    if (init_q) chosen_q <= choose_i;
    for (int unsigned i = 0; i < Width; i++) begin
      if (wr_en_i[i/(Width/Lanes)] && wr_addr_i == chosen_q) word_q[i] <= wr_data_i[i];
    end
    if (rd_en_i) begin
      was_read_q <= rd_addr_i == chosen_q;
      shown_q    <= word_q;
    end
  end

  ReadGivesTheLastWordAndTheOldOneDuringAWrite_A :
  assert property (@(posedge clk_i) !was_read_q || rd_data == shown_q);

  // Strengthening for the induction.
  ChosenIsInRange_A :
  assert property (@(posedge clk_i) init_q || chosen_q < Depth);
  WordIsInItsPlace_A :
  assert property (@(posedge clk_i) init_q ? (u_dut.mem[choose_i] == '0) : (u_dut.mem[chosen_q] == word_q));
  NothingBeforeTheStart_A :
  assert property (@(posedge clk_i) !init_q || (word_q == '0 && !was_read_q));
endmodule
