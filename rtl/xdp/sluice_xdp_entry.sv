/// Entrance of the XDP engine: packets whose module has a program go into its queue, the others pass beside.
///
/// Whose module has a program is known with the beat. Behind the queues beats are 64 bytes wide. What a packet brings is what its tenant has paid for at
/// the port: the most beats that its program may make of it.
///
/// Latency: 1 cycle to who passes beside. Throughput: a beat a cycle. Stall behaviour: stalls for packets that pass beside while they do; in addition
/// for a cycle in which a verdict from behind waits.
module sluice_xdp_entry
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_streams_pkg::*;
#(
    parameter int unsigned Bytes = 64,
    parameter int unsigned Rows = 1024,
    parameter int unsigned Modules = 64,
    // Of beats that a packet may become.
    parameter int unsigned EarnBits = 10,
    localparam int unsigned LookBits = $clog2(2 * Modules)
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

    // Of its module: whether it has a program, and how much longer that may make a frame.
    output logic [  LookBits-1:0] known_index_o,
    input  logic                  known_i,
    input  logic [GrowthBits-1:0] growth_i,

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

  localparam int unsigned UserBits = $bits(route_t) + $bits(sideband_t);

  typedef struct packed {
    logic               known;
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
  assign known = known_i && 32'(s_axis_side.module_id) < Modules;
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
  assign s_axis_tready = ready && !verdict_waits_i;
  assign takes = s_axis_tvalid && s_axis_tready;
  assign beside_first_o = takes && !known && first_q;
  assign beside_last_o = takes && !known && s_axis_tlast;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) first_q <= 1'b1;
    else if (takes) first_q <= s_axis_tlast;
  end

  logic [14:0] longest;
  assign longest = 15'(s_axis_side.length) + ((growth_i == '0) ? 15'(MostGrown) : 15'(growth_i) - 15'd1);
  assign earn_o = EarnBits'((((longest > 15'(MaxFrameBytes)) ? 15'(MaxFrameBytes) : longest) + 15'(Bytes - 1)) >> $clog2(
      Bytes
  ));
  assign earn_valid_o = takes && known && first_q;

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
  logic [Bytes-1:0] queued_keep;
  logic [ClockBits-1:0] queued_came;
  sideband_t queued_side;
  route_t queued_route;
  token_t queued_token;

  sluice_xdp_queues #(
      .Bytes  (Bytes),
      .Rows   (Rows),
      .Modules(Modules)
  ) u_queues (
      .clk_i,
      .rst_ni,
      .s_axis_tvalid(beat_valid && beat.known),
      .s_axis_tready(queue_ready),
      .s_axis_tdata (beat.data),
      .s_axis_tkeep (beat.keep),
      .s_axis_tlast (beat.last),
      .s_axis_side  (beat.side),
      .s_axis_route (beat.route),
      .token_i      (beat.token),
      .now_i,
      .drop_valid_o,
      .drop_ready_i,
      .m_axis_tvalid(queued_valid),
      .m_axis_tready(queued_ready),
      .m_axis_tdata (queued_data),
      .m_axis_tkeep (queued_keep),
      .m_axis_tlast (queued_last),
      .m_axis_side  (queued_side),
      .m_axis_route (queued_route),
      .m_axis_token (queued_token),
      .m_axis_broken(queued_broken),
      .m_axis_came  (queued_came),
      .charge_valid_i,
      .charge_module_i,
      .charge_i,
      .cfg_valid_i,
      .cfg_req_i,
      .cfg_valid_o,
      .cfg_rsp_o,
      .waiting_o    (queues_waiting)
  );

  // What belongs to a packet is the same in all its beats.
  if (Bytes == 64) begin : gen_wide_in
    // Two beats in front of the cores: a cycle in which they take none costs the queues more than that one.
    xdp_in_t queued;
    logic [$clog2(3)-1:0] unused_in_level;
    assign queued = '{
            data: queued_data,
            keep: queued_keep,
            last: queued_last,
            side: queued_side,
            route: queued_route,
            token: queued_token,
            broken: queued_broken,
            came: queued_came
        };
    sluice_fifo #(
        .Width($bits(xdp_in_t)),
        .Depth(2)
    ) u_in (
        .clk_i,
        .rst_ni,
        .valid_i(queued_valid),
        .ready_o(queued_ready),
        .data_i (queued),
        .valid_o(in_valid_o),
        .ready_i(in_ready_i),
        .data_o (in_o),
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
        .m_axis_tdata (in_o.data),
        .m_axis_tkeep (in_o.keep),
        .m_axis_tlast (in_o.last),
        .m_axis_tuser ({in_o.came, in_o.broken, in_o.token, in_o.route, in_o.side}),
        .m_axis_tvalid(in_valid_o),
        .m_axis_tready(in_ready_i)
    );
  end

endmodule
