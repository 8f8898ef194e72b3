/// Modules with a packet in their queue that needs more memory than a bay of theirs.
///
/// `stored_i` says that one has come to the queue of `module_in_i`, `leaves_i` that one has left that of `module_out_i`. `oversize_o[m]` is high from the
/// cycle behind the first until the cycle behind the last has left. `clear_i` empties the counts of `clear_index_i`; no packet is there then.
///
/// Latency: 1 cycle. Throughput: one in and one out a cycle. Never stalls.
module sluice_xdp_oversize #(
    parameter  int unsigned Modules   = 64,
    parameter  int unsigned CountBits = 11,
    localparam int unsigned IndexBits = $clog2(Modules)
) (
    input logic clk_i,
    input logic rst_ni,

    input logic                 stored_i,
    input logic [IndexBits-1:0] module_in_i,
    input logic                 leaves_i,
    input logic [IndexBits-1:0] module_out_i,

    output logic [Modules-1:0] oversize_o,

    input logic                 clear_i,
    input logic [IndexBits-1:0] clear_index_i
);

  typedef logic [CountBits-1:0] count_t;
  count_t in, out, in_there;
  logic [Modules-1:0] oversize_q;
  logic last;

  sluice_ram_lut #(
      .Width    (CountBits),
      .Depth    (Modules),
      .ReadPorts(2)
  ) u_in (
      .clk_i,
      .we_i   (stored_i || clear_i),
      .waddr_i(clear_i ? clear_index_i : module_in_i),
      .wdata_i(clear_i ? '0 : in + count_t'(1)),
      .raddr_i({module_in_i, module_out_i}),
      .rdata_o({in, in_there})
  );
  sluice_ram_lut #(
      .Width(CountBits),
      .Depth(Modules)
  ) u_out (
      .clk_i,
      .we_i   (leaves_i || clear_i),
      .waddr_i(clear_i ? clear_index_i : module_out_i),
      .wdata_i(clear_i ? '0 : out + count_t'(1)),
      .raddr_i(module_out_i),
      .rdata_o(out)
  );

  assign last = count_t'(out + count_t'(1)) == in_there;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      oversize_q <= '0;
    end else begin
      if (leaves_i && last) oversize_q[module_out_i] <= 1'b0;
      if (stored_i) oversize_q[module_in_i] <= 1'b1;
    end
  end
  assign oversize_o = oversize_q;

endmodule
