/// Spreads packets over cores: each goes to the one in which it has room. What leaves keeps the order of its flow.
///
/// Latency: none. Throughput: a beat a cycle. Stall behaviour: a beat waits for its core.
module sluice_xdp_spread
  import sluice_pkg::*;
#(
    parameter int unsigned Cores = 2,
    // Of a core.
    parameter int unsigned Slots = 16,
    parameter int unsigned Modules = 64,
    // Buckets of flows of a module.
    parameter int unsigned Buckets = 16,
    localparam int unsigned CoreBits = (Cores > 1) ? $clog2(Cores) : 1,
    localparam int unsigned SlotBits = $clog2(Slots)
) (
    input logic clk_i,
    input logic rst_ni,

    // A packet's beat.
    input  logic                       valid_i,
    output logic                       ready_o,
    input  logic                       last_i,
    input  logic [       CoreBits-1:0] core_i,
    input  logic [     ModuleBits-1:0] module_i,
    input  logic [$clog2(Buckets)-1:0] hash_i,
    // Its first.
    output logic                       enters_o,

    output logic [Cores-1:0]               core_valid_o,
    input  logic [Cores-1:0]               core_ready_i,
    input  logic [Cores-1:0][SlotBits-1:0] slot_i,        // that the core gives it

    // One of all cores' a cycle.
    input logic [Cores-1:0]               leave_valid_i,
    input logic [Cores-1:0][SlotBits-1:0] leave_slot_i,

    // Of each core, by slot: whether it waits for one before it, and for how long still.
    input  logic [Cores-1:0]               near_valid_i,
    input  logic [Cores-1:0][SlotBits-1:0] near_slot_i,
    output logic [Cores-1:0][   Slots-1:0] waits_o,
    output logic [Cores-1:0][   Slots-1:0] soon_o,
    // Whether its flow's section is another packet's; it has left that.
    output logic [Cores-1:0][   Slots-1:0] flow_waits_o,
    input  logic [Cores-1:0][   Slots-1:0] section_left_i
);

  localparam int unsigned AllSlotBits = $clog2(Cores * Slots);
  typedef logic [CoreBits-1:0] core_t;

  function automatic logic [AllSlotBits-1:0] slot_of(core_t core, logic [SlotBits-1:0] number);
    return AllSlotBits'((32'(core) << SlotBits) | 32'(number));
  endfunction

  logic first_q, enters_q;
  logic [AllSlotBits-1:0] entered_q;
  logic [ModuleBits-1:0] entered_module_q;
  logic [$clog2(Buckets)-1:0] entered_hash_q;
  logic [Cores-1:0][AllSlotBits-1:0] near, leave;

  assign ready_o  = core_ready_i[core_i];
  assign enters_o = valid_i && ready_o && first_q;
  always_comb begin
    core_valid_o = '0;
    core_valid_o[core_i] = valid_i;
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) first_q <= 1'b1;
    else if (valid_i && ready_o) first_q <= last_i;
  end

  // The order hears of it a cycle later: before the packet is whole in memory.
  always_ff @(posedge clk_i) begin
    enters_q         <= enters_o && rst_ni;
    entered_q        <= slot_of(core_i, slot_i[core_i]);
    entered_module_q <= module_i;
    entered_hash_q   <= hash_i;
  end

  always_comb begin
    for (int unsigned c = 0; c < Cores; c++) begin
      near[c]  = slot_of(core_t'(c), near_slot_i[c]);
      leave[c] = slot_of(core_t'(c), leave_slot_i[c]);
    end
  end
  sluice_xdp_order #(
      .Slots  (Cores * Slots),
      .Modules(Modules),
      .Buckets(Buckets),
      .Cores  (Cores)
  ) u_order (
      .clk_i,
      .rst_ni,
      .enter_valid_i (enters_q),
      .enter_slot_i  (entered_q),
      .enter_module_i(entered_module_q),
      .enter_hash_i  (entered_hash_q),
      .leave_valid_i,
      .leave_slot_i  (leave),
      .near_valid_i,
      .near_slot_i   (near),
      .section_left_i,
      .waits_o,
      .soon_o,
      .flow_waits_o
  );

endmodule
