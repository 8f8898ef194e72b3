/// The XDP engine: runs the programs of modules on a core (docs/design/hxdp-core.md).
///
/// An engine that is not the first: sluice_engine_pkg, with `token_i` in place of the entrance. A packet whose module has no program
/// in its generation goes on as it came. Packets leave in the order in which they came. Verdict and token come when its program
/// has ended and it is its turn.
///
/// Latency of a packet alone: 18 cycles and 5 a bundle, from a frame's last beat in to its first beat out; dropped 14 to its verdict. Throughput: docs/measurements.md.
/// Stall behaviour: the input stalls while packet memory is full; the output's stall reaches the input that way and no
/// sooner.
module sluice_xdp
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
#(
    parameter xdp_cfg_t Cfg = XdpCfgDefault,
    localparam int unsigned Bytes = Cfg.bus_bytes
) (
    input logic clk_i,
    input logic rst_ni,

    input logic [31:0] epoch_i,

    input  logic                    s_axis_tvalid,
    output logic                    s_axis_tready,
    input  logic      [8*Bytes-1:0] s_axis_tdata,
    input  logic      [  Bytes-1:0] s_axis_tkeep,
    input  logic                    s_axis_tlast,
    input  sideband_t               s_axis_side,
    input  route_t                  s_axis_route,
    input  token_t                  token_i,

    output logic                    m_axis_tvalid,
    input  logic                    m_axis_tready,
    output logic      [8*Bytes-1:0] m_axis_tdata,
    output logic      [  Bytes-1:0] m_axis_tkeep,
    output logic                    m_axis_tlast,
    output sideband_t               m_axis_side,
    output route_t                  m_axis_route,

    output logic   leave_valid_o,
    output token_t leave_o,

    output logic           verdict_valid_o,
    output verdict_trace_t verdict_o,

    input  logic     cfg_valid_i,
    input  cfg_req_t cfg_req_i,
    output logic     cfg_valid_o,
    output cfg_rsp_t cfg_rsp_o,

    // Trace: the order in which packets reach what they share, by channel (xdp_step_e).
    output logic                [XdpSteps-1:0] step_valid_o,
    output xdp_step_trace_row_t [XdpSteps-1:0] step_o,

    output logic waiting_o,
    output logic progress_o
);

  localparam int unsigned Modules = Cfg.modules;
  localparam int unsigned Slots = Cfg.packets;
  localparam int unsigned SlotBits = $clog2(Slots);
  localparam int unsigned LookBits = $clog2(2 * Modules);
  localparam int unsigned ModuleIndexBits = $clog2(Modules);
  localparam int unsigned ContextBits = $clog2(Cfg.contexts);
  localparam int unsigned UserBits = $bits(route_t) + $bits(sideband_t);
  // Packets between the input and their slots.
  localparam int unsigned Tokens = 8;
  // Cycles that the others wait for the memory before a core leaves one out.
  localparam int unsigned Patience = 7;

  if (Bytes != 32 && Bytes != 64) begin : gen_bad_bytes
    $fatal(1, "xdp: bus_bytes is %0d, expected 32 or 64 (%m)", Bytes);
  end

  // ---------------------------------------------------------------------------------------------------------------
  // 64 bytes wide inside.

  logic in_valid, in_ready, in_last;
  logic [511:0] in_data;
  logic [63:0] in_keep;
  sideband_t in_side;
  route_t in_route;
  token_t in_token;

  logic slot_valid;
  logic out_valid, out_ready, out_last;
  logic [511:0] out_data;
  logic [63:0] out_keep;
  sideband_t out_side;
  route_t out_route;

  sluice_axis_width #(
      .InBytes  (Bytes),
      .OutBytes (64),
      .UserWidth(UserBits)
  ) u_widen (
      .clk_i,
      .rst_ni,
      .s_axis_tdata,
      .s_axis_tkeep,
      .s_axis_tlast,
      .s_axis_tuser ({s_axis_route, s_axis_side}),
      .s_axis_tvalid,
      .s_axis_tready,
      .m_axis_tdata (in_data),
      .m_axis_tkeep (in_keep),
      .m_axis_tlast (in_last),
      .m_axis_tuser ({in_route, in_side}),
      .m_axis_tvalid(in_valid),
      .m_axis_tready(in_ready)
  );

  // Tokens come with last beats, and wait for their packets' slots.
  logic token_ready, token_valid;
  logic [$clog2(Tokens+1)-1:0] unused_token_level;
  sluice_fifo #(
      .Width($bits(token_t)),
      .Depth(Tokens)
  ) u_tokens (
      .clk_i,
      .rst_ni,
      .valid_i(s_axis_tvalid && s_axis_tready && s_axis_tlast),
      .ready_o(token_ready),
      .data_i (token_i),
      .valid_o(token_valid),
      .ready_i(slot_valid),
      .data_o (in_token),
      .level_o(unused_token_level)
  );

  sluice_axis_width #(
      .InBytes  (64),
      .OutBytes (Bytes),
      .UserWidth(UserBits)
  ) u_narrow (
      .clk_i,
      .rst_ni,
      .s_axis_tdata (out_data),
      .s_axis_tkeep (out_keep),
      .s_axis_tlast (out_last),
      .s_axis_tuser ({out_route, out_side}),
      .s_axis_tvalid(out_valid),
      .s_axis_tready(out_ready),
      .m_axis_tdata,
      .m_axis_tkeep,
      .m_axis_tlast,
      .m_axis_tuser ({m_axis_route, m_axis_side}),
      .m_axis_tvalid,
      .m_axis_tready
  );

  // ---------------------------------------------------------------------------------------------------------------

  logic program_look, interfaces_look, fetch_valid;
  logic [LookBits-1:0] program_index, interfaces_index;
  logic [CodeBits-1:0] fetch_row;
  xdp_program_row_t program_row;
  xdp_interfaces_row_t arrival_row, interfaces_row;
  xdp_code_row_t code_row;
  xdp_page_row_t page_row;
  logic [2:0] arrival_port_q;
  logic event_q;
  logic [ModuleIndexBits-1:0] event_module_q;
  xdp_event_e event_kind_q;

  logic start_valid, start_ready, end_valid, free_valid;
  logic [SlotBits-1:0] slot;
  xdp_slot_t slot_data;
  xdp_start_t start;
  xdp_end_t finished;
  logic [8:0] free_rows;
  logic load_waiting, unload_waiting, idle;
  logic tables_cfg_valid, values_cfg_valid;
  cfg_rsp_t tables_cfg_rsp, values_cfg_rsp;
  logic request_valid, request_ready, done_valid, done_fault;
  xdp_request_t request;
  logic [ContextBits-1:0] request_context;
  // Whom the values answer: a context of the core, the map engine, or its helper.
  logic [ContextBits+1:0] done_context;
  logic [63:0] late, done_value;

  // The helper asks the values when nobody else does.
  logic helper_request_valid;
  xdp_request_t helper_request;

  // The map engine.
  logic map_call_valid, map_answer_valid, map_answer_ready, map_read, map_request_valid, maps_cfg_valid;
  xdp_map_call_t   map_call;
  xdp_map_answer_t map_answer;
  logic [ContextBits-1:0] map_call_context, map_answer_context;
  xdp_request_t map_request;
  xdp_place_t   map_read_place;
  logic values_ready, core_request, locks, map_done, map_done_host;
  logic [ContextBits-1:0] map_done_context, start_context;
  logic [CodeBits-1:0] request_row;
  cfg_rsp_t maps_cfg_rsp;

  // The port's interface, of a packet that comes.
  always_ff @(posedge clk_i) if (program_look) arrival_port_q <= in_side.id[30:28];

  sluice_xdp_tables #(
      .Modules(Modules),
      .Rows   (Cfg.rows)
  ) u_tables (
      .clk_i,
      .rst_ni,
      .epoch_i,
      .program_valid_i   (program_look),
      .program_index_i   (program_index),
      .program_o         (program_row),
      .arrival_o         (arrival_row),
      .interfaces_valid_i(interfaces_look),
      .interfaces_index_i(interfaces_index),
      .interfaces_o      (interfaces_row),
      .fetch_valid_i     (fetch_valid),
      .fetch_row_i       (fetch_row),
      .code_o            (code_row),
      .page_o            (page_row),
      .event_valid_i     (event_q),
      .event_module_i    (event_module_q),
      .event_kind_i      (event_kind_q),
      .cfg_valid_i,
      .cfg_req_i,
      .cfg_valid_o       (tables_cfg_valid),
      .cfg_rsp_o         (tables_cfg_rsp)
  );
  assign cfg_valid_o = tables_cfg_valid || values_cfg_valid || maps_cfg_valid;
  assign cfg_rsp_o   = maps_cfg_valid ? maps_cfg_rsp : values_cfg_valid ? values_cfg_rsp : tables_cfg_rsp;

  // ---------------------------------------------------------------------------------------------------------------
  // Memory: the core goes first, then the helper, the map engine, and packets that come and go.

  logic core_read, helper_read, unload_read, core_write, helper_write, load_write, hold;
  xdp_place_t core_read_place, helper_read_place, unload_read_place, read_place;
  xdp_place_t core_write_place, helper_write_place, load_write_place, write_place;
  logic [7:0][63:0] read_data, core_write_data, load_write_data, write_data;
  logic [7:0][7:0] core_write_enable, helper_write_enable, write_enable;
  logic [1:0][63:0] helper_write_data;
  logic [2:0] read_wait_q, write_wait_q;

  always_comb begin
    read_place = unload_read_place;
    if (map_read) read_place = map_read_place;
    if (helper_read) read_place = helper_read_place;
    if (core_read) read_place = core_read_place;
    write_place  = load_write_place;
    write_data   = load_write_data;
    write_enable = '1;
    if (helper_write) begin
      write_place  = helper_write_place;
      write_data   = {4{helper_write_data}};
      write_enable = helper_write_enable;
    end
    if (core_write) begin
      write_place  = core_write_place;
      write_data   = core_write_data;
      write_enable = core_write_enable;
    end
  end

  // Who waits gets a cycle after at most `Patience`.
  assign hold = read_wait_q == 3'(Patience) || write_wait_q == 3'(Patience);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      read_wait_q  <= '0;
      write_wait_q <= '0;
    end else begin
      read_wait_q  <= (core_read && (helper_read || map_read || unload_read) && !hold) ? read_wait_q + 3'd1 : '0;
      write_wait_q <= (core_write && (helper_write || load_write) && !hold) ? write_wait_q + 3'd1 : '0;
    end
  end

  sluice_xdp_memory #(
      .Rows(Cfg.memory)
  ) u_memory (
      .clk_i,
      .read_valid_i  (core_read || helper_read || map_read || unload_read),
      .read_place_i  (read_place),
      .read_data_o   (read_data),
      .write_valid_i (core_write || helper_write || load_write),
      .write_place_i (write_place),
      .write_enable_i(write_enable),
      .write_data_i  (write_data)
  );

  // ---------------------------------------------------------------------------------------------------------------

  sluice_xdp_load #(
      .Rows   (Cfg.memory),
      .Slots  (Slots),
      .Modules(Modules)
  ) u_load (
      .clk_i,
      .rst_ni,
      .s_axis_tvalid(in_valid),
      .s_axis_tready(in_ready),
      .s_axis_tdata (in_data),
      .s_axis_tkeep (in_keep),
      .s_axis_tlast (in_last),
      .s_axis_side  (in_side),
      .s_axis_route (in_route),
      .look_valid_o (program_look),
      .look_index_o (program_index),
      .program_i    (program_row),
      .ifindex_i    (arrival_row.ifindex[arrival_port_q]),
      .write_valid_o(load_write),
      .write_ready_i(!core_write && !helper_write),
      .write_place_o(load_write_place),
      .write_data_o (load_write_data),
      .token_i      (in_token),
      .slot_valid_o (slot_valid),
      .slot_o       (slot),
      .slot_data_o  (slot_data),
      .start_valid_o(start_valid),
      .start_ready_i(start_ready),
      .start_o      (start),
      .free_valid_i (free_valid),
      .free_rows_i  (free_rows),
      .waiting_o    (load_waiting)
  );

  logic call_valid, call_ready, return_valid;
  xdp_call_t   call;
  xdp_return_t returned;

  sluice_xdp_core #(
      .Contexts(Cfg.contexts)
  ) u_core (
      .clk_i,
      .rst_ni,
      .hold_i              (hold),
      .start_valid_i       (start_valid),
      .start_ready_o       (start_ready),
      .start_i             (start),
      .fetch_valid_o       (fetch_valid),
      .fetch_row_o         (fetch_row),
      .code_i              (code_row),
      .page_i              (page_row),
      .read_valid_o        (core_read),
      .read_place_o        (core_read_place),
      .read_data_i         (read_data[1:0]),
      .write_valid_o       (core_write),
      .write_place_o       (core_write_place),
      .write_enable_o      (core_write_enable),
      .write_data_o        (core_write_data),
      .call_valid_o        (call_valid),
      .call_ready_i        (call_ready),
      .call_o              (call),
      .return_valid_i      (return_valid),
      .return_i            (returned),
      .request_valid_o     (request_valid),
      .request_ready_i     (request_ready),
      .request_o           (request),
      .request_context_o   (request_context),
      .request_row_o       (request_row),
      .start_context_o     (start_context),
      .late_o              (late),
      .done_valid_i        (done_valid && !done_context[ContextBits+1]),
      .done_context_i      (done_context[ContextBits-1:0]),
      .done_fault_i        (done_fault),
      .done_value_i        (done_value),
      .map_call_valid_o    (map_call_valid),
      .map_call_o          (map_call),
      .map_context_o       (map_call_context),
      .map_answer_valid_i  (map_answer_valid),
      .map_answer_ready_o  (map_answer_ready),
      .map_answer_context_i(map_answer_context),
      .map_answer_i        (map_answer),
      .end_valid_o         (end_valid),
      .end_o               (finished),
      .idle_o              (idle)
  );

  sluice_xdp_values #(
      .Regions (Cfg.regions),
      .Maps    (Cfg.maps),
      .Bytes   (Cfg.values),
      .Contexts(4 * Cfg.contexts)
  ) u_values (
      .clk_i,
      .rst_ni,
      .valid_i       (core_request || map_request_valid || (helper_request_valid && !locks)),
      .ready_o       (values_ready),
      .request_i     (core_request ? request : map_request_valid ? map_request : helper_request),
      .context_i     ({!core_request, !map_request_valid, request_context}),
      .late_i        (late),
      .done_valid_o  (done_valid),
      .done_context_o(done_context),
      .done_fault_o  (done_fault),
      .done_value_o  (done_value),
      .cfg_valid_i,
      .cfg_req_i,
      .cfg_valid_o   (values_cfg_valid),
      .cfg_rsp_o     (values_cfg_rsp)
  );

  // What the map engine asks of the values has the upper half of the contexts' numbers, and goes behind the core's.
  sluice_xdp_maps #(
      .Maps      (Cfg.maps),
      .Rows      (Cfg.search),
      .Processors(Cfg.contexts)
  ) u_maps (
      .clk_i,
      .rst_ni,
      .call_valid_i    (map_call_valid),
      .call_context_i  (map_call_context),
      .call_i          (map_call),
      .answer_valid_o  (map_answer_valid),
      .answer_ready_i  (map_answer_ready),
      .answer_context_o(map_answer_context),
      .answer_o        (map_answer),
      .read_valid_o    (map_read),
      .read_ready_i    (!core_read && !helper_read),
      .read_place_o    (map_read_place),
      .read_data_i     (read_data[1:0]),
      .done_o          (map_done),
      .done_host_o     (map_done_host),
      .done_context_o  (map_done_context),
      .locks_o         (locks),
      .request_valid_o (map_request_valid),
      .request_ready_i (values_ready && !core_request),
      .request_o       (map_request),
      .done_valid_i    (done_valid && done_context[ContextBits+1-:2] == 2'b10),
      .done_fault_i    (done_fault),
      .done_value_i    (done_value),
      .cfg_valid_i,
      .cfg_req_i,
      .cfg_valid_o     (maps_cfg_valid),
      .cfg_rsp_o       (maps_cfg_rsp)
  );

  sluice_xdp_helper u_helper (
      .clk_i,
      .rst_ni,
      .valid_i        (call_valid),
      .ready_o        (call_ready),
      .call_i         (call),
      .done_o         (return_valid),
      .return_o       (returned),
      .read_valid_o   (helper_read),
      .read_ready_i   (!core_read),
      .read_place_o   (helper_read_place),
      .read_data_i    (read_data[1:0]),
      .write_valid_o  (helper_write),
      .write_ready_i  (!core_write),
      .write_place_o  (helper_write_place),
      .write_enable_o (helper_write_enable),
      .write_data_o   (helper_write_data),
      .request_valid_o(helper_request_valid),
      .request_ready_i(request_ready && !request_valid && !map_request_valid),
      .request_o      (helper_request),
      .found_valid_i  (done_valid && done_context[ContextBits+1-:2] == 2'b11),
      .found_fault_i  (done_fault),
      .found_value_i  (done_value)
  );

  sluice_xdp_unload #(
      .Slots  (Slots),
      .Modules(Modules)
  ) u_unload (
      .clk_i,
      .rst_ni,
      .slot_valid_i (slot_valid),
      .slot_i       (slot),
      .slot_data_i  (slot_data),
      .end_valid_i  (end_valid),
      .end_i        (finished),
      .look_valid_o (interfaces_look),
      .look_index_o (interfaces_index),
      .interfaces_i (interfaces_row),
      .read_valid_o (unload_read),
      .read_ready_i (!core_read && !helper_read && !map_read),
      .read_place_o (unload_read_place),
      .read_data_i  (read_data),
      .m_axis_tvalid(out_valid),
      .m_axis_tready(out_ready),
      .m_axis_tdata (out_data),
      .m_axis_tkeep (out_keep),
      .m_axis_tlast (out_last),
      .m_axis_side  (out_side),
      .m_axis_route (out_route),
      .free_valid_o (free_valid),
      .free_rows_o  (free_rows),
      .leave_valid_o,
      .leave_o,
      .verdict_valid_o,
      .verdict_o,
      .waiting_o    (unload_waiting)
  );

  // A value that is being written keeps all others off.
  assign core_request  = request_valid && !locks;
  assign request_ready = values_ready && !locks;

  always_comb begin
    step_valid_o = '0;
    step_o = '0;
    step_valid_o[XdpStepPacket] = slot_valid;
    step_o[XdpStepPacket].slot = 8'(slot);
    step_o[XdpStepPacket].value = 64'(slot_data.side.id);
    step_valid_o[XdpStepStart] = start_valid && start_ready;
    step_o[XdpStepStart].processor = 5'(start_context);
    step_o[XdpStepStart].slot = start.slot;
    step_valid_o[XdpStepValue] = request_valid && request_ready && request.kind inside {RequestLoad, RequestStore, RequestAtomic};
    step_o[XdpStepValue].processor = 5'(request_context);
    step_o[XdpStepValue].row = request_row;
    step_valid_o[XdpStepMap] = map_done;
    step_o[XdpStepMap].processor = 5'(map_done_context);
    step_o[XdpStepMap].slot = 8'(map_done_host);
  end

  // What is dropped is counted in its verdict's cycle.
  assign event_q = verdict_valid_o && verdict_o.dropped;
  assign event_module_q = verdict_o.module_id[ModuleIndexBits-1:0];
  assign event_kind_q = xdp_event_e'(verdict_o.reason[2:0]);

`ifndef SYNTHESIS
  ATokenWaitsForEachPacket_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !slot_valid || token_valid);
  TokensHaveRoom_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !(s_axis_tvalid && s_axis_tready && s_axis_tlast) || token_ready);
`endif

  assign waiting_o = (load_waiting || unload_waiting || !idle) && !(m_axis_tvalid && !m_axis_tready);
  assign progress_o = (s_axis_tvalid && s_axis_tready) || (m_axis_tvalid && m_axis_tready) || fetch_valid || verdict_valid_o;

endmodule
