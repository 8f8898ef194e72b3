/// The helper of all cores, in turns (docs/design/hxdp-core.md, "Core").
///
/// A call waits here, so nobody is sent back; a core calls again only behind its answer. While a call is under way its core's packet memory is read and
/// written, and nobody else's; its answer goes to its core alone (`return_valid_o`). A core that calls waits for one call of each other core at most.
///
/// Latency: the helper's, where no other core's call is under way. Throughput: one call at a time; the next one begins in the cycle behind an answer.
/// Stall behaviour: what the helper asks of memory, values and events holds with its values until taken.
module sluice_xdp_helpers
  import sluice_xdp_pkg::*;
#(
    parameter int unsigned Cores = 2,
    parameter int unsigned Contexts = 8,
    localparam int unsigned ContextBits = $clog2(Contexts)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic        [Cores-1:0] call_valid_i,
    input  xdp_call_t   [Cores-1:0] call_i,
    output logic        [Cores-1:0] return_valid_o,
    output xdp_return_t             return_o,

    // With an answer: its context was given a number that no program knows.
    output logic [      Cores-1:0] number_valid_o,
    output logic [ContextBits-1:0] number_context_o,
    output logic [           63:0] number_o,

    // Packet memory of each core.
    output logic       [Cores-1:0]             read_valid_o,
    input  logic       [Cores-1:0]             read_ready_i,
    output xdp_place_t                         read_place_o,
    input  logic       [Cores-1:0][ 1:0][63:0] read_data_i,
    output logic       [Cores-1:0]             write_valid_o,
    input  logic       [Cores-1:0]             write_ready_i,
    output xdp_place_t                         write_place_o,
    output logic       [      7:0][ 7:0]       write_enable_o,
    output logic       [      1:0][63:0]       write_data_o,

    output logic                request_valid_o,
    input  logic                request_ready_i,
    output xdp_request_t        request_o,
    input  logic                found_valid_i,
    input  logic                found_fault_i,
    input  logic         [63:0] found_value_i,

    output logic       event_valid_o,
    input  logic       event_ready_i,
    output xdp_event_t event_o,
    input  logic       event_room_i
);

  localparam int unsigned CoreBits = (Cores > 1) ? $clog2(Cores) : 1;

  logic [Cores-1:0] waits_q, asks, grant, whose;
  xdp_call_t [Cores-1:0] call_q;
  logic [CoreBits-1:0] core_q, next;
  logic busy_q, start_q, any, begins, done, told, read_valid, write_valid;
  logic [31:0] number;

  // ---------------------------------------------------------------------------------------------------------------
  // Whose call is next.

  assign asks   = waits_q | call_valid_i;
  assign begins = any && (!busy_q || done);
  sluice_arb_rr #(
      .Requests(Cores)
  ) u_turns (
      .clk_i,
      .rst_ni,
      .req_i    (asks),
      .advance_i(begins),
      .grant_o  (grant),
      .index_o  (next),
      .valid_o  (any)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      waits_q <= '0;
      busy_q  <= 1'b0;
      start_q <= 1'b0;
    end else begin
      waits_q <= begins ? asks & ~grant : asks;
      busy_q  <= begins || (busy_q && !done);
      start_q <= begins;
    end
    if (begins) core_q <= next;
    for (int unsigned c = 0; c < Cores; c++) if (call_valid_i[c]) call_q[c] <= call_i[c];
  end

  // ---------------------------------------------------------------------------------------------------------------
  // The call under way.

  always_comb begin
    whose = '0;
    whose[core_q] = 1'b1;
  end
  assign return_valid_o = done ? whose : '0;
  assign number_valid_o = told ? whose : '0;
  assign number_context_o = ContextBits'(call_q[core_q].processor);
  assign number_o = 64'(number);
  assign read_valid_o = read_valid ? whose : '0;
  assign write_valid_o = write_valid ? whose : '0;

  sluice_xdp_helper u_helper (
      .clk_i,
      .rst_ni,
      .start_i      (start_q),
      .call_i       (call_q[core_q]),
      .done_o       (done),
      .return_o,
      .told_o       (told),
      .number_o     (number),
      .event_valid_o,
      .event_ready_i,
      .event_o,
      .event_room_i,
      .read_valid_o (read_valid),
      .read_ready_i (read_ready_i[core_q]),
      .read_place_o,
      .read_data_i  (read_data_i[core_q]),
      .write_valid_o(write_valid),
      .write_ready_i(write_ready_i[core_q]),
      .write_place_o,
      .write_enable_o,
      .write_data_o,
      .request_valid_o,
      .request_ready_i,
      .request_o,
      .found_valid_i,
      .found_fault_i,
      .found_value_i
  );

`ifndef SYNTHESIS
  for (genvar c = 0; c < int'(Cores); c++) begin : gen_core
    NobodyCallsTwice_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) !call_valid_i[c] || !(waits_q[c] || (busy_q && whose[c])));
  end
`endif

endmodule
