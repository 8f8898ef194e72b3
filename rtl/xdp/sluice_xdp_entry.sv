/// Entrance of the XDP engine: packets whose module has a program go into its queue, the others pass beside.
///
/// Whose module has a program is known with the beat. Behind the queues a packet gets room in a core, and its beats are 64 bytes wide. What a packet brings is what its tenant has paid for at
/// the port: the most beats that its program may make of it.
///
/// Latency: 1 cycle to who passes beside. Throughput: a beat a cycle. Stall behaviour: stalls for packets that pass beside while they do; in addition
/// for a cycle in which a verdict from behind waits.
module sluice_xdp_entry
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_room_pkg::*;
  import sluice_xdp_streams_pkg::*;
#(
    parameter xdp_cfg_t Cfg = XdpCfgDefault,
    // Of beats that a packet may become.
    parameter int unsigned EarnBits = 10,
    localparam int unsigned Bytes = Cfg.bus_bytes,
    localparam int unsigned Modules = Cfg.modules,
    localparam int unsigned LookBits = $clog2(2 * Modules),
    localparam int unsigned ContextCountBits = $clog2(Cfg.contexts + 1)
) (
    input logic clk_i,
    input logic rst_ni,

    input logic [ClockBits-1:0] now_i,

    input  logic                    s_axis_tvalid,
    output logic                    s_axis_tready,
    input  logic      [8*Bytes-1:0] s_axis_tdata,
    input  logic      [  Bytes-1:0] s_axis_tkeep,
    input  logic                    s_axis_tlast,
    input  sideband_t               s_axis_side,
    input  route_t                  s_axis_route,
    input  token_t                  token_i,

    // Of its module: whether it has a program, and what that takes of a packet's memory.
    output logic       [LookBits-1:0] known_index_o,
    input  xdp_known_t                known_i,

    // A verdict from behind waits.
    input logic verdict_waits_i,

    // Of who passes beside: its first beat is taken, its last.
    output logic beside_first_o,
    output logic beside_last_o,

    output logic                earn_valid_o,
    output logic [EarnBits-1:0] earn_o,

    output logic                    pass_valid_o,
    input  logic                    pass_ready_i,
    output logic      [8*Bytes-1:0] pass_data_o,
    output logic      [  Bytes-1:0] pass_keep_o,
    output logic                    pass_last_o,
    output sideband_t               pass_side_o,
    output route_t                  pass_route_o,

    // Its queue has no room.
    output logic         drop_valid_o,
    input  logic         drop_ready_i,
    output xdp_dropped_t drop_o,

    output logic    in_valid_o,
    input  logic    in_ready_i,
    output xdp_in_t in_o,

    // Slots and memory of the cores that come back; contexts of each core that nobody owns.
    input  xdp_back_t [       Cfg.cores-1:0] back_i,
    output logic      [ContextCountBits-1:0] shared_contexts_o,

    // What a packet has cost its module.
    input logic                   charge_valid_i,
    input logic  [ModuleBits-1:0] charge_module_i,
    input cost_t                  charge_i,

    input  logic     cfg_valid_i,
    input  cfg_req_t cfg_req_i,
    output logic     cfg_valid_o,
    output cfg_rsp_t cfg_rsp_o,

    output logic waiting_o
);

  localparam int unsigned CoreBits = (Cfg.cores > 1) ? $clog2(Cfg.cores) : 1;
  localparam int unsigned UserBits = $bits(route_t) + $bits(sideband_t);

  typedef struct packed {
    logic               known;
    xdp_need_t          need;
    logic [9:0]         rows;   // of its queue
    token_t             token;
    route_t             route;
    sideband_t          side;
    logic               last;
    logic [Bytes-1:0]   keep;
    logic [8*Bytes-1:0] data;
  } beat_t;

  logic known, ready, takes, first_q, beat_valid, queue_ready, queues_waiting;
  beat_t front, beat;

  assign known_index_o = {s_axis_side.module_id[LookBits-2:0], s_axis_side.generation};
  // Modules that this target does not have, have no program.
  assign known = known_i.valid && 32'(s_axis_side.module_id) < Modules;
  // What it takes of a core's memory. No frame has more rows than the longest; one whose sideband says so is broken.
  xdp_need_t need;
  logic [8:0] frame_rows, plain;
  assign frame_rows = 9'((15'(s_axis_side.length) + 15'd63) >> 6);
  assign plain = 9'(FrameRow) + ((frame_rows > 9'(MostFrameRows)) ? 9'(MostFrameRows) : frame_rows);
  assign need = '{
          rows: ((known_i.grows && plain < 9'(GrownRows)) ? 9'(GrownRows) : plain) + 9'({known_i.front, 3'd0}),
          front: known_i.front
      };
  assign front = '{
          known: known,
          need: need,
          rows: 10'((15'(s_axis_side.length) + 15'(Bytes - 1)) >> $clog2(Bytes)),
          token: token_i,
          route: s_axis_route,
          side: s_axis_side,
          last: s_axis_tlast,
          keep: s_axis_tkeep,
          data: s_axis_tdata
      };
  // A verdict from behind that waits gets the next cycle.
  assign s_axis_tready = ready && !verdict_waits_i;
  assign takes = s_axis_tvalid && s_axis_tready;
  assign beside_first_o = takes && !known && first_q;
  assign beside_last_o = takes && !known && s_axis_tlast;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) first_q <= 1'b1;
    else if (takes) first_q <= s_axis_tlast;
  end

  logic [14:0] longest;
  assign longest = 15'(s_axis_side.length) + ((known_i.growth == '0) ? 15'(MostGrown) : 15'(known_i.growth) - 15'd1);
  always_ff @(posedge clk_i) begin
    earn_valid_o <= takes && known && first_q && rst_ni;
    earn_o <= EarnBits'((((longest > 15'(MaxFrameBytes)) ? 15'(MaxFrameBytes) : longest) + 15'(Bytes - 1)) >> $clog2(
        Bytes
    ));
  end

  logic [$clog2(3)-1:0] unused_front_level;
  sluice_fifo #(
      .Width($bits(beat_t)),
      .Depth(2)
  ) u_front (
      .clk_i,
      .rst_ni,
      .valid_i(s_axis_tvalid && !verdict_waits_i),
      .ready_o(ready),
      .data_i (front),
      .valid_o(beat_valid),
      .ready_i(beat.known ? queue_ready : pass_ready_i),
      .data_o (beat),
      .level_o(unused_front_level)
  );

  assign pass_valid_o = beat_valid && !beat.known;
  assign pass_data_o = beat.data;
  assign pass_keep_o = beat.keep;
  assign pass_last_o = beat.last;
  assign pass_side_o = beat.side;
  assign pass_route_o = beat.route;
  assign drop_o = '{module_id: beat.side.module_id, id: beat.side.id, token: beat.token};
  assign waiting_o = beat_valid || queues_waiting;

  // ---------------------------------------------------------------------------------------------------------------
  // Queues.

  logic queued_valid, queued_ready, queued_last, queued_broken;
  logic [8*Bytes-1:0] queued_data;
  beat_bytes_t queued_bytes;
  logic [ClockBits-1:0] queued_came;
  sideband_t queued_side;
  route_t queued_route;
  token_t queued_token;
  xdp_need_t queued_need;
  logic first, first_pool, granted, find_valid, found, room_cfg_valid, queues_cfg_valid;
  logic [UnitBits-1:0] find, first_units;
  logic [Modules-1:0] own;
  logic [CoreBits-1:0] core;
  xdp_room_t room;
  cfg_rsp_t room_cfg_rsp, queues_cfg_rsp;

  sluice_xdp_queues #(
      .Bytes  (Bytes),
      .Rows   (Cfg.queue_rows),
      .Modules(Modules)
  ) u_queues (
      .clk_i,
      .rst_ni,
      .s_axis_tvalid(beat_valid && beat.known),
      .s_axis_tready(queue_ready),
      .s_axis_tdata (beat.data),
      .s_axis_bytes (bytes_of(64'(beat.keep))),
      .s_axis_tlast (beat.last),
      .s_axis_side  (beat.side),
      .s_axis_route (beat.route),
      .token_i      (beat.token),
      .need_i       (beat.need),
      .need_rows_i  (16'(beat.rows)),
      .now_i,
      .drop_valid_o,
      .drop_ready_i,
      .m_axis_tvalid(queued_valid),
      .m_axis_tready(queued_ready),
      .m_axis_tdata (queued_data),
      .m_axis_bytes (queued_bytes),
      .m_axis_tlast (queued_last),
      .m_axis_side  (queued_side),
      .m_axis_route (queued_route),
      .m_axis_token (queued_token),
      .m_axis_broken(queued_broken),
      .m_axis_came  (queued_came),
      .m_axis_need  (queued_need),
      .first_o      (first),
      .first_pool_o (first_pool),
      .first_units_o(first_units),
      .granted_i    (granted),
      .find_valid_o (find_valid),
      .find_o       (find),
      .found_i      (found),
      .own_i        (own),
      .charge_valid_i,
      .charge_module_i,
      .charge_i,
      .cfg_valid_i,
      .cfg_req_i,
      .cfg_valid_o  (queues_cfg_valid),
      .cfg_rsp_o    (queues_cfg_rsp),
      .waiting_o    (queues_waiting)
  );
  assign cfg_valid_o = queues_cfg_valid || room_cfg_valid;
  assign cfg_rsp_o   = room_cfg_rsp | queues_cfg_rsp;

  sluice_xdp_room #(
      .Cores   (Cfg.cores),
      .Contexts(Cfg.contexts),
      .Slots   (Cfg.packets),
      .Rows    (Cfg.memory),
      .Modules (Modules)
  ) u_room (
      .clk_i,
      .rst_ni,
      .ask_valid_i (first),
      .ask_module_i(queued_side.module_id[$clog2(Modules)-1:0]),
      .ask_units_i (first_units),
      .ask_pool_i  (first_pool),
      .granted_o   (granted),
      .core_o      (core),
      .room_o      (room),
      .take_i      (first && granted && queued_ready),
      .need_valid_i(find_valid),
      .need_i      (find),
      .pool_o      (found),
      .own_o       (own),
      .shared_contexts_o,
      .back_i,
      .cfg_valid_i,
      .cfg_req_i,
      .cfg_valid_o (room_cfg_valid),
      .cfg_rsp_o   (room_cfg_rsp)
  );

  // It keeps what it got with its first beat.
  logic [CoreBits-1:0] core_q, queued_core;
  xdp_room_t room_q, queued_room;
  always_ff @(posedge clk_i) begin
    if (first) begin
      core_q <= core;
      room_q <= room;
    end
  end
  assign queued_core = first ? core : core_q;
  assign queued_room = first ? room : room_q;

  // What belongs to a packet is the same in all its beats.
  if (Bytes == 64) begin : gen_wide_in
    assign in_o = '{
            data: queued_data,
            bytes: queued_bytes,
            last: queued_last,
            side: queued_side,
            route: queued_route,
            token: queued_token,
            broken: queued_broken,
            came: queued_came,
            core: queued_core,
            room: queued_room,
            need: queued_need
        };
    assign in_valid_o = queued_valid;
    assign queued_ready = in_ready_i;
  end else begin : gen_widen
    logic [Bytes-1:0] queued_keep;
    logic [63:0] in_keep;
    assign queued_keep = ~({Bytes{1'b1}} << queued_bytes);
    assign in_o.bytes  = bytes_of(in_keep);
    sluice_axis_width #(
        .InBytes  (Bytes),
        .OutBytes (64),
        .UserWidth(UserBits + $bits(token_t) + 1 + ClockBits + 1 + $bits(xdp_room_t) + $bits(xdp_need_t))
    ) u_widen (
        .clk_i,
        .rst_ni,
        .s_axis_tdata(queued_data),
        .s_axis_tkeep(queued_keep),
        .s_axis_tlast(queued_last),
        .s_axis_tuser({
          queued_need, queued_room, queued_core, queued_came, queued_broken, queued_token, queued_route, queued_side
        }),
        .s_axis_tvalid(queued_valid),
        .s_axis_tready(queued_ready),
        .m_axis_tdata(in_o.data),
        .m_axis_tkeep(in_keep),
        .m_axis_tlast(in_o.last),
        .m_axis_tuser({in_o.need, in_o.room, in_o.core, in_o.came, in_o.broken, in_o.token, in_o.route, in_o.side}),
        .m_axis_tvalid(in_valid_o),
        .m_axis_tready(in_ready_i)
    );
  end

endmodule
