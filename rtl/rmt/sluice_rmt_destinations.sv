/// Where a packet goes, from its metadata (docs/design/rmt.md, "After the stages"); tables group, granted, group_name, events.
///
/// `ctl_i` comes one cycle before `phv_i`; all outputs are in the same cycle. A packet dropped before passes, with
/// no destinations.
///
/// Latency: 1 cycle from `phv_i` to the outputs, which are not registered (they go into a RAM). Throughput: a packet a cycle. Never stalls.
/// Configuration: answered 4 cycles after the access; accesses need no cycle without a packet.
module sluice_rmt_destinations
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_rmt_rows_pkg::*;
  import sluice_rmt_pkg::*;
#(
    parameter rmt_cfg_t Cfg = RmtCfgDefault,
    parameter int unsigned RowWords = RmtPatternsRowWords
) (
    input logic clk_i,
    input logic rst_ni,

    input logic     ctl_valid_i,
    input rmt_ctl_t ctl_i,
    input rmt_phv_t phv_i,

    output logic     valid_o,
    output rmt_ctl_t ctl_o,
    output rmt_phv_t phv_o,
    output route_t   route_o,

    input logic       [          31:0] epoch_i,
    input logic                        event_valid_i,
    input logic       [ModuleBits-1:0] event_module_i,
    input rmt_event_e                  event_kind_i,
    input logic       [           3:0] event_amount_i,
    input logic                        misfit_valid_i,
    input logic       [ModuleBits-1:0] misfit_module_i,

    input  logic                           cfg_valid_i,
    input  rmt_cfg_req_t                   cfg_req_i,
    // "Bits of signal are not used": the structure travels whole, this module takes the fields that concern it.
    // verilator lint_off UNUSEDSIGNAL
    input  logic         [32*RowWords-1:0] cfg_row_i,
    // verilator lint_on UNUSEDSIGNAL
    output logic                           cfg_valid_o,
    output cfg_rsp_t                       cfg_rsp_o
);

  localparam int unsigned ModuleIndexBits = $clog2(Cfg.modules);
  localparam int unsigned ModuleWidth = (ModuleIndexBits > 0) ? ModuleIndexBits : 1;
  localparam int unsigned GroupIndexBits = $clog2(Cfg.groups);
  localparam int unsigned EventIndexBits = $clog2(16 * Cfg.modules);
  localparam int unsigned AnswerCycles = 4;

  if (2 ** ModuleIndexBits != Cfg.modules || 2 ** GroupIndexBits != Cfg.groups) begin : gen_bad_tables
    $fatal(1, "rmt_destinations: modules %0d, groups %0d, expected powers of two (%m)", Cfg.modules, Cfg.groups);
  end

  // Metadata word WordEgress.
  typedef struct packed {
    logic       discard;
    logic [2:0] unused_high;
    logic       except_ingress;
    logic [2:0] egress_queue;
    logic [7:0] destinations;
  } egress_t;

  // Configuration.
  logic is_group, is_granted, is_name, is_events, mine, beyond, access_q, ok;
  cfg_status_e status, status_q;
  logic [6:0] words;
  logic [3:0] words_q;
  logic [AnswerCycles-1:0] answer_q;
  rmt_group_row_t group_read;
  rmt_granted_row_t granted_read;
  rmt_group_name_row_t name_read;
  logic unused_events_valid;
  logic [CounterBits-1:0] events;

  assign is_group = cfg_req_i.tab == TableRmtGroup;
  assign is_granted = cfg_req_i.tab == TableRmtGranted;
  assign is_name = cfg_req_i.tab == TableRmtGroupName;
  assign is_events = cfg_req_i.tab == TableRmtEvents;
  assign mine = is_group || is_granted || is_name || is_events;
  always_comb begin
    words  = 7'(RmtGroupRowWords);
    beyond = |cfg_req_i.index[15:GroupIndexBits];
    if (is_granted) begin
      words  = 7'(RmtGrantedRowWords);
      beyond = |cfg_req_i.index[15:ModuleIndexBits];
    end
    if (is_name) begin
      words  = 7'(RmtGroupNameRowWords);
      beyond = |cfg_req_i.index[15:ModuleIndexBits];
    end
    if (is_events) begin
      words  = 7'd2;
      beyond = |cfg_req_i.index[15:EventIndexBits];
    end
    status = rmt_cfg_status(cfg_req_i, is_events, beyond, words);
  end
  // The check has a cycle of its own.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) access_q <= 1'b0;
    else access_q <= cfg_valid_i && mine;
  end
  always_ff @(posedge clk_i) begin
    status_q <= status;
    words_q  <= rmt_slice_words(cfg_req_i, words);
  end
  assign ok = access_q && status_q == StatusOk;

  // The PHV is in c0 with `phv_i`, its row of groups and grants and the outputs in c1.
  logic valid0_q, valid1_q;
  rmt_ctl_t ctl0_q, ctl1_q;
  rmt_phv_t phv1_q;
  rmt_group_row_t group;
  rmt_granted_row_t granted;
  rmt_group_name_row_t name;
  logic [15:0] number, group_row;
  logic own_group;
  // "Bits of signal are not used": the structure travels whole, this module takes the fields that concern it.
  // verilator lint_off UNUSEDSIGNAL
  egress_t egress0, egress;
  // verilator lint_on UNUSEDSIGNAL
  logic grouped0, grouped_q, unknown_q, gone_q, foreign, pass;
  logic by_number0, drop_number_q;
  logic [8:0] number0;
  logic [DestBits-1:0] open_q, own_q, asked, left;
  rmt_ctl_t ctl;
  route_t   route;

  sluice_ram_dp #(
      .Width   (RmtGroupRowBits),
      .Depth   (Cfg.groups),
      .InitZero(1'b0)
  ) u_groups (
      .clk_i,
      .a_en_i   ((ok && is_group) || cfg_req_i.clear),
      .a_we_i   (cfg_req_i.write),
      .a_addr_i (cfg_req_i.index[GroupIndexBits-1:0]),
      .a_wdata_i(cfg_row_i[32*(RowWords-RmtGroupRowWords)+:RmtGroupRowBits]),
      .a_rdata_o(group_read),
      .b_en_i   (1'b1),
      .b_addr_i (group_row[GroupIndexBits-1:0]),
      .b_rdata_o(group)
  );

  sluice_ram_dp #(
      .Width   (RmtGrantedRowBits),
      .Depth   (Cfg.modules),
      .InitZero(1'b0)
  ) u_granted (
      .clk_i,
      .a_en_i   ((ok && is_granted) || cfg_req_i.clear),
      .a_we_i   (cfg_req_i.write),
      .a_addr_i (cfg_req_i.index[ModuleWidth-1:0]),
      .a_wdata_i(cfg_row_i[32*(RowWords-RmtGrantedRowWords)+:RmtGrantedRowBits]),
      .a_rdata_o(granted_read),
      .b_en_i   (1'b1),
      .b_addr_i (ctl0_q.module_id[ModuleWidth-1:0]),
      .b_rdata_o(granted)
  );

  // Names of the module's own groups, in c0.
  sluice_ram_dp #(
      .Width   (RmtGroupNameRowBits),
      .Depth   (Cfg.modules),
      .InitZero(1'b0)
  ) u_names (
      .clk_i,
      .a_en_i   ((ok && is_name) || cfg_req_i.clear),
      .a_we_i   (cfg_req_i.write),
      .a_addr_i (cfg_req_i.index[ModuleWidth-1:0]),
      .a_wdata_i(cfg_row_i[32*(RowWords-RmtGroupNameRowWords)+:RmtGroupNameRowBits]),
      .a_rdata_o(name_read),
      .b_en_i   (1'b1),
      .b_addr_i (ctl_i.module_id[ModuleWidth-1:0]),
      .b_rdata_o(name)
  );
  assign number = phv_i.words[WordGroup];
  assign own_group = (number & name.mask) == name.name;
  assign group_row = own_group ? (name.first | (number & ~name.mask)) : number;

  // c0: what the metadata alone says. In programs that have numbers of destinations, bits 8:0 of scratch1 are one; 511
  // drops what goes nowhere else.
  assign by_number0 = phv_i.words[WordStatus][8];
  assign number0 = phv_i.words[WordScratch1][8:0];
  assign egress0 = phv_i.words[WordEgress];
  assign grouped0 = phv_i.words[WordGroup] != '0;
  always_ff @(posedge clk_i) begin
    for (int unsigned d = 0; d < DestBits; d++) begin
      open_q[d] <= !(egress0.except_ingress && 32'(phv_i.words[WordIngressPort]) == d);
      own_q[d]  <= egress0.destinations[d] || (by_number0 && 32'(number0) == d);
    end
    grouped_q <= grouped0;
    unknown_q <= grouped0 && 32'(group_row) >= Cfg.groups;
    gone_q    <= ctl0_q.dropped || egress0.discard;
    drop_number_q <= by_number0 && number0 == '1 && !grouped0 && egress0.destinations == '0;
  end

  // c1.
  assign egress = phv1_q.words[WordEgress];
  // Another's group leads nowhere, as one that nobody has: a packet learns no difference.
  assign foreign = grouped_q && group.owner != '0 && group.owner != ctl1_q.module_id;
  assign asked = foreign ? '0 : grouped_q ? group.destinations : own_q;
  assign left = asked & granted.destinations & open_q;
  assign pass = !gone_q && !unknown_q && left != '0;
  always_comb begin
    ctl = ctl1_q;
    ctl.dropped = !pass;
    if (!ctl1_q.dropped) begin
      if (egress.discard || drop_number_q) ctl.reason = RmtEventDiscard;
      else if (unknown_q) ctl.reason = RmtEventRmtFault;
      else ctl.reason = RmtEventNoDestination;
    end

    route = '0;
    if (pass) route = '{destinations: left, egress_queue: egress.egress_queue, tags: grouped_q ? group.tags : '0};
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid0_q <= 1'b0;
      valid1_q <= 1'b0;
    end else begin
      valid0_q <= ctl_valid_i;
      valid1_q <= valid0_q;
    end
  end
  always_ff @(posedge clk_i) begin
    ctl0_q <= ctl_i;
    ctl1_q <= ctl0_q;
    phv1_q <= phv_i;
  end

  assign valid_o = valid1_q;
  assign ctl_o   = ctl;
  assign phv_o   = phv1_q;
  assign route_o = route;

  sluice_rmt_events #(
      .Modules(Cfg.modules)
  ) u_events (
      .clk_i,
      .rst_ni,
      .epoch_i,
      .event_valid_i,
      .event_module_i,
      .event_kind_i,
      .event_amount_i,
      .misfit_valid_i,
      .misfit_module_i,
      .rd_valid_i   (ok && is_events),
      .rd_snapshot_i(cfg_req_i.snapshot),
      .rd_index_i   (cfg_req_i.index[EventIndexBits-1:0]),
      .rd_valid_o   (unused_events_valid),
      .rd_data_o    (events)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) answer_q <= '0;
    else answer_q <= {answer_q[AnswerCycles-2:0], cfg_valid_i && mine};
  end
  assign cfg_valid_o = answer_q[AnswerCycles-1];
  always_comb begin
    cfg_rsp_o = '{status: status_q, words: words_q, data: 256'(group_read)};
    if (is_granted) cfg_rsp_o.data = 256'(granted_read);
    if (is_name) cfg_rsp_o.data = 256'(name_read);
    if (is_events) cfg_rsp_o.data = 256'(events);
  end

endmodule
