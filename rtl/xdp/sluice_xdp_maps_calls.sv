/// What contexts of a core ask of the map engine, and who is next (docs/design/hxdp-core.md, "Maps").
///
/// `valid_i` takes an operation of a context, which has one at a time: so there is always room. `next_valid_o` offers contexts in the order in which they asked, one that
/// comes while nobody waits in the same cycle. What a context asks stays here until it asks again: `asked_o` is that of `context_i`.
///
/// Latency: none to the context and its map's number, 1 cycle to what it asks. Throughput: an operation a cycle. Never stalls.
module sluice_xdp_maps_calls
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
#(
    parameter int unsigned Contexts = 8,
    parameter int unsigned MapBits = 8,
    localparam int unsigned ContextBits = (Contexts > 1) ? $clog2(Contexts) : 1
) (
    input logic clk_i,
    input logic rst_ni,

    input logic                            valid_i,
    input logic          [ContextBits-1:0] from_i,
    input xdp_map_call_t                   call_i,

    output logic                   next_valid_o,
    input  logic                   next_ready_i,
    output logic [ContextBits-1:0] next_o,
    output logic [    MapBits-1:0] map_o,

    input  logic          [ContextBits-1:0] context_i,
    output xdp_map_call_t                   asked_o
);

  logic waiting, unused_ready;
  logic [ContextBits-1:0] first;
  logic [MapBits-1:0] first_map;
  logic [$clog2(Contexts+1)-1:0] unused_level;

  sluice_ram_lut #(
      .Width($bits(xdp_map_call_t)),
      .Depth(Contexts)
  ) u_asked (
      .clk_i,
      .we_i   (valid_i),
      .waddr_i(from_i),
      .wdata_i(call_i),
      .raddr_i(context_i),
      .rdata_o(asked_o)
  );

  sluice_fifo #(
      .Width(ContextBits + MapBits),
      .Depth((Contexts > 2) ? Contexts : 2)
  ) u_waiting (
      .clk_i,
      .rst_ni,
      .valid_i(valid_i && (waiting || !next_ready_i)),
      .ready_o(unused_ready),
      .data_i ({from_i, call_i.map[MapBits-1:0]}),
      .valid_o(waiting),
      .ready_i(next_ready_i),
      .data_o ({first, first_map}),
      .level_o(unused_level)
  );

  assign next_valid_o = waiting || valid_i;
  assign next_o = waiting ? first : from_i;
  assign map_o = waiting ? first_map : call_i.map[MapBits-1:0];

`ifndef SYNTHESIS
  CallsHaveRoom_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !valid_i || unused_ready);
`endif

endmodule
