/// Proof about sluice_ram_dp: both ports read the last word written, and the old one during a write.
module ram_dp #(
    parameter  int unsigned Width     = 2,
    parameter  int unsigned Depth     = 5,
    localparam int unsigned AddrWidth = $clog2(Depth)
) (
    input logic clk_i,
    input logic [AddrWidth-1:0] choose_i,
    input logic a_en_i,
    input logic a_we_i,
    input logic [AddrWidth-1:0] a_addr_i,
    input logic [Width-1:0] a_wdata_i,
    input logic b_en_i,
    input logic [AddrWidth-1:0] b_addr_i
);

  logic [Width-1:0] a_rdata, b_rdata;

  sluice_ram_dp #(
      .Width(Width),
      .Depth(Depth)
  ) u_dut (
      .clk_i,
      .a_en_i,
      .a_we_i,
      .a_addr_i,
      .a_wdata_i,
      .a_rdata_o(a_rdata),
      .b_en_i,
      .b_addr_i,
      .b_rdata_o(b_rdata)
  );

  // One address, chosen at the start: what holds for any one holds for all.
  logic init_q = 1'b1;
  logic [AddrWidth-1:0] chosen_q;
  // Updated at the end of the cycle of a write, so the reads of that cycle expect the old word.
  logic [Width-1:0] word_q = '0;
  logic a_was_read_q = 1'b0, b_was_read_q = 1'b0;
  logic [Width-1:0] a_shown_q, b_shown_q;

  always_comb if (init_q) assume (choose_i < Depth && !a_en_i && !b_en_i);

  always_ff @(posedge clk_i) begin
    init_q <= 1'b0;
    if (init_q) chosen_q <= choose_i;
    if (a_en_i && a_we_i && a_addr_i == chosen_q) word_q <= a_wdata_i;
    if (a_en_i) begin
      a_was_read_q <= a_addr_i == chosen_q;
      a_shown_q    <= word_q;
    end
    if (b_en_i) begin
      b_was_read_q <= b_addr_i == chosen_q;
      b_shown_q    <= word_q;
    end
  end

  PortAReadsTheLastWordAndTheOldOneDuringAWrite_A :
  assert property (@(posedge clk_i) !a_was_read_q || a_rdata == a_shown_q);
  PortBReadsTheLastWordAndTheOldOneDuringAWrite_A :
  assert property (@(posedge clk_i) !b_was_read_q || b_rdata == b_shown_q);

  // Strengthening for the induction.
  ChosenIsInRange_A :
  assert property (@(posedge clk_i) init_q || chosen_q < Depth);
  WordIsInItsPlace_A :
  assert property (@(posedge clk_i) init_q ? (u_dut.mem[choose_i] == '0) : (u_dut.mem[chosen_q] == word_q));
  NothingBeforeTheStart_A :
  assert property (@(posedge clk_i) !init_q || (word_q == '0 && !a_was_read_q && !b_was_read_q));
endmodule
