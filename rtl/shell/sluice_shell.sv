/// What the NIC and each engine alone have around their packets: ring, system node, stamp, watchdog.
///
/// Nodes of the ring, in order: system, stamp, those of `List`. Their accesses are as sluice_shell_ring has them; the
/// engine's side of the stamp is in sluice_engine_pkg. `waiting_i` without `progress_i` is what the watchdog counts.
///
/// Behind a reset `hold_o` is high until all tables are clear, which takes `ClearRows` cycles, the rows of the longest one,
/// and 1 a node.
///
/// Latency and stalls: as sluice_shell_ring, sluice_shell_system, sluice_shell_stamp, sluice_shell_watchdog.
module sluice_shell
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
#(
    parameter int unsigned TargetHash = NicCfgDefault.target_hash,
    parameter int unsigned Engines = 0,  // that are there, a bit each
    parameter int unsigned Modules = 64,
    parameter int unsigned Nodes = 1,
    parameter node_list_t List = '{0: '{wide_words: '0, number: NodeEgress}, default: '0},
    parameter int unsigned ClearRows = Modules,
    parameter int unsigned MaxInFlight = 255,  // packets with a token
    parameter int unsigned Behind = 0,  // packets for an engine behind the queues
    localparam int unsigned WideBits = (wide_bits(List, Nodes) == 0) ? 1 : wide_bits(List, Nodes)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic        s_axis_cfg_tvalid,
    output logic        s_axis_cfg_tready,
    input  logic [31:0] s_axis_cfg_tdata,
    input  logic        s_axis_cfg_tlast,
    output logic        m_axis_cfg_tvalid,
    input  logic        m_axis_cfg_tready,
    output logic [31:0] m_axis_cfg_tdata,
    output logic        m_axis_cfg_tlast,

    output logic      [   Nodes-1:0] req_valid_o,
    output cfg_req_t  [   Nodes-1:0] req_o,
    output wide_req_t [   Nodes-1:0] wide_req_o,
    output logic      [WideBits-1:0] rows_o,
    input  logic      [   Nodes-1:0] rsp_valid_i,
    input  cfg_rsp_t  [   Nodes-1:0] rsp_i,

    output logic         [TickBits-1:0] ticks_o,
    output logic         [        31:0] epoch_o,
    output logic                        hold_o,
    output flow_secret_t                flow_secret_o,

    input  logic   enter_valid_i,
    input  enter_t enter_i,
    output logic   generation_o,
    output logic   system_generation_o,
    output logic   conform_o,
    input  logic   leave_valid_i,
    input  token_t leave_i,

    input logic         behind_enter_valid_i,
    input token_t       behind_enter_i,
    input logic   [1:0] behind_leave_valid_i,
    input token_t [1:0] behind_leave_i,

    input logic waiting_i,
    input logic progress_i,

    output logic         trace_valid_o,
    output merge_trace_t trace_o
);

  // Nodes of the shell itself, and where they are on the ring.
  localparam int unsigned Own = 2;
  localparam int unsigned AtSystem = 0;
  localparam int unsigned AtStamp = 1;
  localparam int unsigned RingNodes = Own + Nodes;

  function automatic node_list_t ring_list();
    node_list_t list;
    list = '0;
    list[AtSystem].number = NodeSystem;
    list[AtStamp].number = NodeStamp;
    for (int unsigned n = 0; n < Nodes; n++) list[Own+n] = List[n];
    return list;
  endfunction

  logic [RingNodes-1:0] req_valid, rsp_valid, bad_message, timeout;
  cfg_req_t [RingNodes-1:0] req;
  // "Bits of signal are not used": the shell's own nodes have no wide rows.
  // verilator lint_off UNUSEDSIGNAL
  wide_req_t [RingNodes-1:0] wide_req;
  // verilator lint_on UNUSEDSIGNAL
  cfg_rsp_t [RingNodes-1:0] rsp;
  logic [31:0] watchdog_limit;
  logic wedged, hold, clearing;

  if (ClearRows < Modules) begin : gen_bad_clear_rows
    $fatal(1, "shell: ClearRows is %0d, expected at least Modules, which is %0d (%m)", ClearRows, Modules);
  end
  assign hold_o = hold || clearing;

  sluice_shell_ring #(
      .Nodes    (RingNodes),
      .List     (ring_list()),
      .ClearRows(ClearRows)
  ) u_ring (
      .clk_i,
      .rst_ni,
      .clearing_o   (clearing),
      .s_axis_cfg_tvalid,
      .s_axis_cfg_tready,
      .s_axis_cfg_tdata,
      .s_axis_cfg_tlast,
      .m_axis_cfg_tvalid,
      .m_axis_cfg_tready,
      .m_axis_cfg_tdata,
      .m_axis_cfg_tlast,
      .req_valid_o  (req_valid),
      .req_o        (req),
      .wide_req_o   (wide_req),
      .rows_o,
      .rsp_valid_i  (rsp_valid),
      .rsp_i        (rsp),
      .bad_message_o(bad_message),
      .timeout_o    (timeout)
  );

  assign req_valid_o = req_valid[RingNodes-1:Own];
  assign req_o = req[RingNodes-1:Own];
  assign wide_req_o = wide_req[RingNodes-1:Own];
  assign rsp_valid[RingNodes-1:Own] = rsp_valid_i;
  assign rsp[RingNodes-1:Own] = rsp_i;

  sluice_shell_system #(
      .TargetHash(TargetHash),
      .Engines   (Engines),
      .Nodes     (RingNodes)
  ) u_system (
      .clk_i,
      .rst_ni,
      .cfg_valid_i  (req_valid[AtSystem]),
      .cfg_req_i    (req[AtSystem]),
      .cfg_valid_o  (rsp_valid[AtSystem]),
      .cfg_rsp_o    (rsp[AtSystem]),
      .bad_message_i(bad_message),
      .timeout_i    (timeout),
      .wedged_i     (wedged),
      .ticks_o,
      .epoch_o,
      .hold_o       (hold),
      .watchdog_o   (watchdog_limit),
      .flow_secret_o
  );

  sluice_shell_stamp #(
      .Modules    (Modules),
      .MaxInFlight(MaxInFlight),
      .Behind     (Behind)
  ) u_stamp (
      .clk_i,
      .rst_ni,
      .ticks_i    (ticks_o),
      .enter_valid_i,
      .enter_i,
      .generation_o,
      .system_generation_o,
      .conform_o,
      .leave_valid_i,
      .leave_i,
      .behind_enter_valid_i,
      .behind_enter_i,
      .behind_leave_valid_i,
      .behind_leave_i,
      .cfg_valid_i(req_valid[AtStamp]),
      .cfg_req_i  (req[AtStamp]),
      .cfg_valid_o(rsp_valid[AtStamp]),
      .cfg_rsp_o  (rsp[AtStamp]),
      .trace_valid_o,
      .trace_o
  );

  sluice_shell_watchdog u_watchdog (
      .clk_i,
      .rst_ni,
      .limit_i  (watchdog_limit),
      // What waits for the tables to be clear is no fault.
      .waiting_i(waiting_i && !clearing),
      .progress_i,
      .wedged_o (wedged)
  );

endmodule
