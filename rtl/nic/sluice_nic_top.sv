/// The NIC: ports, one shared match-action pipeline, the XDP engine, egress queues, the l7 engine behind the last of them, configuration ring.
///
/// docs/design/nic.md, rmt.md, hxdp-core.md and l7.md say what it does. `Target` chooses the configurations of all (0 default, 1
/// tiny, 2 and 3 the same with external memory, crates/formats/src/target.rs). Port p, destination d and trace p are the p-th or d-th
/// part of their flat buses, lowest bits first; destinations are the ports, then host queues.
///
/// Its parts: sluice_nic_entrance, sluice_nic_top_line (engines in line), sluice_nic_top_out (queues, l7), and sluice_shell around them.
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
  import sluice_xdp_outside_pkg::*;
  import sluice_l7_rows_pkg::*;
  import sluice_l7_pkg::*;
#(
    parameter int unsigned Target = 0,
    parameter int unsigned Engines = AllEngines,
    localparam bit HasXdp = (Engines & EngineXdp) != 0,
    localparam bit HasL7 = (Engines & EngineL7) != 0,
    localparam nic_cfg_t Cfg = nic_cfg(Target),
    // External memory is of the XDP engine alone.
    localparam int unsigned Near = Target % 2,
    localparam rmt_cfg_t RmtCfg = rmt_cfg(Near),
    localparam xdp_cfg_t XdpCfg = xdp_cfg(Target),
    localparam l7_cfg_t L7Cfg = l7_cfg(Near),
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

    // External memory for maps of XDP programs; without one nothing is asked.
    output logic [  5:0] m_axi_values_awid,
    output logic [ 31:0] m_axi_values_awaddr,
    output logic [  7:0] m_axi_values_awlen,
    output logic [  2:0] m_axi_values_awsize,
    output logic [  1:0] m_axi_values_awburst,
    output logic         m_axi_values_awvalid,
    input  logic         m_axi_values_awready,
    output logic [127:0] m_axi_values_wdata,
    output logic [ 15:0] m_axi_values_wstrb,
    output logic         m_axi_values_wlast,
    output logic         m_axi_values_wvalid,
    input  logic         m_axi_values_wready,
    input  logic [  5:0] m_axi_values_bid,
    input  logic [  1:0] m_axi_values_bresp,
    input  logic         m_axi_values_bvalid,
    output logic         m_axi_values_bready,
    output logic [  5:0] m_axi_values_arid,
    output logic [ 31:0] m_axi_values_araddr,
    output logic [  7:0] m_axi_values_arlen,
    output logic [  2:0] m_axi_values_arsize,
    output logic [  1:0] m_axi_values_arburst,
    output logic         m_axi_values_arvalid,
    input  logic         m_axi_values_arready,
    input  logic [  5:0] m_axi_values_rid,
    input  logic [127:0] m_axi_values_rdata,
    input  logic [  1:0] m_axi_values_rresp,
    input  logic         m_axi_values_rvalid,
    output logic         m_axi_values_rready,

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
  // Positions on the ring, behind the shell's own nodes.
  localparam int unsigned AtEgress = 0;
  localparam int unsigned AtPort0 = 1;
  localparam int unsigned AtPipeline = AtPort0 + Ports;
  localparam int unsigned AtXdp = AtPipeline + 2 + RmtCfg.stages;
  localparam int unsigned AtL7 = AtXdp + 1;
  localparam int unsigned Nodes = AtL7 + 1;

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

  if (Target > 3) begin : gen_bad_target
    $fatal(1, "nic_top: Target is %0d, expected 0 (default), 1 (tiny), 2 (far) or 3 (tiny_far) (%m)", Target);
  end

  if ((Engines & EngineRmt) == 0 || (Engines & ~AllEngines) != 0) begin : gen_bad_engines
    $fatal(1, "nic_top: Engines is %0d, expected bits of %0d, %0d among them (%m)", Engines, AllEngines, EngineRmt);
  end

  if (RmtCfg.bus_bytes != Cfg.bus_bytes || XdpCfg.bus_bytes != Cfg.bus_bytes || L7Cfg.bus_bytes != Cfg.bus_bytes) begin : gen_bad_bus
    $fatal(
        1,
        "nic_top: engines have buses of %0d, %0d and %0d bytes, expected %0d (%m)",
        RmtCfg.bus_bytes,
        XdpCfg.bus_bytes,
        L7Cfg.bus_bytes,
        Cfg.bus_bytes
    );
  end

  if (RmtCfg.modules != Cfg.modules || XdpCfg.modules != Cfg.modules || L7Cfg.modules != Cfg.modules) begin : gen_bad_modules
    $fatal(
        1,
        "nic_top: engines have %0d, %0d and %0d modules, expected %0d (%m)",
        RmtCfg.modules,
        XdpCfg.modules,
        L7Cfg.modules,
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
  logic [RmtRowsBits+L7RowBits-1:0] rows;
  cfg_rsp_t [Nodes-1:0] rsp;
  logic [31:0] epoch;
  logic hold, clearing, in_waiting, line_waiting, line_progress, out_waiting, out_progress;
  logic enter_valid, generation, system_generation, conform, leave_valid, behind_enter_valid;
  enter_t enter;
  token_t leave, behind_enter;
  logic   [1:0] behind_leave_valid;
  token_t [1:0] behind_leave;
  logic [InLine-1:0] verdict_valid, verdict_generation;
  verdict_trace_t [InLine-1:0] verdict;
  flow_secret_t flow_secret;
  assign trace_epoch_o = epoch;

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
      .waiting_i           ((in_waiting || line_waiting || out_waiting) && !clearing),
      .progress_i          (line_progress || out_progress),
      .trace_valid_o       (trace_merge_valid_o),
      .trace_o             (trace_merge_o)
  );

  logic in_tvalid, in_tready, in_tlast, owner_read;
  logic [8*Bytes-1:0] in_tdata;
  logic [Bytes-1:0] in_tkeep;
  sideband_t in_tuser;
  logic [11:0] owner_vlan;
  vlan_owner_t [Ports-1:0] owners, untagged_owners;

  sluice_nic_entrance #(
      .Cfg(Cfg)
  ) u_entrance (
      .clk_i,
      .rst_ni,
      .ticks_i      (ticks_o),
      .epoch_i      (epoch),
      .flow_secret_i(flow_secret),
      .s_axis_port_tvalid,
      .s_axis_port_tready,
      .s_axis_port_tdata,
      .s_axis_port_tkeep,
      .s_axis_port_tlast,
      .s_axis_port_tuser,
      .m_axis_tvalid(in_tvalid),
      .m_axis_tready(in_tready),
      .m_axis_tdata (in_tdata),
      .m_axis_tkeep (in_tkeep),
      .m_axis_tlast (in_tlast),
      .m_axis_tuser (in_tuser),
      .owner_read_i (owner_read),
      .owner_vlan_i (owner_vlan),
      .owners_o     (owners),
      .untagged_o   (untagged_owners),
      .cfg_valid_i  (req_valid[AtPipeline-1:AtPort0]),
      .cfg_req_i    (req[AtPipeline-1:AtPort0]),
      .cfg_valid_o  (rsp_valid[AtPipeline-1:AtPort0]),
      .cfg_rsp_o    (rsp[AtPipeline-1:AtPort0]),
      .trace_valid_o(trace_port_valid_o),
      .trace_o      (trace_port_o),
      .waiting_o    (in_waiting)
  );

  logic out_tvalid, out_tready, out_tlast;
  logic [8*Bytes-1:0] out_tdata;
  sideband_t out_side;
  // "Bits of signal are not used": the structure travels whole, this module takes the fields that concern it.
  // verilator lint_off UNUSEDSIGNAL
  route_t out_route;
  // verilator lint_on UNUSEDSIGNAL

  outside_master_t outside_out;
  outside_slave_t outside_in;
  sluice_xdp_outside_axi u_outside_axi (
      .outside_i(outside_out),
      .outside_o(outside_in),
      .m_axi_values_awid,
      .m_axi_values_awaddr,
      .m_axi_values_awlen,
      .m_axi_values_awsize,
      .m_axi_values_awburst,
      .m_axi_values_awvalid,
      .m_axi_values_awready,
      .m_axi_values_wdata,
      .m_axi_values_wstrb,
      .m_axi_values_wlast,
      .m_axi_values_wvalid,
      .m_axi_values_wready,
      .m_axi_values_bid,
      .m_axi_values_bresp,
      .m_axi_values_bvalid,
      .m_axi_values_bready,
      .m_axi_values_arid,
      .m_axi_values_araddr,
      .m_axi_values_arlen,
      .m_axi_values_arsize,
      .m_axi_values_arburst,
      .m_axi_values_arvalid,
      .m_axi_values_arready,
      .m_axi_values_rid,
      .m_axi_values_rdata,
      .m_axi_values_rresp,
      .m_axi_values_rvalid,
      .m_axi_values_rready
  );

  sluice_nic_top_line #(
      .RmtCfg  (RmtCfg),
      .XdpCfg  (XdpCfg),
      .HasXdp  (HasXdp),
      .InFlight(InFlight)
  ) u_line (
      .clk_i,
      .rst_ni,
      .ticks_i             (ticks_o),
      .epoch_i             (epoch),
      .hold_i              (hold || clearing),
      .s_axis_tvalid       (in_tvalid),
      .s_axis_tready       (in_tready),
      .s_axis_tdata        (in_tdata),
      .s_axis_tkeep        (in_tkeep),
      .s_axis_tlast        (in_tlast),
      .s_axis_tuser        (in_tuser),
      .m_axis_tvalid       (out_tvalid),
      .m_axis_tready       (out_tready),
      .m_axis_tdata        (out_tdata),
      .m_axis_tlast        (out_tlast),
      .m_axis_side         (out_side),
      .m_axis_route        (out_route),
      .enter_valid_o       (enter_valid),
      .enter_o             (enter),
      .generation_i        (generation),
      .system_generation_i (system_generation),
      .conform_i           (conform),
      .leave_valid_o       (leave_valid),
      .leave_o             (leave),
      .verdict_valid_o     (verdict_valid),
      .verdict_o           (verdict),
      .verdict_generation_o(verdict_generation),
      .cfg_valid_i         (req_valid[AtXdp:AtPipeline]),
      .cfg_wide_i          (wide_req[AtXdp-1:AtPipeline]),
      .cfg_rows_i          (rows[RmtRowsBits-1:0]),
      .cfg_xdp_i           (req[AtXdp]),
      .cfg_valid_o         (rsp_valid[AtXdp:AtPipeline]),
      .cfg_rsp_o           (rsp[AtXdp:AtPipeline]),
      .outside_o           (outside_out),
      .outside_i           (outside_in),
      .waiting_o           (line_waiting),
      .progress_o          (line_progress)
  );
  assign trace_verdict_valid_o = verdict_valid;
  assign trace_verdict_o = verdict;

  sluice_nic_top_out #(
      .Cfg  (Cfg),
      .L7Cfg(L7Cfg),
      .HasL7(HasL7)
  ) u_out (
      .clk_i,
      .rst_ni,
      .epoch_i             (epoch),
      .clearing_o          (clearing),
      .s_axis_tvalid       (out_tvalid),
      .s_axis_tready       (out_tready),
      .s_axis_tdata        (out_tdata),
      .s_axis_tlast        (out_tlast),
      .s_axis_verdict      ('{tags: out_route.tags, sideband: out_side}),
      .owner_read_o        (owner_read),
      .owner_vlan_o        (owner_vlan),
      .owners_i            (owners),
      .untagged_i          (untagged_owners),
      .m_axis_tvalid,
      .m_axis_tready,
      .m_axis_tdata,
      .m_axis_tkeep,
      .m_axis_tlast,
      .m_axis_tuser,
      .m_axis_message_o,
      .m_axis_queue_o,
      .m_axis_dma_read_desc_tvalid,
      .m_axis_dma_read_desc_tready,
      .m_axis_dma_read_desc_addr,
      .m_axis_dma_read_desc_len,
      .m_axis_dma_read_desc_tag,
      .s_axis_dma_read_data_tvalid,
      .s_axis_dma_read_data_tag,
      .s_axis_dma_read_data_tdata,
      .m_axis_dma_write_desc_tvalid,
      .m_axis_dma_write_desc_tready,
      .m_axis_dma_write_desc_addr,
      .m_axis_dma_write_desc_len,
      .m_axis_dma_write_desc_tag,
      .m_axis_dma_write_data_tvalid,
      .m_axis_dma_write_data_tready,
      .m_axis_dma_write_data_tdata,
      .m_axis_dma_write_data_tkeep,
      .m_axis_dma_write_data_tlast,
      .s_axis_dma_write_status_tvalid,
      .s_axis_dma_write_status_tag,
      .verdict_valid_i     (verdict_valid[Last]),
      .verdict_i           (verdict[Last]),
      .verdict_generation_i(verdict_generation[Last]),
      .behind_enter_valid_o(behind_enter_valid),
      .behind_enter_o      (behind_enter),
      .behind_leave_valid_o(behind_leave_valid),
      .behind_leave_o      (behind_leave),
      .cfg_valid_i         ({req_valid[AtL7], req_valid[AtEgress]}),
      .cfg_req_i           (req[AtEgress]),
      .cfg_wide_i          (wide_req[AtL7]),
      .cfg_row_i           (rows[RmtRowsBits+:L7RowBits]),
      .cfg_valid_o         ({rsp_valid[AtL7], rsp_valid[AtEgress]}),
      .cfg_rsp_o           ({rsp[AtL7], rsp[AtEgress]}),
      .trace_queue_valid_o,
      .trace_queue_o,
      .trace_leave_valid_o,
      .trace_leave_o,
      .trace_step_valid_o,
      .trace_step_o,
      .waiting_o           (out_waiting),
      .progress_o          (out_progress)
  );

endmodule
