/// A line of places: who came first is at its head. Each place stands in it at most once, so there is room for all.
///
/// Latency: 1 cycle from `push_i` to the head of an empty line. Throughput: one in and one out per cycle. Never stalls.
module sluice_l7_line
  import sluice_l7_matcher_pkg::*;
#(
    parameter int unsigned Places = 4
) (
    input  logic   clk_i,
    input  logic   rst_ni,
    input  logic   push_i,
    input  place_t place_i,
    input  logic   pop_i,
    output logic   valid_o,
    output place_t place_o
);

  logic [Places-1:0] valid_q, valid, push;
  place_t [Places-1:0] places_q, places;

  always_comb begin
    valid  = valid_q;
    places = places_q;
    if (pop_i) begin
      valid = valid_q >> 1;
      for (int unsigned i = 0; i + 1 < Places; i++) places[i] = places_q[i+1];
    end
    for (int unsigned i = 0; i < Places; i++) push[i] = push_i && !valid[i] && (i == 0 || valid[(i+Places-1)%Places]);
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_q <= '0;
    else valid_q <= valid | push;
    for (int unsigned i = 0; i < Places; i++) places_q[i] <= push[i] ? place_i : places[i];
  end

  assign valid_o = valid_q[0];
  assign place_o = places_q[0];

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      ThereIsRoomInTheLine_A : assert (!push_i || push != '0);
      OnlyWhoStandsThereLeaves_A : assert (!pop_i || valid_q[0]);
    end
  end
`endif

endmodule
