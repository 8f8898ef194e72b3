/// Proof about sluice_warp: beats leave once, unchanged, in their order, each with the leaf and the interface of its own packet; no leaf is lost; a packet
/// is put where there is room; offers hold.
///
/// Beats have few fields here (few_fields_pkg.sv), 4 wait at most, and a leaf takes 2 cycles. Which leaf a packet has, when tables are ready and when
/// steps have room is free (no_match.sv, no_steps.sv). A packet is told by a number, which is its length and its interface too. Bounded, with resets at
/// any time.
module warp
  import sluice_xdp_streams_pkg::*;
  import sluice_warp_pkg::*;
#(
    parameter  int unsigned Beats = 4,
    localparam int unsigned Level = $clog2(Beats + 1)
) (
    input logic clk_i,
    input logic rst_ni,

    input logic        in_valid_i,
    input logic        in_last_i,
    input logic [ 1:0] number_i,
    input logic        beat_i,
    input logic [31:0] other_i,
    input logic        out_ready_i,
    input logic        out_plain_i,
    input logic        choose_i
);

  xdp_in_t in, out;
  logic in_ready, out_valid, first_q, taken_first_q, followed, take_in, take_out;
  logic [31:0] taken_q, ifindex;
  logic [1:0] number_q;
  logic [3:0] word;
  logic [Level-1:0] filling, ahead;
  logic [1:0] age;
  warp_leaf_t leaf;

  always_comb begin
    in = '0;
    in.side.id = {29'd0, beat_i, number_i};
    in.last = in_last_i;
  end

  sluice_warp #(
      .Beats(Beats)
  ) dut (
      .clk_i,
      .rst_ni,
      .write_valid_i    (1'b0),
      .write_table_i    (WarpTableKey),
      .write_index_i    ('0),
      .write_row_i      ('0),
      .in_valid_i,
      .in_ready_o       (in_ready),
      .in_i             (in),
      .in_length_i      ({12'd0, number_i}),
      .in_ifindex_i     (taken_first_q ? taken_q : other_i),
      .out_valid_o      (out_valid),
      .out_ready_i,
      .out_o            (out),
      .leaf_o           (leaf),
      .out_ifindex_o    (ifindex),
      .out_plain_i,
      .set_valid_o      (),
      .set_ready_i      (1'b1),
      .set_o            (),
      .hits_read_valid_i(1'b0),
      .hits_read_index_i('0),
      .hits_valid_o     (),
      .hits_o           ()
  );
  assign take_in  = in_valid_i && in_ready;
  assign take_out = out_valid && out_ready_i;

  // Resets may come at any time, and one comes first.
  logic init_q = 1'b1;
  always_ff @(posedge clk_i) init_q <= 1'b0;
  always_comb if (init_q) assume (!rst_ni);

  // The beats of a packet have one number.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) first_q <= 1'b1;
    else if (take_in) first_q <= in_last_i;
    if (take_in) number_q <= number_i;
    taken_first_q <= rst_ni && take_in && first_q;
    taken_q <= {30'd0, number_i};
  end
  always_comb assume (first_q || number_i == number_q);

  word_follower #(
      .Width   (4),
      .Capacity(Beats)
  ) u_beats (
      .clk_i,
      .rst_ni,
      .put_i      (take_in),
      .put_data_i ({in_last_i, in.side.id[2:0]}),
      .take_i     (take_out),
      .valid_i    (out_valid),
      .take_data_i({out.last, out.side.id[2:0]}),
      .choose_i,
      .followed_o (followed),
      .word_o     (word),
      .ahead_o    (ahead),
      .age_o      (age),
      .filling_o  (filling)
  );

  TheLeafIsThePackets_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !out_valid || leaf.length == {12'd0, out.side.id[1:0]});
  TheInterfaceIsThePackets_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !out_valid || ifindex == {30'd0, out.side.id[1:0]});

  APacketOfTwoBeatsLeavesBehindAFullQueue_C :
  cover property (@(posedge clk_i) rst_ni && take_out && !out.last && filling == Level'(Beats));

endmodule
