/// What contexts of a core ask of values, until values take it (docs/design/hxdp-core.md, "Values").
///
/// A context asks once and waits for its answer: so there is always room, and nobody is sent back. Values take requests in the order in which they came. `late_i` is what
/// packet memory has read for the request of the cycle before; `late_o` that of the request that was taken in the cycle before.
///
/// What packets count that no context has (`count_*`) goes the same way, in cycles in which no context asks; its row is its packet's slot, its context says nothing.
///
/// Without `Queue` nothing is counted, and a request is taken in its cycle or sent back: where values of one module wait for external memory, a request of another one may not stand behind them.
///
/// Latency: 1 cycle, without `Queue` none. Throughput: a request a cycle. Stall behaviour: requests hold until taken.
module sluice_xdp_requests
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
#(
    parameter int unsigned Contexts = 8,
    parameter bit Queue = 1'b1,
    localparam int unsigned ContextBits = $clog2(Contexts)
) (
    // "Signal is not used": what passes through needs no clock.
    // verilator lint_off UNUSEDSIGNAL
    input logic clk_i,
    input logic rst_ni,
    // verilator lint_on UNUSEDSIGNAL

    input  logic                           valid_i,
    output logic                           ready_o,
    input  xdp_request_t                   request_i,
    input  logic         [ContextBits-1:0] context_i,
    input  logic         [   CodeBits-1:0] row_i,
    input  logic         [           63:0] late_i,

    input  logic               count_valid_i,
    output logic               count_ready_o,
    input  xdp_request_t       count_i,
    // "Bits of signal are not used": slots are numbered as for the largest memory.
    // verilator lint_off UNUSEDSIGNAL
    input  logic         [7:0] count_slot_i,
    // verilator lint_on UNUSEDSIGNAL

    output logic                           valid_o,
    input  logic                           ready_i,
    output logic                           count_o,
    output xdp_request_t                   request_o,
    output logic         [ContextBits-1:0] context_o,
    output logic         [   CodeBits-1:0] row_o,
    output logic         [           63:0] late_o
);

  if (Queue) begin : gen_queue
    // Room of contexts, and as much again for counts.
    localparam int unsigned Room = 2 * Contexts;
    logic [$clog2(Room+1)-1:0] level;
    logic came_q, counts;
    assign count_ready_o = !valid_i && 32'(level) < Contexts;
    assign counts = count_valid_i && count_ready_o;
    logic [ContextBits-1:0] came_context_q, taken_context_q;

    sluice_fifo #(
        .Width(1 + CodeBits + ContextBits + $bits(xdp_request_t)),
        .Depth(Room)
    ) u_requests (
        .clk_i,
        .rst_ni,
        .valid_i(valid_i || counts),
        .ready_o,
        .data_i (valid_i ? {1'b0, row_i, context_i, request_i} : {1'b1, CodeBits'(count_slot_i), context_i, count_i}),
        .valid_o,
        .ready_i,
        .data_o ({count_o, row_o, context_o, request_o}),
        .level_o(level)
    );

    // A request is taken in the cycle behind its own at the earliest; what was read for it is there then, and written.
    always_ff @(posedge clk_i) begin
      came_q          <= valid_i;
      came_context_q  <= context_i;
      taken_context_q <= context_o;
    end

    sluice_ram_lut #(
        .Width(64),
        .Depth(Contexts)
    ) u_late (
        .clk_i,
        .we_i   (came_q),
        .waddr_i(came_context_q),
        .wdata_i(late_i),
        .raddr_i(taken_context_q),
        .rdata_o(late_o)
    );

`ifndef SYNTHESIS
    RequestsHaveRoom_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) !valid_i || ready_o);
`endif
  end else begin : gen_through
    assign valid_o       = valid_i;
    assign ready_o       = ready_i;
    assign request_o     = request_i;
    assign context_o     = context_i;
    assign row_o         = row_i;
    assign late_o        = late_i;
    assign count_ready_o = 1'b0;
    assign count_o       = 1'b0;
    // verilator lint_off UNUSEDSIGNAL
    logic [1+$bits(xdp_request_t)+7:0] unused_count;
    // verilator lint_on UNUSEDSIGNAL
    assign unused_count = {count_valid_i, count_i, count_slot_i};
  end

endmodule
