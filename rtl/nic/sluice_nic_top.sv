/// The NIC: ports, one shared match-action pipeline, egress queues, configuration ring.
///
/// docs/design/nic.md says what it does. `Target` chooses the configuration (0 default, 1
/// tiny, crates/formats/src/target.rs). Port p, destination d and trace p are the p-th or d-th
/// part of their flat buses, lowest bits first; destinations are the ports, then host queues.
///
/// Ports are never stalled (`s_axis_port_tready` is always 1). `s_axis_port_tuser` marks a bad
/// frame with its last beat. Every output beat carries the sideband as `tuser`.
///
/// A reset empties the NIC and closes its ports (port policy 0); tables and counters are RAM and
/// outlive it, so the host writes the tables again, the policies last, and takes the counters as
/// its new zero (packets that the reset threw away are in no other counter). The pipeline waits for as
/// many cycles as the buffer has cells after a reset.
/// `trace_*` tell what happened in each cycle; they may be left open.
module sluice_nic_top
  import sluice_pkg::*;
  import sluice_nic_pkg::*;
#(
    parameter int unsigned Target = 0,
    localparam nic_cfg_t Cfg = nic_cfg(Target),
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

    input  logic        s_axis_cfg_tvalid,
    output logic        s_axis_cfg_tready,
    input  logic [31:0] s_axis_cfg_tdata,
    input  logic        s_axis_cfg_tlast,
    output logic        m_axis_cfg_tvalid,
    input  logic        m_axis_cfg_tready,
    output logic [31:0] m_axis_cfg_tdata,
    output logic        m_axis_cfg_tlast,

    output logic [TickBits-1:0] ticks_o,
    output logic [        31:0] trace_epoch_o,

    output logic [              Ports-1:0] trace_port_valid_o,
    output logic [Ports*PortTraceBits-1:0] trace_port_o,
    output logic                           trace_merge_valid_o,
    output logic [     MergeTraceBits-1:0] trace_merge_o,
    output logic                           trace_verdict_valid_o,
    output logic [   VerdictTraceBits-1:0] trace_verdict_o,
    output logic                           trace_queue_valid_o,
    output logic [     QueueTraceBits-1:0] trace_queue_o,
    output logic                           trace_leave_valid_o,
    output logic [     LeaveTraceBits-1:0] trace_leave_o
);

  // A packet's header spends 8 cycles between merge and verdict; its beats wait in a queue.
  localparam int unsigned Credits = 32;
  localparam int unsigned DataBeats = 512;
  localparam int unsigned Nodes = 4 + Ports;
  // Positions on the ring; the first four are the nodes' numbers too.
  localparam int unsigned AtSystem = 32'(NodeSystem);
  localparam int unsigned AtStamp = 32'(NodeStamp);
  localparam int unsigned AtMatch = 32'(NodeMatch);
  localparam int unsigned AtEgress = 32'(NodeEgress);
  localparam int unsigned AtPort0 = 4;

  if (Target > 1) begin : gen_bad_target
    $fatal(1, "nic_top: Target is %0d, expected 0 (default) or 1 (tiny) (%m)", Target);
  end

  // Configuration ring: system, stamp, match, egress, ports; then back to the host.
  logic [Nodes:0] ring_valid, ring_ready, ring_last;
  logic [Nodes:0][31:0] ring_data;
  logic [Nodes-1:0] req_valid, rsp_valid, bad_message, timeout;
  cfg_req_t [Nodes-1:0] req;
  cfg_rsp_t [Nodes-1:0] rsp;
  logic [Nodes-1:0][32*MessageDataWords-1:0] unused_row;
  logic [Nodes-1:0][6:0] unused_words;

  assign ring_valid[0] = s_axis_cfg_tvalid;
  assign ring_data[0] = s_axis_cfg_tdata;
  assign ring_last[0] = s_axis_cfg_tlast;
  assign s_axis_cfg_tready = ring_ready[0];
  assign m_axis_cfg_tvalid = ring_valid[Nodes];
  assign m_axis_cfg_tdata = ring_data[Nodes];
  assign m_axis_cfg_tlast = ring_last[Nodes];
  assign ring_ready[Nodes] = m_axis_cfg_tready;

  for (genvar n = 0; n < Nodes; n++) begin : gen_node
    sluice_cfg_node #(
        .Node(n < AtPort0 ? 8'(n) : NodePort0 + 8'(n - AtPort0))
    ) u_node (
        .clk_i,
        .rst_ni,
        .s_valid_i    (ring_valid[n]),
        .s_ready_o    (ring_ready[n]),
        .s_data_i     (ring_data[n]),
        .s_last_i     (ring_last[n]),
        .m_valid_o    (ring_valid[n+1]),
        .m_ready_i    (ring_ready[n+1]),
        .m_data_o     (ring_data[n+1]),
        .m_last_o     (ring_last[n+1]),
        .req_valid_o  (req_valid[n]),
        .req_o        (req[n]),
        .row_o        (unused_row[n]),
        .words_o      (unused_words[n]),
        .rsp_valid_i  (rsp_valid[n]),
        .rsp_i        (rsp[n]),
        .bad_message_o(bad_message[n]),
        .timeout_o    (timeout[n])
    );
  end

  logic [31:0] epoch, watchdog_limit;
  logic hold, clearing, wedged, waiting, progress;
  assign trace_epoch_o = epoch;

  sluice_nic_system #(
      .TargetHash(Cfg.target_hash),
      .Nodes     (Nodes)
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
      .epoch_o      (epoch),
      .hold_o       (hold),
      .watchdog_o   (watchdog_limit)
  );

  // Ports.
  logic [Ports-1:0] desc_valid, desc_ready, port_valid, port_ready, port_last;
  port_desc_t [Ports-1:0] desc;
  logic [Ports-1:0][8*Bytes-1:0] port_data;

  assign s_axis_port_tready = '1;
  for (genvar p = 0; p < Ports; p++) begin : gen_port
    sluice_nic_port #(
        .Cfg (Cfg),
        .Port(p)
    ) u_port (
        .clk_i,
        .rst_ni,
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
        .epoch_i      (epoch),
        .cfg_valid_i  (req_valid[AtPort0+p]),
        .cfg_req_i    (req[AtPort0+p]),
        .cfg_valid_o  (rsp_valid[AtPort0+p]),
        .cfg_rsp_o    (rsp[AtPort0+p]),
        .trace_valid_o(trace_port_valid_o[p]),
        .trace_o      (trace_port_o[p*PortTraceBits+:PortTraceBits])
    );
  end

  // One pipeline: beats wait beside it, headers go through it.
  logic data_in_valid, data_in_ready, data_in_last, data_valid, data_ready, data_last;
  logic [8*Bytes-1:0] data_in, data;
  logic [$clog2(DataBeats+1)-1:0] unused_data_level;
  logic token_valid, slot_request, slot_grant, generation, conform, credit;
  port_desc_t token_desc;
  logic [8*WindowBytes-1:0] token_window;
  logic verdict_in_valid, unused_verdict_in_ready, verdict_valid, verdict_ready;
  verdict_t verdict_in, verdict;
  logic [$clog2(Credits+1)-1:0] unused_verdict_level;

  sluice_nic_merge #(
      .Cfg    (Cfg),
      .Credits(Credits)
  ) u_merge (
      .clk_i,
      .rst_ni,
      .hold_i        (hold || clearing),
      .desc_valid_i  (desc_valid),
      .desc_ready_o  (desc_ready),
      .desc_i        (desc),
      .valid_i       (port_valid),
      .ready_o       (port_ready),
      .data_i        (port_data),
      .last_i        (port_last),
      .data_valid_o  (data_in_valid),
      .data_ready_i  (data_in_ready),
      .data_o        (data_in),
      .data_last_o   (data_in_last),
      .token_valid_o (token_valid),
      .token_desc_o  (token_desc),
      .token_window_o(token_window),
      .credit_i      (credit),
      .slot_request_i(slot_request),
      .slot_grant_o  (slot_grant),
      .waiting_o     (waiting)
  );

  sluice_fifo_ram #(
      .Width(8 * Bytes + 1),
      .Depth(DataBeats)
  ) u_data (
      .clk_i,
      .rst_ni,
      .valid_i(data_in_valid),
      .ready_o(data_in_ready),
      .data_i ({data_in_last, data_in}),
      .valid_o(data_valid),
      .ready_i(data_ready),
      .data_o ({data_last, data}),
      .level_o(unused_data_level)
  );

  sluice_nic_stamp #(
      .Cfg        (Cfg),
      .MaxInFlight(Credits)
  ) u_stamp (
      .clk_i,
      .rst_ni,
      .ticks_i           (ticks_o),
      .token_valid_i     (token_valid),
      .token_desc_i      (token_desc),
      .generation_o      (generation),
      .conform_o         (conform),
      .leave_valid_i     (verdict_in_valid),
      .leave_module_i    (verdict_in.sideband.module_id),
      .leave_generation_i(verdict_in.sideband.generation),
      .cfg_valid_i       (req_valid[AtStamp]),
      .cfg_req_i         (req[AtStamp]),
      .cfg_valid_o       (rsp_valid[AtStamp]),
      .cfg_rsp_o         (rsp[AtStamp]),
      .trace_valid_o     (trace_merge_valid_o),
      .trace_o           (trace_merge_o)
  );

  sluice_nic_forward #(
      .Cfg(Cfg)
  ) u_forward (
      .clk_i,
      .rst_ni,
      .token_valid_i     (token_valid),
      .token_desc_i      (token_desc),
      .token_window_i    (token_window),
      .token_generation_i(generation),
      .token_stamp_i     (ticks_o),
      .conform_i         (conform),
      .slot_request_o    (slot_request),
      .slot_grant_i      (slot_grant),
      .verdict_valid_o   (verdict_in_valid),
      .verdict_o         (verdict_in),
      .epoch_i           (epoch),
      .cfg_valid_i       (req_valid[AtMatch]),
      .cfg_req_i         (req[AtMatch]),
      .cfg_valid_o       (rsp_valid[AtMatch]),
      .cfg_rsp_o         (rsp[AtMatch]),
      .trace_valid_o     (trace_verdict_valid_o),
      .trace_o           (trace_verdict_o)
  );

  sluice_fifo #(
      .Width($bits(verdict_t)),
      .Depth(Credits)
  ) u_verdicts (
      .clk_i,
      .rst_ni,
      .valid_i(verdict_in_valid),
      .ready_o(unused_verdict_in_ready),
      .data_i (verdict_in),
      .valid_o(verdict_valid),
      .ready_i(verdict_ready),
      .data_o (verdict),
      .level_o(unused_verdict_level)
  );
  assign credit = verdict_valid && verdict_ready;

  sluice_nic_egress #(
      .Cfg(Cfg)
  ) u_egress (
      .clk_i,
      .rst_ni,
      .clearing_o         (clearing),
      .verdict_valid_i    (verdict_valid),
      .verdict_ready_o    (verdict_ready),
      .verdict_i          (verdict),
      .valid_i            (data_valid),
      .ready_o            (data_ready),
      .data_i             (data),
      .last_i             (data_last),
      .m_axis_tvalid,
      .m_axis_tready,
      .m_axis_tdata,
      .m_axis_tkeep,
      .m_axis_tlast,
      .m_axis_tuser,
      .epoch_i            (epoch),
      .cfg_valid_i        (req_valid[AtEgress]),
      .cfg_req_i          (req[AtEgress]),
      .cfg_valid_o        (rsp_valid[AtEgress]),
      .cfg_rsp_o          (rsp[AtEgress]),
      .queue_trace_valid_o(trace_queue_valid_o),
      .queue_trace_o      (trace_queue_o),
      .leave_trace_valid_o(trace_leave_valid_o),
      .leave_trace_o      (trace_leave_o),
      .progress_o         (progress)
  );

  sluice_nic_watchdog u_watchdog (
      .clk_i,
      .rst_ni,
      .limit_i   (watchdog_limit),
      .waiting_i (waiting || data_valid || verdict_valid),
      .progress_i(progress),
      .wedged_o  (wedged)
  );

`ifndef SYNTHESIS
  VerdictHasRoom_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !verdict_in_valid || unused_verdict_in_ready);
`endif

endmodule
