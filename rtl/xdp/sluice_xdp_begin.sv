/// When a packet of a core may begin: it is whole in memory, and what the warp engine makes for it is there (docs/design/hxdp-core.md, "Warp").
///
/// A packet enters its slot (`enter_*`), and it is known whether words or an answer come for it; `words_*` and `answer_*` say that they have come, `put_*` that the packet is whole. Of all
/// three what comes last makes it begin: it goes to those that wait for a context (`start_*`), or, without a context, to those whose verdict is known (`settle_*`). One for
/// which nothing comes goes on with `put_*`, in the same cycle; the others a cycle later or when nobody else goes on.
///
/// Packets of programs in which they may wait for each other go on in the order in which they were put: one that waits with a context waits for others that have had their turn for one before, of
/// either core, so that they end.
///
/// A packet without a program whose words are still to come is put as one to be settled, so that its slot is nobody else's meanwhile.
///
/// Latency: none, or 1 cycle. Throughput: a packet a cycle. Never stalls.
module sluice_xdp_begin
  import sluice_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_room_pkg::*;
#(
    parameter int unsigned Slots = 16,
    localparam int unsigned SlotBits = $clog2(Slots)
) (
    input logic clk_i,
    input logic rst_ni,

    input logic                enter_valid_i,
    input logic [SlotBits-1:0] enter_slot_i,
    input logic                enter_words_i,
    input logic                enter_looks_i,

    input logic                words_valid_i,
    input logic [SlotBits-1:0] words_slot_i,
    input logic                answer_valid_i,
    input logic [SlotBits-1:0] answer_slot_i,

    input logic                       put_valid_i,
    input logic      [  SlotBits-1:0] put_slot_i,
    input logic                       put_settles_i,
    input logic                       put_serial_i,
    input logic                       put_waits_i,
    input logic      [ModuleBits-1:0] put_module_i,
    input xdp_room_t                  put_room_i,

    output logic                       start_valid_o,
    output logic      [  SlotBits-1:0] start_slot_o,
    output logic                       start_serial_o,
    output logic                       start_waits_o,
    output logic      [ModuleBits-1:0] start_module_o,
    output xdp_room_t                  start_room_o,

    output logic                settle_valid_o,
    output logic [SlotBits-1:0] settle_slot_o
);

  typedef struct packed {
    logic                  settles;
    logic                  serial;
    logic                  waits;
    logic [ModuleBits-1:0] module_id;
    xdp_room_t             room;
  } put_t;

  // By slot: words are to come, an answer is; it is whole, and goes on in order.
  logic [Slots-1:0] words_q, looks_q, whole_q, ordered_q, ready, unused_onehot;
  logic at_once, any, later, ordered, orders, order_valid, order_goes, unused_order_ready;
  logic [SlotBits-1:0] any_slot, later_slot, order_slot;
  logic [$clog2(Slots+1)-1:0] unused_order_level;
  put_t put, kept, goes;

  assign put = '{
          settles: put_settles_i,
          serial: put_serial_i,
          waits: put_waits_i,
          module_id: put_module_i,
          room: put_room_i
      };
  sluice_ram_lut #(
      .Width($bits(put_t)),
      .Depth(Slots)
  ) u_put (
      .clk_i,
      .we_i   (put_valid_i),
      .waddr_i(put_slot_i),
      .wdata_i(put),
      .raddr_i(later_slot),
      .rdata_o(kept)
  );

  // Who goes on in order, and not at once.
  assign ordered = put_waits_i && !put_settles_i;
  assign orders  = put_valid_i && ordered && !at_once;
  sluice_fifo #(
      .Width(SlotBits),
      .Depth(Slots)
  ) u_order (
      .clk_i,
      .rst_ni,
      .valid_i(orders),
      .ready_o(unused_order_ready),
      .data_i (put_slot_i),
      .valid_o(order_valid),
      .ready_i(order_goes && !at_once),
      .data_o (order_slot),
      .level_o(unused_order_level)
  );
  assign order_goes = order_valid && !words_q[order_slot] && !looks_q[order_slot];

  assign at_once = put_valid_i && !words_q[put_slot_i] && !looks_q[put_slot_i] && !(ordered && order_valid);
  assign ready = whole_q & ~words_q & ~looks_q & ~ordered_q;
  sluice_prio_enc #(
      .Width(Slots)
  ) u_later (
      .req_i   (ready),
      .valid_o (any),
      .index_o (any_slot),
      .onehot_o(unused_onehot)
  );

  assign later = order_goes || any;
  assign later_slot = order_goes ? order_slot : any_slot;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      words_q <= '0;
      looks_q <= '0;
      whole_q <= '0;
    end else begin
      if (words_valid_i) words_q[words_slot_i] <= 1'b0;
      if (answer_valid_i) looks_q[answer_slot_i] <= 1'b0;
      if (enter_valid_i) begin
        words_q[enter_slot_i] <= enter_words_i;
        looks_q[enter_slot_i] <= enter_looks_i;
      end
      if (put_valid_i && !at_once) whole_q[put_slot_i] <= 1'b1;
      if (later && !at_once) whole_q[later_slot] <= 1'b0;
    end
    if (put_valid_i) ordered_q[put_slot_i] <= ordered;
  end

  assign goes = at_once ? put : kept;
  assign start_valid_o = (at_once || later) && !goes.settles;
  assign start_slot_o = at_once ? put_slot_i : later_slot;
  assign start_serial_o = goes.serial;
  assign start_waits_o = goes.waits;
  assign start_module_o = goes.module_id;
  assign start_room_o = goes.room;
  assign settle_valid_o = (at_once || later) && goes.settles;
  assign settle_slot_o = start_slot_o;

`ifndef SYNTHESIS
  NothingComesForAnotherOne_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) (!words_valid_i || words_q[words_slot_i]) && (!answer_valid_i || looks_q[answer_slot_i]));
  ASlotEntersEmpty_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !enter_valid_i || !(words_q[enter_slot_i] || looks_q[enter_slot_i] || whole_q[enter_slot_i]));
  APacketIsPutOnce_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !put_valid_i || !whole_q[put_slot_i]);
`endif

endmodule
