/// Accesses to outside memory that may begin: in the order of their line, and again when what they wait for has come or there was no room.
///
/// `valid_i` brings an access. `pick_o` takes one of those that may begin, in turns, in each cycle without `hold_i`. One that was picked leaves (`found_*`, `leave_*`), or comes again
/// (`again_i`).
///
/// Latency: 1 cycle. Throughput: one in and one out a cycle. Stall behaviour: who comes waits for those before it that share a line with it.
module sluice_xdp_outside_turns
  import sluice_xdp_outside_pkg::*;
#(
    parameter int unsigned Askers = 20,
    parameter int unsigned CacheBits = 18,
    localparam int unsigned AskerBits = $clog2(Askers)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic                             valid_i,
    input  logic             [AskerBits-1:0] asker_i,
    input  outside_request_t                 request_i,
    output logic             [   Askers-1:0] busy_o,

    input logic                 found_valid_i,
    input logic [AskerBits-1:0] found_asker_i,
    input logic                 leave_valid_i,
    input logic [AskerBits-1:0] leave_asker_i,
    input logic [   Askers-1:0] again_i,

    input  logic                             hold_i,
    output logic                             pick_o,
    output logic             [AskerBits-1:0] picked_o,
    output outside_request_t                 request_o,
    output logic                             followed_o  // somebody waits for one that leaves
);

  logic [Askers-1:0] starts, ready_q, grant;
  logic unused_valid, crosses;
  assign crosses = 7'(request_i.place[OutsideLineBits-1:0]) + 7'(request_i.bytes) > 7'd64;

  sluice_xdp_outside_order #(
      .Askers (Askers),
      .KeyBits(CacheBits - OutsideLineBits)
  ) u_order (
      .clk_i,
      .rst_ni,
      .enter_valid_i  (valid_i),
      .enter_asker_i  (asker_i),
      .enter_key_i    (request_i.place[CacheBits-1:OutsideLineBits]),
      .enter_crosses_i(crosses),
      .found_valid_i,
      .found_asker_i,
      .leave_valid_i,
      .leave_asker_i,
      .start_o        (starts),
      .busy_o,
      .followed_o
  );

  sluice_ram_lut #(
      .Width($bits(outside_request_t)),
      .Depth(Askers)
  ) u_requests (
      .clk_i,
      .we_i   (valid_i),
      .waddr_i(asker_i),
      .wdata_i(request_i),
      .raddr_i(picked_o),
      .rdata_o(request_o)
  );

  sluice_arb_rr #(
      .Requests(Askers)
  ) u_pick (
      .clk_i,
      .rst_ni,
      .req_i    (ready_q),
      .advance_i(pick_o),
      .grant_o  (grant),
      .index_o  (picked_o),
      .valid_o  (unused_valid)
  );
  assign pick_o = ready_q != '0 && !hold_i;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) ready_q <= '0;
    else ready_q <= (ready_q & ~(pick_o ? grant : '0)) | starts | again_i;
  end

endmodule
