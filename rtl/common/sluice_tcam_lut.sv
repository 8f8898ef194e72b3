/// Ternary CAM in LUT RAM.
///
/// The key is cut into chunks of `ChunkBits`. Each chunk has a RAM of 2^ChunkBits rows, read at
/// the chunk's value, which holds for each entry whether the entry accepts that value; an entry
/// matches if all chunks accept. Chunks of 5 bits fill the 32-deep LUT RAMs of UltraScale+.
///
/// A lookup (`lookup_valid_i`) is answered 2 cycles later by `lookup_valid_o`, `hit_o` and
/// `index_o`. If several entries match, the lowest index wins; without a match `index_o` is 0.
///
/// A write replaces one entry: the key matches if it agrees with `wr_value_i` wherever
/// `wr_mask_i` is one. `wr_valid_i` and what comes with it stay until `wr_ready_o`, which
/// comes in cycle 2^ChunkBits + 2 of the write (34). The entry is invalid from the second cycle on until `wr_ready_o`,
/// and valid for lookups from the cycle after `wr_ready_o`; the other entries are matched all
/// the time. With `wr_entry_valid_i` low the entry is only made invalid, in a single cycle. A
/// write that is withdrawn early leaves its entry invalid. A write to an index that is not
/// below `Entries` changes nothing. Reset makes all entries invalid.
///
/// How it is written: the RAMs of a chunk are `GroupEntries` entries wide, because that is
/// what one such LUT RAM holds, and have no write enable per entry. So the contents are
/// kept a second time in a block RAM with a write lane per entry; each row is changed there
/// and then copied whole.
///
/// Latency: 2 cycles, fixed. Throughput: 1 lookup per cycle, also during a write; 1 write per
/// 2^ChunkBits + 2 cycles. Lookups never stall.
module sluice_tcam_lut #(
    parameter  int unsigned Entries      = 64,
    parameter  int unsigned KeyWidth     = 205,
    parameter  int unsigned GroupEntries = 14,
    parameter  int unsigned ChunkBits    = 5,
    localparam int unsigned IndexWidth   = (Entries > 1) ? $clog2(Entries) : 1
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    // Write port.
    input  logic                  wr_valid_i,
    output logic                  wr_ready_o,
    input  logic [IndexWidth-1:0] wr_index_i,
    input  logic                  wr_entry_valid_i,
    input  logic [  KeyWidth-1:0] wr_value_i,
    input  logic [  KeyWidth-1:0] wr_mask_i,
    // Lookups.
    input  logic                  lookup_valid_i,
    input  logic [  KeyWidth-1:0] lookup_key_i,
    output logic                  lookup_valid_o,
    output logic                  hit_o,
    output logic [IndexWidth-1:0] index_o
);

  if (Entries < 1) begin : gen_bad_entries
    $fatal(1, "tcam_lut: Entries is %0d, expected at least 1 (%m)", Entries);
  end
  if (KeyWidth < 1) begin : gen_bad_key_width
    $fatal(1, "tcam_lut: KeyWidth is %0d, expected at least 1 (%m)", KeyWidth);
  end
  if (GroupEntries < 1) begin : gen_bad_group_entries
    $fatal(1, "tcam_lut: GroupEntries is %0d, expected at least 1 (%m)", GroupEntries);
  end

  if (ChunkBits < 1 || ChunkBits > 8) begin : gen_bad_chunk_bits
    $fatal(1, "tcam_lut: ChunkBits is %0d, expected 1 to 8 (%m)", ChunkBits);
  end

  localparam int unsigned Rows = 2 ** ChunkBits;
  localparam int unsigned Chunks = (KeyWidth + ChunkBits - 1) / ChunkBits;
  localparam int unsigned PaddedWidth = Chunks * ChunkBits;

  typedef logic [ChunkBits-1:0] row_t;

  // Write: change the row in the mirror, read it from there, copy it. Three rows are under way
  // at a time, one in each step.
  localparam int unsigned CopyDelay = 2;
  localparam int unsigned LastStep = Rows - 1 + CopyDelay;
  localparam int unsigned StepWidth = $clog2(LastStep + 1);

  logic [StepWidth-1:0] step_q;
  logic                 rewrite;
  logic                 last_step;
  logic                 change_row;
  row_t row, read_row_q, copy_row_q;
  logic read_valid_q, copy_valid_q;

  assign rewrite    = wr_valid_i && wr_entry_valid_i;
  assign last_step  = step_q == StepWidth'(LastStep);
  assign wr_ready_o = !wr_entry_valid_i || last_step;
  assign change_row = rewrite && step_q < StepWidth'(Rows);
  assign row        = step_q[ChunkBits-1:0];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      step_q       <= '0;
      read_valid_q <= 1'b0;
      copy_valid_q <= 1'b0;
    end else begin
      step_q       <= (rewrite && !last_step) ? step_q + 1'b1 : '0;
      read_valid_q <= change_row;
      copy_valid_q <= read_valid_q && rewrite;
    end
    read_row_q <= row;
    copy_row_q <= read_row_q;
  end

  // Lookup, first cycle: read all chunks, combine. For synthesis a carry comes out if every group of six chunks lets it
  // through. In simulation a row of a chunk is one word of all entries, in which a write changes its entry's bit when
  // synthesis copies the row; nothing is worked out without a lookup or a write. formal/common/tcam_lut.sby proves both.
  logic [PaddedWidth-1:0] key, wr_value, wr_mask;
  logic [Entries-1:0] valid_q, match_q;
  logic match_valid_q;

  assign key      = PaddedWidth'(lookup_key_i);
  assign wr_value = PaddedWidth'(wr_value_i);
  assign wr_mask  = PaddedWidth'(wr_mask_i);

