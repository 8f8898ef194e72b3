/// Who has waited too long for outside memory (docs/decisions/xdp-external-memory.md, "A memory that does not answer").
///
/// Each number from 0 to 63 is looked at once in `Cycles`, one in 2 cycles (`look_o`): as a number of an asker here, as an ID of writes in
/// sluice_xdp_outside_writes. An asker that has had the same access at two looks is late (`late_valid_o`), and again at each further one. So an access is
/// late after `Cycles` at the least and twice as many at the most.
///
/// A look waits while `hold_i`, for one cycle at most. `round_o` is high for a cycle in `Cycles`.
module sluice_xdp_outside_late
  import sluice_xdp_outside_pkg::*;
#(
    parameter int unsigned Askers = 22,
    parameter int unsigned Cycles = 1 << 14,
    localparam int unsigned AskerBits = $clog2(Askers)
) (
    input logic clk_i,
    input logic rst_ni,

    input logic                 enter_valid_i,
    input logic [AskerBits-1:0] enter_asker_i,
    input logic [   Askers-1:0] busy_i,

    input  logic        hold_i,
    output logic        look_valid_o,
    output outside_id_t look_o,
    output logic        round_o,

    output logic                 late_valid_o,
    output logic [AskerBits-1:0] late_asker_o
);

  localparam int unsigned CycleBits = $clog2(Cycles);

  if (2 ** CycleBits != Cycles || Cycles < 256) begin : gen_bad_cycles
    $fatal(1, "xdp_outside_late: Cycles is %0d, expected a power of two from 256 on (%m)", Cycles);
  end

  logic [CycleBits-1:0] count_q;
  logic looked_q, is_look, is_asker;
  logic [Askers-1:0] seen_q;

  assign is_look      = count_q[CycleBits-1:OutsideIdBits+1] == '0;
  assign look_o       = count_q[OutsideIdBits:1];
  assign look_valid_o = is_look && !hold_i && !looked_q;
  assign round_o      = count_q == '1;
  assign late_asker_o = look_o[AskerBits-1:0];
  assign is_asker     = 32'(look_o) < Askers;
  assign late_valid_o = look_valid_o && is_asker && seen_q[late_asker_o] && busy_i[late_asker_o];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      count_q  <= '0;
      looked_q <= 1'b0;
    end else begin
      count_q  <= count_q + CycleBits'(1);
      looked_q <= look_valid_o && !count_q[0];
    end
    for (int unsigned a = 0; a < Askers; a++) begin
      if (look_valid_o && look_o == outside_id_t'(a)) seen_q[a] <= busy_i[a];
      if (enter_valid_i && enter_asker_i == AskerBits'(a)) seen_q[a] <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  LooksDoNotWaitLong_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !(is_look && count_q[0]) || looked_q || look_valid_o);
`endif

endmodule
