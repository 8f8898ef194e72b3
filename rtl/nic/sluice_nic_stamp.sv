/// Stamps packets with time and generation, asks their rate limit; node NodeStamp.
///
/// Tokens come from the merge and leave in the same cycle with stamp and generation; the rate
/// limiter's answer follows 4 cycles later. The packet counts as in flight until `leave_*`.
/// Configuration: answered 4 cycles after the access; the commit takes effect in its cycle.
module sluice_nic_stamp
  import sluice_pkg::*;
  import sluice_nic_pkg::*;
#(
    parameter nic_cfg_t Cfg = NicCfgDefault,
    parameter int unsigned MaxInFlight = 32
) (
    input logic clk_i,
    input logic rst_ni,

    input logic [TickBits-1:0] ticks_i,

    input  logic       token_valid_i,
    input  port_desc_t token_desc_i,
    output logic       generation_o,
    output logic       conform_o,

    input logic                  leave_valid_i,
    input logic [ModuleBits-1:0] leave_module_i,
    input logic                  leave_generation_i,

    input  logic     cfg_valid_i,
    input  cfg_req_t cfg_req_i,
    output logic     cfg_valid_o,
    output cfg_rsp_t cfg_rsp_o,

    output logic         trace_valid_o,
    output merge_trace_t trace_o
);

  localparam int unsigned IndexBits = $clog2(Cfg.modules);
  localparam int unsigned CountBits = $clog2(MaxInFlight + 1);
  localparam int unsigned AnswerCycles = 4;

  if (MaxInFlight > 255) begin : gen_bad_in_flight
    $fatal(1, "nic_stamp: MaxInFlight is %0d, expected at most 255 (%m)", MaxInFlight);
  end

  logic is_rate, is_generation, commit_busy, current, unused_conform_valid, unused_system_generation;
  logic [CountBits-1:0] in_flight_0, in_flight_1;
  cfg_status_e status, checked;
  logic [AnswerCycles-1:0] answer_q;
  cfg_status_e status_q;
  rate_row_t rate, rate_write;
  generation_row_t generation;
  logic [IndexBits-1:0] cfg_module;

  assign is_rate = cfg_req_i.tab == TableRate;
  assign is_generation = cfg_req_i.tab == TableGeneration;
  assign cfg_module = cfg_req_i.index[IndexBits-1:0];
  assign rate_write = cfg_req_i.data[RateRowBits-1:0];

  always_comb begin
    checked = cfg_check(cfg_req_i, is_rate || is_generation, 1'b1, 24'(Cfg.modules),
                        is_rate ? 4'(RateRowWords) : 4'(GenerationRowWords));
    status = checked;
    if (checked == StatusOk && is_generation && cfg_req_i.write && commit_busy) status = StatusBusy;
  end

  sluice_nic_generation #(
      .Modules    (Cfg.modules),
      .MaxInFlight(MaxInFlight)
  ) u_generation (
      .clk_i,
      .rst_ni,
      .enter_valid_i            (token_valid_i),
      .enter_module_i           (token_desc_i.module_id[IndexBits-1:0]),
      .generation_o,
      .system_generation_o      (unused_system_generation),
      .leave_valid_i,
      .leave_module_i           (leave_module_i[IndexBits-1:0]),
      .leave_generation_i,
      .leave_system_generation_i(1'b0),
      .commit_valid_i           (cfg_valid_i && cfg_req_i.write && is_generation && checked == StatusOk),
      .commit_module_i          (cfg_module),
      .commit_generation_i      (cfg_req_i.data[0]),
      .commit_busy_o            (commit_busy),
      .current_o                (current),
      .in_flight_0_o            (in_flight_0),
      .in_flight_1_o            (in_flight_1)
  );

  sluice_token_bucket #(
      .Buckets     (Cfg.modules),
      .TimeWidth   (TickBits),
      .LengthWidth (14),
      .CostIntWidth($bits(rate.cost_per_byte) - CostFractionBits),
      .FracWidth   (CostFractionBits),
      .BurstWidth  ($bits(rate.burst))
  ) u_rate (
      .clk_i,
      .rst_ni,
      .valid_i    (token_valid_i),
      .index_i    (token_desc_i.module_id[IndexBits-1:0]),
      .now_i      (ticks_i),
      .length_i   (token_desc_i.length),
      .valid_o    (unused_conform_valid),
      .conform_o,
      .cfg_en_i   (cfg_valid_i && is_rate && checked == StatusOk),
      .cfg_we_i   (cfg_req_i.write),
      .cfg_index_i(cfg_module),
      .cfg_cost_i (rate_write.cost_per_byte),
      .cfg_burst_i(rate_write.burst),
      .cfg_cost_o (rate.cost_per_byte),
      .cfg_burst_o(rate.burst)
  );

  assign generation = '{current: current, in_flight_0: 8'(in_flight_0), in_flight_1: 8'(in_flight_1)};

  assign trace_valid_o = token_valid_i;
  assign trace_o = '{
          id: token_desc_i.id,
          module_id: token_desc_i.module_id,
          generation: generation_o,
          stamp: ticks_i
      };

  always_ff @(posedge clk_i) begin
    if (!rst_ni) answer_q <= '0;
    else answer_q <= {answer_q[AnswerCycles-2:0], cfg_valid_i};
  end
  always_ff @(posedge clk_i) begin
    if (cfg_valid_i) status_q <= status;
  end

  assign cfg_valid_o = answer_q[AnswerCycles-1];
  assign cfg_rsp_o = is_rate ?
      '{status: status_q, words: 4'(RateRowWords), data: 256'(rate)} :
      '{status: status_q, words: 4'(GenerationRowWords), data: 256'(generation)};

endmodule
