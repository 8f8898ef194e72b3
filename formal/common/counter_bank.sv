/// Proof about sluice_counter_bank: live reads and snapshots equal a plain counter's, at any epoch change.
///
/// By k-induction, for runs of any length. One counter is chosen at the start: what holds for
/// any one holds for all. Epoch numbers do not come back to that of the counter's last
/// increment (the contract's one exception); a reset stands only at the start.
module counter_bank #(
    parameter  int unsigned Entries    = 2,
    parameter  int unsigned Width      = 3,
    parameter  int unsigned IncWidth   = 2,
    parameter  int unsigned EpochWidth = 2,
    localparam int unsigned IndexWidth = $clog2(Entries)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [IndexWidth-1:0] choose_i,
    input logic [EpochWidth-1:0] epoch_i,
    input logic inc_valid_i,
    input logic [IndexWidth-1:0] inc_index_i,
    input logic [IncWidth-1:0] inc_amount_i,
    input logic rd_valid_i,
    input logic rd_snapshot_i,
    input logic [IndexWidth-1:0] rd_index_i
);

  logic rd_valid;
  logic [Width-1:0] rd_data;

  sluice_counter_bank #(
      .Entries(Entries),
      .Width(Width),
      .IncWidth(IncWidth),
      .EpochWidth(EpochWidth)
  ) u_dut (
      .clk_i,
      .rst_ni,
      .epoch_i,
      .inc_valid_i,
      .inc_index_i,
      .inc_amount_i,
      .rd_valid_i,
      .rd_snapshot_i,
      .rd_index_i,
      .rd_valid_o(rd_valid),
      .rd_data_o (rd_data)
  );

  logic init_q = 1'b1;
  logic [IndexWidth-1:0] chosen_q;

  // The plain counter: as before this cycle.
  logic [Width-1:0] value_q = '0, at_change_q = '0;
  logic [EpochWidth-1:0] epoch_q = '0, last_epoch_q = '0;
  logic counted_q = 1'b0;
  logic [Width-1:0] at_change;
  logic counts;

  assign counts = inc_valid_i && inc_index_i == chosen_q;
  assign at_change = (epoch_i != epoch_q) ? value_q : at_change_q;

  always_comb begin
    assume (rst_ni == !init_q);
    if (init_q) assume (choose_i < Entries);
    assume (epoch_i == epoch_q || !counted_q || epoch_i != last_epoch_q);
  end

  // What was read, for the three cycles until the answer.
  logic [2:0] read_q, ours_q;
  logic [2:0][Width-1:0] expected_q;

  always_ff @(posedge clk_i) begin
    init_q <= 1'b0;
    if (init_q) begin
      chosen_q <= choose_i;
      read_q   <= '0;
    end else begin
      epoch_q     <= epoch_i;
      at_change_q <= at_change;
      if (counts) begin
        value_q      <= value_q + Width'(inc_amount_i);
        last_epoch_q <= epoch_i;
        counted_q    <= 1'b1;
      end
      read_q <= {read_q[1:0], rd_valid_i};
    end
    ours_q     <= {ours_q[1:0], rd_index_i == chosen_q};
    expected_q <= {expected_q[1:0], rd_snapshot_i ? at_change : value_q};
  end

  EveryReadIsAnsweredAfterThreeCycles_A :
  assert property (@(posedge clk_i) init_q || rd_valid == read_q[2]);
  AnswerIsThatOfAPlainCounter_A :
  assert property (@(posedge clk_i) init_q || !read_q[2] || !ours_q[2] || rd_data == expected_q[2]);

  // Strengthening for the induction: the counter is what RAM and pipeline hold together.
  logic [EpochWidth+Width-1:0] ram, written, adding;
  logic [Width-1:0] ram_shadow, written_shadow, newest_shadow;
  logic in_add, in_write, after_write;
  logic [EpochWidth-1:0] newest_epoch;
  logic [Width-1:0] newest_value;

  always_comb begin
    in_add         = u_dut.add_valid_q && u_dut.add_index_q == chosen_q;
    in_write       = u_dut.write.valid && u_dut.write.index == chosen_q;
    after_write    = u_dut.written_q.valid && u_dut.written_q.index == chosen_q;
    ram            = u_dut.u_live.mem[chosen_q];
    ram_shadow     = u_dut.u_shadow.mem[chosen_q];
    written        = in_write ? u_dut.write.entry : ram;
    written_shadow = (in_write && u_dut.write.shadow_valid) ? u_dut.write.shadow : ram_shadow;
    adding         = u_dut.add_entry;
    newest_epoch   = in_add ? u_dut.add_epoch_q : written[Width+:EpochWidth];
    newest_value   = in_add ? written[Width-1:0] + Width'(u_dut.add_amount_q) : written[Width-1:0];
    newest_shadow  = (in_add && u_dut.add_epoch_q != written[Width+:EpochWidth]) ? written[Width-1:0] : written_shadow;
  end

  ChosenIsInRange_A :
  assert property (@(posedge clk_i) init_q || chosen_q < Entries);
  StagesAreEmptyAtTheStart_A :
  assert property (@(posedge clk_i) !init_q || (u_dut.u_live.mem[choose_i] == '0 &&
      u_dut.u_live_copy.mem[choose_i] == '0 && u_dut.u_shadow.mem[choose_i] == '0 && value_q == '0 &&
      at_change_q == '0 && epoch_q == '0 && last_epoch_q == '0 && !counted_q));
  StagesFollowTheReads_A :
  assert property (@(posedge clk_i) init_q || {u_dut.rd2_valid_q, u_dut.rd1_valid_q} == read_q[1:0]);
  CopyIsTheSame_A :
  assert property (@(posedge clk_i) init_q || u_dut.u_live_copy.mem[chosen_q] == ram);
  WrittenIsInRam_A :
  assert property (@(posedge clk_i) init_q || !after_write || u_dut.written_q.entry == ram);
  AddsToTheNewest_A :
  assert property (@(posedge clk_i) init_q || !in_add || adding == written);
  ValueIsTheNewest_A :
  assert property (@(posedge clk_i) init_q || (value_q == newest_value && last_epoch_q == newest_epoch));
  SnapshotIsShadowOrNewest_A :
  assert property (@(posedge clk_i) init_q || at_change_q == ((last_epoch_q == epoch_q) ? newest_shadow : newest_value));
  UncountedIsZero_A :
  assert property (@(posedge clk_i) init_q || counted_q || (value_q == '0 && newest_shadow == '0 && at_change_q == '0));
  // What a read of two cycles ago, of one cycle ago and of now finds when it comes to the RAM.
  ReadsFollowTheIndex_A :
  assert property (@(posedge clk_i) init_q || ((!read_q[0] || (u_dut.rd1_index_q == chosen_q) == ours_q[0]) &&
      (!read_q[1] || (u_dut.rd2_index_q == chosen_q) == ours_q[1])));
  JustReadIsExpected_A :
  assert property (@(posedge clk_i) init_q || !read_q[0] || !ours_q[0] || expected_q[0] ==
      ((u_dut.rd1_snapshot_q && written[Width+:EpochWidth] == u_dut.add_epoch_q) ? written_shadow : written[Width-1:0]));
  ReadBeforeIsExpected_A :
  assert property (@(posedge clk_i) init_q || !read_q[1] || !ours_q[1] || expected_q[1] ==
      ((u_dut.rd2_snapshot_q && ram[Width+:EpochWidth] == u_dut.write_epoch_q) ? ram_shadow : ram[Width-1:0]));
endmodule
