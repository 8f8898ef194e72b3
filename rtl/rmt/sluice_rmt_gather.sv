/// Containers into the lanes of a beat (docs/design/rmt.md, "Deparser"; docs/decisions/rmt-packet-path.md).
///
/// Each container is rotated first: with rotation r its byte (i - r) modulo its size stands at place i. So lane i has
/// to choose among the 24 containers only, for it always takes their byte i modulo their size.
///
/// With `load_i` containers and row come in; the rotated ones are there in the next cycle, as are `from_packet_o`;
/// then they stay until the next load. `bytes_o` follows one cycle behind that; that of a lane of the packet is any.
///
/// Latency: 2 cycles. Throughput: one beat a cycle.
module sluice_rmt_gather
  import sluice_rmt_rows_pkg::*;
  import sluice_rmt_pkg::*;
  import sluice_rmt_deparse_pkg::*;
#(
    parameter int unsigned Bytes = 64
) (
    input logic clk_i,

    input  logic                             load_i,
    input  logic                             window_i,       // low: no lane takes a container
    input  rmt_containers_t                  containers_i,
    input  deparse_lanes_t                   row_i,
    output logic            [Bytes-1:0]      from_packet_o,
    output logic            [Bytes-1:0][7:0] bytes_o
);

  if (Bytes != 32 && Bytes != 64) begin : gen_bad_bytes
    $fatal(1, "rmt_gather: Bytes is %0d, expected 32 or 64 (%m)", Bytes);
  end

  // Rotated containers; byte i is that for lanes i modulo the size.
  logic [7:0][1:0][7:0] rotated2, c2_q;
  logic [7:0][3:0][7:0] rotated4, c4_q;
  logic [7:0][5:0][7:0] rotated6, c6_q;

  for (genvar n = 0; n < 8; n++) begin : gen_rotate
    // The first byte is the most significant.
    logic [1:0][7:0] b2;
    logic [3:0][7:0] b4;
    logic [5:0][7:0] b6;
    (* keep *) logic [5:0][7:0] pairs;
    logic [1:0] by_pairs;

    for (genvar i = 0; i < 2; i++) begin : gen_2
      assign b2[i] = containers_i.c2[n][8*(1-i)+:8];
      assign rotated2[n][i] = row_i.rotate2[n] ? b2[1-i] : b2[i];
    end
    for (genvar i = 0; i < 4; i++) begin : gen_4
      assign b4[i] = containers_i.c4[n][8*(3-i)+:8];
      assign rotated4[n][i] = row_i.rotate4[n][1] ? (row_i.rotate4[n][0] ? b4[(i+1)%4] : b4[(i+2)%4]) :
          (row_i.rotate4[n][0] ? b4[(i+3)%4] : b4[i]);
    end
    assign by_pairs = row_i.rotate6[n][2:1];
    for (genvar i = 0; i < 6; i++) begin : gen_6
      assign b6[i] = containers_i.c6[n][8*(5-i)+:8];
      assign pairs[i] = by_pairs[1] ? b6[(i+2)%6] : (by_pairs[0] ? b6[(i+4)%6] : b6[i]);
      assign rotated6[n][i] = row_i.rotate6[n][0] ? pairs[(i+5)%6] : pairs[i];
    end
  end

  rmt_lane_t [Bytes-1:0] lanes_q;

  always_ff @(posedge clk_i) begin
    if (load_i) begin
      c2_q <= rotated2;
      c4_q <= rotated4;
      c6_q <= rotated6;
      for (int unsigned i = 0; i < Bytes; i++) begin
        lanes_q[i] <= row_i.lanes[i];
        if (!window_i) lanes_q[i].size <= RmtLaneSizePacket;
      end
    end
  end

  function automatic logic [7:0] choice(logic [1:0] k, logic [7:0] x3, logic [7:0] x2, logic [7:0] x1, logic [7:0] x0);
    return k[1] ? (k[0] ? x3 : x2) : (k[0] ? x1 : x0);
  endfunction

  for (genvar i = 0; i < int'(Bytes); i++) begin : gen_lane
    // Trees of 4:1, one LUT a bit, which `keep` keeps.
    (* keep *) logic [7:0] low2, high2, low4, high4, low6, high6, small_one, one;
    logic [1:0] k;
    logic [2:0] place;

    assign place = lanes_q[i].place;
    assign k = place[1:0];
    assign low2 = choice(k, c2_q[3][i%2], c2_q[2][i%2], c2_q[1][i%2], c2_q[0][i%2]);
    assign high2 = choice(k, c2_q[7][i%2], c2_q[6][i%2], c2_q[5][i%2], c2_q[4][i%2]);
    assign low4 = choice(k, c4_q[3][i%4], c4_q[2][i%4], c4_q[1][i%4], c4_q[0][i%4]);
    assign high4 = choice(k, c4_q[7][i%4], c4_q[6][i%4], c4_q[5][i%4], c4_q[4][i%4]);
    assign low6 = choice(k, c6_q[3][i%6], c6_q[2][i%6], c6_q[1][i%6], c6_q[0][i%6]);
    assign high6 = choice(k, c6_q[7][i%6], c6_q[6][i%6], c6_q[5][i%6], c6_q[4][i%6]);
    assign small_one = choice({lanes_q[i].size[0], place[2]}, high4, low4, high2, low2);
    assign one = choice({lanes_q[i].size[1], place[2]}, high6, low6, small_one, small_one);
    assign from_packet_o[i] = lanes_q[i].size == RmtLaneSizePacket;

    always_ff @(posedge clk_i) bytes_o[i] <= one;
  end

endmodule
