/// The XDP engine: runs the programs of modules on cores (docs/design/hxdp-core.md).
///
/// An engine that is not the first: sluice_engine_pkg, with `token_i` in place of the entrance. A packet whose module has no program
/// in its generation passes beside, as it came; it waits for packets with a program only for as many beats as their tenants have paid for at
/// the ports (sluice_xdp_out).
/// The others wait in their module's queue, or are dropped there; from there each goes to the core with the fewest packets. Packets without a
/// program leave in their order, those of a module with one in the order of their flow. Their verdict and token come when the
/// program has ended and nobody of their flow is before them.
///
/// Latency: without a program 1 cycle. With one, of a packet alone, 26 cycles and 5 a bundle, from a frame's last beat in to its first
/// beat out, and 2 more where the bus has 32 bytes. Throughput: without a program a beat a cycle; with one docs/measurements.md.
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
    output logic           verdict_generation_o, // that its packet reads

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
  localparam int unsigned Cores = Cfg.cores;
  // Of one core, and of all.
  localparam int unsigned Slots = Cfg.packets;
  localparam int unsigned SlotBits = $clog2(Slots);
  localparam int unsigned AllSlots = Cores * Slots;
  localparam int unsigned AllSlotBits = $clog2(AllSlots);
  localparam int unsigned Processors = Cores * Cfg.contexts;
  localparam int unsigned ProcessorBits = $clog2(Processors);
  localparam int unsigned ContextBits = $clog2(Cfg.contexts);
  localparam int unsigned CoreBits = (Cores > 1) ? $clog2(Cores) : 1;
  localparam int unsigned LookBits = $clog2(2 * Modules);
  localparam int unsigned ModuleIndexBits = $clog2(Modules);
  localparam int unsigned UserBits = $bits(route_t) + $bits(sideband_t);
  // Buckets of flows of a module.
  localparam int unsigned Buckets = 16;
  localparam int unsigned EarnBits = 10;
  // Packets dropped at their queue whose verdict waits.
  localparam int unsigned Drops = 4;
  // Cycles that the map engine and helpers wait for values before the cores leave one out.
  localparam int unsigned Patience = 7;

  typedef logic [CoreBits-1:0] core_t;
  typedef logic [ProcessorBits-1:0] processor_t;

  if (Cores != 1 && Cores != 2) begin : gen_bad_cores
    $fatal(1, "xdp: cores is %0d, expected 1 or 2 (%m)", Cores);
  end
  if (2 ** ContextBits != Cfg.contexts || Cfg.contexts < 2) begin : gen_bad_contexts
    $fatal(1, "xdp: contexts is %0d, expected a power of two from 2 on (%m)", Cfg.contexts);
  end
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

  logic [GrowthBits-1:0] growth;
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

  logic [$clog2(3)-1:0] unused_front_level;
  sluice_fifo #(
      .Width($bits(beat_t)),
      .Depth(2)
  ) u_front (
      .clk_i,
      .rst_ni,
      .valid_i(s_axis_tvalid && !unload_waits_q),
      .ready_o(front_ready),
      .data_i (front),
      .valid_o(beat_valid),
      .ready_i(beat_ready),
      .data_o (beat),
      .level_o(unused_front_level)
  );

  // ---------------------------------------------------------------------------------------------------------------
  // Queues, and behind them 64 bytes wide.

  logic [ClockBits-1:0] now_q, queued_came, in_came;
  always_ff @(posedge clk_i) now_q <= rst_ni ? now_q + ClockBits'(1) : '0;

  logic queue_ready, drop_valid, drop_ready, queued_valid, queued_ready, queued_last, queued_broken, queues_waiting;
  logic [8*Bytes-1:0] queued_data;
  logic [Bytes-1:0] queued_keep;
  sideband_t queued_side;
  route_t queued_route;
  token_t queued_token;
  logic queues_cfg_valid;
  cfg_rsp_t queues_cfg_rsp;
  logic charge_valid, spent_valid_q;
  cost_t spent_q;
  logic [ModuleBits-1:0] spent_module_q;
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
      .now_i          (now_q),
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
      .m_axis_came    (queued_came),
      .charge_valid_i (spent_valid_q),
      .charge_module_i(spent_module_q),
      .charge_i       (spent_q),
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

  logic out_valid, out_ready, out_last;
  logic [511:0] out_data;
  logic [63:0] out_keep;
  sideband_t out_side;
  route_t out_route;

  // What belongs to a packet is the same in all its beats.
  if (Bytes == 64) begin : gen_wide_in
    // Two beats in front of the cores: a cycle in which they take none costs the queues more than that one.
    logic [$clog2(3)-1:0] unused_in_level;
    sluice_fifo #(
        .Width(512 + 64 + 1 + UserBits + $bits(token_t) + 1 + ClockBits),
        .Depth(2)
    ) u_in (
        .clk_i,
        .rst_ni,
        .valid_i(queued_valid),
        .ready_o(queued_ready),
        .data_i({
          queued_data, queued_keep, queued_last, queued_came, queued_broken, queued_token, queued_route, queued_side
        }),
        .valid_o(in_valid),
        .ready_i(in_ready),
        .data_o({in_data, in_keep, in_last, in_came, in_broken, in_token, in_route, in_side}),
        .level_o(unused_in_level)
    );
  end else begin : gen_widen
    sluice_axis_width #(
        .InBytes  (Bytes),
        .OutBytes (64),
        .UserWidth(UserBits + $bits(token_t) + 1 + ClockBits)
    ) u_widen (
        .clk_i,
        .rst_ni,
        .s_axis_tdata (queued_data),
        .s_axis_tkeep (queued_keep),
        .s_axis_tlast (queued_last),
        .s_axis_tuser ({queued_came, queued_broken, queued_token, queued_route, queued_side}),
        .s_axis_tvalid(queued_valid),
        .s_axis_tready(queued_ready),
        .m_axis_tdata (in_data),
        .m_axis_tkeep (in_keep),
        .m_axis_tlast (in_last),
        .m_axis_tuser ({in_came, in_broken, in_token, in_route, in_side}),
        .m_axis_tvalid(in_valid),
        .m_axis_tready(in_ready)
    );
  end

  // ---------------------------------------------------------------------------------------------------------------
  // Out: packets of either kind, each within what was paid for at the ports.

  logic back_valid, back_ready, back_last, held;
  logic [8*Bytes-1:0] back_data;
  logic [Bytes-1:0] back_keep;
  sideband_t back_side;
  route_t back_route;

  if (Bytes == 64) begin : gen_wide_out
    assign {back_data, back_keep, back_last, back_route, back_side} = {
      out_data, out_keep, out_last, out_route, out_side
    };
    assign back_valid = out_valid;
    assign out_ready = back_ready;
  end else begin : gen_narrow
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
  end

  // What it brings is what its tenant has paid for at the port: the most beats that its program may make of it.
  logic [14:0] longest;
  logic [EarnBits-1:0] earned;
  assign longest = 15'(s_axis_side.length) + ((growth == '0) ? 15'(MostGrown) : 15'(growth) - 15'd1);
  assign earned  = EarnBits'((((longest > 15'(MaxFrameBytes)) ? 15'(MaxFrameBytes) : longest) + 15'(Bytes - 1)) >> $clog2(
      Bytes
  ));

  sluice_xdp_out #(
      .Width       (UserBits + 9 * Bytes),
      .LongestBeats((MaxFrameBytes + Bytes - 1) / Bytes),
      .EarnBits    (EarnBits),
      .Held        (16384 / Bytes)
  ) u_out (
      .clk_i,
      .rst_ni,
      .earn_valid_i(front_take && known && front_first_q),
      .earn_i      (earned),
      .pass_valid_i(beat_valid && !beat.known),
      .pass_ready_o(pass_ready),
      .pass_last_i (beat.last),
      .pass_i      ({beat.route, beat.side, beat.keep, beat.data}),
      .back_valid_i(back_valid),
      .back_ready_o(back_ready),
      .back_last_i (back_last),
      .back_i      ({back_route, back_side, back_keep, back_data}),
      .valid_o     (m_axis_tvalid),
      .ready_i     (m_axis_tready),
      .last_o      (m_axis_tlast),
      .data_o      ({m_axis_route, m_axis_side, m_axis_tkeep, m_axis_tdata}),
      .waiting_o   (held)
  );

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
    verdict_generation_o <= front_verdict ? s_axis_side.generation : unload_token.generation;
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
  // Cores.

  // Of each core.
  logic [Cores-1:0]
      core_valid, core_ready, window_valid, window_ready, window_last, enter_valid, fetch_valid, look_valid;
  logic [Cores-1:0][511:0] window;
  xdp_leaving_t [Cores-1:0] leaving;
  logic [Cores-1:0][SlotBits-1:0] enter_slot, verdict_slot, slot, start_slot;
  logic [Cores-1:0][  SlotBits:0] level;
  logic [Cores-1:0][LookBits-1:0] look_index;
  logic [Cores-1:0][Slots-1:0] waits, soon;
  logic [Cores-1:0] near_valid;
  logic [Cores-1:0][SlotBits-1:0] near_slot;
  logic [Cores-1:0][CodeBits-1:0] fetch_row, request_row;
  xdp_code_row_t [Cores-1:0] code_row;
  xdp_page_row_t [Cores-1:0] page_row;
  xdp_interfaces_row_t [Cores-1:0] interfaces_row;
  logic [Cores-1:0] request_valid, request_ready, helper_valid, helper_ready;
  xdp_request_t [Cores-1:0] request, helper_request;
  logic [Cores-1:0][ContextBits-1:0] request_context, map_call_context, start_context, number_context;
  logic [Cores-1:0] number_valid;
  logic [Cores-1:0][63:0] given_number;
  logic [Cores-1:0][63:0] late;
  logic [Cores-1:0] map_call_valid, map_answer_ready, map_read_valid, map_read_ready;
  xdp_map_call_t [Cores-1:0] map_call;
  logic [Cores-1:0][1:0][63:0] map_read_data;
  xdp_place_t [Cores-1:0] map_read_place;
  logic [Cores-1:0] verdict_valid, verdict_grant, slot_valid, start_valid, core_waiting;
  token_t [Cores-1:0] verdict_token;
  verdict_trace_t [Cores-1:0] verdict;
  cost_t [Cores-1:0] cost;
  logic [Cores-1:0] ran, verdict_generation, core_pass_valid;
  logic [Cores-1:0][ClockBits-1:0] waited;
  xdp_outcome_t [Cores-1:0] outcome;
  xdp_spent_t [Cores-1:0] core_pass;
  logic accounts_cfg_valid, events_cfg_valid, told_room;
  cfg_rsp_t accounts_cfg_rsp, events_cfg_rsp;
  logic [Cores-1:0] told_valid, told_ready, abandon_valid;
  xdp_event_t [Cores-1:0] told, abandon;
  logic [Cores-1:0][31:0] slot_id;

  // Of all of them.
  xdp_program_row_t program_row;
  xdp_interfaces_row_t arrival_row;
  logic [2:0] arrival_port_q;
  logic event_q;
  logic [ModuleIndexBits-1:0] event_module_q;
  xdp_event_e event_kind_q;
  logic [2:0] event_amount;
  logic tables_cfg_valid, values_cfg_valid, maps_cfg_valid;
  cfg_rsp_t tables_cfg_rsp, values_cfg_rsp, maps_cfg_rsp;

  logic values_ready, locks, done_valid, done_fault;
  // Whom the values answer: a context of a core, the map engine, or a core's helper.
  logic [ProcessorBits+1:0] done_context;
  logic [63:0] done_value;
  logic map_answer_valid, map_request_valid, map_done, map_done_host;
  xdp_map_answer_t map_answer;
  processor_t map_answer_context, map_done_context;
  processor_t [Cores-1:0] map_call_processor;
  xdp_request_t map_request;

  // Locks in values.
  logic asked_valid, asked_unlocks, asked_fault;
  logic [ProcessorBits+1:0] asked_context;
  logic [$clog2(Cfg.values/4)-1:0] asked_place;
  logic [Cores-1:0] lock_valid, lock_ready, lock_free;
  logic [Cores-1:0][ContextBits-1:0] lock_context, lock_free_context;
  xdp_lock_answer_t [Cores-1:0] lock_answer;

  function automatic core_t core_of(processor_t processor);
    return core_t'(32'(processor) >> ContextBits);
  endfunction

  function automatic processor_t processor_of(core_t core, logic [ContextBits-1:0] number);
    return processor_t'((32'(core) << ContextBits) | 32'(number));
  endfunction

  function automatic logic [AllSlotBits-1:0] slot_of(core_t core, logic [SlotBits-1:0] number);
    return AllSlotBits'((32'(core) << SlotBits) | 32'(number));
  endfunction

  // ---------------------------------------------------------------------------------------------------------------
  // Packets go to the core that takes them, of several to that with the fewest.

  logic in_first_q, enters;
  core_t least, in_core, in_core_q;
  logic enters_q;
  logic [AllSlotBits-1:0] entered_q, left;
  logic [ModuleBits-1:0] entered_module_q;
  logic [$clog2(Buckets)-1:0] entered_hash_q;
  logic [AllSlots-1:0] all_waits, all_soon;
  logic [Cores-1:0][AllSlotBits-1:0] all_near;

  always_comb begin
    least = '0;
    for (int unsigned c = 1; c < Cores; c++) begin
      if (core_ready[c] && (!core_ready[least] || level[c] < level[least])) least = core_t'(c);
    end
  end
  assign in_core  = in_first_q ? least : in_core_q;
  assign in_ready = core_ready[in_core];
  assign enters   = in_valid && in_ready && in_first_q;
  always_comb begin
    core_valid = '0;
    core_valid[in_core] = in_valid;
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) in_first_q <= 1'b1;
    else if (in_valid && in_ready) in_first_q <= in_last;
    if (enters) in_core_q <= in_core;
    // The port's interface, of a packet that comes.
    if (enters) arrival_port_q <= in_side.id[30:28];
  end

  // The order hears of it a cycle later: before the packet is whole in memory.
  always_ff @(posedge clk_i) begin
    enters_q         <= enters && rst_ni;
    entered_q        <= slot_of(in_core, enter_slot[in_core]);
    entered_module_q <= in_side.module_id;
    entered_hash_q   <= in_side.flow_hash[$clog2(Buckets)-1:0];
  end

  sluice_xdp_order #(
      .Slots  (AllSlots),
      .Modules(Modules),
      .Buckets(Buckets),
      .Cores  (Cores)
  ) u_order (
      .clk_i,
      .rst_ni,
      .enter_valid_i (enters_q),
      .enter_slot_i  (entered_q),
      .enter_module_i(entered_module_q),
      .enter_hash_i  (entered_hash_q),
      .leave_valid_i (charge_valid),
      .leave_slot_i  (left),
      .near_valid_i  (near_valid),
      .near_slot_i   (all_near),
      .waits_o       (all_waits),
      .soon_o        (all_soon)
  );
  assign waits = all_waits;
  assign soon  = all_soon;
  always_comb begin
    for (int unsigned c = 0; c < Cores; c++) all_near[c] = slot_of(core_t'(c), near_slot[c]);
  end

  for (genvar c = 0; c < int'(Cores); c++) begin : gen_core
    logic done_here;
    assign done_here = done_valid && done_context[ProcessorBits+1-:2] != 2'b10 && core_of(
        done_context[ProcessorBits-1:0]
    ) == core_t'(c);

    sluice_xdp_cluster #(
        .Contexts(Cfg.contexts),
        .Core    (c),
        .Rows    (Cfg.memory),
        .Slots   (Slots),
        .Modules (Modules)
    ) u_cluster (
        .clk_i,
        .rst_ni,
        .s_axis_tvalid       (core_valid[c]),
        .s_axis_tready       (core_ready[c]),
        .s_axis_tdata        (in_data),
        .s_axis_tkeep        (in_keep),
        .s_axis_tlast        (in_last),
        .s_axis_side         (in_side),
        .s_axis_route        (in_route),
        .s_axis_token        (in_token),
        .s_axis_broken       (in_broken),
        .s_axis_came         (in_came),
        .now_i               (now_q),
        .window_valid_o      (window_valid[c]),
        .window_ready_i      (window_ready[c]),
        .window_last_o       (window_last[c]),
        .window_o            (window[c]),
        .enter_valid_o       (enter_valid[c]),
        .enter_slot_o        (enter_slot[c]),
        .level_o             (level[c]),
        .program_i           (program_row),
        .ifindex_i           (arrival_row.ifindex[arrival_port_q]),
        .waits_i             (waits[c]),
        .soon_i              (soon[c]),
        .near_valid_o        (near_valid[c]),
        .near_slot_o         (near_slot[c]),
        .fetch_valid_o       (fetch_valid[c]),
        .fetch_row_o         (fetch_row[c]),
        .code_i              (code_row[c]),
        .page_i              (page_row[c]),
        .interfaces_valid_o  (look_valid[c]),
        .interfaces_index_o  (look_index[c]),
        .interfaces_i        (interfaces_row[c]),
        .request_valid_o     (request_valid[c]),
        .request_ready_i     (request_ready[c]),
        .request_o           (request[c]),
        .request_context_o   (request_context[c]),
        .request_row_o       (request_row[c]),
        .late_o              (late[c]),
        .helper_valid_o      (helper_valid[c]),
        .helper_ready_i      (helper_ready[c]),
        .helper_o            (helper_request[c]),
        .done_valid_i        (done_here),
        .done_helper_i       (done_context[ProcessorBits+1]),
        .done_context_i      (done_context[ContextBits-1:0]),
        .done_fault_i        (done_fault),
        .done_value_i        (done_value),
        .lock_valid_i        (lock_valid[c]),
        .lock_ready_o        (lock_ready[c]),
        .lock_context_i      (lock_context[c]),
        .lock_i              (lock_answer[c]),
        .lock_free_o         (lock_free[c]),
        .lock_free_context_o (lock_free_context[c]),
        .map_call_valid_o    (map_call_valid[c]),
        .map_call_o          (map_call[c]),
        .map_context_o       (map_call_context[c]),
        .map_answer_valid_i  (map_answer_valid && core_of(map_answer_context) == core_t'(c)),
        .map_answer_ready_o  (map_answer_ready[c]),
        .map_answer_context_i(map_answer_context[ContextBits-1:0]),
        .map_answer_i        (map_answer),
        .map_read_valid_i    (map_read_valid[c]),
        .map_read_ready_o    (map_read_ready[c]),
        .map_read_place_i    (map_read_place[c]),
        .map_read_data_o     (map_read_data[c]),
        .verdict_valid_o     (verdict_valid[c]),
        .verdict_ready_i     (unload_verdict_ready && verdict_grant[c]),
        .verdict_slot_o      (verdict_slot[c]),
        .leave_o             (verdict_token[c]),
        .verdict_o           (verdict[c]),
        .cost_o              (cost[c]),
        .leaving_o           (leaving[c]),
        .ran_o               (ran[c]),
        .outcome_o           (outcome[c]),
        .generation_o        (verdict_generation[c]),
        .waited_o            (waited[c]),
        .pass_valid_o        (core_pass_valid[c]),
        .pass_o              (core_pass[c]),
        .event_valid_o       (told_valid[c]),
        .event_ready_i       (told_ready[c]),
        .event_o             (told[c]),
        .event_room_i        (told_room),
        .abandon_valid_o     (abandon_valid[c]),
        .abandon_o           (abandon[c]),
        .slot_valid_o        (slot_valid[c]),
        .slot_o              (slot[c]),
        .slot_id_o           (slot_id[c]),
        .start_valid_o       (start_valid[c]),
        .start_slot_o        (start_slot[c]),
        .start_context_o     (start_context[c]),
        .number_valid_o      (number_valid[c]),
        .number_context_o    (number_context[c]),
        .number_o            (given_number[c]),
        .waiting_o           (core_waiting[c])
    );
  end

  // ---------------------------------------------------------------------------------------------------------------
  // Out: a verdict a cycle, and frames in the order of verdicts.

  core_t verdict_core, out_core;
  logic out_known, out_room, out_done, sending;
  xdp_leaving_t out_frame;
  logic [$clog2(Sending*Cores+1)-1:0] unused_out_level;

  sluice_arb_rr #(
      .Requests(Cores)
  ) u_verdict (
      .clk_i,
      .rst_ni,
      .req_i    (verdict_valid),
      .advance_i(unload_verdict_ready),
      .grant_o  (verdict_grant),
      .index_o  (verdict_core),
      .valid_o  (unload_verdict)
  );
  assign unload_verdict_data = verdict[verdict_core];
  assign unload_token = verdict_token[verdict_core];
  // A packet takes bundles of a core and beats of the output: what it takes more of is its cost, all cores' bundles beside one beat.
  // It is charged two cycles after its verdict, so that no path goes from a cluster to the scheduler.
  logic [14:0] rounded_q;
  cost_t beats, bundles_q;
  logic ended_q, ended_dropped_q;
  logic [ModuleBits-1:0] ended_module_q;
  assign beats = (cost_t'(rounded_q) >> $clog2(Bytes)) * cost_t'(Cores);
  always_ff @(posedge clk_i) begin
    ended_q         <= charge_valid && rst_ni;
    ended_dropped_q <= unload_verdict_data.dropped;
    ended_module_q  <= unload_verdict_data.module_id;
    rounded_q       <= 15'(leaving[verdict_core].side.length) + 15'(Bytes - 1);
    bundles_q       <= cost[verdict_core];
    spent_valid_q   <= ended_q && rst_ni;
    spent_module_q  <= ended_module_q;
    spent_q         <= (!ended_dropped_q && beats > bundles_q) ? beats : bundles_q;
  end
  assign left = slot_of(verdict_core, verdict_slot[verdict_core]);

  sluice_fifo #(
      .Width(CoreBits + $bits(xdp_leaving_t)),
      .Depth(Sending * Cores)
  ) u_sent (
      .clk_i,
      .rst_ni,
      .valid_i(charge_valid && !unload_verdict_data.dropped),
      .ready_o(out_room),
      .data_i ({verdict_core, leaving[verdict_core]}),
      .valid_o(out_known),
      .ready_i(out_done),
      .data_o ({out_core, out_frame}),
      .level_o(unused_out_level)
  );
  sluice_xdp_sender #(
      .Cores(Cores)
  ) u_sender (
      .clk_i,
      .rst_ni,
      .core_valid_i  (out_known),
      .core_i        (out_core),
      .frame_i       (out_frame),
      .core_done_o   (out_done),
      .window_valid_i(window_valid),
      .window_ready_o(window_ready),
      .window_last_i (window_last),
      .window_i      (window),
      .m_axis_tvalid (out_valid),
      .m_axis_tready (out_ready),
      .m_axis_tdata  (out_data),
      .m_axis_tkeep  (out_keep),
      .m_axis_tlast  (out_last),
      .m_axis_side   (out_side),
      .m_axis_route  (out_route),
      .waiting_o     (sending)
  );

  // ---------------------------------------------------------------------------------------------------------------
  // Programs and instructions.

  sluice_xdp_tables #(
      .Modules(Modules),
      .Rows   (Cfg.rows),
      .Cores  (Cores)
  ) u_tables (
      .clk_i,
      .rst_ni,
      .epoch_i,
      .known_index_i     (known_index),
      .known_o           (known_row),
      .growth_o          (growth),
      // Read as long as it waits: it is looked at behind its first beat.
      .program_valid_i   (in_valid),
      .program_index_i   ({in_side.module_id[LookBits-2:0], in_side.generation}),
      .program_o         (program_row),
      .arrival_o         (arrival_row),
      .interfaces_valid_i(look_valid),
      .interfaces_index_i(look_index),
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

  // What modules have taken of the cores.
  xdp_spent_t ended;
  assign ended = '{
          module_id: unload_verdict_data.module_id,
          kind: outcome[verdict_core].fault,
          bundle: 1'b0,
          cycles: waited[verdict_core]
      };
  sluice_xdp_accounts #(
      .Modules(Modules),
      .Cores  (Cores)
  ) u_accounts (
      .clk_i,
      .rst_ni,
      .pass_valid_i    (core_pass_valid),
      .pass_i          (core_pass),
      .end_valid_i     (charge_valid && ran[verdict_core]),
      .end_i           (ended),
      .end_outcome_i   (outcome[verdict_core]),
      .end_generation_i(verdict_generation[verdict_core]),
      .cfg_valid_i,
      .cfg_req_i,
      .cfg_valid_o     (accounts_cfg_valid),
      .cfg_rsp_o       (accounts_cfg_rsp)
  );

  // What programs tell the host.
  sluice_xdp_events #(
      .Modules (Modules),
      .Cores   (Cores),
      .Contexts(Cfg.contexts)
  ) u_events (
      .clk_i,
      .rst_ni,
      .event_valid_i  (told_valid),
      .event_ready_o  (told_ready),
      .event_i        (told),
      .event_room_o   (told_room),
      .abandon_valid_i(abandon_valid),
      .abandon_i      (abandon),
      .cfg_valid_i,
      .cfg_req_i,
      .cfg_valid_o    (events_cfg_valid),
      .cfg_rsp_o      (events_cfg_rsp)
  );

  // Of the short rows only the words that they have.
  cfg_rsp_t cfg_rsp;
  always_comb begin
    cfg_rsp = tables_cfg_rsp;
    if (accounts_cfg_valid) cfg_rsp = narrow_rsp(accounts_cfg_rsp, XdpSpentRowWords);
    if (events_cfg_valid) cfg_rsp = narrow_rsp(events_cfg_rsp, XdpEventsRowWords);
    if (values_cfg_valid) cfg_rsp = values_cfg_rsp;
    if (maps_cfg_valid) cfg_rsp = maps_cfg_rsp;
    if (queues_cfg_valid) cfg_rsp = narrow_rsp(queues_cfg_rsp, 1);
  end
  always_ff @(posedge clk_i) begin
    cfg_valid_o <= (tables_cfg_valid || values_cfg_valid || maps_cfg_valid || queues_cfg_valid || accounts_cfg_valid ||
                    events_cfg_valid) && rst_ni;
    cfg_rsp_o <= cfg_rsp;
  end

  // ---------------------------------------------------------------------------------------------------------------
  // Values.

  core_t asks_core, helps_core, late_core_q;
  logic asks_any, asks_engine, engine_ready, values_valid;
  // What values have a cycle later.
  typedef logic [ProcessorBits+1:0] asker_t;
  logic asked_q;
  logic [1:0] atomic_q;
  asker_t asker_q;
  xdp_request_t asked_request_q;
  logic [63:0] late_q;
  logic [Cores-1:0] request_store, request_atomic, helper_store;
  always_comb begin
    for (int unsigned c = 0; c < Cores; c++) begin
      request_store[c]  = request[c].kind == RequestStore;
      request_atomic[c] = request[c].kind == RequestAtomic;
      helper_store[c]   = helper_request[c].kind == RequestStore;
    end
  end

  sluice_xdp_value_turns #(
      .Cores   (Cores),
      .Patience(Patience)
  ) u_value_turns (
      .clk_i,
      .rst_ni,
      .locks_i         (locks),
      .stores_i        (atomic_q == '0),
      .context_valid_i (request_valid),
      .context_store_i (request_store),
      .context_atomic_i(request_atomic),
      .context_ready_o (request_ready),
      .engine_valid_i  (map_request_valid),
      .engine_store_i  (map_request.kind == RequestPut),
      .engine_ready_o  (engine_ready),
      .helper_valid_i  (helper_valid),
      .helper_store_i  (helper_store),
      .helper_ready_o  (helper_ready),
      .valid_o         (values_valid),
      .is_context_o    (asks_any),
      .context_core_o  (asks_core),
      .is_engine_o     (asks_engine),
      .helper_core_o   (helps_core)
  );

  // Atomic operations, and what names a map by its number, are asked by contexts alone.
  xdp_request_t values_request;
  always_comb begin
    values_request = asks_any ? request[asks_core] : asks_engine ? map_request : helper_request[helps_core];
    values_request.code = request[asks_core].code;
    values_request.expected = request[asks_core].expected;
    values_request.map = request[asks_core].map;
  end

  // Values have it a cycle later, and what belongs to it too. No store comes when the memory is an atomic operation's.
  always_ff @(posedge clk_i) begin
    asked_q <= values_valid && rst_ni;
    atomic_q <= rst_ni ? {atomic_q[0], values_valid && values_request.kind == RequestAtomic} : '0;
    asked_request_q <= values_request;
    asker_q <= {
      !asks_any,
      !asks_any && !asks_engine,
      asks_any ? processor_of(asks_core, request_context[asks_core]) : processor_of(helps_core, '0)
    };
    late_core_q <= asks_core;
    late_q <= late[late_core_q];
  end

  sluice_xdp_values #(
      .Regions (Cfg.regions),
      .Maps    (Cfg.maps),
      .Bytes   (Cfg.values),
      .Contexts(4 * Processors)
  ) u_values (
      .clk_i,
      .rst_ni,
      .valid_i(asked_q),
      .ready_o(values_ready),
      .request_i(asked_request_q),
      .context_i(asker_q),
      .late_i(late_q),
      .done_valid_o(done_valid),
      .done_context_o(done_context),
      .done_fault_o(done_fault),
      .done_value_o(done_value),
      .lock_valid_o(asked_valid),
      .lock_context_o(asked_context),
      .lock_place_o(asked_place),
      .lock_unlocks_o(asked_unlocks),
      .lock_fault_o(asked_fault),
      .cfg_valid_i,
      .cfg_req_i,
      .cfg_valid_o(values_cfg_valid),
      .cfg_rsp_o(values_cfg_rsp)
  );

  // "Bits of signal are not used": only contexts ask for locks.
  // verilator lint_off UNUSEDSIGNAL
  logic [1:0] unused_asked;
  // verilator lint_on UNUSEDSIGNAL
  assign unused_asked = asked_context[ProcessorBits+1-:2];
  sluice_xdp_locks #(
      .Cores    (Cores),
      .Contexts (Cfg.contexts),
      .PlaceBits($clog2(Cfg.values / 4))
  ) u_locks (
      .clk_i,
      .rst_ni,
      .now_i           (now_q),
      .ask_valid_i     (asked_valid),
      .ask_context_i   (asked_context[ProcessorBits-1:0]),
      .ask_place_i     (asked_place),
      .ask_unlocks_i   (asked_unlocks),
      .ask_fault_i     (asked_fault),
      .free_valid_i    (lock_free),
      .free_context_i  (lock_free_context),
      .answer_valid_o  (lock_valid),
      .answer_ready_i  (lock_ready),
      .answer_context_o(lock_context),
      .answer_o        (lock_answer)
  );

  // ---------------------------------------------------------------------------------------------------------------
  // The map engine.

  always_comb begin
    for (int unsigned c = 0; c < Cores; c++) map_call_processor[c] = processor_of(core_t'(c), map_call_context[c]);
  end

  sluice_xdp_maps #(
      .Maps      (Cfg.maps),
      .Rows      (Cfg.search),
      .Processors(Processors),
      .Cores     (Cores)
  ) u_maps (
      .clk_i,
      .rst_ni,
      .call_valid_i    (map_call_valid),
      .call_context_i  (map_call_processor),
      .call_i          (map_call),
      .answer_valid_o  (map_answer_valid),
      .answer_ready_i  (map_answer_ready[core_of(map_answer_context)]),
      .answer_context_o(map_answer_context),
      .answer_o        (map_answer),
      .read_valid_o    (map_read_valid),
      .read_ready_i    (map_read_ready),
      .read_place_o    (map_read_place),
      .read_data_i     (map_read_data),
      .done_o          (map_done),
      .done_host_o     (map_done_host),
      .done_context_o  (map_done_context),
      .locks_o         (locks),
      .request_valid_o (map_request_valid),
      .request_ready_i (engine_ready),
      .request_o       (map_request),
      .done_valid_i    (done_valid && done_context[ProcessorBits+1-:2] == 2'b10),
      .done_fault_i    (done_fault),
      .done_value_i    (done_value),
      .cfg_valid_i,
      .cfg_req_i,
      .cfg_valid_o     (maps_cfg_valid),
      .cfg_rsp_o       (maps_cfg_rsp)
  );

  // ---------------------------------------------------------------------------------------------------------------
  // Trace: what is a core's comes on its own channels, what all share on the first core's.

  logic [XdpSteps/XdpCoreSteps-1:0][XdpCoreSteps-1:0] steps_valid;
  xdp_step_trace_row_t [XdpSteps/XdpCoreSteps-1:0][XdpCoreSteps-1:0] steps;
  assign step_valid_o = steps_valid;
  assign step_o = steps;

  always_comb begin
    steps_valid = '0;
    steps = '0;
    for (int unsigned c = 0; c < Cores; c++) begin
      steps_valid[c][XdpStepPacket] = slot_valid[c];
      steps[c][XdpStepPacket].slot = 8'(slot_of(core_t'(c), slot[c]));
      steps[c][XdpStepPacket].value = 64'(slot_id[c]);
      steps_valid[c][XdpStepStart] = start_valid[c];
      steps[c][XdpStepStart].processor = 5'(processor_of(core_t'(c), start_context[c]));
      steps[c][XdpStepStart].slot = 8'(slot_of(core_t'(c), start_slot[c]));
      steps_valid[c][XdpStepNumber] = number_valid[c];
      steps[c][XdpStepNumber].processor = 5'(processor_of(core_t'(c), number_context[c]));
      steps[c][XdpStepNumber].value = given_number[c];
    end
    steps_valid[0][XdpStepValue] = asks_any && request[asks_core].kind inside {RequestLoad, RequestStore, RequestAtomic, RequestReference};
    steps[0][XdpStepValue].processor = 5'(processor_of(asks_core, request_context[asks_core]));
    steps[0][XdpStepValue].row = request_row[asks_core];
    steps_valid[0][XdpStepMap] = map_done;
    steps[0][XdpStepMap].processor = 5'(map_done_context);
    steps[0][XdpStepMap].slot = 8'(map_done_host);
  end

  // Drops are counted in their verdict's cycle, and the copies of what leaves.
  logic [3:0] copies;
  assign copies = count_ones(verdict_o.destinations);
  assign event_q = verdict_valid_o && (verdict_o.dropped || copies > 4'd1);
  assign event_module_q = verdict_o.module_id[ModuleIndexBits-1:0];
  assign event_kind_q = verdict_o.dropped ? xdp_event_e'(verdict_o.reason[2:0]) : XdpEventCopies;
  assign event_amount = verdict_o.dropped ? 3'd1 : 3'(copies - 4'd1);

`ifndef SYNTHESIS
  FramesHaveRoomInTheOrder_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !(charge_valid && !unload_verdict_data.dropped) || out_room);
  ValuesTakeWhatIsOffered_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !asked_q || values_ready || !(asked_request_q.kind inside {RequestStore, RequestPut}));
  OneCoreIsEntered_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) enters == (enter_valid != '0));
`endif

  assign waiting_o = (beat_valid || queues_waiting || core_waiting != '0 || sending || held) && !(m_axis_tvalid && !m_axis_tready);
  assign progress_o = (s_axis_tvalid && s_axis_tready) || (m_axis_tvalid && m_axis_tready) || fetch_valid != '0 || verdict_valid_o;

endmodule
