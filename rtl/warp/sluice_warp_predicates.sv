/// All predicates of packets, as the module's rows say.
///
/// Latency, from the cycle of `index_i` (module and generation): `lanes_i` one cycle later, `length_i` 2, `holds_o` 4. Throughput: a packet a cycle.
/// Never stalls.
module sluice_warp_predicates
  import sluice_xdp_rows_pkg::*;
  import sluice_warp_pkg::*;
#(
    parameter  int unsigned Modules  = 64,
    localparam int unsigned LookBits = $clog2(2 * Modules)
) (
    input logic clk_i,

    input warp_write_t write_i,

    input logic        [      LookBits-1:0] index_i,
    input warp_lanes_t                      lanes_i,
    input logic        [WarpLengthBits-1:0] length_i,

    output logic [WarpPredicates-1:0] holds_o
);

  // Predicates of a row.
  localparam int unsigned Row = 4;

  for (genvar h = 0; h < int'(WarpPredicates / Row); h++) begin : gen_half
    xdp_warp_predicates_row_t row;
    logic writes;
    assign writes = write_i.valid && write_i.tab == WarpTablePredicates && write_i.index[0] == 1'(h) &&
        (write_i.index >> (LookBits + 1)) == '0;

    sluice_ram_1r1w #(
        .Width   (XdpWarpPredicatesRowBits),
        .Depth   (2 * Modules),
        .InitZero(1'b0),
        .Style   ((2 * Modules >= 128) ? "block" : "auto")
    ) u_rows (
        .clk_i,
        .wr_en_i  (writes),
        .wr_addr_i(write_i.index[LookBits:1]),
        .wr_data_i(write_i.row[XdpWarpPredicatesRowBits-1:0]),
        .rd_en_i  (1'b1),
        .rd_addr_i(index_i),
        .rd_data_o(row)
    );

    for (genvar p = 0; p < int'(Row); p++) begin : gen_predicate
      sluice_warp_predicate u_predicate (
          .clk_i,
          .row_i  (row.predicates[p]),
          .lanes_i,
          .length_i,
          .holds_o(holds_o[Row*h+p])
      );
    end
  end

endmodule
