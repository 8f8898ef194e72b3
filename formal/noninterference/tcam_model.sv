/// What common/tcam_lut shows of sluice_tcam_lut, in its place in noninterference/ternary: the answer is that of a loop over
/// (value, mask), two cycles later; an entry is invalid while it is written.
///
/// A write may take any time here, `anytime` is free; the block takes 34 cycles.
module sluice_tcam_lut #(
    parameter  int unsigned Entries      = 64,
    parameter  int unsigned KeyWidth     = 205,
    parameter  int unsigned GroupEntries = 14,
    parameter  int unsigned ChunkBits    = 5,
    localparam int unsigned IndexWidth   = (Entries > 1) ? $clog2(Entries) : 1
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    input  logic                  wr_valid_i,
    output logic                  wr_ready_o,
    input  logic [IndexWidth-1:0] wr_index_i,
    input  logic                  wr_entry_valid_i,
    input  logic [  KeyWidth-1:0] wr_value_i,
    input  logic [  KeyWidth-1:0] wr_mask_i,
    input  logic                  lookup_valid_i,
    input  logic [  KeyWidth-1:0] lookup_key_i,
    output logic                  lookup_valid_o,
    output logic                  hit_o,
    output logic [IndexWidth-1:0] index_o
);
  logic anytime;
  logic [Entries-1:0] valid_q, match, match_q;
  logic [Entries-1:0][KeyWidth-1:0] value_q, mask_q;
  logic lookup_q;
  logic [IndexWidth-1:0] lowest;

  assign wr_ready_o = !wr_entry_valid_i || anytime;

  always_comb begin
    lowest = '0;
    for (int i = int'(Entries) - 1; i >= 0; i--) begin
      match[i] = valid_q[i] && ((lookup_key_i ^ value_q[i]) & mask_q[i]) == '0;
      if (match_q[i]) lowest = IndexWidth'(i);
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_q        <= '0;
      lookup_q       <= 1'b0;
      lookup_valid_o <= 1'b0;
    end else begin
      lookup_q       <= lookup_valid_i;
      lookup_valid_o <= lookup_q;
      if (wr_valid_i) valid_q[wr_index_i] <= wr_entry_valid_i && wr_ready_o;
    end
    if (wr_valid_i) begin
      value_q[wr_index_i] <= wr_value_i;
      mask_q[wr_index_i]  <= wr_mask_i;
    end
    match_q <= match;
    hit_o   <= match_q != '0;
    index_o <= lowest;
  end
endmodule
