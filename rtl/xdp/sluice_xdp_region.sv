/// Which row of the region table an address of a map's value has, and whether its module has such a page.
///
/// Pages of 64 KiB that programs write come first, then those that they only read. With external memory the first 16 MiB of a kind have such pages, and
/// what is behind them has pages of 16 MiB, whose rows follow those of their kind.
///
/// Latency: 0 cycles (combinational).
module sluice_xdp_region
  import sluice_xdp_pkg::*;
#(
    parameter bit Outside = 1'b0
) (
    // "Bits of signal are not used": pages of large maps are there with external memory; what lies in a page is not of interest.
    // verilator lint_off UNUSEDSIGNAL
    input  xdp_regions_t        regions_i,
    input  logic         [31:0] address_i,
    // verilator lint_on UNUSEDSIGNAL
    output logic         [ 8:0] index_o,
    output logic                known_o
);

  logic read_only;
  logic [8:0] pages, first;
  assign read_only = address_i[31];
  assign pages = read_only ? regions_i.read_only : regions_i.writable;

  if (Outside) begin : gen_large
    logic [5:0] large_pages;
    assign large_pages = read_only ? 6'(regions_i.large_read_only) : regions_i.large_writable;
    assign first = regions_i.base + (read_only ? regions_i.writable + 9'(regions_i.large_writable) : 9'd0);
    always_comb begin
      index_o = first + {1'b0, address_i[23:16]};
      known_o = {1'b0, address_i[23:16]} < pages;
      if (address_i[29:24] != '0) begin
        index_o = first + pages + 9'(address_i[29:24]) - 9'd1;
        known_o = address_i[29:24] <= large_pages;
      end
    end
  end else begin : gen_small
    assign first   = regions_i.base + (read_only ? regions_i.writable : 9'd0);
    assign index_o = first + address_i[24:16];
    assign known_o = address_i[29:25] == '0 && address_i[24:16] < pages;
  end

endmodule
