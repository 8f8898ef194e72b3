/// Proof about sluice_ram_sp: a read gives the last word written, a write leaves the read data alone.
module ram_sp #(
    parameter  int unsigned Width     = 2,
    parameter  int unsigned Depth     = 5,
    localparam int unsigned AddrWidth = $clog2(Depth)
) (
    input logic clk_i,
    input logic [AddrWidth-1:0] choose_i,
    input logic en_i,
    input logic we_i,
    input logic [AddrWidth-1:0] addr_i,
    input logic [Width-1:0] wdata_i
);

  logic [Width-1:0] rdata;

  sluice_ram_sp #(
      .Width(Width),
      .Depth(Depth)
  ) u_dut (
      .clk_i,
      .en_i,
      .we_i,
      .addr_i,
      .wdata_i,
      .rdata_o(rdata)
  );

  // One address, chosen at the start: what holds for any one holds for all.
  logic init_q = 1'b1;
  logic [AddrWidth-1:0] chosen_q;
  logic [Width-1:0] word_q = '0;
  logic was_read_q = 1'b0;
  logic [Width-1:0] shown_q;

  always_comb if (init_q) assume (choose_i < Depth && !en_i);

  always_ff @(posedge clk_i) begin
    init_q <= 1'b0;
    if (init_q) chosen_q <= choose_i;
    if (en_i && we_i && addr_i == chosen_q) word_q <= wdata_i;
    if (en_i && !we_i) begin
      was_read_q <= addr_i == chosen_q;
      shown_q    <= word_q;
    end
  end

  ReadGivesTheLastWord_A :
  assert property (@(posedge clk_i) !was_read_q || rdata == shown_q);

  // Strengthening for the induction.
  ChosenIsInRange_A :
  assert property (@(posedge clk_i) init_q || chosen_q < Depth);
  WordIsInItsPlace_A :
  assert property (@(posedge clk_i) init_q ? (u_dut.mem[choose_i] == '0) : (u_dut.mem[chosen_q] == word_q));
  NothingBeforeTheStart_A :
  assert property (@(posedge clk_i) !init_q || (word_q == '0 && !was_read_q));
endmodule
