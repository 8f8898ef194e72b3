/// The XDP engine: runs the programs of modules on a core (docs/design/hxdp-core.md).
///
/// An engine that is not the first: sluice_engine_pkg, with `token_i` in place of the entrance. A packet whose module has no program
/// in its generation passes beside, as it came; it waits for packets with a program only as long as one of them is on the output.
/// The others wait in their module's queue, or are dropped there. Packets of either kind leave in their order: those
/// with a program as they were taken from the queues. Their verdict and token come when the program has ended and it is their turn.
///
/// Latency: without a program 1 cycle. With one, of a packet alone, 25 cycles and 5 a bundle, from a frame's last beat in to its first
/// beat out. Throughput: without a program a beat a cycle; with one docs/measurements.md.
/// Stall behaviour: the input stalls for packets without a program, while the output stalls or has one with a program; in
/// addition for a cycle a packet of these.
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
  // Packets between their queue and their slots.
  localparam int unsigned Tokens = 8;
  // Packets dropped at their queue whose verdict waits.
  localparam int unsigned Drops = 4;
  // Cycles that the others wait for the memory before a core leaves one out.
  localparam int unsigned Patience = 7;

  if (Bytes != 32 && Bytes != 64) begin : gen_bad_bytes
    $fatal(1, "xdp: bus_bytes is %0d, expected 32 or 64 (%m)", Bytes);
  end

  // ---------------------------------------------------------------------------------------------------------------
  // In: whose module has a program is known with the beat. The verdict of packets that pass beside goes out as they come in.

  typedef struct packed {
    logic               known;
    token_t             token;
    route_t             route;
    sideband_t          side;
    logic               last;
    logic [Bytes-1:0]   keep;
    logic [8*Bytes-1:0] data;
  } beat_t;

  logic known, known_row, front_ready, front_take, front_first_q, beat_valid, beat_ready;
  beat_t front, beat;
  logic [LookBits-1:0] known_index;
  logic unload_verdict, unload_verdict_ready, unload_waits_q;

  assign known_index = {s_axis_side.module_id[LookBits-2:0], s_axis_side.generation};
  // Modules that this target does not have, have no program.
  assign known = known_row && 32'(s_axis_side.module_id) < Modules;
  assign front = '{
          known: known,
          token: token_i,
          route: s_axis_route,
          side: s_axis_side,
          last: s_axis_tlast,
          keep: s_axis_tkeep,
          data: s_axis_tdata
      };
  // A verdict from behind that waits gets the next cycle.
  assign s_axis_tready = front_ready && !unload_waits_q;
  assign front_take = s_axis_tvalid && s_axis_tready;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) front_first_q <= 1'b1;
    else if (front_take) front_first_q <= s_axis_tlast;
  end

  sluice_skid #(
      .Width($bits(beat_t))
  ) u_front (
      .clk_i,
      .rst_ni,
      .valid_i(s_axis_tvalid && !unload_waits_q),
      .ready_o(front_ready),
      .data_i (front),
      .valid_o(beat_valid),
      .ready_i(beat_ready),
      .data_o (beat)
  );

  // ---------------------------------------------------------------------------------------------------------------
  // Queues, and behind them 64 bytes wide.

  logic queue_ready, drop_valid, drop_ready, queued_valid, queued_ready, queued_last, queued_broken, queues_waiting;
  logic [8*Bytes-1:0] queued_data;
  logic [Bytes-1:0] queued_keep;
  sideband_t queued_side;
  route_t queued_route;
  token_t queued_token;
  logic queues_cfg_valid;
  cfg_rsp_t queues_cfg_rsp;
  logic charge_valid;
  cost_t charge;
  verdict_trace_t unload_verdict_data;
  token_t unload_token;

  logic pass_ready;
  assign beat_ready = beat.known ? queue_ready : pass_ready;

  sluice_xdp_queues #(
      .Bytes  (Bytes),
      .Rows   (Cfg.queue_rows),
      .Modules(Modules)
  ) u_queues (
      .clk_i,
      .rst_ni,
      .s_axis_tvalid  (beat_valid && beat.known),
      .s_axis_tready  (queue_ready),
      .s_axis_tdata   (beat.data),
      .s_axis_tkeep   (beat.keep),
      .s_axis_tlast   (beat.last),
      .s_axis_side    (beat.side),
      .s_axis_route   (beat.route),
      .token_i        (beat.token),
      .drop_valid_o   (drop_valid),
      .drop_ready_i   (drop_ready),
      .m_axis_tvalid  (queued_valid),
      .m_axis_tready  (queued_ready),
      .m_axis_tdata   (queued_data),
      .m_axis_tkeep   (queued_keep),
      .m_axis_tlast   (queued_last),
      .m_axis_side    (queued_side),
      .m_axis_route   (queued_route),
      .m_axis_token   (queued_token),
      .m_axis_broken  (queued_broken),
      .charge_valid_i (charge_valid),
      .charge_module_i(unload_verdict_data.module_id),
      .charge_i       (charge),
      .cfg_valid_i,
      .cfg_req_i,
      .cfg_valid_o    (queues_cfg_valid),
      .cfg_rsp_o      (queues_cfg_rsp),
      .waiting_o      (queues_waiting)
  );

  logic in_valid, in_ready, in_last, in_broken;
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
      .s_axis_tdata (queued_data),
      .s_axis_tkeep (queued_keep),
      .s_axis_tlast (queued_last),
      .s_axis_tuser ({queued_route, queued_side}),
      .s_axis_tvalid(queued_valid),
      .s_axis_tready(queued_ready),
      .m_axis_tdata (in_data),
      .m_axis_tkeep (in_keep),
      .m_axis_tlast (in_last),
      .m_axis_tuser ({in_route, in_side}),
      .m_axis_tvalid(in_valid),
      .m_axis_tready(in_ready)
  );

  // Tokens come with last beats, and wait for their packets' slots.
  logic token_ready, token_valid, token_put;
  logic [$clog2(Tokens+1)-1:0] unused_token_level;
  assign token_put = queued_valid && queued_ready && queued_last;
  sluice_fifo #(
      .Width($bits(token_t) + 1),
      .Depth(Tokens)
  ) u_tokens (
      .clk_i,
      .rst_ni,
      .valid_i(token_put),
      .ready_o(token_ready),
      .data_i ({queued_broken, queued_token}),
      .valid_o(token_valid),
      .ready_i(slot_valid),
      .data_o ({in_broken, in_token}),
      .level_o(unused_token_level)
  );

  // ---------------------------------------------------------------------------------------------------------------
  // Out: packets of either kind in turns.

  logic back_valid, back_ready, back_last, busy_q, back_q, back, out_take;
  logic [8*Bytes-1:0] back_data;
  logic [Bytes-1:0] back_keep;
  sideband_t back_side;
  route_t back_route;

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
      .m_axis_tdata (back_data),
      .m_axis_tkeep (back_keep),
      .m_axis_tlast (back_last),
      .m_axis_tuser ({back_route, back_side}),
      .m_axis_tvalid(back_valid),
      .m_axis_tready(back_ready)
  );

  logic pass_valid;
  assign pass_valid = beat_valid && !beat.known;
  // Who has begun, or waits for the output, goes on.
  assign back = busy_q ? back_q : (back_valid && (!pass_valid || !back_q));
  assign m_axis_tvalid = back ? back_valid : pass_valid;
  assign out_take = m_axis_tvalid && m_axis_tready;
  assign back_ready = back && m_axis_tready;
  assign pass_ready = !back && m_axis_tready;
  assign m_axis_tdata = back ? back_data : beat.data;
  assign m_axis_tkeep = back ? back_keep : beat.keep;
  assign m_axis_tlast = back ? back_last : beat.last;
  assign m_axis_side = back ? back_side : beat.side;
  assign m_axis_route = back ? back_route : beat.route;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      back_q <= 1'b0;
    end else if (m_axis_tvalid) begin
      busy_q <= !(out_take && m_axis_tlast);
      back_q <= back;
    end
  end

  // Verdicts and tokens: of packets that pass beside, of those that leave their slots, of those dropped at their queues.
  typedef struct packed {
    logic [ModuleBits-1:0] module_id;
    logic [31:0]           id;
    token_t                token;
  } dropped_t;

  logic front_verdict, front_leave, dropped_valid, dropped_take;
  dropped_t dropped;
  logic [$clog2(Drops+1)-1:0] unused_drop_level;

  sluice_fifo #(
      .Width($bits(dropped_t)),
      .Depth(Drops)
  ) u_drops (
      .clk_i,
      .rst_ni,
      .valid_i(drop_valid),
      .ready_o(drop_ready),
      .data_i ({beat.side.module_id, beat.side.id, beat.token}),
      .valid_o(dropped_valid),
      .ready_i(dropped_take),
      .data_o (dropped),
      .level_o(unused_drop_level)
  );

  assign front_verdict = front_take && !known && front_first_q;
  assign front_leave = front_take && !known && s_axis_tlast;
  assign unload_verdict_ready = !front_verdict && !front_leave;
  assign dropped_take = unload_verdict_ready && !unload_verdict && dropped_valid;
  assign charge_valid = unload_verdict && unload_verdict_ready;

  always_ff @(posedge clk_i) begin
    unload_waits_q <= unload_verdict && !unload_verdict_ready && rst_ni;
    verdict_valid_o <= (front_verdict || charge_valid || dropped_take) && rst_ni;
    leave_valid_o <= (front_leave || charge_valid || dropped_take) && rst_ni;
    leave_o <= front_leave ? token_i : charge_valid ? unload_token : dropped.token;
    if (front_verdict) begin
      verdict_o <= '{
          destinations: s_axis_route.destinations,
          reason: reason_e'('0),
          dropped: 1'b0,
          module_id: s_axis_side.module_id,
          id: s_axis_side.id
      };
    end else if (charge_valid) begin
      verdict_o <= unload_verdict_data;
    end else begin
      verdict_o <= '{
          destinations: '0,
          reason: ReasonXdpQueue,
          dropped: 1'b1,
          module_id: dropped.module_id,
          id: dropped.id
      };
    end
  end

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
  logic [2:0] event_amount;

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
      .known_index_i     (known_index),
      .known_o           (known_row),
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
      .event_amount_i    (event_amount),
      .cfg_valid_i,
      .cfg_req_i,
      .cfg_valid_o       (tables_cfg_valid),
      .cfg_rsp_o         (tables_cfg_rsp)
  );
  assign cfg_valid_o = tables_cfg_valid || values_cfg_valid || maps_cfg_valid || queues_cfg_valid;
  always_comb begin
    cfg_rsp_o = tables_cfg_rsp;
    if (values_cfg_valid) cfg_rsp_o = values_cfg_rsp;
    if (maps_cfg_valid) cfg_rsp_o = maps_cfg_rsp;
    if (queues_cfg_valid) cfg_rsp_o = queues_cfg_rsp;
  end

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
      .broken_i     (in_broken),
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
      .slot_valid_i   (slot_valid),
      .slot_i         (slot),
      .slot_data_i    (slot_data),
      .end_valid_i    (end_valid),
      .end_i          (finished),
      .look_valid_o   (interfaces_look),
      .look_index_o   (interfaces_index),
      .interfaces_i   (interfaces_row),
      .read_valid_o   (unload_read),
      .read_ready_i   (!core_read && !helper_read && !map_read),
      .read_place_o   (unload_read_place),
      .read_data_i    (read_data),
      .m_axis_tvalid  (out_valid),
      .m_axis_tready  (out_ready),
      .m_axis_tdata   (out_data),
      .m_axis_tkeep   (out_keep),
      .m_axis_tlast   (out_last),
      .m_axis_side    (out_side),
      .m_axis_route   (out_route),
      .free_valid_o   (free_valid),
      .free_rows_o    (free_rows),
      .verdict_valid_o(unload_verdict),
      .verdict_ready_i(unload_verdict_ready),
      .leave_o        (unload_token),
      .verdict_o      (unload_verdict_data),
      .cost_o         (charge),
      .waiting_o      (unload_waiting)
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

  // Drops are counted in their verdict's cycle, and the copies of what leaves.
  logic [3:0] copies;
  assign copies = count_ones(verdict_o.destinations);
  assign event_q = verdict_valid_o && (verdict_o.dropped || copies > 4'd1);
  assign event_module_q = verdict_o.module_id[ModuleIndexBits-1:0];
  assign event_kind_q = verdict_o.dropped ? xdp_event_e'(verdict_o.reason[2:0]) : XdpEventCopies;
  assign event_amount = verdict_o.dropped ? 3'd1 : 3'(copies - 4'd1);

`ifndef SYNTHESIS
  ATokenWaitsForEachPacket_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !slot_valid || token_valid);
  TokensHaveRoom_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !token_put || token_ready);
`endif

  assign waiting_o = (beat_valid || queues_waiting || load_waiting || unload_waiting || !idle) && !(m_axis_tvalid && !m_axis_tready);
  assign progress_o = (s_axis_tvalid && s_axis_tready) || (m_axis_tvalid && m_axis_tready) || fetch_valid || verdict_valid_o;

endmodule
