/// Small RAM in LUTs: one write port, `ReadPorts` asynchronous read ports.
///
/// `rdata_o[p]` is the word at `raddr_i[p]` in the same cycle; a word written in one cycle is
/// read from the next cycle on. Contents are not touched by a reset; they start at zero when
/// `InitZero` is set and undefined otherwise. The
/// asynchronous read is what keeps it out of block RAM.
///
/// An address that is not below `Depth` (possible when `Depth` is no power of two) reads an
/// unspecified word; a write to it changes no word below `Depth`.
///
/// Latency: 0 cycles. Throughput: 1 write and `ReadPorts` reads per cycle. Never stalls.
module sluice_ram_lut #(
    parameter int unsigned Width = 32,
    parameter int unsigned Depth = 32,
    parameter int unsigned ReadPorts = 1,
    parameter bit InitZero = 1'b1,
    localparam int unsigned AddrWidth = (Depth > 1) ? $clog2(Depth) : 1
) (
    input  logic                                clk_i,
    input  logic                                we_i,
    input  logic [AddrWidth-1:0]                waddr_i,
    input  logic [    Width-1:0]                wdata_i,
    input  logic [ReadPorts-1:0][AddrWidth-1:0] raddr_i,
    output logic [ReadPorts-1:0][    Width-1:0] rdata_o
);

  if (Width < 1) begin : gen_bad_width
    $fatal(1, "ram_lut: Width is %0d, expected at least 1 (%m)", Width);
  end
  if (Depth < 1) begin : gen_bad_depth
    $fatal(1, "ram_lut: Depth is %0d, expected at least 1 (%m)", Depth);
  end
  if (ReadPorts < 1) begin : gen_bad_read_ports
    $fatal(1, "ram_lut: ReadPorts is %0d, expected at least 1 (%m)", ReadPorts);
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
    if (we_i) mem[waddr_i] <= wdata_i;
  end

  for (genvar p = 0; p < int'(ReadPorts); p++) begin : gen_read
    assign rdata_o[p] = mem[raddr_i[p]];
  end

endmodule
