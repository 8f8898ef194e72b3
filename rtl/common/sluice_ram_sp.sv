/// Single-port RAM: one read or one write a cycle.
///
/// A read (`en_i && !we_i`) gives `rdata_o` one cycle later; `rdata_o` then stays until the
/// next read. A write leaves `rdata_o` alone (no-change mode), so there is no read during
/// write. Contents are not touched by a reset; they start at zero when `InitZero` is set and
/// undefined otherwise.
///
/// An address that is not below `Depth` (possible when `Depth` is no power of two) reads an
/// unspecified word; a write to it changes no word below `Depth`.
///
/// Latency: 1 cycle, fixed. Throughput: 1 access per cycle. Never stalls.
module sluice_ram_sp #(
    parameter int unsigned Width = 32,
    parameter int unsigned Depth = 512,
    parameter bit InitZero = 1'b1,
    localparam int unsigned AddrWidth = (Depth > 1) ? $clog2(Depth) : 1
) (
    input  logic                 clk_i,
    input  logic                 en_i,
    input  logic                 we_i,
    input  logic [AddrWidth-1:0] addr_i,
    input  logic [    Width-1:0] wdata_i,
    output logic [    Width-1:0] rdata_o
);

  if (Width < 1) begin : gen_bad_width
    $fatal(1, "ram_sp: Width is %0d, expected at least 1 (%m)", Width);
  end
  if (Depth < 1) begin : gen_bad_depth
    $fatal(1, "ram_sp: Depth is %0d, expected at least 1 (%m)", Depth);
  end

  logic [Width-1:0] mem[Depth];

  if (InitZero) begin : gen_init_zero
    initial begin
      /* verilator unroll_disable */
      for (int unsigned i = 0; i < Depth; i++) mem[i] = '0;
    end
  end

  // `always`, not `always_ff`: the initial block above is a second driver of the memory.
  always @(posedge clk_i) begin
    if (en_i) begin
      if (we_i) mem[addr_i] <= wdata_i;
      else rdata_o <= mem[addr_i];
    end
  end

endmodule
