/// Used and touched bits of LRU maps, 64 slots a row: what an operation changes in them, and where the hand stops (docs/design/xdp-maps.md,
/// "What an LRU map gives up").
///
/// **A change.** `mark_valid_i` says that the slot's row `mark_row_i` is read in this cycle; the row is in `search_i` in the next one. From the one behind it
/// on `write_valid_o` offers the changed row until `write_ready_i`. One change at a time: the next is marked when `idle_o` is high.
///
/// **The hand.** In the cycle of `scan_i` the row that it stands in is in `search_i`. Two cycles later `pick_valid_o` says whether there is a used slot
/// behind it in this row that is not touched, `pick_o` which is the first, `passed_o` what the hand leaves of the touched bits.
///
/// Latency: 2 cycles. Throughput: a row in 2 cycles. Stall behaviour: a changed row is held until taken; stands still while `hold_i`.
module sluice_xdp_maps_marks
  import sluice_xdp_pkg::*;
(
    input  logic clk_i,
    input  logic rst_ni,
    input  logic hold_i,
    output logic looks_o, // at what comes of search memory

    input logic [3:0][31:0] search_i,

    input  logic                       mark_valid_i,
    input  logic      [SearchBits-1:0] mark_row_i,
    input  logic      [           5:0] mark_slot_i,
    input  map_mark_e                  mark_i,
    output logic                       idle_o,

    output logic                        write_valid_o,
    input  logic                        write_ready_i,
    output logic [SearchBits-1:0]       write_row_o,
    output logic [           3:0][31:0] write_o,

    input  logic        scan_i,
    input  logic [ 5:0] hand_i,
    output logic        pick_valid_o,
    output logic [ 5:0] pick_o,
    output logic [63:0] passed_o
);

  localparam logic [63:0] Ones = '1;

  logic [63:0] used, touched, bit_q, used_q, touched_q, behind;
  logic comes_q;
  map_mark_e mark_q;

  assign used = search_i[1:0];
  assign touched = search_i[3:2];

  assign idle_o = !comes_q && !write_valid_o;
  assign looks_o = comes_q;
  assign write_o = {touched_q, used_q};
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      comes_q       <= 1'b0;
      write_valid_o <= 1'b0;
    end else if (!hold_i) begin
      comes_q <= mark_valid_i;
      if (comes_q) write_valid_o <= 1'b1;
      else if (write_ready_i) write_valid_o <= 1'b0;
    end
    if (mark_valid_i && !hold_i) begin
      write_row_o <= mark_row_i;
      bit_q       <= 64'd1 << mark_slot_i;
      mark_q      <= mark_i;
    end
    if (comes_q) begin
      used_q    <= (mark_q == MarkFree) ? used & ~bit_q : used | bit_q;
      touched_q <= (mark_q == MarkTouched) ? touched | bit_q : touched & ~bit_q;
    end
  end

  // ---------------------------------------------------------------------------------------------------------------

  logic [63:0] candidates_q, passes_q, before_q, unused_onehot;
  logic [5:0] pick;
  logic pick_valid;

  assign behind = Ones << hand_i;
  sluice_prio_enc #(
      .Width(64)
  ) u_pick (
      .req_i   (candidates_q),
      .valid_o (pick_valid),
      .index_o (pick),
      .onehot_o(unused_onehot)
  );
  always_ff @(posedge clk_i) begin
    if (scan_i && !hold_i) begin
      candidates_q <= used & ~touched & behind;
      passes_q     <= behind;
      before_q     <= touched;
    end
    if (!hold_i) begin
      pick_valid_o <= pick_valid;
      pick_o       <= pick;
    end
  end
  // The hand passes what lies from where it stands to in front of what it picks.
  assign passed_o = before_q & ~(pick_valid_o ? passes_q & ~(Ones << pick_o) : passes_q);

`ifndef SYNTHESIS
  OneChangeAtATime_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) mark_valid_i |-> idle_o);
`endif

endmodule
