/// One stage of the rmt pipeline: match, then the winner's action (docs/design/rmt.md, "Stage").
///
/// `ctl_i` comes one cycle before `phv_i`, and `ctl_o` before `phv_o`; a cycle without `ctl_valid_i` is a bubble. A stage
/// that its owner register gives to the system module uses module 0's rows of the system generation for every
/// packet. A packet whose action row is another module's leaves dropped, as `rmt_fault`. Packets that come
/// dropped pass and do nothing.
///
/// The shell holds the owner register, the way of ctl and PHV, and the hit counters: a packet that is not dropped and
/// meets a winner counts in `hits_base + number`, three cycles after the winner is known.
///
/// Configuration: the tables of a stage's node; one access at a time, answered by whoever has the table. While
/// `cfg_valid_o` is low `cfg_rsp_o` is zero. `slot_request_o`: an access waits for a bubble.
///
/// Latency: 8 cycles, fixed. Throughput: 1 packet a cycle. Never stalls.
module sluice_rmt_stage
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_rmt_rows_pkg::*;
  import sluice_rmt_pkg::*;
#(
    parameter rmt_cfg_t Cfg = RmtCfgDefault,
    parameter int unsigned Stage = 0
) (
    input logic clk_i,
    input logic rst_ni,

    input logic [31:0] epoch_i,

    input  logic     ctl_valid_i,
    input  rmt_ctl_t ctl_i,
    input  rmt_phv_t phv_i,
    output logic     ctl_valid_o,
    output rmt_ctl_t ctl_o,
    output rmt_phv_t phv_o,

    input  logic                                    cfg_valid_i,
    input  rmt_cfg_req_t                            cfg_req_i,
    input  logic         [32*RmtActionRowWords-1:0] cfg_row_i,
    output logic                                    cfg_valid_o,
    output cfg_rsp_t                                cfg_rsp_o,
    output logic                                    slot_request_o
);

  if (Stage >= Cfg.stages) begin : gen_bad_stage
    $fatal(1, "rmt_stage: Stage is %0d, expected less than %0d (%m)", Stage, Cfg.stages);
  end

  localparam logic ResetOwner = Cfg.system_stages[Stage];

  // ctl: ctl_q[n] is that of the packet whose PHV came in n cycles ago, in c<n>.
  localparam int unsigned Last = 7;
  // Delays are kept, so that they do not become shift registers, which are LUTs.
  logic system_q;
  logic [Last:0] valid_q;
  (* keep *) rmt_ctl_t [Last:0] ctl_q;
  (* keep *) logic [3:0] system_of_q;
  logic [ModuleBits-1:0] rows_module;
  logic rows_generation;
  (* keep *) logic [3:0][ModuleBits-1:0] rows_module_q;
  (* keep *) logic [3:0] rows_generation_q;
  logic fault;

  assign rows_module     = system_q ? ModuleBits'(SystemModule) : ctl_i.module_id;
  assign rows_generation = system_q ? ctl_i.system_generation : ctl_i.generation;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_q <= '0;
    else valid_q <= {valid_q[Last-1:0], ctl_valid_i};
  end
  // What is of a packet moves with it: an idle stage costs simulation little.
  always_ff @(posedge clk_i) begin
    if (ctl_valid_i) begin
      ctl_q[0]             <= ctl_i;
      rows_module_q[0]     <= rows_module;
      rows_generation_q[0] <= rows_generation;
    end
    for (int unsigned i = 1; i <= Last; i++) begin
      if (valid_q[i-1]) ctl_q[i] <= ctl_q[i-1];
    end
    for (int unsigned i = 1; i < 4; i++) begin
      if (valid_q[i-1]) begin
        rows_module_q[i]     <= rows_module_q[i-1];
        rows_generation_q[i] <= rows_generation_q[i-1];
      end
    end
    if (fault) begin
      ctl_q[6].dropped <= 1'b1;
      ctl_q[6].reason  <= RmtEventRmtFault;
    end
    system_of_q <= {system_of_q[2:0], system_q};
  end
  assign ctl_valid_o = valid_q[Last];
  assign ctl_o = ctl_q[Last];

  // Match, and the PHV beside it.
  rmt_win_t win;
  logic [10:0] hits_base;
  logic [1:0] conditions;
  logic [31:0] hash;
  // Kept one by one, so that they do not become shift registers, which are LUTs.
  (* keep *) rmt_phv_t phv_q1, phv_q2, phv_q3, phv_q4;

  always_ff @(posedge clk_i) begin
    if (valid_q[0]) phv_q1 <= phv_i;
    if (valid_q[1]) phv_q2 <= phv_q1;
    if (valid_q[2]) phv_q3 <= phv_q2;
    if (valid_q[3]) phv_q4 <= phv_q3;
  end

  logic match_cfg_valid, match_slot_request;
  cfg_rsp_t match_cfg_rsp;

  sluice_rmt_match #(
      .Cfg(Cfg)
  ) u_match (
      .clk_i,
      .rst_ni,
      .valid_i          (ctl_valid_i),
      .rows_module_i    (rows_module),
      .rows_generation_i(rows_generation),
      .phv_i,
      .win_o            (win),
      .hits_base_o      (hits_base),
      .conditions_o     (conditions),
      .hash_o           (hash),
      .cfg_valid_i,
      .cfg_req_i,
      .cfg_row_i,
      .cfg_valid_o      (match_cfg_valid),
      .cfg_rsp_o        (match_cfg_rsp),
      .slot_request_o   (match_slot_request)
  );

  logic act_cfg_valid, act_slot_request;
  cfg_rsp_t act_cfg_rsp;

  sluice_rmt_act #(
      .Cfg(Cfg)
  ) u_act (
      .clk_i,
      .rst_ni,
      .epoch_i,
      .ctl_valid_i      (valid_q[3]),
      .ctl_i            (ctl_q[3]),
      .system_i         (system_of_q[3]),
      .rows_module_i    (rows_module_q[3]),
      .rows_generation_i(rows_generation_q[3]),
      .win_i            (win),
      .phv_i            (phv_q4),
      .conditions_i     (conditions),
      .hash_i           (hash),
      .fault_o          (fault),
      .phv_o,
      .cfg_valid_i,
      .cfg_req_i,
      .cfg_row_i,
      .cfg_valid_o      (act_cfg_valid),
      .cfg_rsp_o        (act_cfg_rsp),
      .slot_request_o   (act_slot_request)
  );

  // Hits.
  logic hit_q4, hit_q5;
  logic [10:0] number_q4, base_q4, index_q5;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      hit_q4 <= 1'b0;
      hit_q5 <= 1'b0;
    end else begin
      hit_q4 <= valid_q[3] && !ctl_q[3].dropped && win.valid;
      hit_q5 <= hit_q4;
    end
    number_q4 <= win.number;
    base_q4   <= hits_base;
    index_q5  <= base_q4 + number_q4;
  end

  // Configuration.
  logic is_owner, is_hits, is_unknown, hits_read, hits_read_valid, owner_answer_q;
  logic access_q, good, answer_q;
  logic [CounterBits-1:0] hits_read_data, hits_q;
  logic is_owner_q, is_hits_q;
  cfg_status_e owner_status_q, hits_status_q, status;

  assign is_owner = cfg_req_i.tab == TableRmtStageOwner;
  assign is_hits = cfg_req_i.tab == TableRmtHits;
  assign is_unknown = cfg_req_i.tab > TableRmtStateRange;
  assign hits_read = access_q && is_hits_q && good;

  // Each table's limits are constants. Which of the checks counts is chosen in the cycle behind them.
  always_ff @(posedge clk_i) begin
    is_owner_q     <= is_owner;
    is_hits_q      <= is_hits;
    owner_status_q <= rmt_cfg_check(cfg_req_i, 1'b0, 17'd1, 7'(RmtStageOwnerRowWords));
    hits_status_q  <= rmt_cfg_check(cfg_req_i, 1'b1, 17'(RmtNumbers), 7'd2);
  end
  always_comb begin
    status = StatusBadAddress;
    if (is_owner_q) status = owner_status_q;
    if (is_hits_q) status = hits_status_q;
  end
  assign good = status == StatusOk;

  sluice_counter_bank #(
      .Entries (RmtNumbers),
      .Width   (CounterBits),
      .IncWidth(1)
  ) u_hits (
      .clk_i,
      .rst_ni,
      .epoch_i,
      .inc_valid_i  (hit_q5),
      .inc_index_i  (index_q5),
      .inc_amount_i (1'b1),
      .rd_valid_i   (hits_read),
      .rd_snapshot_i(cfg_req_i.snapshot),
      .rd_index_i   (cfg_req_i.index[10:0]),
      .rd_valid_o   (hits_read_valid),
      .rd_data_o    (hits_read_data)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      system_q       <= ResetOwner;
      access_q       <= 1'b0;
      answer_q       <= 1'b0;
      owner_answer_q <= 1'b0;
    end else begin
      access_q <= cfg_valid_i && (is_owner || is_hits || is_unknown);
      if (access_q && is_owner_q && cfg_req_i.write && good) system_q <= cfg_row_i[32*(RmtActionRowWords-1)];
      answer_q <= (access_q && (!is_hits_q || !good)) || hits_read_valid;
      owner_answer_q <= access_q && is_owner_q;
    end
    hits_q <= hits_read_valid ? hits_read_data : '0;
  end

  cfg_rsp_t shell_rsp;
  always_comb begin
    shell_rsp = '0;
    if (answer_q) begin
      shell_rsp.status = status;
      shell_rsp.words  = is_owner_q ? 4'd1 : 4'd2;
    end
    shell_rsp.data = 256'(hits_q) | 256'(owner_answer_q && system_q);
  end

  assign cfg_valid_o = answer_q || match_cfg_valid || act_cfg_valid;
  assign cfg_rsp_o = shell_rsp | match_cfg_rsp | act_cfg_rsp;
  assign slot_request_o = match_slot_request || act_slot_request;

`ifndef SYNTHESIS
  OneBlockAnswers_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) $onehot0({answer_q, match_cfg_valid, act_cfg_valid}));
  FaultIsOfAPacket_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !fault || (valid_q[5] && !ctl_q[5].dropped));
`endif

endmodule
