/// The NIC: ports, one shared match-action pipeline, the XDP engine, egress queues, the l7 engine behind the last of them, configuration ring.
///
/// docs/design/nic.md, rmt.md, hxdp-core.md and l7.md say what it does. `Target` chooses the configurations of all (0 default, 1
/// tiny, crates/formats/src/target.rs). Port p, destination d and trace p are the p-th or d-th
/// part of their flat buses, lowest bits first; destinations are the ports, then host queues.
///
/// Ports are never stalled (`s_axis_port_tready` is always 1). `s_axis_port_tuser` marks a bad
/// frame with its last beat. Every output beat carries the sideband as `tuser`.
///
/// `Engines` says which engines are there, a bit each (EngineRmt, EngineXdp, EngineL7). The pipeline always is; of the others that are not
/// nothing is elaborated. Ports and ring are the same for all: the node of an engine that is not there answers StatusBadAddress, and its
/// outputs stay 0. Without XDP what the pipeline sends goes to the queues; without l7 the last destination is a host queue as the others are.
///
/// What the queues send to the last destination goes through the l7 engine. Packets of messages whose queue has a ring go into host memory
/// (`*_axis_dma_*`: docs/design/l7.md, "Receive"); the others leave there, with `m_axis_message_o` and their queue on `m_axis_queue_o` beside
/// every beat of the last destination.
///
/// A reset empties the NIC and closes its ports (port policy 0); behind it all tables but state words are
/// cleared, a row of each a cycle, while packets and messages wait (docs/design/nic.md, "Reset"). So the host writes
/// the tables again, the policies last. Counters outlive it: the host takes them as
/// its new zero (packets that the reset threw away are in no other counter).
/// `trace_*` tell what happened in each cycle; they may be left open.
// "Multiple top level modules": sluice_ram_1r1w_clear is in the list for synthesis; no simulated body needs it.
// verilator lint_off MULTITOP
module sluice_nic_top
  // verilator lint_on MULTITOP
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_nic_pkg::*;
  import sluice_rmt_rows_pkg::*;
  import sluice_rmt_pkg::*;
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_l7_rows_pkg::*;
  import sluice_l7_pkg::*;
