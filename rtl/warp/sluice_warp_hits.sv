/// Counters of packets by leaf, at 64 * (2 * module + generation) + rule.
///
/// A count adds 1; behind 2^36 - 1 comes 0. Counters are zero at first, and a reset leaves them as they are; counts of the two cycles before it may be lost.
/// The host sets one (`write_i`, table `WarpTableHits`) or reads one; a counter that is not there reads as zero, and a write to it does nothing.
///
/// What comes first is done first. Of what comes in one cycle at the engine's ports (`write_i` is a cycle later here) the host's read is first, then its write, then the
/// count: that waits for both.
///
/// Latency: 3 cycles from `read_valid_i` to `hits_valid_o`, fixed. Throughput: a count a cycle, of one counter too. Stall behaviour: `ready_o`, a function of registers
/// alone, is low for the cycles in which a count waits: one for each read or write at most.
module sluice_warp_hits
  import sluice_xdp_rows_pkg::*;
  import sluice_warp_pkg::*;
#(
    parameter int unsigned Modules = 64,
    parameter int unsigned Rules = 64,
    localparam int unsigned LookBits = $clog2(2 * Modules),
    localparam int unsigned RuleBits = $clog2(Rules),
    localparam int unsigned RowBits = LookBits + RuleBits
) (
    input logic clk_i,
    input logic rst_ni,

    input warp_write_t write_i,

    input  logic               valid_i,
    output logic               ready_o,
    input  logic [RowBits-1:0] index_i,  // without bits that no rule has

    input  logic                          read_valid_i,
    input  logic [     WarpIndexBits-1:0] read_index_i,
    output logic                          hits_valid_o,
    output logic [XdpWarpHitsRowBits-1:0] hits_o
);

  // Whether the counter is there, and its row.
  function automatic logic is_there(logic [WarpIndexBits-1:0] index);
    return (index >> (LookBits + WarpRuleBits)) == '0 && 32'(index[WarpRuleBits-1:0]) < Rules;
  endfunction
  function automatic logic [RowBits-1:0] row_of(logic [WarpIndexBits-1:0] index);
    return RowBits'(index >> WarpRuleBits << RuleBits) | (RowBits'(index) & RowBits'(Rules - 1));
  endfunction

  // ---------------------------------------------------------------------------------------------------------------
  // Who has the memory. It is read for the host's read or a count; it is written, a cycle later, by the host or a count.

  logic read_q, there_q, count_q, sets, goes;
  logic [RowBits-1:0] read_row_q, count_row_q, row;
  assign sets = write_i.valid && write_i.tab == WarpTableHits && is_there(write_i.index);
  assign goes = count_q && !read_q && !sets;
  assign ready_o = !count_q || goes;
  assign row = read_q ? read_row_q : count_row_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      read_q  <= 1'b0;
      count_q <= 1'b0;
    end else begin
      read_q <= read_valid_i;
      if (ready_o) count_q <= valid_i;
    end
    there_q <= is_there(read_index_i);
    read_row_q <= row_of(read_index_i);
    if (ready_o) count_row_q <= index_i;
  end

  // ---------------------------------------------------------------------------------------------------------------
  // What it is, with what was written while it was read; and one more.

  logic was_read_q, was_there_q, counts_q, sets_q, wrote_q;
  logic [RowBits-1:0] row_q, write_row, write_row_q, wrote_row_q;
  logic [XdpWarpHitsRowBits-1:0] number, hits, set_q, written, wrote_number_q;
  assign hits = (wrote_q && wrote_row_q == row_q) ? wrote_number_q : number;
  assign written = sets_q ? set_q : hits + XdpWarpHitsRowBits'(1);
  assign write_row = sets_q ? write_row_q : row_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      was_read_q   <= 1'b0;
      counts_q     <= 1'b0;
      sets_q       <= 1'b0;
      wrote_q      <= 1'b0;
      hits_valid_o <= 1'b0;
    end else begin
      was_read_q   <= read_q;
      counts_q     <= goes;
      sets_q       <= sets;
      wrote_q      <= counts_q || sets_q;
      hits_valid_o <= was_read_q;
    end
    was_there_q <= there_q;
    row_q <= row;
    write_row_q <= row_of(write_i.index);
    set_q <= write_i.row[XdpWarpHitsRowBits-1:0];
    wrote_row_q <= write_row;
    wrote_number_q <= written;
    hits_o <= was_there_q ? hits : '0;
  end

  sluice_ram_1r1w #(
      .Width(XdpWarpHitsRowBits),
      .Depth(2 * Modules * Rules),
      .Style((2 * Modules * Rules >= 256) ? "block" : "auto")
  ) u_numbers (
      .clk_i,
      // Before the first reset nothing is known of either.
      .wr_en_i  ((counts_q || sets_q) && rst_ni),
      .wr_addr_i(write_row),
      .wr_data_i(written),
      .rd_en_i  (1'b1),
      .rd_addr_i(row),
      .rd_data_o(number)
  );

endmodule
