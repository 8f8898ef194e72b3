/// Proof about sluice_warp_hits: what the host reads of a counter is what was counted and set of it before, each packet once; nothing of others; a counter that is not
/// there is zero; a count waits a cycle at most for each cycle in which the host asks.
///
/// One counter, which may be any, is followed by a number of its own. Ports are those of the engine, so a write comes a cycle later at the block. The host leaves a cycle between
/// what it asks, but may read and write in one. Bounded, and with the one reset that begins it, as counts are lost with others.
module hits
  import sluice_xdp_rows_pkg::*;
  import sluice_warp_pkg::*;
#(
    parameter  int unsigned Modules = 2,
    parameter  int unsigned Rules   = 2,
    localparam int unsigned RowBits = $clog2(2 * Modules * Rules)
) (
    input logic clk_i,
    input logic rst_ni,

    input logic [           RowBits-1:0] at_i,
    input logic                          valid_i,
    input logic [           RowBits-1:0] index_i,
    input logic                          read_valid_i,
    input logic [     WarpIndexBits-1:0] read_index_i,
    input logic                          write_valid_i,
    input logic                          write_hits_i,
    input logic [     WarpIndexBits-1:0] write_index_i,
    input logic [XdpWarpHitsRowBits-1:0] number_i
);

  localparam int unsigned RuleBits = $clog2(Rules);
  localparam int unsigned Read = 3;
  typedef logic [XdpWarpHitsRowBits-1:0] number_t;

  logic ready, answers;
  number_t answer;
  warp_write_t write_q;

  sluice_warp_hits #(
      .Modules(Modules),
      .Rules  (Rules)
  ) dut (
      .clk_i,
      .rst_ni,
      .write_i     (write_q),
      .valid_i     (valid_i && ready),
      .ready_o     (ready),
      .index_i,
      .read_valid_i,
      .read_index_i,
      .hits_valid_o(answers),
      .hits_o      (answer)
  );

  always_ff @(posedge clk_i) begin
    write_q <= '{
        valid: write_valid_i && rst_ni,
        tab: write_hits_i ? WarpTableHits : WarpTableStep,
        index: write_index_i,
        row: WarpRowBits'(number_i)
    };
  end

  // One reset, at first.
  logic init_q = 1'b1;
  always_ff @(posedge clk_i) init_q <= 1'b0;
  always_comb assume (rst_ni == !init_q);

  // The counter that is followed, as the host says it; the host is silent in the cycle behind what it has asked.
  logic [RowBits-1:0] at_q;
  logic [WarpIndexBits-1:0] at;
  logic asked_q, there;
  assign at = {
    {WarpIndexBits - WarpRuleBits - RowBits + RuleBits{1'b0}},
    at_i[RowBits-1:RuleBits],
    {WarpRuleBits - RuleBits{1'b0}},
    at_i[RuleBits-1:0]
  };
  assign there = read_index_i[WarpIndexBits-1:WarpRuleBits] < (WarpIndexBits - WarpRuleBits)'(2 * Modules) &&
      read_index_i[WarpRuleBits-1:0] < WarpRuleBits'(Rules);
  always_ff @(posedge clk_i) begin
    at_q <= at_i;
    asked_q <= rst_ni && (read_valid_i || write_valid_i);
  end
  always_comb assume (init_q || at_i == at_q);
  always_comb assume (!asked_q || !(read_valid_i || write_valid_i));

  // Its number, in the order in which things come.
  number_t number_q, number_d;
  logic [Read:1] due_q, known_q, nothing_q;
  number_t [Read:1] wanted_q;
  assign number_d = (write_valid_i && write_hits_i && write_index_i == at) ? number_i : number_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      number_q <= '0;
      due_q <= '0;
    end else begin
      number_q <= number_d + number_t'(valid_i && ready && index_i == at_i);
      due_q <= {due_q[Read-1:1], read_valid_i};
    end
    known_q   <= {known_q[Read-1:1], read_index_i == at};
    nothing_q <= {nothing_q[Read-1:1], !there};
    wanted_q  <= {wanted_q[Read-1:1], number_q};
  end

  AnAnswerComesThreeCyclesLater_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) answers == due_q[Read]);
  TheAnswerIsWhatCameBefore_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !answers || !known_q[Read] || answer == wanted_q[Read]);
  WhatIsNotThereIsZero_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !answers || !nothing_q[Read] || answer == '0);
  ACountWaitsForTheHostAlone_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) ready || asked_q);

  // The same counter in two cycles one behind the other, and the host asks for it between them.
  logic counted_q;
  always_ff @(posedge clk_i)
    counted_q <= rst_ni && valid_i && ready && index_i == at_i && read_valid_i && read_index_i == at;
  AHostThatReadsAHotCounterHoldsItUp_C :
  cover property (@(posedge clk_i) rst_ni && counted_q && valid_i && !ready);
  ACounterWraps_C :
  cover property (@(posedge clk_i) rst_ni && number_q == '1 && valid_i && ready && index_i == at_i);

endmodule
