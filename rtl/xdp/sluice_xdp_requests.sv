/// What contexts of a core ask of values, until values take it (docs/design/hxdp-core.md, "Values").
///
/// A context asks once and waits for its answer: so there is always room, and nobody is sent back. Values take requests in the order in which they came. `late_i` is what
/// packet memory has read for the request of the cycle before; `late_o` that of the request that was taken in the cycle before.
///
/// Without `Queue` a request is taken in its cycle or sent back: where values of one module wait for external memory, a request of another one may not stand behind them.
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

    output logic                           valid_o,
    input  logic                           ready_i,
    output xdp_request_t                   request_o,
    output logic         [ContextBits-1:0] context_o,
    output logic         [   CodeBits-1:0] row_o,
    output logic         [           63:0] late_o
);

  if (Queue) begin : gen_queue
    logic [$clog2(Contexts+1)-1:0] unused_level;
    logic came_q;
    logic [ContextBits-1:0] came_context_q, taken_context_q;

    sluice_fifo #(
        .Width(CodeBits + ContextBits + $bits(xdp_request_t)),
        .Depth(Contexts)
    ) u_requests (
        .clk_i,
        .rst_ni,
        .valid_i,
        .ready_o,
        .data_i ({row_i, context_i, request_i}),
        .valid_o,
        .ready_i,
        .data_o ({row_o, context_o, request_o}),
        .level_o(unused_level)
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
    assign valid_o   = valid_i;
    assign ready_o   = ready_i;
    assign request_o = request_i;
    assign context_o = context_i;
    assign row_o     = row_i;
    assign late_o    = late_i;
  end

endmodule
