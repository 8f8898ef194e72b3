/// Proof about sluice_cam_reg: the answer is that of a loop over a shadow of the entries.
///
/// By k-induction, with resets and writes at any time.
module cam_reg #(
    parameter  int unsigned Entries    = 3,
    parameter  int unsigned KeyWidth   = 2,
    localparam int unsigned IndexWidth = $clog2(Entries)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic wr_en_i,
    input logic [IndexWidth-1:0] wr_index_i,
    input logic wr_valid_i,
    input logic [KeyWidth-1:0] wr_key_i,
    input logic lookup_valid_i,
    input logic [KeyWidth-1:0] lookup_key_i
);

  logic lookup_valid, hit;
  logic [IndexWidth-1:0] index;

  sluice_cam_reg #(
      .Entries (Entries),
      .KeyWidth(KeyWidth)
  ) u_dut (
      .clk_i,
      .rst_ni,
      .wr_en_i,
      .wr_index_i,
      .wr_valid_i,
      .wr_key_i,
      .lookup_valid_i,
      .lookup_key_i,
      .lookup_valid_o(lookup_valid),
      .hit_o(hit),
      .index_o(index)
  );

  logic init_q = 1'b1;
  always_ff @(posedge clk_i) init_q <= 1'b0;
  always_comb if (init_q) assume (!rst_ni);

  logic [Entries-1:0] valid_q;
  logic [Entries-1:0][KeyWidth-1:0] key_q;
  logic expected_valid_q, expected_hit_q;
  logic [IndexWidth-1:0] expected_index_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_q <= '0;
    end else if (wr_en_i && wr_index_i < Entries) begin
      valid_q[wr_index_i] <= wr_valid_i;
    end
    if (wr_en_i && wr_index_i < Entries) key_q[wr_index_i] <= wr_key_i;
    expected_valid_q <= rst_ni && lookup_valid_i;
    expected_hit_q   <= 1'b0;
    expected_index_q <= '0;
    for (int i = int'(Entries) - 1; i >= 0; i--) begin
      if (valid_q[i] && key_q[i] == lookup_key_i) begin
        expected_hit_q   <= 1'b1;
        expected_index_q <= IndexWidth'(i);
      end
    end
  end

  EveryLookupIsAnsweredOnce_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) lookup_valid == expected_valid_q);
  AnswerIsThatOfALoop_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !lookup_valid || (hit == expected_hit_q &&
                                                                            index == expected_index_q));

  // Strengthening for the induction.
  for (genvar e = 0; e < int'(Entries); e++) begin : gen_entry
    EntryIsItsShadow_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) u_dut.valid_q[e] == valid_q[e] &&
                                      (!valid_q[e] || u_dut.key_q[e] == key_q[e]));
  end
endmodule
