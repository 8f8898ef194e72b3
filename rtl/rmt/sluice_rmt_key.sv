/// Key of a stage, without the two conditions: one container in each of six places, masked (docs/design/rmt.md).
///
/// Latency: 0 cycles (combinational).
module sluice_rmt_key
  import sluice_rmt_pkg::*;
(
    input  rmt_containers_t              containers_i,
    input  logic            [  5:0][2:0] pieces_i,
    input  logic            [191:0]      mask_i,
    output logic            [191:0]      key_o
);

  assign key_o = mask_i & {
    containers_i.c6[pieces_i[5]],
    containers_i.c6[pieces_i[4]],
    containers_i.c4[pieces_i[3]],
    containers_i.c4[pieces_i[2]],
    containers_i.c2[pieces_i[1]],
    containers_i.c2[pieces_i[0]]
  };

endmodule
