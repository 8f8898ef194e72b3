/// Proof about sluice_tcam_lut: the answer is that of a loop over (value, mask), also during a write.
///
/// By k-induction, for runs of any length, at chunks of two bits, whose writes are short. One key
/// is chosen at the start: what holds for any one holds for all. A reset stands only at the start.
module tcam_lut #(
    parameter  int unsigned Entries      = 3,
    parameter  int unsigned KeyWidth     = 3,
    parameter  int unsigned GroupEntries = 2,
    parameter  int unsigned ChunkBits    = 2,
    localparam int unsigned IndexWidth   = $clog2(Entries)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [KeyWidth-1:0] choose_i,
    input logic wr_valid_i,
    input logic [IndexWidth-1:0] wr_index_i,
    input logic wr_entry_valid_i,
    input logic [KeyWidth-1:0] wr_value_i,
    input logic [KeyWidth-1:0] wr_mask_i,
    input logic lookup_valid_i,
    input logic [KeyWidth-1:0] lookup_key_i
);

  logic wr_ready, lookup_valid, hit;
  logic [IndexWidth-1:0] index;

  sluice_tcam_lut #(
      .Entries(Entries),
      .KeyWidth(KeyWidth),
      .GroupEntries(GroupEntries),
      .ChunkBits(ChunkBits)
  ) u_dut (
      .clk_i,
      .rst_ni,
      .wr_valid_i,
      .wr_ready_o(wr_ready),
      .wr_index_i,
      .wr_entry_valid_i,
      .wr_value_i,
      .wr_mask_i,
      .lookup_valid_i,
      .lookup_key_i,
      .lookup_valid_o(lookup_valid),
      .hit_o(hit),
      .index_o(index)
  );

  logic init_q = 1'b1;
  logic [KeyWidth-1:0] key_q;
  logic waits_q;
  logic [IndexWidth+2*KeyWidth:0] write, write_q;
  logic [5:0] taken_q;

  // The shadow as before this cycle.
  logic [Entries-1:0] valid_q;
  logic [Entries-1:0][KeyWidth-1:0] value_q, mask_q;
  logic expected_hit;
  logic [IndexWidth-1:0] expected_index;

  assign write = {wr_index_i, wr_entry_valid_i, wr_value_i, wr_mask_i};

  always_comb begin
    assume (rst_ni == !init_q);
    // A write stays as it is until it is taken.
    assume (!waits_q || (wr_valid_i && write == write_q));
    expected_hit   = 1'b0;
    expected_index = '0;
    for (int i = int'(Entries) - 1; i >= 0; i--) begin
      if (valid_q[i] && ((key_q ^ value_q[i]) & mask_q[i]) == '0) begin
        expected_hit   = 1'b1;
        expected_index = IndexWidth'(i);
      end
    end
  end

  logic [1:0] asked_q, ours_q, expected_hit_q;
  logic [1:0][IndexWidth-1:0] expected_index_q;

  always_ff @(posedge clk_i) begin
    init_q <= 1'b0;
    if (init_q) key_q <= choose_i;
    if (!rst_ni) begin
      valid_q <= '0;
      waits_q <= 1'b0;
      taken_q <= '0;
      asked_q <= '0;
    end else begin
      waits_q <= wr_valid_i && !wr_ready;
      taken_q <= (wr_valid_i && !wr_ready) ? taken_q + 1'b1 : '0;
      asked_q <= {asked_q[0], lookup_valid_i};
      if (wr_valid_i && wr_index_i < Entries) begin
        valid_q[wr_index_i] <= wr_entry_valid_i && wr_ready;
        value_q[wr_index_i] <= wr_value_i;
        mask_q[wr_index_i]  <= wr_mask_i;
      end
    end
    write_q          <= write;
    ours_q           <= {ours_q[0], lookup_key_i == key_q};
    expected_hit_q   <= {expected_hit_q[0], expected_hit};
    expected_index_q <= {expected_index_q[0], expected_index};
  end

  EveryLookupIsAnsweredAfterTwoCycles_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) lookup_valid == asked_q[1]);
  AnswerIsThatOfALoop_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !lookup_valid || !ours_q[1] || (hit == expected_hit_q[1] &&
                                                                            index == expected_index_q[1]));
  WriteTakesTwoCyclesMoreThanRows_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !wr_valid_i ||
                                    wr_ready == (!wr_entry_valid_i || taken_q == 6'(2 ** ChunkBits + 1)));

  // Strengthening for the induction: which rows of the chosen key hold what the shadow says, while
  // a write passes them.
  localparam int unsigned Chunks = (KeyWidth + ChunkBits - 1) / ChunkBits;
  localparam int unsigned Rows = 2 ** ChunkBits;
  typedef logic [Chunks*ChunkBits-1:0] padded_t;

  logic [5:0] step;
  logic [IndexWidth-1:0] written;
  padded_t key;

  assign step    = 6'(u_dut.step_q);
  assign written = write_q[2*KeyWidth+1+:IndexWidth];
  assign key     = padded_t'(key_q);

  StepCountsTheWrite_A :
  assert property (@(posedge clk_i) init_q || (step == taken_q && waits_q == (step != 0) && step <= 6'(Rows + 1)));
  OnlyValidEntriesTakeLong_A :
  assert property (@(posedge clk_i) init_q || !waits_q || write_q[2*KeyWidth]);
  RowsFollowEachOther_A :
  assert property (@(posedge clk_i) init_q || (u_dut.read_valid_q == (step >= 1 && step <= 6'(Rows)) &&
      u_dut.copy_valid_q == (step >= 2) && (step < 1 || 6'(u_dut.read_row_q) == ((step - 6'd1) & 6'(Rows - 1))) &&
      (step < 2 || 6'(u_dut.copy_row_q) == step - 6'd2)));
  ValidIsThatOfTheShadow_A :
  assert property (@(posedge clk_i) init_q || u_dut.valid_q == valid_q);

  for (genvar e = 0; e < int'(Entries); e++) begin : gen_entry
    localparam int Group = e / int'(GroupEntries);
    localparam int Lane = e % int'(GroupEntries);
    logic busy;
    assign busy = waits_q && written == IndexWidth'(e);

    WrittenEntryIsInvalid_A :
    assert property (@(posedge clk_i) init_q || !busy ||
        (!valid_q[e] && {value_q[e], mask_q[e]} == write_q[2*KeyWidth-1:0]));

    for (genvar c = 0; c < int'(Chunks); c++) begin : gen_chunk
      logic [ChunkBits-1:0] row;
      logic accepts;
      assign row = key[c*ChunkBits+:ChunkBits];
      assign accepts = ((row ^ (ChunkBits)'(padded_t'(value_q[e]) >> (c * ChunkBits))) &
                        (ChunkBits)'(padded_t'(mask_q[e]) >> (c * ChunkBits))) == '0;

`ifdef SYNTHESIS
      MirrorIsChanged_A :
      assert property (@(posedge clk_i) init_q || !(valid_q[e] || (busy && step > 6'(row))) ||
          u_dut.u_mirror.mem[Group*Rows+row][Lane*Chunks+c] == accepts);
      CopyIsThatOfTheMirror_A :
      assert property (@(posedge clk_i) init_q || !(valid_q[e] || busy) || !u_dut.copy_valid_q ||
          u_dut.copy_row_q != row || u_dut.wr_group_index != Group || u_dut.copy[Lane][c] == accepts);
      RowIsThatOfTheMirror_A :
      assert property (@(posedge clk_i) init_q || !(valid_q[e] || (busy && step > 6'(row) + 2)) ||
          u_dut.gen_chunk[c].gen_group[Group].u_rows.mem[row][Lane] == accepts);
`else
      RowIsWritten_A :
      assert property (@(posedge clk_i) init_q || !(valid_q[e] || (busy && step > 6'(row) + 2)) ||
          u_dut.rows[c*Rows+32'(row)][e] == accepts);
`endif
    end
  end
endmodule
