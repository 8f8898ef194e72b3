/// Proof about sluice_token_bucket: decisions equal those of an unpipelined leaky bucket, also across the wrap
/// and after pauses of any length.
///
/// By k-induction, for runs of any length, with resets at any time. The reference keeps no time: a
/// bucket's level runs out as time passes and a conforming packet adds its charge. One bucket
/// is chosen at the first reset: what holds for any one holds for all. Time advances by any
/// number of ticks a cycle up to a quarter of its range, as the contract asks; that includes
/// the counter that advances by one.
module token_bucket #(
    parameter  int unsigned Buckets       = 2,
    parameter  int unsigned TimeWidth     = 5,
    parameter  int unsigned LengthWidth   = 1,
    parameter  int unsigned CostIntWidth  = 1,
    parameter  int unsigned FracWidth     = 1,
    parameter  int unsigned BurstWidth    = 2,
    parameter  bit          PacketInBurst = 1'b0,
    localparam int unsigned IndexWidth    = $clog2(Buckets),
    localparam int unsigned CostWidth     = CostIntWidth + FracWidth
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [IndexWidth-1:0] choose_i,
    input logic valid_i,
    input logic [IndexWidth-1:0] index_i,
    input logic [TimeWidth-1:0] now_i,
    input logic [LengthWidth-1:0] length_i,
    input logic cfg_en_i,
    input logic cfg_we_i,
    input logic [IndexWidth-1:0] cfg_index_i,
    input logic [CostWidth-1:0] cfg_cost_i,
    input logic [BurstWidth-1:0] cfg_burst_i
);

  logic valid, conform;
  logic [ CostWidth-1:0] cfg_cost;
  logic [BurstWidth-1:0] cfg_burst;

  sluice_token_bucket #(
      .Buckets(Buckets),
      .TimeWidth(TimeWidth),
      .LengthWidth(LengthWidth),
      .CostIntWidth(CostIntWidth),
      .FracWidth(FracWidth),
      .BurstWidth(BurstWidth),
      .PacketInBurst(PacketInBurst)
  ) u_dut (
      .clk_i,
      .rst_ni,
      .valid_i,
      .index_i,
      .now_i,
      .length_i,
      .valid_o(valid),
      .conform_o(conform),
      .cfg_en_i,
      .cfg_we_i,
      .cfg_index_i,
      .cfg_cost_i,
      .cfg_burst_i,
      .cfg_cost_o(cfg_cost),
      .cfg_burst_o(cfg_burst)
  );

  localparam int unsigned LevelWidth = TimeWidth + FracWidth + 2;
  localparam int unsigned HighestLevel = ((2 ** BurstWidth - 1) << FracWidth) +
                                         (2 ** LengthWidth - 1) * (2 ** CostWidth - 1);
  localparam int unsigned Quarter = 2 ** (TimeWidth - 2);
  typedef logic [LevelWidth-1:0] level_t;

  logic init_q = 1'b1;
  logic [IndexWidth-1:0] chosen_q;

  // Configuration of the bucket, as before this cycle.
  logic [CostWidth-1:0] cost_q = '0;
  logic [BurstWidth-1:0] burst_q = '0;
  logic writes;
  logic read_q;
  logic [CostWidth-1:0] read_cost_q;
  logic [BurstWidth-1:0] read_burst_q;

  // Everything that comes in, with the configuration it finds. The reference takes it three
  // cycles later, in the same order, which changes no answer and lets it keep step with the
  // block's own state.
  typedef struct packed {
    logic                   asked;
    logic                   ours;
    logic                   writes;
    logic [TimeWidth-1:0]   now;
    logic [LengthWidth-1:0] length;
    logic [CostWidth-1:0]   cost;
    logic [BurstWidth-1:0]  burst;
  } event_t;

  event_t arriving, event_q[3], current;

  logic running_q;  // the cycle before was not one of reset, so that time goes on from it
  logic [TimeWidth-1:0] now_q, passed;
  level_t level, level_q, charge;
  logic conforms;
  logic asked_q, ours_q, expected_q;

  assign writes = cfg_en_i && cfg_we_i && cfg_index_i == chosen_q;
  assign arriving = '{
          asked: valid_i,
          ours: valid_i && index_i == chosen_q,
          writes: writes,
          now: now_i,
          length: length_i,
          cost: cost_q,
          burst: burst_q
      };
  assign current = event_q[2];

  always_comb begin
    passed   = current.now - now_q;
    level    = (level_q > level_t'({passed, FracWidth'(0)})) ? level_q - level_t'({passed, FracWidth'(0)}) : '0;
    charge   = level_t'(current.length) * level_t'(current.cost);
    conforms = current.cost == '0 || level + (PacketInBurst ? charge : '0) <= level_t'({current.burst, FracWidth'(0)});
    if (init_q) assume (!rst_ni && choose_i < Buckets);
    assume (rst_ni || (!cfg_en_i && !valid_i));
    assume (!rst_ni || !running_q || TimeWidth'(now_i - event_q[0].now) <= TimeWidth'(Quarter));
  end

  always_ff @(posedge clk_i) begin
    init_q    <= 1'b0;
    running_q <= rst_ni;
    if (init_q) chosen_q <= choose_i;
    now_q <= current.now;
    if (writes && !init_q) begin
      cost_q  <= cfg_cost_i;
      burst_q <= cfg_burst_i;
    end
    event_q[0] <= arriving;
    event_q[1] <= event_q[0];
    event_q[2] <= event_q[1];
    level_q    <= (current.ours && conforms) ? level + charge : level;
    if (current.writes) level_q <= '0;
    asked_q      <= current.asked;
    ours_q       <= current.ours;
    expected_q   <= conforms;
    read_q       <= cfg_en_i && !cfg_we_i && cfg_index_i == chosen_q;
    read_cost_q  <= cost_q;
    read_burst_q <= burst_q;
    if (!rst_ni) begin
      for (int unsigned i = 0; i < 3; i++) begin
        event_q[i].asked  <= 1'b0;
        event_q[i].ours   <= 1'b0;
        event_q[i].writes <= 1'b0;
      end
      level_q <= '0;
      asked_q <= 1'b0;
      read_q  <= 1'b0;
    end
  end

  EveryDecisionIsAnsweredAfterFourCycles_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) valid == asked_q);
  DecisionIsThatOfALeakyBucket_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !asked_q || !ours_q || conform == expected_q);
  ReadBackIsWhatWasWritten_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !read_q || (cfg_cost == read_cost_q &&
                                                                      cfg_burst == read_burst_q));

  // Strengthening for the induction: the level is how far the TAT is ahead, and a bucket that
  // counts as used was charged in this quarter of time or in the one before. The block enters
  // the quarter of `current` at the end of the cycle before, so that is the time to compare at.
  typedef logic [TimeWidth+FracWidth-1:0] tat_t;
  logic used, recent;
  logic [TimeWidth-1:0] oldest;
  tat_t tat_since, now_since;

  always_comb begin
    used      = u_dut.used_q[chosen_q];
    recent    = u_dut.recent_q[chosen_q];
    // Where the quarter of the last charge began.
    oldest    = {current.now[TimeWidth-1-:2], (TimeWidth - 2)'(0)} - (recent ? '0 : TimeWidth'(Quarter));
    tat_since = u_dut.u_tat.mem[chosen_q] - {oldest, FracWidth'(0)};
    now_since = {current.now - oldest, FracWidth'(0)};
  end

  ChosenIsInRange_A :
  assert property (@(posedge clk_i) init_q || chosen_q < Buckets);
  ConfigurationIsInItsPlace_A :
  assert property (@(posedge clk_i) init_q ? u_dut.u_config.mem[choose_i] == '0 && {cost_q, burst_q} == '0
                                           : u_dut.u_config.mem[chosen_q] == {cost_q, burst_q});
  LevelIsInRange_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) level_q <= level_t'(HighestLevel));
  UnusedIsEmpty_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) used || level == '0);
  LevelIsTheLeadOfTheTat_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !used ||
      level == ((tat_since > now_since) ? level_t'(tat_t'(tat_since - now_since)) : '0));
  TatIsOfTheQuarterOfTheChargeOrTheNext_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !used || tat_since < {1'b1, (TimeWidth - 1 + FracWidth)'(0)});
endmodule
