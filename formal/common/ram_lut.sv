/// Proof about sluice_ram_lut: all ports read the last word written in an earlier cycle.
module ram_lut #(
    parameter  int unsigned Width     = 2,
    parameter  int unsigned Depth     = 5,
    parameter  int unsigned ReadPorts = 2,
    localparam int unsigned AddrWidth = $clog2(Depth)
) (
    input logic clk_i,
    input logic [AddrWidth-1:0] choose_i,
    input logic we_i,
    input logic [AddrWidth-1:0] waddr_i,
    input logic [Width-1:0] wdata_i,
    input logic [ReadPorts-1:0][AddrWidth-1:0] raddr_i
);

  // One address, chosen at the start: what holds for any one holds for all.
  logic init_q = 1'b1;
  logic [AddrWidth-1:0] chosen_q;
  logic [Width-1:0] word_q = '0;

  // One port more, which always reads the chosen address.
  logic [ReadPorts:0][Width-1:0] rdata;

  sluice_ram_lut #(
      .Width(Width),
      .Depth(Depth),
      .ReadPorts(ReadPorts + 1)
  ) u_dut (
      .clk_i,
      .we_i,
      .waddr_i,
      .wdata_i,
      .raddr_i({init_q ? choose_i : chosen_q, raddr_i}),
      .rdata_o(rdata)
  );

  always_comb if (init_q) assume (choose_i < Depth && !we_i);

  always_ff @(posedge clk_i) begin
    init_q <= 1'b0;
    if (init_q) chosen_q <= choose_i;
    if (we_i && waddr_i == chosen_q) word_q <= wdata_i;
  end

  for (genvar p = 0; p < int'(ReadPorts); p++) begin : gen_port
    PortReadsTheLastWord_A :
    assert property (@(posedge clk_i) init_q || raddr_i[p] != chosen_q || rdata[p] == word_q);
  end

  // Strengthening for the induction.
  ChosenIsInRange_A :
  assert property (@(posedge clk_i) init_q || chosen_q < Depth);
  WordIsInItsPlace_A :
  assert property (@(posedge clk_i) rdata[ReadPorts] == word_q);
  NothingBeforeTheStart_A :
  assert property (@(posedge clk_i) !init_q || word_q == '0);
endmodule
