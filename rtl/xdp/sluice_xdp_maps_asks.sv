/// Who asks the map engine next: a context of a core, the host, or a packet that no context has yet, in turns; and what it asks (docs/design/hxdp-core.md, "Maps").
///
/// `call_valid_i` takes an operation of a context of each core, which has one at a time: there is always room. The others hold what they ask until they are taken. `asked_o` is what the one that
/// was taken asks.
///
/// Latency: none to who asks and its map's number; what it asks from the next cycle on. Throughput: an operation a cycle. Never stalls.
module sluice_xdp_maps_asks
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_start_pkg::*;
#(
    parameter int unsigned Cores = 2,
    parameter int unsigned Contexts = 8,
    parameter int unsigned MapBits = 8,
    parameter int unsigned IdBits = 4,
    localparam int unsigned ContextBits = (Contexts > 1) ? $clog2(Contexts) : 1
) (
    input logic clk_i,
    input logic rst_ni,

    input logic          [Cores-1:0]                  call_valid_i,
    input logic          [Cores-1:0][ContextBits-1:0] call_context_i,
    input xdp_map_call_t [Cores-1:0]                  call_i,

    // "Bits of signal are not used": numbers have room for the largest target; the host asks for no packet, and without an index.
    // verilator lint_off UNUSEDSIGNAL
    input  xdp_early_ask_t early_i,
    output logic           early_ready_o,
    input  logic           host_valid_i,
    input  xdp_map_call_t  host_i,
    // verilator lint_on UNUSEDSIGNAL
    output logic           host_taken_o,

    output logic               next_valid_o,
    input  logic               next_ready_i,
    output logic               next_host_o,
    output logic [ IdBits-1:0] next_id_o,
    output logic [MapBits-1:0] next_map_o,

    input  logic                       asks_host_i,
    input  logic          [IdBits-1:0] asks_id_i,
    output xdp_map_call_t              asked_o
);

  localparam int unsigned CoreBits = (Cores > 1) ? $clog2(Cores) : 1;
  localparam int unsigned ProcessorBits = $clog2(Cores * Contexts);
  localparam bit Early = IdBits > ProcessorBits;

  logic [Cores-1:0] queued;
  logic [Cores-1:0][ContextBits-1:0] queued_context;
  logic [Cores-1:0][MapBits-1:0] queued_map;
  xdp_map_call_t [Cores-1:0] asked;
  logic [Cores+1:0] next;
  logic [$clog2(Cores+2)-1:0] unused_number;
  logic [CoreBits-1:0] core;
  logic asks_early;

  assign core = CoreBits'(32'(asks_id_i[ProcessorBits-1:0]) / Contexts);
  assign asks_early = Early && asks_id_i[IdBits-1] && !asks_host_i;

  for (genvar c = 0; c < int'(Cores); c++) begin : gen_core
    sluice_xdp_maps_calls #(
        .Contexts(Contexts),
        .MapBits (MapBits)
    ) u_calls (
        .clk_i,
        .rst_ni,
        .valid_i     (call_valid_i[c]),
        .from_i      (call_context_i[c]),
        .call_i      (call_i[c]),
        .next_valid_o(queued[c]),
        .next_ready_i(next_ready_i && next[c]),
        .next_o      (queued_context[c]),
        .map_o       (queued_map[c]),
        .context_i   (asks_id_i[ContextBits-1:0]),
        .asked_o     (asked[c])
    );
  end

  sluice_arb_rr #(
      .Requests(Cores + 2)
  ) u_next (
      .clk_i,
      .rst_ni,
      .req_i    ({early_i.valid, host_valid_i, queued}),
      .advance_i(next_ready_i),
      .grant_o  (next),
      .index_o  (unused_number),
      .valid_o  (next_valid_o)
  );
  assign next_host_o   = next[Cores];
  assign host_taken_o  = next_ready_i && next[Cores];
  assign early_ready_o = next_ready_i && next[Cores+1];

  always_comb begin
    next_id_o  = '0;
    next_map_o = next[Cores] ? host_i.map[MapBits-1:0] : '0;
    for (int unsigned c = 0; c < Cores; c++) begin
      if (next[c]) begin
        next_id_o  = IdBits'(Contexts * c) | IdBits'(queued_context[c]);
        next_map_o = queued_map[c];
      end
    end
    if (next[Cores+1]) begin
      next_id_o  = early_i.id[IdBits-1:0];
      next_map_o = early_i.next.map[MapBits-1:0];
    end

    asked_o = asked[core];
    if (asks_early) begin
      asked_o.op = XdpMapOpLookup;
      asked_o.map = early_i.taken.map;
      asked_o.module_id = early_i.taken.module_id;
    end
    if (asks_host_i) begin
      asked_o.op = host_i.op;
      asked_o.map = host_i.map;
      asked_o.key = '0;
      asked_o.value = host_i.value;
      asked_o.flags = host_i.flags;
    end
  end

endmodule
