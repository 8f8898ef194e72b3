/// RAM of one clock with one write port and one registered read port.
///
/// A word has `Lanes` equal parts, each written when its bit of `wr_en_i` is set. A read
/// (`rd_en_i`) gives `rd_data_o` one cycle later; it then stays until the next read. A read
/// of the word that is written in the same cycle gets the OLD word. Contents are not touched
/// by a reset; they start at zero when `InitZero` is set and undefined otherwise.
///
/// An address that is not below `Depth` (possible when `Depth` is no power of two) reads an
/// unspecified word; a write to it changes no word below `Depth`.
///
/// `Style` is what synthesis is told of the memory: "block" keeps a shallow and wide one out of LUTs, "ultra" puts a deep one
/// into UltraRAM, which cannot begin with zeros.
///
/// Latency: 1 cycle, fixed. Throughput: 1 read and 1 write per cycle. Never stalls.
module sluice_ram_1r1w #(
    parameter int unsigned Width = 32,
    parameter int unsigned Depth = 512,
    parameter int unsigned Lanes = 1,
    parameter bit InitZero = 1'b1,
    parameter Style = "auto",
    localparam int unsigned AddrWidth = (Depth > 1) ? $clog2(Depth) : 1
) (
    input  logic                 clk_i,
    input  logic [    Lanes-1:0] wr_en_i,
    input  logic [AddrWidth-1:0] wr_addr_i,
    input  logic [    Width-1:0] wr_data_i,
    input  logic                 rd_en_i,
    input  logic [AddrWidth-1:0] rd_addr_i,
    output logic [    Width-1:0] rd_data_o
);

  if (Width < 1) begin : gen_bad_width
    $fatal(1, "ram_1r1w: Width is %0d, expected at least 1 (%m)", Width);
  end
  if (Depth < 1) begin : gen_bad_depth
    $fatal(1, "ram_1r1w: Depth is %0d, expected at least 1 (%m)", Depth);
  end
  if (Lanes < 1 || Width % Lanes != 0) begin : gen_bad_lanes
    $fatal(1, "ram_1r1w: Lanes is %0d, expected a divisor of Width, which is %0d (%m)", Lanes, Width);
  end

  if (40'(Style) != 40'("auto") && 40'(Style) != 40'("block") && 40'(Style) != 40'("ultra")) begin : gen_bad_style
    $fatal(1, "ram_1r1w: Style is %s, expected auto, block or ultra (%m)", Style);
  end

  localparam int unsigned LaneWidth = Width / Lanes;

  // Benches of blocks alone, which nothing clears behind a reset, begin with zeros everywhere.
`ifdef SLUICE_ZERO_RAMS
  localparam bit Zero = 1'b1;
`else
  localparam bit Zero = InitZero;
`endif

`ifdef SYNTHESIS
  // Proofs look into the array; with the attribute it would be a memory to them.
`ifndef PROOF
  (* ram_style = Style *)
`endif
`endif
  logic [Width-1:0] mem[Depth];

  if (Zero) begin : gen_init_zero
    initial begin
      /* verilator unroll_disable */
      for (int unsigned i = 0; i < Depth; i++) mem[i] = '0;
    end
  end

  // `always`, not `always_ff`: the initial block above is a second driver of the memory.
  always @(posedge clk_i) begin
    for (int unsigned l = 0; l < Lanes; l++) begin
      if (wr_en_i[l]) mem[wr_addr_i][l*LaneWidth+:LaneWidth] <= wr_data_i[l*LaneWidth+:LaneWidth];
    end
  end

  always_ff @(posedge clk_i) begin
    if (rd_en_i) rd_data_o <= mem[rd_addr_i];
  end

endmodule
