/// Proof about sluice_rmt_atom: every access sees the word as the last one before it left it, at any distance.
///
/// By k-induction, for runs of any length. One word is chosen at the start: what holds for any one holds for all. What
/// an access makes of the word is the atom's own `new_o`; the benches compare that. A reset stands only at the start.
module atom #(
    parameter int unsigned Words = 2
) (
    input logic        clk_i,
    input logic        rst_ni,
    input logic        choose_i,
    input logic        address_i,
    input logic        write_i,
    input logic        meter_i,
    input logic        set_i,
    input logic [ 2:0] relation_i,
    input logic        compared_i,
    input logic        taken_i,
    input logic        t_old_i,
    input logic        t_negate_i,
    input logic        f_old_i,
    input logic        f_negate_i,
    input logic [31:0] o_i,
    input logic [31:0] t_i,
    input logic [31:0] f_i,
    input logic [31:0] value_i,
    input logic [31:0] now_i,
    input logic [31:0] now_limit_i,
    input logic [31:0] now_top_i,
    input logic [31:0] inc_i,
    input logic        per_packet_i,
    input logic [31:0] next_i
);

  logic [31:0] old, new_word;
  logic red;

  sluice_rmt_atom #(
      .Words(Words)
  ) u_dut (
      .clk_i,
      .rst_ni,
      .address_i,
      .write_i,
      .meter_i,
      .set_i,
      .relation_i,
      .compared_i,
      .taken_i,
      .t_old_i,
      .t_negate_i,
      .f_old_i,
      .f_negate_i,
      .o_i,
      .t_i,
      .f_i,
      .value_i,
      .now_i,
      .now_limit_i,
      .now_top_i,
      .inc_i,
      .per_packet_i,
      .next_i,
      .old_o(old),
      .new_o(new_word),
      .red_o(red)
  );

  logic init_q = 1'b1;
  logic chosen_q;

  always_comb assume (rst_ni == !init_q);

  // The plain word: as the accesses before the one in c7 left it.
  logic [31:0] word_q = '0;
  logic address6_q, address7_q, write7_q;
  logic [1:0] age_q;

  always_ff @(posedge clk_i) begin
    init_q <= 1'b0;
    if (init_q) chosen_q <= choose_i;
    age_q      <= init_q ? 2'd0 : (age_q == 2'd3) ? 2'd3 : age_q + 2'd1;
    address6_q <= address_i;
    address7_q <= address6_q;
    write7_q   <= !init_q && write_i;
    if (!init_q && write7_q && age_q >= 2'd2 && address7_q == chosen_q) word_q <= new_word;
  end

  // Accesses count from the third cycle on: what the pipeline held before the reset has no address.
  always_comb if (init_q || age_q < 2'd1) assume (!write_i);

  AnAccessSeesTheWordAsTheLastOneLeftIt_A :
  assert property (@(posedge clk_i) init_q || age_q < 2'd2 || address7_q != chosen_q || old == word_q);

  BackToBackWrites_C :
  cover property (@(posedge clk_i) !init_q && write7_q && $past(
      write7_q
  ) && $past(
      write7_q, 2
  ) && address7_q == chosen_q && word_q == 32'd5);

  // Strengthening for the induction: the word is in the memory or on its way there.
  logic [31:0] stored;
  assign stored = (u_dut.write8_q && u_dut.address8_q == chosen_q) ? u_dut.new8_q : u_dut.u_words.mem[chosen_q];

  TheMemoryOrItsWriteHasTheWord_A :
  assert property (@(posedge clk_i) init_q || word_q == stored);
  ThePipelineIsTheHarness_A :
  assert property (@(posedge clk_i) init_q || age_q < 2'd1 || (u_dut.address6_q == address6_q && u_dut.address7_q == address7_q
                   && u_dut.write7_q == write7_q));

endmodule