`ifdef SYNTHESIS
  localparam int unsigned Lanes = (GroupEntries < Entries) ? GroupEntries : Entries;
  localparam int unsigned Groups = (Entries + Lanes - 1) / Lanes;
  localparam int unsigned GroupWidth = (Groups > 1) ? $clog2(Groups) : 1;

  // Where the entry is: group and lane by comparison with constants, which needs no division.
  logic [Groups-1:0] wr_group;
  logic [Lanes-1:0] wr_lane;
  logic [GroupWidth-1:0] wr_group_index;

  always_comb begin
    wr_group = '0;
    wr_lane  = '0;
    for (int unsigned e = 0; e < Entries; e++) begin
      wr_group[e/Lanes] |= wr_index_i == IndexWidth'(e);
      wr_lane[e%Lanes] |= wr_index_i == IndexWidth'(e);
    end
    wr_group_index = '0;
    for (int unsigned g = 0; g < Groups; g++) begin
      if (wr_group[g]) wr_group_index |= GroupWidth'(g);
    end
  end

  // Whether the entry accepts the row's number, for each chunk.
  logic [PaddedWidth-1:0] refused;
  logic [Chunks-1:0] accepts;

  assign refused = ({Chunks{row}} ^ wr_value) & wr_mask;

  for (genvar c = 0; c < int'(Chunks); c++) begin : gen_accepts
    assign accepts[c] = refused[c*ChunkBits+:ChunkBits] == '0;
  end

  logic [Lanes-1:0][Chunks-1:0] copy;

  sluice_ram_1r1w #(
      .Width(Lanes * Chunks),
      .Depth(2 ** GroupWidth * Rows),
      .Lanes(Lanes)
  ) u_mirror (
      .clk_i    (clk_i),
      .wr_en_i  (change_row ? wr_lane : '0),
      .wr_addr_i({wr_group_index, row}),
      .wr_data_i({Lanes{accepts}}),
      .rd_en_i  (read_valid_q),
      .rd_addr_i({wr_group_index, read_row_q}),
      .rd_data_o(copy)
  );

  logic [Chunks-1:0][Groups*Lanes-1:0] accepted;
  logic [Entries-1:0] match;

  for (genvar c = 0; c < int'(Chunks); c++) begin : gen_chunk
    logic [Lanes-1:0] copy_of_chunk;
    for (genvar l = 0; l < int'(Lanes); l++) begin : gen_lane
      assign copy_of_chunk[l] = copy[l][c];
    end
    for (genvar g = 0; g < int'(Groups); g++) begin : gen_group
      sluice_ram_lut #(
          .Width(Lanes),
          .Depth(Rows)
      ) u_rows (
          .clk_i  (clk_i),
          .we_i   (copy_valid_q && rewrite && wr_group[g]),
          .waddr_i(copy_row_q),
          .wdata_i(copy_of_chunk),
          .raddr_i(key[c*ChunkBits+:ChunkBits]),
          .rdata_o(accepted[c][g*Lanes+:Lanes])
      );
    end
  end

  // The entry is valid and all chunks accept.
  localparam int unsigned Sixes = (Chunks + 6) / 6;

  for (genvar e = 0; e < int'(Entries); e++) begin : gen_match
    logic [6*Sixes-1:0] column;
    (* keep *) logic [Sixes-1:0] six;
    logic [Sixes:0] unused_sum;
    for (genvar c = 0; c < int'(6 * Sixes); c++) begin : gen_column
      if (c < int'(Chunks)) begin : gen_accepted
        assign column[c] = accepted[c][e];
      end else begin : gen_rest
        assign column[c] = c > int'(Chunks) || valid_q[e];
      end
    end
    for (genvar s = 0; s < int'(Sixes); s++) begin : gen_six
      assign six[s] = &column[6*s+:6];
    end
    assign {match[e], unused_sum} = {1'b0, six, 1'b1} + (Sixes + 2)'(1'b1);
  end
  always_ff @(posedge clk_i) match_q <= match;

  always_ff @(posedge clk_i) begin
    for (int unsigned e = 0; e < Entries; e++) begin
      if (!rst_ni) valid_q[e] <= 1'b0;
      else if (wr_valid_i && wr_group[e/Lanes] && wr_lane[e%Lanes]) valid_q[e] <= wr_entry_valid_i && last_step;
    end
  end
`else
  logic [Entries-1:0] rows[Chunks*Rows];

  initial begin
    /* verilator unroll_disable */
    for (int unsigned i = 0; i < Chunks * Rows; i++) rows[i] = '0;
  end

  // Blocking assignments: nothing else looks at the rows, and they are read before they are changed.
  /* verilator lint_off BLKSEQ */
  always @(posedge clk_i) begin
    if (lookup_valid_i) begin
      automatic logic [Entries-1:0] match = valid_q;
      for (int unsigned c = 0; c < Chunks; c++) match &= rows[c*Rows+32'(key[c*ChunkBits+:ChunkBits])];
      match_q <= match;
    end
    if (copy_valid_q && rewrite && 32'(wr_index_i) < Entries) begin
      for (int unsigned c = 0; c < Chunks; c++) begin
        rows[c*Rows+32'(copy_row_q)][wr_index_i] =
            ((copy_row_q ^ wr_value[c*ChunkBits+:ChunkBits]) & wr_mask[c*ChunkBits+:ChunkBits]) == '0;
      end
    end
  end
  /* verilator lint_on BLKSEQ */

  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_q <= '0;
    else if (wr_valid_i && 32'(wr_index_i) < Entries) valid_q[wr_index_i] <= last_step && wr_entry_valid_i;
  end
`endif

  // Second cycle: lowest index.
  logic hit;
  logic [Entries-1:0] unused_onehot;
  logic [IndexWidth-1:0] index;

  sluice_prio_enc #(
      .Width(Entries)
  ) u_prio (
      .req_i   (match_q),
      .valid_o (hit),
      .index_o (index),
      .onehot_o(unused_onehot)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      match_valid_q  <= 1'b0;
      lookup_valid_o <= 1'b0;
    end else begin
      match_valid_q  <= lookup_valid_i;
      lookup_valid_o <= match_valid_q;
    end
    hit_o   <= hit;
    index_o <= index;
  end

`ifndef SYNTHESIS
  // A property would copy what is wide in every cycle.
  logic waits, waits_q;
  logic [IndexWidth+2*KeyWidth:0] write_q;
  assign waits = rst_ni && wr_valid_i && !wr_ready_o;
  always_ff @(posedge clk_i) begin
    waits_q <= waits;
    if (waits) write_q <= {wr_index_i, wr_entry_valid_i, wr_value_i, wr_mask_i};
    if (rst_ni && waits_q) begin
      WriteIsStableUntilReady_A :
      assert (wr_valid_i && write_q == {wr_index_i, wr_entry_valid_i, wr_value_i, wr_mask_i})
      else $error("tcam_lut: a write changed before wr_ready_o (%m)");
    end
  end
`endif

endmodule
