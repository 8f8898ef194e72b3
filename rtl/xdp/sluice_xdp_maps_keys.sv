/// Keys of the map engine's operations, in rows as entries of search memory have them: all rows but an entry's first, whose part of the key travels with its operation.
///
/// A key's words of 8 bytes come in their order, and behind them one of zeros: so what is behind a key in its last row is zero. A key has a place (`slot_i`), of which there
/// are more than operations under way. Where links are wide (`wide_i`) a first row has 8 bytes of the key, else 12.
///
/// Latency: a row in its cycle, a word that is written from the next cycle on. Throughput: a word and `ReadPorts` rows a cycle. Never stalls.
module sluice_xdp_maps_keys
  import sluice_xdp_walk_pkg::*;
#(
    parameter int unsigned ReadPorts = 2
) (
    input logic clk_i,

    input logic             we_i,
    input key_slot_t        slot_i,
    input logic      [ 3:0] word_i,
    input logic             wide_i,
    input logic      [63:0] data_i,

    input  key_slot_t [ReadPorts-1:0]        row_slot_i,
    input  logic      [ReadPorts-1:0][  1:0] row_rest_i,  // of the row's number, which is 1 to 4
    output logic      [ReadPorts-1:0][127:0] row_o
);

  localparam int unsigned Rows = 4 * KeySlots;

  // Of each word of 4 bytes of a row: whether it is written, whether of the row behind, and what.
  logic [3:0] enable;
  logic [3:0][31:0] data;
  logic [2:0] row;
  logic [1:0] behind;
  logic odd;

  assign odd = word_i[0];
  assign row = word_i[3:1];
  assign behind = row[1:0] + 2'd1;
  always_comb begin
    enable = {row != '0, {2{row != '0 && !odd}}, odd};
    data   = {odd ? data_i[31:0] : 32'd0, data_i[63:32], data_i[31:0], data_i[63:32]};
    if (wide_i) begin
      enable = odd ? 4'b0011 : {{2{row != '0}}, 2'b00};
      data   = {2{data_i}};
    end
  end

  for (genvar l = 0; l < 4; l++) begin : gen_lane
    logic [ReadPorts-1:0][$clog2(Rows)-1:0] index;
    logic [ReadPorts-1:0][31:0] word;

    sluice_ram_lut #(
        .Width    (32),
        .Depth    (Rows),
        .ReadPorts(ReadPorts)
    ) u_words (
        .clk_i,
        .we_i   (we_i && enable[l]),
        .waddr_i({slot_i, (l == 0 || (l == 1 && wide_i)) ? behind : row[1:0]}),
        .wdata_i(data[l]),
        .raddr_i(index),
        .rdata_o(word)
    );

    for (genvar p = 0; p < int'(ReadPorts); p++) begin : gen_port
      assign index[p] = {row_slot_i[p], row_rest_i[p]};
      assign row_o[p][32*l+:32] = word[p];
    end
  end

endmodule
