/// Proof about sluice_rmt_action_rows: columns and host reads are those of the row written last, as synthesized and as
/// simulated.
///
/// By k-induction, for two rows, of which one is chosen at the start. A write does not come while a host reads.
module action_rows
  import sluice_pkg::*;
  import sluice_rmt_rows_pkg::*;
  import sluice_rmt_act_pkg::*;
(
    input logic                  clk_i,
    input logic                  rst_ni,
    input logic                  choose_i,
    input logic                  write_i,
    input logic                  write_index_i,
    input rmt_action_row_t       write_row_i,
    input logic                  valid_i,
    input logic                  index_i,
    input logic                  read_i,
    input logic            [3:0] slice_i
);

  localparam int unsigned SliceBits = 32 * MessageDataWords;
  localparam int unsigned Slices = (RmtActionRowWords + MessageDataWords - 1) / MessageDataWords;

  act_pick_t pick;
  act_early_t early;
  act_operand_t operand;
  act_result_t result;
  logic read_valid;
  logic [SliceBits-1:0] read_data;

  sluice_rmt_action_rows #(
      .Rows(2)
  ) u_dut (
      .clk_i,
      .rst_ni,
      .write_i,
      .write_index_i,
      .write_row_i,
      .valid_i,
      .index_i,
      .read_i,
      .slice_i,
      .pick_o      (pick),
      .early_o     (early),
      .operand_o   (operand),
      .result_o    (result),
      .read_valid_o(read_valid),
      .read_data_o (read_data)
  );

  logic init_q = 1'b1;
  logic reset_q = 1'b1;  // `init_q` of the cycle before: the answer's register has no reset
  logic chosen_q;
  rmt_action_row_t row_q, before_q;  // of the chosen index: now, and as a read of the cycle before met it
  logic [5:1] ours_q, reads_q, ours_read_q;
  logic [3:0] slice_q;
  logic [SliceBits-1:0] slice;

  always_comb begin
    assume (rst_ni == !init_q);
    assume (!init_q || !(write_i || valid_i || read_i));
    // Who reads takes the place of a packet, holds the slice, and neither reads again nor writes before the answer.
    assume (!read_i || !valid_i);
    assume (reads_q == '0 || (!read_i && !write_i && slice_i == slice_q));
    assume (!read_i || !write_i);
    assume (32'(slice_i) < Slices);
  end

  always_ff @(posedge clk_i) begin
    init_q  <= 1'b0;
    reset_q <= init_q;
    if (init_q) begin
      chosen_q <= choose_i;
      row_q    <= '0;
    end else if (write_i && write_index_i == chosen_q) begin
      row_q <= write_row_i;
    end
    before_q <= row_q;
    slice_q  <= slice_i;
    if (init_q) begin
      ours_q      <= '0;
      reads_q     <= '0;
      ours_read_q <= '0;
    end else begin
      ours_q      <= {ours_q[4:1], valid_i && index_i == chosen_q};
      reads_q     <= {reads_q[4:1], read_i};
      ours_read_q <= {ours_read_q[4:1], read_i && index_i == chosen_q};
    end
  end

  always_comb begin
    logic [Slices-1:0][SliceBits-1:0] slices;
    slices = (Slices * SliceBits)'(row_q);
    slice  = '0;
    for (int unsigned s = 0; s < Slices; s++) if (32'(slice_i) == s) slice = slices[s];
  end

  // One claim a task, named by a macro: Yosys leaves out what the others look at.
`ifdef PICK
  PickIsThatOfTheRow_A :
  assert property (@(posedge clk_i) init_q || !ours_q[1] || pick == act_pick(before_q));
`elsif EARLY
  EarlyIsThatOfTheRow_A :
  assert property (@(posedge clk_i) init_q || !ours_q[2] || early == act_early(before_q));
`elsif OPERAND
  OperandIsThatOfTheRow_A :
  assert property (@(posedge clk_i) init_q || !ours_q[3] || operand == act_operand(before_q));
`elsif RESULT
  ResultIsThatOfTheRow_A :
  assert property (@(posedge clk_i) init_q || !ours_q[4] || result == act_result(before_q));
`else
  ReadIsAnsweredAfterFiveCycles_A :
  assert property (@(posedge clk_i) init_q || read_valid == reads_q[5]);
  ReadGivesASliceOfTheRow_A :
  assert property (@(posedge clk_i) init_q || !ours_read_q[5] || read_data == slice);
  NothingWithoutAnAnswer_A :
  assert property (@(posedge clk_i) init_q || reset_q || reads_q[5] || read_data == '0);
`endif

  // Strengthening for the induction: reads under way are those that were asked for.
  ReadsAreThoseAskedFor_A :
  assert property (@(posedge clk_i) init_q || u_dut.read_q == reads_q[4:1]);
  PacketsAndReadsHaveSlotsOfTheirOwn_A :
  assert property (@(posedge clk_i) init_q || (ours_q & reads_q) == '0);
  ReadsOfTheRowAreReads_A :
  assert property (@(posedge clk_i) init_q || (ours_read_q & ~reads_q) == '0);
  for (genvar g = 1; g < 4; g++) begin : gen_index
    IndexTravelsAlong_A :
    assert property (@(posedge clk_i) init_q || !(ours_q[g] || ours_read_q[g]) || u_dut.index[g] == chosen_q);
  end

  // And: what the block holds of the chosen row, of the group that the claim is about.
`ifdef PICK
  localparam logic [3:0] Looks = 4'b0001;
`elsif EARLY
  localparam logic [3:0] Looks = 4'b0010;
`elsif OPERAND
  localparam logic [3:0] Looks = 4'b0100;
`elsif RESULT
  localparam logic [3:0] Looks = 4'b1000;
`else
  localparam logic [3:0] Looks = 4'b1111;
`endif
`ifdef SYNTHESIS
  localparam rmt_action_row_t [3:0] Columns = {
    act_row('0, '0, '0, '1), act_row('0, '0, '1, '0), act_row('0, '1, '0, '0), act_row('1, '0, '0, '0)
  };
  for (genvar g = 0; g < 4; g++) begin : gen_group
    localparam logic [Slices-1:0][SliceBits-1:0] Present = (Slices * SliceBits)'(Columns[g]);
    for (genvar s = 0; s < int'(Slices); s++) begin : gen_slice
      if (Looks[g] && Present[s] != '0) begin : gen_columns
        ColumnsAreThoseOfTheRow_A :
        assert property (@(posedge clk_i) init_q ||
            u_dut.gen_group[g].gen_slice[s].gen_columns.u_columns.mem[chosen_q] ==
            (SliceBits'((Slices * SliceBits)'(row_q) >> (s * SliceBits)) & Present[s]));
      end
    end
  end
`ifdef READ
  // What a host read has gathered of the chosen row's slice, cycle by cycle.
  typedef logic [Slices-1:0][SliceBits-1:0] slices_t;
  slices_t [3:0] part;
  always_comb begin
    part = '0;
    for (int unsigned g = 0; g < 4; g++) begin
      for (int unsigned s = 0; s < Slices; s++) begin
        if (32'(slice_i) == s) part[g][s] = SliceBits'((Slices * SliceBits)'(row_q & Columns[g]) >> (s * SliceBits));
      end
    end
  end
  for (genvar g = 0; g < 4; g++) begin : gen_part
    ColumnsAreReadInTurn_A :
    assert property (@(posedge clk_i) init_q || !ours_read_q[g+1] || u_dut.columns[g] == part[g]);
  end
  PickWaitsForACycle_A :
  assert property (@(posedge clk_i) init_q || !ours_read_q[2] || u_dut.pick5_q == part[0]);
  PickAndEarlyMeet_A :
  assert property (@(posedge clk_i)
      init_q || !ours_read_q[3] || (u_dut.pick6_q == part[0] && u_dut.early6_q == part[1]));
  ThreePartsAreJoined_A :
  assert property (@(posedge clk_i) init_q || !ours_read_q[4] || u_dut.before_q == u_dut.joined(
      part[0] | part[1] | part[2]
  ));
`endif
`else
  for (genvar g = 1; g < 4; g++) begin : gen_named
    NamesTravelAlong_A :
    assert property (@(posedge clk_i) init_q || !ours_q[g] || u_dut.named_q[g]);
  end
  ReadIsOfTheRowThatWasAsked_A :
  assert property (@(posedge clk_i) init_q || ours_read_q == '0 || u_dut.read_index_q == chosen_q);
  if (Looks[0]) begin : gen_pick
    PicksAreThoseOfTheRow_A :
    assert property (@(posedge clk_i) init_q || u_dut.picks[chosen_q] == act_pick(row_q));
  end
  if (Looks[1]) begin : gen_early
    EarliesAreThoseOfTheRow_A :
    assert property (@(posedge clk_i) init_q || u_dut.earlies[chosen_q] == act_early(row_q));
  end
  if (Looks[2]) begin : gen_operand
    OperandsAreThoseOfTheRow_A :
    assert property (@(posedge clk_i) init_q || u_dut.operands[chosen_q] == act_operand(row_q));
  end
  if (Looks[3]) begin : gen_result
    ResultsAreThoseOfTheRow_A :
    assert property (@(posedge clk_i) init_q || u_dut.results[chosen_q] == act_result(row_q));
  end
`endif
endmodule
