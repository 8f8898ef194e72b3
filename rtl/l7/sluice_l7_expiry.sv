/// Time for the message table, and the pass over all of its entries.
///
/// `now_o` counts ticks of `L7ExpiryTickCycles` cycles and wraps; behind a reset it stands shortly before. `sweep_*` offers the entries one behind the other:
/// at most one in 4 cycles, and one that waits when every fourth tick begins is urgent. So each entry has its turn within four times as many ticks as there
/// are entries, if an urgent one is taken at once.
///
/// Latency: none. Throughput: an entry in 4 cycles. Stall behaviour: what is offered holds.
module sluice_l7_expiry
  import sluice_l7_rows_pkg::*;
#(
    parameter  int unsigned Entries   = 2048,
    localparam int unsigned PlaceBits = $clog2(Entries)
) (
    input logic clk_i,
    input logic rst_ni,

    output logic [L7AgeBits-1:0] now_o,
    output logic                 sweep_valid_o,
    output logic                 sweep_urgent_o,
    input  logic                 sweep_ready_i,
    output logic [PlaceBits-1:0] sweep_place_o
);

  localparam int unsigned TickBits = $clog2(L7ExpiryTickCycles);

  if (2 ** TickBits != L7ExpiryTickCycles || 4 * Entries + 8 > 2 ** L7AgeBits - L7MostExpiry) begin : gen_bad_entries
    $fatal(1, "l7_expiry: Entries is %0d, too many for a pass before the count of ticks wraps (%m)", Entries);
  end

  // Ticks that a simulation of an idle NIC leaves out, and the entries that would have had their turn (docs/decisions/idle-jump.md).
`ifdef VERILATOR
  logic [31:0] skip_ticks  /*verilator public_flat_rw*/ = '0;
  logic [31:0] skip_places  /*verilator public_flat_rw*/ = '0;
`else
  localparam logic [31:0] skip_ticks = '0;
  localparam logic [31:0] skip_places = '0;
`endif

  logic [TickBits-1:0] cycle_q;
  logic tick, passes;

  assign tick   = &cycle_q;
  assign passes = sweep_valid_o && sweep_ready_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      cycle_q        <= '0;
      now_o          <= L7AgeBits'(L7FirstAge);
      sweep_valid_o  <= 1'b0;
      sweep_urgent_o <= 1'b0;
      sweep_place_o  <= '0;
    end else begin
      cycle_q <= cycle_q + TickBits'(1);
      now_o <= now_o + L7AgeBits'(tick) + L7AgeBits'(skip_ticks);
      sweep_place_o <= sweep_place_o + PlaceBits'(passes) + PlaceBits'(skip_places);
      if (passes) sweep_valid_o <= 1'b0;
      else if (&cycle_q[1:0]) sweep_valid_o <= 1'b1;
      sweep_urgent_o <= !passes && (sweep_urgent_o || (tick && &now_o[1:0] && sweep_valid_o));
    end
  end

`ifndef SYNTHESIS
  APassHolds_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) sweep_valid_o && !sweep_ready_i |=> sweep_valid_o && $stable(
      sweep_place_o
  ));
`endif

endmodule
