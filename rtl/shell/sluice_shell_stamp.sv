/// Gives packets that enter an engine their two generations, asks their rate limit; node NodeStamp.
///
/// A packet enters and gets its module's and the system module's generation in the same cycle: that is its token. The
/// rate limit's answer follows 4 cycles later. The packet counts as in flight for its module, and for the system module,
/// until `leave_*` gives the token back: no commit to a generation while a packet of it is in flight. A packet of the
/// system module itself counts once.
///
/// With `Behind` an engine stands behind queues (sluice_shell_behind): a packet that goes there counts for its module from `behind_enter_*` on,
/// in the cycle of its `leave_*` or before, until `behind_leave_*`; for the system module only until its `leave_*`.
///
/// Latency and stalls: as above; never stalls. At most `MaxInFlight` packets may be in flight, and `Behind` there; the row shows 255
/// for more.
/// Configuration: answered 4 cycles after the access; the commit takes effect in its cycle.
module sluice_shell_stamp
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
#(
    parameter int unsigned Modules = 64,
    parameter int unsigned MaxInFlight = 255,
    parameter int unsigned Behind = 0
) (
    input logic clk_i,
    input logic rst_ni,

    input logic [TickBits-1:0] ticks_i,

    input  logic   enter_valid_i,
    input  enter_t enter_i,
    output logic   generation_o,
    output logic   system_generation_o,
    output logic   conform_o,

    input logic   leave_valid_i,
    input token_t leave_i,

    // "Bits of signal are not used": a token's system half goes back before; without `Behind` nothing comes.
    // verilator lint_off UNUSEDSIGNAL
    input logic         behind_enter_valid_i,
    input token_t       behind_enter_i,
    input logic   [1:0] behind_leave_valid_i,
    input token_t [1:0] behind_leave_i,
    // verilator lint_on UNUSEDSIGNAL

    input  logic     cfg_valid_i,
    input  cfg_req_t cfg_req_i,
    output logic     cfg_valid_o,
    output cfg_rsp_t cfg_rsp_o,

    output logic         trace_valid_o,
    output merge_trace_t trace_o
);

  localparam int unsigned IndexBits = (Modules > 1) ? $clog2(Modules) : 1;
  localparam int unsigned AnswerCycles = 4;

  logic is_rate, is_generation, commit_busy, unused_conform_valid;
  cfg_status_e status, checked;
  logic [AnswerCycles-1:0] answer_q;
  cfg_status_e status_q;
  logic is_rate_q;
  rate_row_t rate, rate_write;
  generation_row_t generation;
  logic [1:0][$clog2(MaxInFlight+1)-1:0] in_flight;
  logic [1:0] behind_some;
  logic [1:0][15:0] behind;
  logic [IndexBits-1:0] cfg_module;

  assign is_rate = cfg_req_i.tab == TableRate;
  assign is_generation = cfg_req_i.tab == TableGeneration;
  assign cfg_module = cfg_req_i.index[IndexBits-1:0];
  assign rate_write = cfg_req_i.data[RateRowBits-1:0];

  always_comb begin
    checked = cfg_check(cfg_req_i, is_rate || is_generation, 1'b1, 24'(Modules),
                        is_rate ? 4'(RateRowWords) : 4'(GenerationRowWords));
    status = checked;
    if (checked == StatusOk && is_generation && cfg_req_i.write && commit_busy) status = StatusBusy;
  end

  sluice_shell_generation #(
      .Modules    (Modules),
      .MaxInFlight(MaxInFlight),
      .System     (1'b1)
  ) u_generation (
      .clk_i,
      .rst_ni,
      .enter_valid_i            (enter_valid_i),
      .enter_module_i           (enter_i.module_id[IndexBits-1:0]),
      .generation_o,
      .system_generation_o,
      .leave_valid_i,
      .leave_module_i           (leave_i.module_id[IndexBits-1:0]),
      .leave_generation_i       (leave_i.generation),
      .leave_system_generation_i(leave_i.system_generation),
      .commit_valid_i           (cfg_valid_i && cfg_req_i.write && is_generation && checked == StatusOk),
      .commit_module_i          (cfg_module),
      .commit_generation_i      (cfg_req_i.data[0]),
      .commit_some_i            (behind_some),
      .commit_busy_o            (commit_busy),
      .current_o                (generation.current),
      .in_flight_0_o            (in_flight[0]),
      .in_flight_1_o            (in_flight[1])
  );

  if (Behind >= 2 ** 16) begin : gen_bad_behind
    $fatal(1, "shell_stamp: Behind is %0d, expected below %0d (%m)", Behind, 2 ** 16);
  end
  if (Behind != 0) begin : gen_behind
    logic [1:0][$clog2(Behind+1)-1:0] counts;
    sluice_shell_behind #(
        .Modules   (Modules),
        .MaxPackets(Behind)
    ) u_behind (
        .clk_i,
        .rst_ni,
        .enter_valid_i     (behind_enter_valid_i),
        .enter_module_i    (behind_enter_i.module_id[IndexBits-1:0]),
        .enter_generation_i(behind_enter_i.generation),
        .leave_valid_i     (behind_leave_valid_i),
        .leave_module_i    ({behind_leave_i[1].module_id[IndexBits-1:0], behind_leave_i[0].module_id[IndexBits-1:0]}),
        .leave_generation_i({behind_leave_i[1].generation, behind_leave_i[0].generation}),
        .look_module_i     (cfg_module),
        .some_o            (behind_some),
        .count_0_o         (counts[0]),
        .count_1_o         (counts[1])
    );
    assign behind = {16'(counts[1]), 16'(counts[0])};
  end else begin : gen_no_behind
    assign behind_some = '0;
    assign behind = '0;
  end

  // A packet whose token comes back later than it enters behind counts twice meanwhile: it is shown once or twice, and never not at all.
  function automatic logic [7:0] shown(logic [31:0] packets);
    return (packets > 32'd255) ? 8'd255 : packets[7:0];
  endfunction
  assign generation.in_flight_0 = shown(32'(in_flight[0]) + 32'(behind[0]));
  assign generation.in_flight_1 = shown(32'(in_flight[1]) + 32'(behind[1]));

  sluice_token_bucket #(
      .Buckets     (Modules),
      .TimeWidth   (TickBits),
      .LengthWidth (14),
      .CostIntWidth($bits(rate.cost_per_byte) - CostFractionBits),
      .FracWidth   (CostFractionBits),
      .BurstWidth  ($bits(rate.burst))
  ) u_rate (
      .clk_i,
      .rst_ni,
      .valid_i    (enter_valid_i),
      .index_i    (enter_i.module_id[IndexBits-1:0]),
      .now_i      (ticks_i),
      .length_i   (enter_i.length),
      .valid_o    (unused_conform_valid),
      .conform_o,
      .cfg_en_i   ((cfg_valid_i && is_rate && checked == StatusOk) || cfg_req_i.clear),
      .cfg_we_i   (cfg_req_i.write),
      .cfg_index_i(cfg_module),
      .cfg_cost_i (rate_write.cost_per_byte),
      .cfg_burst_i(rate_write.burst),
      .cfg_cost_o (rate.cost_per_byte),
      .cfg_burst_o(rate.burst)
  );

  assign trace_valid_o = enter_valid_i;
  assign trace_o = '{
          arrival: enter_i.arrival,
          stamp: ticks_i,
          system_generation: system_generation_o,
          generation: generation_o,
          module_id: enter_i.module_id,
          id: enter_i.id
      };

  always_ff @(posedge clk_i) begin
    if (!rst_ni) answer_q <= '0;
    else answer_q <= {answer_q[AnswerCycles-2:0], cfg_valid_i};
  end
  always_ff @(posedge clk_i) begin
    if (cfg_valid_i) begin
      status_q  <= status;
      is_rate_q <= is_rate;
    end
  end

  assign cfg_valid_o = answer_q[AnswerCycles-1];
  assign cfg_rsp_o = is_rate_q ?
      '{status: status_q, words: 4'(RateRowWords), data: 256'(rate)} :
      '{status: status_q, words: 4'(GenerationRowWords), data: 256'(generation)};

endmodule
