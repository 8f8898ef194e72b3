/// A bit for each slot, which one side clears and another one sets.
///
/// It is set while two marks of the slot differ, of which each side writes one: so the bits are distributed RAM. A slot is cleared before it
/// is set or read the first time, and it is not set and cleared in the same cycle.
///
/// Reads are of the same cycle; what is cleared or set in one cycle is read from the next one on. Never stalls.
module sluice_l7_marks #(
    parameter int unsigned Slots = 256,
    parameter int unsigned ReadPorts = 1,
    localparam int unsigned SlotBits = $clog2(Slots)
) (
    input logic clk_i,

    input logic                clear_i,
    input logic [SlotBits-1:0] clear_slot_i,
    input logic                set_i,
    input logic [SlotBits-1:0] set_slot_i,

    input  logic [ReadPorts-1:0][SlotBits-1:0] slot_i,
    output logic [ReadPorts-1:0]               set_o
);

  logic cleared_there, set_there;
  logic [ReadPorts-1:0] cleared, set;

  sluice_ram_lut #(
      .Width    (1),
      .Depth    (Slots),
      .ReadPorts(ReadPorts + 1),
      .InitZero (1'b0)
  ) u_cleared (
      .clk_i,
      .we_i   (clear_i),
      .waddr_i(clear_slot_i),
      .wdata_i(set_there),
      .raddr_i({set_slot_i, slot_i}),
      .rdata_o({cleared_there, cleared})
  );
  sluice_ram_lut #(
      .Width    (1),
      .Depth    (Slots),
      .ReadPorts(ReadPorts + 1),
      .InitZero (1'b0)
  ) u_set (
      .clk_i,
      .we_i   (set_i),
      .waddr_i(set_slot_i),
      .wdata_i(!cleared_there),
      .raddr_i({clear_slot_i, slot_i}),
      .rdata_o({set_there, set})
  );

  assign set_o = cleared ^ set;

`ifndef SYNTHESIS
  NotSetAndCleared_A :
  assert property (@(posedge clk_i) !(clear_i && set_i && clear_slot_i == set_slot_i));
`endif

endmodule
