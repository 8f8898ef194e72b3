/// Dual-port RAM of one clock: port A reads and writes (configuration), port B only reads
/// (datapath).
///
/// A read on A (`a_en_i`) or on B (`b_en_i`) gives its data one cycle later; the data then
/// stays until the next access of that port. A write on A gives the OLD word there, as the
/// chip's memories do: to keep what was read before would take a register and a LUT a bit.
/// When B reads the word that A writes in the same cycle, B gets the OLD word; from the next
/// cycle on it gets the new one. Contents are not touched by a reset; they start at zero when
/// `InitZero` is set and undefined otherwise.
///
/// An address that is not below `Depth` (possible when `Depth` is no power of two) reads an
/// unspecified word; a write to it changes no word below `Depth`.
///
/// Latency: 1 cycle, fixed. Throughput: 1 access per port and cycle. Never stalls.
module sluice_ram_dp #(
    parameter int unsigned Width = 32,
    parameter int unsigned Depth = 512,
    parameter bit InitZero = 1'b1,
    localparam int unsigned AddrWidth = (Depth > 1) ? $clog2(Depth) : 1
) (
    input  logic                 clk_i,
    // Port A: configuration side.
    input  logic                 a_en_i,
    input  logic                 a_we_i,
    input  logic [AddrWidth-1:0] a_addr_i,
    input  logic [    Width-1:0] a_wdata_i,
    output logic [    Width-1:0] a_rdata_o,
    // Port B: datapath side.
    input  logic                 b_en_i,
    input  logic [AddrWidth-1:0] b_addr_i,
    output logic [    Width-1:0] b_rdata_o
);

  if (Width < 1) begin : gen_bad_width
    $fatal(1, "ram_dp: Width is %0d, expected at least 1 (%m)", Width);
  end
  if (Depth < 1) begin : gen_bad_depth
    $fatal(1, "ram_dp: Depth is %0d, expected at least 1 (%m)", Depth);
  end

  // Benches of blocks alone, which nothing clears behind a reset, begin with zeros everywhere.
`ifdef SLUICE_ZERO_RAMS
  localparam bit Zero = 1'b1;
`else
  localparam bit Zero = InitZero;
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
    if (a_en_i) begin
      if (a_we_i) mem[a_addr_i] <= a_wdata_i;
      a_rdata_o <= mem[a_addr_i];
    end
  end

  always_ff @(posedge clk_i) begin
    if (b_en_i) b_rdata_o <= mem[b_addr_i];
  end

endmodule
