/// Proof about two copies of sluice_token_bucket: a module's packets conform in both or in neither, and its limit reads the same,
/// whatever other modules' packets and limits there are in each.
///
/// By k-induction, for runs of any length, with resets at any time and any course of time, which is common to both.
/// Packets and configuration of one bucket, chosen at the start, are common and come in the same cycle; all else is free
/// in each. What holds for any bucket holds for all. `now_i` need not advance as the block asks: that makes its decisions
/// right, not independent.
module bucket #(
    parameter int unsigned Buckets = 2,
    parameter int unsigned TimeWidth = 5,
    parameter int unsigned LengthWidth = 1,
    parameter int unsigned CostIntWidth = 1,
    parameter int unsigned FracWidth = 1,
    parameter int unsigned BurstWidth = 2,
    localparam int unsigned IndexWidth = $clog2(Buckets),
    localparam int unsigned CostWidth = CostIntWidth + FracWidth
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [IndexWidth-1:0] choose_i,
    input logic [TimeWidth-1:0] now_i,
    // [2] is of the chosen bucket.
    input logic ours_i,
    input logic [1:0] valid_i,
    input logic [1:0][IndexWidth-1:0] index_i,
    input logic [2:0][LengthWidth-1:0] length_i,
    input logic cfg_ours_i,
    input logic [2:0] cfg_en_i,
    input logic [2:0] cfg_we_i,
    input logic [1:0][IndexWidth-1:0] cfg_index_i,
    input logic [2:0][CostWidth-1:0] cfg_cost_i,
    input logic [2:0][BurstWidth-1:0] cfg_burst_i
);

  logic init_q = 1'b1;
  logic [IndexWidth-1:0] chosen_q, chosen;
  logic [3:0] ours_q;
  logic limit_read_q;
  logic [1:0] valid, conform, used, recent;
  logic [1:0][CostWidth+BurstWidth-1:0] limit, limit_read;
  logic [1:0][TimeWidth+FracWidth-1:0] tat;

  assign chosen = init_q ? choose_i : chosen_q;
  always_ff @(posedge clk_i) begin
    init_q <= 1'b0;
    chosen_q <= chosen;
    ours_q <= rst_ni ? {ours_q[2:0], ours_i} : '0;
    limit_read_q <= cfg_ours_i && cfg_en_i[2] && !cfg_we_i[2];
  end

  for (genvar k = 0; k < 2; k++) begin : gen_copy
    sluice_token_bucket #(
        .Buckets     (Buckets),
        .TimeWidth   (TimeWidth),
        .LengthWidth (LengthWidth),
        .CostIntWidth(CostIntWidth),
        .FracWidth   (FracWidth),
        .BurstWidth  (BurstWidth)
    ) u_dut (
        .clk_i,
        .rst_ni,
        .valid_i    (ours_i || valid_i[k]),
        .index_i    (ours_i ? chosen : index_i[k]),
        .now_i,
        .length_i   (length_i[ours_i?2 : k]),
        .valid_o    (valid[k]),
        .conform_o  (conform[k]),
        .cfg_en_i   (cfg_en_i[cfg_ours_i?2 : k]),
        .cfg_we_i   (cfg_we_i[cfg_ours_i?2 : k]),
        .cfg_index_i(cfg_ours_i ? chosen : cfg_index_i[k]),
        .cfg_cost_i (cfg_cost_i[cfg_ours_i?2 : k]),
        .cfg_burst_i(cfg_burst_i[cfg_ours_i?2 : k]),
        .cfg_cost_o (limit_read[k][BurstWidth+:CostWidth]),
        .cfg_burst_o(limit_read[k][BurstWidth-1:0])
    );
    assign used[k] = u_dut.used_q[chosen];
    assign recent[k] = u_dut.recent_q[chosen];
    assign limit[k] = u_dut.u_config.mem[chosen];
    assign tat[k] = u_dut.u_tat.mem[chosen];
    always_comb begin
      assume (ours_i || !valid_i[k] || index_i[k] != chosen);
      assume (cfg_ours_i || !(cfg_en_i[k] && cfg_we_i[k]) || cfg_index_i[k] != chosen);
    end
  end

  always_comb begin
    if (init_q) assume (!rst_ni && limit[0] == limit[1]);
    assume (rst_ni || !(cfg_en_i[0] || cfg_en_i[1] || cfg_en_i[2]));
  end

  ConformsInBothOrNeither_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || !ours_q[3] || (valid == 2'b11 && conform[0] == conform[1]));

  TheLimitReadsTheSame_A :
  assert property (@(posedge clk_i) init_q || !limit_read_q || limit_read[0] == limit_read[1]);

  // Strengthening for the induction.
  PlacesAreTheSame_A :
  assert property (@(posedge clk_i) limit[0] == limit[1] &&
                                    (init_q || (used[0] == used[1] && (!used[0] || tat[0] == tat[1]))));
  RecentIsTheSame_A :
  assert property (@(posedge clk_i) init_q || recent[0] == recent[1]);
endmodule
