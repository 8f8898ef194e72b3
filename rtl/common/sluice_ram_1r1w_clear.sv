/// RAM of one clock with one write port and one registered read port that can be cleared.
///
/// Every cycle gives `rd_data_o` one cycle later: the word at `rd_addr_i`, or zero with `rd_clear_i`. So the outputs of
/// several such RAMs of which all but one are cleared can be joined by an OR, without a choice. A read of the word that
/// is written in the same cycle gets the OLD word. Contents start undefined and are not touched by a reset.
///
/// An address that is not below `Depth` (possible when `Depth` is no power of two) reads an
/// unspecified word; a write to it changes no word below `Depth`.
///
/// Latency: 1 cycle, fixed. Throughput: 1 read and 1 write per cycle. Never stalls.
module sluice_ram_1r1w_clear #(
    parameter int unsigned Width = 32,
    parameter int unsigned Depth = 512,
    localparam int unsigned AddrWidth = (Depth > 1) ? $clog2(Depth) : 1
) (
    input  logic                 clk_i,
    input  logic                 wr_en_i,
    input  logic [AddrWidth-1:0] wr_addr_i,
    input  logic [    Width-1:0] wr_data_i,
    input  logic                 rd_clear_i,
    input  logic [AddrWidth-1:0] rd_addr_i,
    output logic [    Width-1:0] rd_data_o
);

  if (Width < 1) begin : gen_bad_width
    $fatal(1, "ram_1r1w_clear: Width is %0d, expected at least 1 (%m)", Width);
  end
  if (Depth < 1) begin : gen_bad_depth
    $fatal(1, "ram_1r1w_clear: Depth is %0d, expected at least 1 (%m)", Depth);
  end

`ifdef SYNTHESIS
  // Proofs look into the array; with the attribute it would be a memory to them.
`ifndef PROOF
  // However few bits of a word are used: LUTs would read late what a block RAM's address takes at the end of a cycle.
  (* ram_style = "block" *)
`endif
`endif
  logic [Width-1:0] mem[Depth];

  // Benches of blocks alone, which nothing clears behind a reset, begin with zeros everywhere.
`ifdef SLUICE_ZERO_RAMS
  initial begin
    /* verilator unroll_disable */
    for (int unsigned i = 0; i < Depth; i++) mem[i] = '0;
  end
`endif

  // `always`, not `always_ff`: the initial block above is a second driver of the memory.
  always @(posedge clk_i) begin
    if (wr_en_i) mem[wr_addr_i] <= wr_data_i;
  end

  // The reset of a block RAM's output register.
  always_ff @(posedge clk_i) begin
    if (rd_clear_i) rd_data_o <= '0;
    else rd_data_o <= mem[rd_addr_i];
  end

endmodule