#(
    parameter int unsigned Target = 0,
    parameter int unsigned Engines = AllEngines,
    localparam bit HasXdp = (Engines & EngineXdp) != 0,
    localparam bit HasL7 = (Engines & EngineL7) != 0,
    localparam nic_cfg_t Cfg = nic_cfg(Target),
    localparam rmt_cfg_t RmtCfg = rmt_cfg(Target),
    localparam xdp_cfg_t XdpCfg = xdp_cfg(Target),
    localparam l7_cfg_t L7Cfg = l7_cfg(Target),
    localparam int unsigned Bytes = Cfg.bus_bytes,
    localparam int unsigned Ports = Cfg.ports,
    localparam int unsigned Dests = Cfg.ports + Cfg.hosts
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic [        Ports-1:0] s_axis_port_tvalid,
    output logic [        Ports-1:0] s_axis_port_tready,
    input  logic [Ports*8*Bytes-1:0] s_axis_port_tdata,
    input  logic [  Ports*Bytes-1:0] s_axis_port_tkeep,
    input  logic [        Ports-1:0] s_axis_port_tlast,
    input  logic [        Ports-1:0] s_axis_port_tuser,

    output logic [             Dests-1:0] m_axis_tvalid,
    input  logic [             Dests-1:0] m_axis_tready,
    output logic [     Dests*8*Bytes-1:0] m_axis_tdata,
    output logic [       Dests*Bytes-1:0] m_axis_tkeep,
    output logic [             Dests-1:0] m_axis_tlast,
    output logic [Dests*SidebandBits-1:0] m_axis_tuser,
    output logic                          m_axis_message_o,
    output logic [                   7:0] m_axis_queue_o,

    input  logic        s_axis_cfg_tvalid,
    output logic        s_axis_cfg_tready,
    input  logic [31:0] s_axis_cfg_tdata,
    input  logic        s_axis_cfg_tlast,
    output logic        m_axis_cfg_tvalid,
    input  logic        m_axis_cfg_tready,
    output logic [31:0] m_axis_cfg_tdata,
    output logic        m_axis_cfg_tlast,

    output logic                  m_axis_dma_read_desc_tvalid,
    input  logic                  m_axis_dma_read_desc_tready,
    output logic [          63:0] m_axis_dma_read_desc_addr,
    output logic [          15:0] m_axis_dma_read_desc_len,
    output logic [DmaTagBits-1:0] m_axis_dma_read_desc_tag,
    input  logic                  s_axis_dma_read_data_tvalid,
    input  logic [DmaTagBits-1:0] s_axis_dma_read_data_tag,
    input  logic [   8*Bytes-1:0] s_axis_dma_read_data_tdata,
    output logic                  m_axis_dma_write_desc_tvalid,
    input  logic                  m_axis_dma_write_desc_tready,
    output logic [          63:0] m_axis_dma_write_desc_addr,
    output logic [          15:0] m_axis_dma_write_desc_len,
    output logic [DmaTagBits-1:0] m_axis_dma_write_desc_tag,
    output logic                  m_axis_dma_write_data_tvalid,
    input  logic                  m_axis_dma_write_data_tready,
    output logic [   8*Bytes-1:0] m_axis_dma_write_data_tdata,
    output logic [     Bytes-1:0] m_axis_dma_write_data_tkeep,
    output logic                  m_axis_dma_write_data_tlast,
    input  logic                  s_axis_dma_write_status_tvalid,
    input  logic [DmaTagBits-1:0] s_axis_dma_write_status_tag,

    output logic [TickBits-1:0] ticks_o,
    output logic [        31:0] trace_epoch_o,

    output logic [               Ports-1:0] trace_port_valid_o,
    output logic [ Ports*PortTraceBits-1:0] trace_port_o,
    output logic                            trace_merge_valid_o,
    output logic [      MergeTraceBits-1:0] trace_merge_o,
    // Of the pipeline and the XDP engine, the pipeline's lowest.
    output logic [                     1:0] trace_verdict_valid_o,
    output logic [  2*VerdictTraceBits-1:0] trace_verdict_o,
    output logic [               Dests-1:0] trace_queue_valid_o,
    output logic [Dests*QueueTraceBits-1:0] trace_queue_o,
    output logic                            trace_leave_valid_o,
    output logic [      LeaveTraceBits-1:0] trace_leave_o,
    // Of the l7 engine: decisions, what happens at rings, and what the message table forgets.
    output logic [                     2:0] trace_step_valid_o,
    output logic [    3*L7TraceRowBits-1:0] trace_step_o
);

  // Engines in line, and which of them is the last. Packets for the queues come from there, all pass it.
  localparam int unsigned InLine = 2;
  localparam int unsigned Last = HasXdp ? 1 : 0;
  localparam int unsigned Sources = 1;
  // Between the pipeline and the admission to the queues.
  localparam int unsigned EgressDepth = 16;
  // Positions on the ring, behind the shell's own nodes.
  localparam int unsigned AtEgress = 0;
  localparam int unsigned AtPort0 = 1;
  localparam int unsigned AtPipeline = AtPort0 + Ports;
  localparam int unsigned AtXdp = AtPipeline + 2 + RmtCfg.stages;
  localparam int unsigned AtL7 = AtXdp + 1;
  localparam int unsigned Nodes = AtL7 + 1;
  // The destination that the l7 engine stands behind, if it is there.
  localparam int unsigned L7Dest = Dests - 1;
  localparam int unsigned NoLateDest = 8;

  // Cycles of clearing the tables behind a reset: the rows of the longest one.
  function automatic int unsigned clear_rows();
    int unsigned rows;
    rows = VlanRows;
    if (rows < rmt_clear_rows(RmtCfg)) rows = rmt_clear_rows(RmtCfg);
    if (HasXdp && rows < xdp_clear_rows(XdpCfg)) rows = xdp_clear_rows(XdpCfg);
    if (HasL7 && rows < l7_clear_rows(L7Cfg)) rows = l7_clear_rows(L7Cfg);
    return rows;
  endfunction

  // Packets that have a token: those of the pipeline, a few on their way, and what the XDP engine holds.
  localparam int unsigned InFlight = 255 + (HasXdp ? XdpCfg.queue_rows + XdpCfg.cores * XdpCfg.packets : 0);
  // Packets for the l7 engine: a cell each, in its staging buffer, or between these.
  localparam int unsigned Behind = HasL7 ? Cfg.cells + L7Cfg.packets + 255 : 0;

  function automatic node_list_t node_list();
    node_list_t list;
    list = '0;
    list[AtEgress].number = NodeEgress;
    for (int unsigned p = 0; p < Ports; p++) list[AtPort0+p].number = NodePort0 + 8'(p);
    for (int unsigned n = 0; n < AtXdp - AtPipeline; n++) list[AtPipeline+n] = rmt_node(n, RmtCfg.stages);
    list[AtXdp].number = NodeXdp;
    list[AtL7] = '{wide_words: 7'(L7MatchRowWords), number: NodeL7};
    return list;
  endfunction

  if (Target > 1) begin : gen_bad_target
    $fatal(1, "nic_top: Target is %0d, expected 0 (default) or 1 (tiny) (%m)", Target);
  end

  if ((Engines & EngineRmt) == 0 || (Engines & ~AllEngines) != 0) begin : gen_bad_engines
    $fatal(1, "nic_top: Engines is %0d, expected bits of %0d, %0d among them (%m)", Engines, AllEngines, EngineRmt);
  end

  if (RmtCfg.bus_bytes != Cfg.bus_bytes || RmtCfg.modules != Cfg.modules) begin : gen_bad_pair
    $fatal(
        1,
        "nic_top: the pipeline has a bus of %0d bytes and %0d modules, expected %0d and %0d (%m)",
        RmtCfg.bus_bytes,
        RmtCfg.modules,
        Cfg.bus_bytes,
        Cfg.modules
    );
  end

  if (XdpCfg.bus_bytes != Cfg.bus_bytes || XdpCfg.modules != Cfg.modules) begin : gen_bad_xdp
    $fatal(
        1,
        "nic_top: the XDP engine has a bus of %0d bytes and %0d modules, expected %0d and %0d (%m)",
        XdpCfg.bus_bytes,
        XdpCfg.modules,
        Cfg.bus_bytes,
        Cfg.modules
    );
  end

  if (L7Cfg.bus_bytes != Cfg.bus_bytes || L7Cfg.modules != Cfg.modules) begin : gen_bad_l7
    $fatal(
        1,
        "nic_top: the l7 engine has a bus of %0d bytes and %0d modules, expected %0d and %0d (%m)",
        L7Cfg.bus_bytes,
        L7Cfg.modules,
        Cfg.bus_bytes,
        Cfg.modules
    );
  end

  logic [Nodes-1:0] req_valid, rsp_valid;
  // "Bits of signal are not used": a node has one of both.
  // verilator lint_off UNUSEDSIGNAL
  cfg_req_t  [Nodes-1:0] req;
  wide_req_t [Nodes-1:0] wide_req;
  // verilator lint_on UNUSEDSIGNAL
  localparam int unsigned RmtRowsBits = rmt_wide_bits(RmtCfg.stages);
  localparam int unsigned L7RowBits = 32 * L7MatchRowWords;
  // "Bits of signal are not used": without l7 nobody takes its row.
  // verilator lint_off UNUSEDSIGNAL
  logic [RmtRowsBits+L7RowBits-1:0] rows;
  // verilator lint_on UNUSEDSIGNAL
  cfg_rsp_t [Nodes-1:0] rsp;
  logic [31:0] epoch;
  logic hold, clearing, waiting;
  logic merge_waiting, flow_waiting, rmt_waiting, rmt_progress, xdp_waiting, xdp_progress, egress_progress;
  logic l7_waiting, l7_progress;
  logic enter_valid, generation, system_generation, conform, leave_valid, rmt_leave_valid;
  enter_t enter;
  token_t leave, rmt_leave;
  logic behind_enter_valid;
  token_t behind_enter;
  logic [1:0] behind_leave_valid;
  token_t [1:0] behind_leave;
  logic [InLine-1:0] verdict_valid_of;
  verdict_trace_t [InLine-1:0] verdict_of;
  // "Bits of signal are not used": the l7 engine asks for the last one's.
  // verilator lint_off UNUSEDSIGNAL
  logic [InLine-1:0] verdict_generation_of;
  // verilator lint_on UNUSEDSIGNAL
  assign trace_epoch_o = epoch;

  flow_secret_t flow_secret;

  sluice_shell #(
      .TargetHash (Cfg.target_hash),
      .Engines    (Engines),
      .Modules    (Cfg.modules),
      .Nodes      (Nodes),
      .List       (node_list()),
      .ClearRows  (clear_rows()),
      .MaxInFlight(InFlight),
      .Behind     (Behind)
  ) u_shell (
      .clk_i,
      .rst_ni,
      .s_axis_cfg_tvalid,
      .s_axis_cfg_tready,
      .s_axis_cfg_tdata,
      .s_axis_cfg_tlast,
      .m_axis_cfg_tvalid,
      .m_axis_cfg_tready,
      .m_axis_cfg_tdata,
      .m_axis_cfg_tlast,
      .req_valid_o         (req_valid),
      .req_o               (req),
      .wide_req_o          (wide_req),
      .rows_o              (rows),
      .rsp_valid_i         (rsp_valid),
      .rsp_i               (rsp),
      .ticks_o,
      .epoch_o             (epoch),
      .hold_o              (hold),
      .flow_secret_o       (flow_secret),
      .enter_valid_i       (enter_valid),
      .enter_i             (enter),
      .generation_o        (generation),
      .system_generation_o (system_generation),
      .conform_o           (conform),
      .leave_valid_i       (leave_valid),
      .leave_i             (leave),
      .behind_enter_valid_i(behind_enter_valid),
      .behind_enter_i      (behind_enter),
      .behind_leave_valid_i(behind_leave_valid),
      .behind_leave_i      (behind_leave),
      // What waits behind a reset until the queues' tables are clear is no fault.
      .waiting_i           (waiting && !clearing),
      .progress_i          (rmt_progress || xdp_progress || egress_progress || l7_progress),
      .trace_valid_o       (trace_merge_valid_o),
      .trace_o             (trace_merge_o)
  );

  // Ports.
  logic [Ports-1:0] desc_valid, desc_ready, port_valid, port_ready, port_last;
  port_desc_t [Ports-1:0] desc;
  logic [Ports-1:0][8*Bytes-1:0] port_data;

  logic owner_read;
  logic [11:0] owner_vlan;
  vlan_owner_t [Ports-1:0] owners, untagged_owners;

  assign s_axis_port_tready = '1;
  for (genvar p = 0; p < Ports; p++) begin : gen_port
    sluice_nic_port #(
        .Cfg (Cfg),
        .Port(p)
    ) u_port (
        .clk_i,
        .rst_ni,
        .ticks_i      (ticks_o),
        .s_axis_tvalid(s_axis_port_tvalid[p]),
        .s_axis_tdata (s_axis_port_tdata[p*8*Bytes+:8*Bytes]),
        .s_axis_tkeep (s_axis_port_tkeep[p*Bytes+:Bytes]),
        .s_axis_tlast (s_axis_port_tlast[p]),
        .s_axis_tuser (s_axis_port_tuser[p]),
        .desc_valid_o (desc_valid[p]),
        .desc_ready_i (desc_ready[p]),
        .desc_o       (desc[p]),
        .valid_o      (port_valid[p]),
        .ready_i      (port_ready[p]),
        .data_o       (port_data[p]),
        .last_o       (port_last[p]),
        .owner_read_i (owner_read),
        .owner_vlan_i (owner_vlan),
        .owner_o      (owners[p]),
        .untagged_o   (untagged_owners[p]),
        .epoch_i      (epoch),
        .cfg_valid_i  (req_valid[AtPort0+p]),
        .cfg_req_i    (req[AtPort0+p]),
        .cfg_valid_o  (rsp_valid[AtPort0+p]),
        .cfg_rsp_o    (rsp[AtPort0+p]),
        .trace_valid_o(trace_port_valid_o[p]),
        .trace_o      (trace_port_o[p*PortTraceBits+:PortTraceBits])
    );
  end

  // One stream, and what the pipeline has to know of its packets.
  logic merged_valid, merged_ready, merged_last, rmt_tvalid, rmt_tready, rmt_tlast;
  logic [8*Bytes-1:0] merged_data, rmt_tdata;
  logic [Bytes-1:0] rmt_tkeep;
  port_desc_t merged_desc;
  sideband_t rmt_tuser;

  sluice_nic_merge #(
      .Cfg(Cfg)
  ) u_merge (
      .clk_i,
      .rst_ni,
      .desc_valid_i(desc_valid),
      .desc_ready_o(desc_ready),
      .desc_i      (desc),
      .valid_i     (port_valid),
      .ready_o     (port_ready),
      .data_i      (port_data),
      .last_i      (port_last),
      .data_valid_o(merged_valid),
      .data_ready_i(merged_ready),
      .data_o      (merged_data),
      .data_last_o (merged_last),
      .desc_o      (merged_desc),
      .waiting_o   (merge_waiting)
  );

  sluice_nic_flow #(
      .Bytes(Bytes)
  ) u_flow (
      .clk_i,
      .rst_ni,
      .valid_i      (merged_valid),
      .ready_o      (merged_ready),
      .data_i       (merged_data),
      .last_i       (merged_last),
      .desc_i       (merged_desc),
      .flow_secret_i(flow_secret),
      .m_axis_tvalid(rmt_tvalid),
      .m_axis_tready(rmt_tready),
      .m_axis_tdata (rmt_tdata),
      .m_axis_tkeep (rmt_tkeep),
      .m_axis_tlast (rmt_tlast),
      .m_axis_tuser (rmt_tuser),
      .waiting_o    (flow_waiting)
  );

  // The pipeline, and what it lets through.
  logic [Sources-1:0] source_valid, source_ready, source_last;
  logic [Sources-1:0][8*Bytes-1:0] source_data;
  verdict_t [Sources-1:0] source_verdict;
  sideband_t out_side, passed_side;
  // "Bits of signal are not used": the structure travels whole, this module takes the fields that concern it.
  // verilator lint_off UNUSEDSIGNAL
  route_t out_route;
  // verilator lint_on UNUSEDSIGNAL
  route_t passed_route;
  logic passed_tvalid, passed_tready, passed_tlast;
  logic [8*Bytes-1:0] passed_tdata;
  // "Signal is not used": the queues count bytes by the length.
  // verilator lint_off UNUSEDSIGNAL
  logic [  Bytes-1:0] passed_tkeep;
  // verilator lint_on UNUSEDSIGNAL

  sluice_rmt #(
      .Cfg  (RmtCfg),
      .Last (!HasXdp),
      .Least(LeastPacketBytes)
  ) u_rmt (
      .clk_i,
      .rst_ni,
      .ticks_i             (ticks_o),
      .epoch_i             (epoch),
      .hold_i              (hold || clearing),
      .s_axis_tvalid       (rmt_tvalid),
      .s_axis_tready       (rmt_tready),
      .s_axis_tdata        (rmt_tdata),
      .s_axis_tkeep        (rmt_tkeep),
      .s_axis_tlast        (rmt_tlast),
      .s_axis_tuser        (rmt_tuser),
      .m_axis_tvalid       (passed_tvalid),
      .m_axis_tready       (passed_tready),
      .m_axis_tdata        (passed_tdata),
      .m_axis_tkeep        (passed_tkeep),
      .m_axis_tlast        (passed_tlast),
      .m_axis_side         (passed_side),
      .m_axis_route        (passed_route),
      .enter_valid_o       (enter_valid),
      .enter_o             (enter),
      .generation_i        (generation),
      .system_generation_i (system_generation),
      .conform_i           (conform),
      .leave_valid_o       (rmt_leave_valid),
      .leave_o             (rmt_leave),
      .verdict_valid_o     (verdict_valid_of[0]),
      .verdict_o           (verdict_of[0]),
      .verdict_generation_o(verdict_generation_of[0]),
      .cfg_valid_i         (req_valid[AtXdp-1:AtPipeline]),
      .cfg_req_i           (wide_req[AtXdp-1:AtPipeline]),
      .cfg_rows_i          (rows[RmtRowsBits-1:0]),
      .cfg_valid_o         (rsp_valid[AtXdp-1:AtPipeline]),
      .cfg_rsp_o           (rsp[AtXdp-1:AtPipeline]),
      .waiting_o           (rmt_waiting),
      .progress_o          (rmt_progress)
  );
  assign trace_verdict_valid_o = verdict_valid_of;
  assign trace_verdict_o = verdict_of;

  // The answer for an engine that is not there.
  localparam cfg_rsp_t NoEngine = '{status: StatusBadAddress, words: '0, data: '0};

  // Programs of modules that have one.
  if (HasXdp) begin : gen_xdp
    logic xdp_leave_valid;
    token_t xdp_token, xdp_leave;
    logic [Bytes-1:0] unused_out_keep;
    // The order in which programs reach maps is told by the engine's own top only.
    logic [XdpSteps-1:0] unused_step_valid;
    xdp_step_trace_row_t [XdpSteps-1:0] unused_step;

    sluice_shell_handover #(
        .BackTokens(InFlight)
    ) u_handover (
        .clk_i,
        .rst_ni,
        .leave_valid_i    (rmt_leave_valid),
        .leave_i          (rmt_leave),
        .verdict_valid_i  (verdict_valid_of[0]),
        .verdict_dropped_i(verdict_of[0].dropped),
        .take_i           (passed_tvalid && passed_tready && passed_tlast),
        .token_o          (xdp_token),
        .back_valid_i     (xdp_leave_valid),
        .back_i           (xdp_leave),
        .leave_valid_o    (leave_valid),
        .leave_o          (leave)
    );

    // No target of the NIC has external memory.
    sluice_xdp_outside_pkg::outside_master_t unused_outside;
    sluice_xdp #(
        .Cfg(XdpCfg)
    ) u_xdp (
        .clk_i,
        .rst_ni,
        .epoch_i             (epoch),
        .s_axis_tvalid       (passed_tvalid),
        .s_axis_tready       (passed_tready),
        .s_axis_tdata        (passed_tdata),
        .s_axis_tkeep        (passed_tkeep),
        .s_axis_tlast        (passed_tlast),
        .s_axis_side         (passed_side),
        .s_axis_route        (passed_route),
        .token_i             (xdp_token),
        .m_axis_tvalid       (source_valid[0]),
        .m_axis_tready       (source_ready[0]),
        .m_axis_tdata        (source_data[0]),
        .m_axis_tkeep        (unused_out_keep),
        .m_axis_tlast        (source_last[0]),
        .m_axis_side         (out_side),
        .m_axis_route        (out_route),
        .leave_valid_o       (xdp_leave_valid),
        .leave_o             (xdp_leave),
        .verdict_valid_o     (verdict_valid_of[1]),
        .verdict_o           (verdict_of[1]),
        .verdict_generation_o(verdict_generation_of[1]),
        .cfg_valid_i         (req_valid[AtXdp]),
        .cfg_req_i           (req[AtXdp]),
        .cfg_valid_o         (rsp_valid[AtXdp]),
        .cfg_rsp_o           (rsp[AtXdp]),
        .outside_o           (unused_outside),
        .outside_i           ('0),
        .step_valid_o        (unused_step_valid),
        .step_o              (unused_step),
        .waiting_o           (xdp_waiting),
        .progress_o          (xdp_progress)
    );
  end else begin : gen_no_xdp
    logic asked_q;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) asked_q <= 1'b0;
      else asked_q <= req_valid[AtXdp];
    end
    assign rsp_valid[AtXdp] = asked_q;
    assign rsp[AtXdp] = NoEngine;

    assign leave_valid = rmt_leave_valid;
    assign leave = rmt_leave;
    assign source_valid[0] = passed_tvalid;
    assign passed_tready = source_ready[0];
    assign source_data[0] = passed_tdata;
    assign source_last[0] = passed_tlast;
    assign out_side = passed_side;
    assign out_route = passed_route;
    assign verdict_valid_of[1] = 1'b0;
    assign verdict_of[1] = '0;
    assign verdict_generation_of[1] = 1'b0;
    assign xdp_waiting = 1'b0;
    assign xdp_progress = 1'b0;
  end
  assign source_verdict[0] = '{tags: out_route.tags, sideband: out_side};

  logic out_valid, out_ready, out_last, out_first_q;
  logic [8*Bytes-1:0] out_data;
  verdict_t verdict_in;

  sluice_nic_sources #(
      .Sources(Sources),
      .Bytes  (Bytes)
  ) u_sources (
      .clk_i,
      .rst_ni,
      .valid_i  (source_valid),
      .ready_o  (source_ready),
      .data_i   (source_data),
      .last_i   (source_last),
      .verdict_i(source_verdict),
      .valid_o  (out_valid),
      .ready_i  (out_ready),
      .data_o   (out_data),
      .last_o   (out_last),
      .verdict_o(verdict_in)
  );

  // Verdicts and beats part here and meet again behind the admission; meanwhile the frames are judged as they will leave.
  logic verdict_in_ready, data_in_ready, verdict_valid, verdict_ready, data_valid, data_ready, data_last;
  verdict_t verdict;
  logic [8*Bytes-1:0] data;
  logic [DestBits-1:0] denied;
  logic [Cfg.modules-1:0] any_vids;
  logic [$clog2(EgressDepth+1)-1:0] unused_data_level;

  assign out_ready = verdict_in_ready && data_in_ready;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) out_first_q <= 1'b1;
    else if (out_valid && out_ready) out_first_q <= out_last;
  end

  sluice_nic_vlan_guard #(
      .Ports  (Ports),
      .Modules(Cfg.modules),
      .Depth  (EgressDepth)
  ) u_vlan_guard (
      .clk_i,
      .rst_ni,
      .valid_i      (out_valid && out_first_q && data_in_ready),
      .ready_o      (verdict_in_ready),
      .verdict_i    (verdict_in),
      .outer_i      ({out_data[8*12+:8], out_data[8*13+:8], out_data[8*14+:8], out_data[8*15+:8]}),
      .lookup_o     (owner_read),
      .lookup_vlan_o(owner_vlan),
      .owner_i      (owners),
      .untagged_i   (untagged_owners),
      .any_vids_i   (any_vids),
      .valid_o      (verdict_valid),
      .ready_i      (verdict_ready),
      .verdict_o    (verdict),
      .denied_o     (denied)
  );

  sluice_fifo #(
      .Width(8 * Bytes + 1),
      .Depth(EgressDepth)
  ) u_data (
      .clk_i,
      .rst_ni,
      .valid_i(out_valid && verdict_in_ready),
      .ready_o(data_in_ready),
      .data_i ({out_last, out_data}),
      .valid_o(data_valid),
      .ready_i(data_ready),
      .data_o ({data_last, data}),
      .level_o(unused_data_level)
  );

  logic [Dests-1:0] egress_tvalid, egress_tready, egress_tlast;
  logic [Dests-1:0][8*Bytes-1:0] egress_tdata;
  logic [Dests-1:0][Bytes-1:0] egress_tkeep;
  sideband_t [Dests-1:0] egress_tuser;
  // "Bits of signal are not used": the l7 engine's destination alone is looked at here.
  // verilator lint_off UNUSEDSIGNAL
  queue_trace_t [Dests-1:0] queue_trace;
  // verilator lint_on UNUSEDSIGNAL
  assign trace_queue_o = queue_trace;

  // What the queues ask the l7 engine. No module has all places of a matcher: what it sends finds one when it gets there.
  localparam int unsigned IndexBits = $clog2(Cfg.modules);
  // "Bits of signal are not used": modules are numbered as for the largest target, and without l7 nobody is asked.
  // verilator lint_off UNUSEDSIGNAL
  room_ask_t room_ask;
  room_take_t room_take;
  logic [ModuleBits-1:0] charge_module;
  logic [IndexBits-1:0] weight_index;
  // verilator lint_on UNUSEDSIGNAL
  room_t room;
  logic charge_valid;
  logic [9:0] charge;
  logic [15:0] weight;

  sluice_nic_egress #(
      .Cfg   (Cfg),
      .Late  (HasL7 ? L7Dest : NoLateDest),
      .Places(L7Cfg.matchers * (L7Cfg.places - 1)),
      .Spare (L7Cfg.matchers)
  ) u_egress (
      .clk_i,
      .rst_ni,
      .clearing_o         (clearing),
      .verdict_valid_i    (verdict_valid),
      .verdict_ready_o    (verdict_ready),
      .verdict_i          (verdict),
      .denied_i           (denied),
      .valid_i            (data_valid),
      .ready_o            (data_ready),
      .data_i             (data),
      .last_i             (data_last),
      .m_axis_tvalid      (egress_tvalid),
      .m_axis_tready      (egress_tready),
      .m_axis_tdata       (egress_tdata),
      .m_axis_tkeep       (egress_tkeep),
      .m_axis_tlast       (egress_tlast),
      .m_axis_tuser       (egress_tuser),
      .ask_o              (room_ask),
      .take_o             (room_take),
      .room_i             (room),
      .charge_valid_i     (charge_valid),
      .charge_module_i    (charge_module[IndexBits-1:0]),
      .charge_i           (charge),
      .weight_index_o     (weight_index),
      .weight_i           (weight),
      .any_vids_o         (any_vids),
      .epoch_i            (epoch),
      .cfg_valid_i        (req_valid[AtEgress]),
      .cfg_req_i          (req[AtEgress]),
      .cfg_valid_o        (rsp_valid[AtEgress]),
      .cfg_rsp_o          (rsp[AtEgress]),
      .queue_trace_valid_o(trace_queue_valid_o),
      .queue_trace_o      (queue_trace),
      .leave_trace_valid_o(trace_leave_valid_o),
      .leave_trace_o      (trace_leave_o),
      .progress_o         (egress_progress)
  );

  // Destinations without the l7 engine.
  assign m_axis_tvalid[L7Dest-1:0] = egress_tvalid[L7Dest-1:0];
  assign egress_tready[L7Dest-1:0] = m_axis_tready[L7Dest-1:0];
  assign m_axis_tdata[L7Dest*8*Bytes-1:0] = egress_tdata[L7Dest-1:0];
  assign m_axis_tkeep[L7Dest*Bytes-1:0] = egress_tkeep[L7Dest-1:0];
  assign m_axis_tlast[L7Dest-1:0] = egress_tlast[L7Dest-1:0];
  assign m_axis_tuser[L7Dest*SidebandBits-1:0] = egress_tuser[L7Dest-1:0];

  if (HasL7) begin : gen_l7
    // A packet for the l7 engine keeps its module's generation in use from its verdict on, until it is dispatched or dropped at its queue.
    logic l7_leave_valid;
    token_t l7_leave;
    // "Bits of signal are not used": whose and where to is what counts here.
    // verilator lint_off UNUSEDSIGNAL
    verdict_trace_t last_verdict;
    // verilator lint_on UNUSEDSIGNAL
    assign last_verdict = verdict_of[Last];
    assign behind_enter_valid = verdict_valid_of[Last] && !last_verdict.dropped && last_verdict.destinations[L7Dest];
    assign behind_enter = '{
            module_id: last_verdict.module_id,
            generation: verdict_generation_of[Last],
            system_generation: 1'b0
        };
    assign behind_leave_valid = {trace_queue_valid_o[L7Dest] && queue_trace[L7Dest].dropped, l7_leave_valid};
    assign behind_leave[0] = l7_leave;
    assign behind_leave[1] = '{
            module_id: verdict.sideband.module_id,
            generation: verdict.sideband.generation,
            system_generation: 1'b0
        };

    // Messages. The order of decisions is in the trace.
    l7_dma_t read_desc, write_desc;
    assign {m_axis_dma_read_desc_tag, m_axis_dma_read_desc_len, m_axis_dma_read_desc_addr} = read_desc;
    assign {m_axis_dma_write_desc_tag, m_axis_dma_write_desc_len, m_axis_dma_write_desc_addr} = write_desc;

    logic decision_valid, ring_event_valid, forgot_valid;
    l7_trace_row_t decision;
    l7_ring_trace_row_t ring_event;
    l7_forget_trace_row_t forgot;
    verdict_trace_t unused_l7_verdict;
    assign trace_step_valid_o = {forgot_valid, ring_event_valid, decision_valid};
    assign trace_step_o = {L7TraceRowBits'(forgot), L7TraceRowBits'(ring_event), decision};

    sluice_l7 #(
        .Cfg(L7Cfg)
    ) u_l7 (
        .clk_i,
        .rst_ni,
        .epoch_i(epoch),
        .s_axis_tvalid(egress_tvalid[L7Dest]),
        .s_axis_tready(egress_tready[L7Dest]),
        .s_axis_tdata(egress_tdata[L7Dest]),
        .s_axis_tkeep(egress_tkeep[L7Dest]),
        .s_axis_tlast(egress_tlast[L7Dest]),
        .s_axis_side(egress_tuser[L7Dest]),
        .token_i(
        '{
            module_id: egress_tuser[L7Dest].module_id,
            generation: egress_tuser[L7Dest].generation,
            system_generation: 1'b0
        }
        ),
        .m_axis_tvalid(m_axis_tvalid[L7Dest]),
        .m_axis_tready(m_axis_tready[L7Dest]),
        .m_axis_tdata(m_axis_tdata[L7Dest*8*Bytes+:8*Bytes]),
        .m_axis_tkeep(m_axis_tkeep[L7Dest*Bytes+:Bytes]),
        .m_axis_tlast(m_axis_tlast[L7Dest]),
        .m_axis_side(m_axis_tuser[L7Dest*SidebandBits+:SidebandBits]),
        .m_axis_message(m_axis_message_o),
        .m_axis_queue(m_axis_queue_o),
        .leave_valid_o(l7_leave_valid),
        .leave_o(l7_leave),
        .ask_i(room_ask),
        .take_i(room_take),
        .room_o(room),
        .charge_valid_o(charge_valid),
        .charge_module_o(charge_module),
        .charge_o(charge),
        .weight_index_i(weight_index),
        .weight_o(weight),
        .verdict_valid_o(decision_valid),
        .verdict_o(unused_l7_verdict),
        .trace_o(decision),
        .read_desc_valid_o(m_axis_dma_read_desc_tvalid),
        .read_desc_ready_i(m_axis_dma_read_desc_tready),
        .read_desc_o(read_desc),
        .read_data_valid_i(s_axis_dma_read_data_tvalid),
        .read_data_tag_i(s_axis_dma_read_data_tag),
        .read_data_i(s_axis_dma_read_data_tdata),
        .write_desc_valid_o(m_axis_dma_write_desc_tvalid),
        .write_desc_ready_i(m_axis_dma_write_desc_tready),
        .write_desc_o(write_desc),
        .write_data_valid_o(m_axis_dma_write_data_tvalid),
        .write_data_ready_i(m_axis_dma_write_data_tready),
        .write_data_o(m_axis_dma_write_data_tdata),
        .write_keep_o(m_axis_dma_write_data_tkeep),
        .write_last_o(m_axis_dma_write_data_tlast),
        .write_status_valid_i(s_axis_dma_write_status_tvalid),
        .write_status_tag_i(s_axis_dma_write_status_tag),
        .event_valid_o(ring_event_valid),
        .event_o(ring_event),
        .forgot_valid_o(forgot_valid),
        .forgot_o(forgot),
        .cfg_valid_i(req_valid[AtL7]),
        .cfg_req_i(wide_req[AtL7]),
        .cfg_row_i(rows[RmtRowsBits+:L7RowBits]),
        .cfg_valid_o(rsp_valid[AtL7]),
        .cfg_rsp_o(rsp[AtL7]),
        .waiting_o(l7_waiting),
        .progress_o(l7_progress)
    );
  end else begin : gen_no_l7
    logic asked_q;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) asked_q <= 1'b0;
      else asked_q <= req_valid[AtL7];
    end
    assign rsp_valid[AtL7] = asked_q;
    assign rsp[AtL7] = NoEngine;

    // The last destination is as the others are.
    assign m_axis_tvalid[L7Dest] = egress_tvalid[L7Dest];
    assign egress_tready[L7Dest] = m_axis_tready[L7Dest];
    assign m_axis_tdata[L7Dest*8*Bytes+:8*Bytes] = egress_tdata[L7Dest];
    assign m_axis_tkeep[L7Dest*Bytes+:Bytes] = egress_tkeep[L7Dest];
    assign m_axis_tlast[L7Dest] = egress_tlast[L7Dest];
    assign m_axis_tuser[L7Dest*SidebandBits+:SidebandBits] = egress_tuser[L7Dest];
    assign m_axis_message_o = 1'b0;
    assign m_axis_queue_o = '0;

    assign {room, charge_valid, charge_module, charge, weight} = '0;
    assign {behind_enter_valid, behind_enter, behind_leave_valid, behind_leave} = '0;
    assign m_axis_dma_read_desc_tvalid = 1'b0;
    assign {m_axis_dma_read_desc_tag, m_axis_dma_read_desc_len, m_axis_dma_read_desc_addr} = '0;
    assign m_axis_dma_write_desc_tvalid = 1'b0;
    assign {m_axis_dma_write_desc_tag, m_axis_dma_write_desc_len, m_axis_dma_write_desc_addr} = '0;
    assign m_axis_dma_write_data_tvalid = 1'b0;
    assign {m_axis_dma_write_data_tdata, m_axis_dma_write_data_tkeep, m_axis_dma_write_data_tlast} = '0;
    assign {trace_step_valid_o, trace_step_o} = '0;
    assign l7_waiting = 1'b0;
    assign l7_progress = 1'b0;
    // "Signal is not used": there is nobody to take it.
    // verilator lint_off UNUSEDSIGNAL
    logic unused_dma;
    // verilator lint_on UNUSEDSIGNAL
    assign unused_dma = ^{
      m_axis_dma_read_desc_tready,
      s_axis_dma_read_data_tvalid,
      s_axis_dma_read_data_tag,
      s_axis_dma_read_data_tdata,
      m_axis_dma_write_desc_tready,
      m_axis_dma_write_data_tready,
      s_axis_dma_write_status_tvalid,
      s_axis_dma_write_status_tag
    };
  end

  assign waiting = merge_waiting || flow_waiting || rmt_waiting || xdp_waiting || l7_waiting || verdict_valid || data_valid;

endmodule
