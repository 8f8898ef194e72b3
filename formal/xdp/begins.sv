/// Proof about sluice_xdp_begin: a packet goes on once, as it was put, when all is there that comes for it, to those that wait for a context or to those whose verdict is known; and packets that
/// may wait for each other go on in the order in which they were put.
///
/// For runs of 12 cycles; 4 slots, of which two are looked at. What comes for a slot's packet, and when, is free; words or an answer come once, and only for who was said to get them.
module begins
  import sluice_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_room_pkg::*;
(
    input logic                       clk_i,
    input logic                       rst_ni,
    input logic                       enter_valid_i,
    input logic      [           1:0] enter_slot_i,
    input logic                       enter_words_i,
    input logic                       enter_looks_i,
    input logic                       words_valid_i,
    input logic      [           1:0] words_slot_i,
    input logic                       answer_valid_i,
    input logic      [           1:0] answer_slot_i,
    input logic                       put_valid_i,
    input logic      [           1:0] put_slot_i,
    input logic                       put_settles_i,
    input logic                       put_serial_i,
    input logic                       put_waits_i,
    input logic      [ModuleBits-1:0] put_module_i,
    input xdp_room_t                  put_room_i,
    // Slots that are looked at.
    input logic      [           1:0] one_i,
    input logic      [           1:0] other_i
);

  typedef struct packed {
    logic                  settles;
    logic                  serial;
    logic                  waits;
    logic [ModuleBits-1:0] module_id;
    xdp_room_t             room;
  } put_t;

  logic start_valid, start_serial, start_waits, settle_valid;
  logic [1:0] start_slot, settle_slot;
  logic [ModuleBits-1:0] start_module;
  xdp_room_t start_room;
  sluice_xdp_begin #(
      .Slots(4)
  ) u_dut (
      .clk_i,
      .rst_ni,
      .enter_valid_i,
      .enter_slot_i,
      .enter_words_i,
      .enter_looks_i,
      .words_valid_i,
      .words_slot_i,
      .answer_valid_i,
      .answer_slot_i,
      .put_valid_i,
      .put_slot_i,
      .put_settles_i,
      .put_serial_i,
      .put_waits_i,
      .put_module_i,
      .put_room_i,
      .start_valid_o (start_valid),
      .start_slot_o  (start_slot),
      .start_serial_o(start_serial),
      .start_waits_o (start_waits),
      .start_module_o(start_module),
      .start_room_o  (start_room),
      .settle_valid_o(settle_valid),
      .settle_slot_o (settle_slot)
  );

  logic init_q = 1'b1;
  always_ff @(posedge clk_i) init_q <= 1'b0;
  always_comb assume (rst_ni == !init_q);
  logic [1:0] one_q, other_q;
  always_ff @(posedge clk_i) {one_q, other_q} <= {one_i, other_i};
  always_comb assume (one_i != other_i && (init_q || {one_i, other_i} == {one_q, other_q}));

  // By slot: a packet is there, what is to come for it, and it is put.
  logic [3:0] there_q, words_q, looks_q, put_q;
  put_t [3:0] kept_q;
  put_t put;
  logic goes;
  logic [1:0] goes_slot;
  assign put = '{
          settles: put_settles_i,
          serial: put_serial_i,
          waits: put_waits_i,
          module_id: put_module_i,
          room: put_room_i
      };
  assign goes = start_valid || settle_valid;
  assign goes_slot = start_valid ? start_slot : settle_slot;
  always_comb begin
    if (enter_valid_i) assume (rst_ni && !there_q[enter_slot_i]);
    if (put_valid_i) assume (rst_ni && there_q[put_slot_i] && !put_q[put_slot_i]);
    if (words_valid_i) assume (words_q[words_slot_i]);
    if (answer_valid_i) assume (looks_q[answer_slot_i]);
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      {there_q, words_q, looks_q, put_q} <= '0;
    end else begin
      if (words_valid_i) words_q[words_slot_i] <= 1'b0;
      if (answer_valid_i) looks_q[answer_slot_i] <= 1'b0;
      if (put_valid_i) put_q[put_slot_i] <= 1'b1;
      if (enter_valid_i) begin
        there_q[enter_slot_i] <= 1'b1;
        words_q[enter_slot_i] <= enter_words_i;
        looks_q[enter_slot_i] <= enter_looks_i;
      end
      if (goes) begin
        there_q[goes_slot] <= 1'b0;
        put_q[goes_slot]   <= 1'b0;
      end
    end
    if (put_valid_i) kept_q[put_slot_i] <= put;
  end

  // What goes on: it was put, now or before.
  logic here;
  put_t as_put;
  assign here   = put_valid_i && put_slot_i == goes_slot;
  assign as_put = here ? put : kept_q[goes_slot];

  // Of the two: whether both wait for each other's turn, and the one was put before the other.
  logic [3:0] ordered_q;
  logic before_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) ordered_q <= '0;
    else begin
      if (goes) ordered_q[goes_slot] <= 1'b0;
      if (put_valid_i && !(goes && here)) ordered_q[put_slot_i] <= put_waits_i && !put_settles_i;
    end
    if (put_valid_i && put_slot_i == other_i) before_q <= ordered_q[one_i];
    if (put_valid_i && put_slot_i == one_i) before_q <= 1'b0;
  end
  logic other_goes;
  assign other_goes = start_valid && start_slot == other_i && as_put.waits;

  GoesOnOnce_A :
  assert property (@(posedge clk_i) !rst_ni || !(start_valid && settle_valid));
  WhoGoesOnIsPut_A :
  assert property (@(posedge clk_i) !rst_ni || !goes || put_q[goes_slot] || here);
  AllIsThere_A :
  assert property (@(posedge clk_i) !rst_ni || !goes || (!words_q[goes_slot] && !looks_q[goes_slot]));
  WhereItIsPut_A :
  assert property (@(posedge clk_i) !rst_ni || !goes || settle_valid == as_put.settles);
  AsItWasPut_A :
  assert property (@(posedge clk_i) !rst_ni || !start_valid ||
      {start_serial, start_waits, start_module, start_room} == {as_put.serial, as_put.waits, as_put.module_id, as_put.room});
  // The one was put before it and is still here.
  InTheirOrder_A :
  assert property (@(posedge clk_i) !rst_ni || !other_goes || !(ordered_q[one_i] && (here || before_q)));
  // Somebody for whom all is there, and whose turn it is, goes on: nobody is left behind while nobody else does.
  logic [3:0] ready;
  assign ready = put_q & ~words_q & ~looks_q & ~ordered_q;
  NobodyIsLeft_A :
  assert property (@(posedge clk_i) !rst_ni || ready == '0 || goes);

  BothWaitInOrder_C :
  cover property (@(posedge clk_i) rst_ni && other_goes && before_q && !here);
  SettlesLater_C :
  cover property (@(posedge clk_i) rst_ni && settle_valid && !here);

endmodule
