/// What the warp engine makes for packets on their way into a core: words go to their packet's core and slot, and those of a key to its lookup, which is asked of the map engine.
///
/// `enter_*` names the slot of each packet for which words come, in their order (`set_*`, as the warp engine gives them). A packet's lookup is asked when its last word has come. Words of a
/// key that no step has made are zero.
///
/// Latency: words in their cycle; 2 cycles from last words to their lookup. Throughput: two words and a lookup a cycle; two words of the key take two cycles. Stall behaviour: words wait for their core, and
/// all behind them; a core takes each after some cycles, whatever comes behind it.
module sluice_xdp_early
  import sluice_pkg::*;
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_start_pkg::*;
  import sluice_warp_pkg::*;
#(
    parameter int unsigned Cores = 2,
    parameter int unsigned Slots = 16,
    parameter int unsigned IdBits = 6,
    localparam int unsigned AllSlots = Cores * Slots,
    localparam int unsigned AllSlotBits = $clog2(AllSlots)
) (
    input logic clk_i,
    input logic rst_ni,

    input logic                         enter_valid_i,
    input logic       [AllSlotBits-1:0] enter_slot_i,
    input logic                         enter_looks_i,
    input xdp_early_t                   enter_asks_i,

    input  logic      set_valid_i,
    output logic      set_ready_o,
    // "Bits of signal are not used": which is a packet's first is known.
    // verilator lint_off UNUSEDSIGNAL
    input  warp_set_t set_i,
    // verilator lint_on UNUSEDSIGNAL

    output logic      [Cores-1:0] word_valid_o,
    input  logic      [Cores-1:0] word_ready_i,
    output xdp_made_t             word_o,

    // A lookup, as sluice_xdp_maps takes it.
    output xdp_early_ask_t  ask_o,
    // "Bits of signal are not used": that it is a packet's is known.
    // verilator lint_off UNUSEDSIGNAL
    input  xdp_early_take_t take_i
    // verilator lint_on UNUSEDSIGNAL
);

  // Packets whose words are to come: those that wait for theirs in the warp engine, and those whose words are under way.
  localparam int unsigned Whose = 2 * WarpSets;
  localparam int unsigned CoreBits = (Cores > 1) ? $clog2(Cores) : 1;
  localparam int unsigned SlotBits = $clog2(Slots);

  typedef struct packed {
    logic [AllSlotBits-1:0] slot;
    logic                   looks_up;
    xdp_early_t             asks;
  } whose_t;

  typedef struct packed {
    xdp_early_t          asks;
    logic [KeyWords-1:0] made;  // words of its key
  } asked_t;

  // ---------------------------------------------------------------------------------------------------------------
  // Words.

  logic whose_valid, unused_whose_ready, takes, last;
  whose_t entered, whose;
  logic [$clog2(Whose+1)-1:0] unused_whose_level;
  logic [CoreBits-1:0] core;

  assign entered = '{slot: enter_slot_i, looks_up: enter_looks_i, asks: enter_asks_i};
  sluice_fifo #(
      .Width($bits(whose_t)),
      .Depth(Whose)
  ) u_whose (
      .clk_i,
      .rst_ni,
      .valid_i(enter_valid_i),
      .ready_o(unused_whose_ready),
      .data_i (entered),
      .valid_o(whose_valid),
      .ready_i(last),
      .data_o (whose),
      .level_o(unused_whose_level)
  );

  assign core = CoreBits'(whose.slot >> SlotBits);
  // Targets: registers, words of the stack, words of the key. Of two words of the key one is written in the first cycle, and the other one when both are taken. Behind a packet's last word
  // nothing of it comes, so its core is told of that in any case.
  logic [1:0] is_key;
  logic two_keys, second_q, whole;
  assign is_key = set_i.valid & {set_i.target[1][5], set_i.target[0][5]};
  assign two_keys = is_key == '1;
  assign whole = set_valid_i && whose_valid && (!two_keys || second_q);
  assign word_valid_o = Cores'(whole && ((set_i.valid & ~is_key) != '0 || set_i.last)) << core;
  assign set_ready_o = whose_valid && word_ready_i[core] && (!two_keys || second_q);
  assign takes = set_valid_i && set_ready_o;
  assign last = takes && set_i.last;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || takes) second_q <= 1'b0;
    else if (set_valid_i && whose_valid) second_q <= 1'b1;
  end

  xdp_given_t given_q, given;
  logic [KeyWords-1:0] made_q, made;
  always_comb begin
    given = given_q;
    made  = made_q;
    for (int unsigned n = 0; n < 2; n++) begin
      if (is_key[n]) made |= KeyWords'(1) << set_i.target[n][2:0];
      else if (set_i.valid[n] && set_i.target[n][4]) given.words |= StackGiven'(1) << set_i.target[n][3:0];
      else if (set_i.valid[n]) given.registers |= 16'd1 << set_i.target[n][3:0];
    end
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni || last) begin
      given_q <= '0;
      made_q  <= '0;
    end else if (takes) begin
      given_q <= given;
      made_q  <= made;
    end
  end
  always_comb begin
    word_o = '{
        slot: 8'(whose.slot[SlotBits-1:0]),
        valid: set_i.valid & ~is_key,
        target: {set_i.target[1][4:0], set_i.target[0][4:0]},
        data: set_i.data,
        last: set_i.last,
        given: given
    };
    // The answer of its lookup.
    if (whose.looks_up) word_o.given.registers[0] = 1'b1;
  end

  // ---------------------------------------------------------------------------------------------------------------
  // Lookups.

  logic [AllSlots-1:0] pending_q, unused_grant;
  logic chooses, chosen, offered_q, made_there_q;
  logic [63:0] key_word;
  xdp_early_t taken_q;
  logic [AllSlotBits-1:0] chosen_slot, offered_slot_q, key_slot;
  asked_t asked;
  // "Bits of signal are not used": which words were made is asked with the key, and the rest before.
  // verilator lint_off UNUSEDSIGNAL
  asked_t offered, key_asked;
  // verilator lint_on UNUSEDSIGNAL

  assign asked = '{asks: whose.asks, made: made};
  sluice_ram_lut #(
      .Width    ($bits(asked_t)),
      .Depth    (AllSlots),
      .ReadPorts(2)
  ) u_asked (
      .clk_i,
      .we_i   (last),
      .waddr_i(whose.slot),
      .wdata_i(asked),
      .raddr_i({key_slot, offered_slot_q}),
      .rdata_o({key_asked, offered})
  );

  assign chooses = !offered_q || take_i.ready;
  sluice_arb_rr #(
      .Requests(AllSlots)
  ) u_next (
      .clk_i,
      .rst_ni,
      .req_i    (pending_q),
      .advance_i(chooses),
      .grant_o  (unused_grant),
      .index_o  (chosen_slot),
      .valid_o  (chosen)
  );
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      pending_q <= '0;
      offered_q <= 1'b0;
    end else begin
      if (chooses) offered_q <= chosen;
      if (chooses && chosen) pending_q[chosen_slot] <= 1'b0;
      if (last && whose.looks_up) pending_q[whose.slot] <= 1'b1;
    end
    if (chooses) offered_slot_q <= chosen_slot;
    if (offered_q && take_i.ready) taken_q <= offered.asks;
  end
  assign ask_o = '{
          valid: offered_q,
          id: MostIdBits'({1'b1, (IdBits - 1)'(offered_slot_q)}),
          next: offered.asks,
          taken: taken_q,
          data: made_there_q ? key_word : '0
      };

  // Its key.
  logic key_at;
  assign key_at   = two_keys ? second_q : is_key[1];
  assign key_slot = AllSlotBits'(take_i.key_id);
  sluice_ram_1r1w #(
      .Width   (64),
      .Depth   (KeyWords * AllSlots),
      .InitZero(1'b0),
      .Style   ("block")
  ) u_keys (
      .clk_i,
      .wr_en_i  (set_valid_i && whose_valid && is_key != '0),
      .wr_addr_i({whose.slot, set_i.target[key_at][2:0]}),
      .wr_data_i(set_i.data[key_at]),
      .rd_en_i  (1'b1),
      .rd_addr_i({key_slot, take_i.word}),
      .rd_data_o(key_word)
  );
  always_ff @(posedge clk_i) made_there_q <= key_asked.made[take_i.word];

`ifndef SYNTHESIS
  PacketsHaveRoom_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !enter_valid_i || unused_whose_ready);
  WordsAreSomebodys_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !set_valid_i || whose_valid);
  APacketLooksUpOnce_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !(last && whose.looks_up) || !pending_q[whose.slot]);
`endif

endmodule
