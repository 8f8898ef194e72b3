/// Where the fields of a matcher's messages lie: written by the walk (sluice_l7_walk), read by the loop.
///
/// A field is known when the walk has come to it, to a later one, or to its end. `begin_i` forgets the place's fields;
/// what is written in the same cycle is kept. A read is of the same cycle; what is written in one cycle is read from the
/// next one on.
///
/// Latency: 0 cycles. Throughput: 1 write and 2 reads per cycle. Never stalls.
module sluice_l7_fields
  import sluice_l7_rows_pkg::*;
  import sluice_l7_pkg::*;
  import sluice_l7_matcher_pkg::*;
#(
    parameter int unsigned Places = 4
) (
    input logic clk_i,

    // Of the message that is being loaded.
    input place_t          place_i,
    input logic            begin_i,
    input logic            over_i,
    input logic            write_i,
    input logic      [3:0] index_i,
    input position_t       start_i,
    input position_t       stop_i,

    // Two readers.
    input  place_t    [1:0]      read_place_i,
    input  logic      [1:0][3:0] read_index_i,
    output l7_field_t [1:0]      field_o
);

  localparam int unsigned Depth = Places * (L7Fields + 1);
  localparam int unsigned AddrWidth = $clog2(Depth);

  logic [Places-1:0][L7Fields:0] present_q;
  logic [Places-1:0][3:0] last_q;
  logic [Places-1:0] over_q;

  always_ff @(posedge clk_i) begin
    for (int unsigned p = 0; p < Places; p++) begin
      if (place_i == place_t'(p)) begin
        if (begin_i) begin
          present_q[p] <= '0;
          last_q[p] <= '0;
          over_q[p] <= 1'b0;
        end
        if (write_i) begin
          present_q[p][index_i] <= 1'b1;
          last_q[p] <= index_i;
        end
        if (over_i) over_q[p] <= 1'b1;
      end
    end
  end

  for (genvar r = 0; r < 2; r++) begin : gen_read
    // A RAM for each reader: they are chosen among behind it, and one with two ports would be read at a chosen address.
    sluice_ram_lut #(
        .Width(2 * PositionBits),
        .Depth(Depth),
        .InitZero(1'b0)
    ) u_lies (
        .clk_i(clk_i),
        .we_i(write_i),
        .waddr_i(AddrWidth'({place_i, index_i})),
        .wdata_i({start_i, stop_i}),
        .raddr_i(AddrWidth'({read_place_i[r], read_index_i[r]})),
        .rdata_o({field_o[r].start, field_o[r].stop})
    );

    logic [L7Fields:0] present;
    logic [3:0] last;
    logic over;
    always_comb begin
      present = '0;
      last = '0;
      over = 1'b0;
      for (int unsigned p = 0; p < Places; p++) begin
        if (read_place_i[r] == place_t'(p)) begin
          present = present_q[p];
          last = last_q[p];
          over = over_q[p];
        end
      end
    end

    assign field_o[r].present = present[read_index_i[r]];
    assign field_o[r].known   = over || last >= read_index_i[r];
  end

endmodule
