/// Tables of the probe: limits, bytes let through, events.
///
/// `limit_o` is the row of `look_index_i` a cycle after `look_i`, until the next read. `let_*` and `event_*` are counted in
/// their cycle.
///
/// Configuration: answered 4 cycles after `cfg_valid_i`. Never stalls.
module sluice_probe_tables
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_probe_rows_pkg::*;
#(
    parameter  int unsigned Modules         = 64,
    localparam int unsigned ModuleIndexBits = $clog2(Modules)
) (
    input logic clk_i,
    input logic rst_ni,

    input logic [31:0] epoch_i,

    input  logic                                 look_i,
    input  logic             [ModuleIndexBits:0] look_index_i,
    output probe_limit_row_t                     limit_o,

    input logic                       let_i,
    input logic [ModuleIndexBits-1:0] let_module_i,
    input logic [               13:0] let_length_i,

    input logic                               event_i,
    input logic         [ModuleIndexBits-1:0] event_module_i,
    input probe_event_e                       event_kind_i,
    input logic         [                3:0] event_amount_i,

    input  logic     cfg_valid_i,
    input  cfg_req_t cfg_req_i,
    output logic     cfg_valid_o,
    output cfg_rsp_t cfg_rsp_o
);

  localparam int unsigned AnswerCycles = 4;

  logic is_limit, is_let, is_events, is_counter, let_valid, events_valid;
  cfg_req_t row_req;
  cfg_status_e status;
  logic [AnswerCycles-1:0] answer_q;
  probe_limit_row_t limit_read;
  logic [CounterBits-1:0] let_count, events, counter_q;

  assign is_limit = cfg_req_i.tab == TableProbeLimit;
  assign is_let = cfg_req_i.tab == TableLetThrough;
  assign is_events = cfg_req_i.tab == TableProbeEvents;
  assign is_counter = is_let || is_events;
  assign row_req = is_counter ? cfg_counter(cfg_req_i) : cfg_req_i;

  always_comb begin
    status = cfg_check(row_req, is_counter, 1'b0, 24'(is_events ? 16 * Modules : Modules), 4'd2);
    if (is_limit) status = cfg_check(row_req, 1'b1, 1'b1, 24'(2 * Modules), 4'(ProbeLimitRowWords));
  end

  sluice_ram_dp #(
      .Width(ProbeLimitRowBits),
      .Depth(2 * Modules)
  ) u_limit (
      .clk_i,
      .a_en_i   ((cfg_valid_i && is_limit) || cfg_req_i.clear),
      .a_we_i   ((cfg_req_i.write && status == StatusOk) || cfg_req_i.clear),
      .a_addr_i (cfg_req_i.index[ModuleIndexBits:0]),
      .a_wdata_i(cfg_req_i.data[ProbeLimitRowBits-1:0]),
      .a_rdata_o(limit_read),
      .b_en_i   (look_i),
      .b_addr_i (look_index_i),
      .b_rdata_o(limit_o)
  );

  sluice_counter_bank #(
      .Entries (Modules),
      .Width   (CounterBits),
      .IncWidth(14)
  ) u_let (
      .clk_i,
      .rst_ni,
      .epoch_i,
      .inc_valid_i  (let_i),
      .inc_index_i  (let_module_i),
      .inc_amount_i (let_length_i),
      .rd_valid_i   (cfg_valid_i && is_let),
      .rd_snapshot_i(cfg_req_i.index[SnapshotIndexBit]),
      .rd_index_i   (cfg_req_i.index[ModuleIndexBits-1:0]),
      .rd_valid_o   (let_valid),
      .rd_data_o    (let_count)
  );

  sluice_counter_bank #(
      .Entries (16 * Modules),
      .Width   (CounterBits),
      .IncWidth(4)
  ) u_events (
      .clk_i,
      .rst_ni,
      .epoch_i,
      .inc_valid_i  (event_i),
      .inc_index_i  ({event_module_i, 4'(event_kind_i)}),
      .inc_amount_i (event_amount_i),
      .rd_valid_i   (cfg_valid_i && is_events),
      .rd_snapshot_i(cfg_req_i.index[SnapshotIndexBit]),
      .rd_index_i   (cfg_req_i.index[ModuleIndexBits+3:0]),
      .rd_valid_o   (events_valid),
      .rd_data_o    (events)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) answer_q <= '0;
    else answer_q <= {answer_q[AnswerCycles-2:0], cfg_valid_i};
  end

  always_ff @(posedge clk_i) begin
    if (let_valid) counter_q <= let_count;
    if (events_valid) counter_q <= events;
  end

  assign cfg_valid_o = answer_q[AnswerCycles-1];
  always_comb begin
    cfg_rsp_o = '{status: status, words: 4'd2, data: 256'(counter_q)};
    if (is_limit) begin
      cfg_rsp_o.words = 4'(ProbeLimitRowWords);
      cfg_rsp_o.data  = 256'(limit_read);
    end
  end

endmodule
