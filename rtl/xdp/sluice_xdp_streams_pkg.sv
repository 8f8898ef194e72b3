/// Packets on their way through the XDP engine (docs/design/hxdp-core.md).
package sluice_xdp_streams_pkg;

  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_room_pkg::*;

  // Bytes of a beat: that many from its first one on.
  localparam int unsigned BeatByteBits = 7;
  typedef logic [BeatByteBits-1:0] beat_bytes_t;

  // A beat of a packet on its way to the cores, and of a frame from them.
  typedef struct packed {
    logic [511:0]         data;
    beat_bytes_t          bytes;
    logic                 last;
    sideband_t            side;
    route_t               route;
    token_t               token;
    logic                 broken;
    logic [ClockBits-1:0] came;
    logic                 core;
    xdp_room_t            room;
    xdp_need_t            need;
  } xdp_in_t;

  typedef struct packed {
    logic [511:0] data;
    logic [63:0]  keep;
    logic         last;
    sideband_t    side;
    route_t       route;
  } xdp_out_t;

  // A packet that its queue has no room for.
  typedef struct packed {
    logic [ModuleBits-1:0] module_id;
    logic [31:0]           id;
    token_t                token;
  } xdp_dropped_t;

  // A frame that a core lets go: where it was sent, and where it goes unless it goes on there.
  typedef struct packed {
    xdp_leaving_t        frame;
    logic                goes_on;
    logic [DestBits-1:0] mask;
  } xdp_judged_t;

  // As it leaves. Told of the one core's frame that is taken, not in each core.
  function automatic xdp_leaving_t leaving_of(xdp_judged_t judged);
    leaving_of = judged.frame;
    if (!judged.goes_on) begin
      leaving_of.route = '0;
      leaving_of.route.destinations = judged.mask;
      leaving_of.side.egress_queue = '0;
    end
    leaving_of.side.destinations = leaving_of.route.destinations;
  endfunction

  // How many bytes a beat keeps, which are the first ones: a bit of the number chooses where the next one is looked for.
  function automatic beat_bytes_t bytes_of(logic [63:0] keep);
    bytes_of = '0;
    for (int unsigned b = 6; b > 0; b--) if (keep[6'(bytes_of|beat_bytes_t'(1<<(b-1)))-6'd1]) bytes_of[b-1] = 1'b1;
    if (keep[63]) bytes_of = beat_bytes_t'(64);
  endfunction

endpackage
