/// The action rows of a stage, in RAMs by the cycle that uses their columns (docs/design/rmt-rows.md, rmt_action_row).
///
/// The row named in c3 appears column by column: `pick_o` in c4, `rotate_o` in c5, `operand_o` in c6, `result_o` in
/// c7, each for one cycle. So no column is ever delayed in registers. A write puts the whole row there in one cycle.
///
/// A host read (`read_i`) takes the place of a packet in c3: it reads the row as a packet would and gives the 8 words
/// of `slice_i` five cycles later with `read_valid_o`; zeros behind the row's end and without it. `slice_i` holds until then.
///
/// Throughput: one row a cycle. Never stalls.
module sluice_rmt_action_rows
  import sluice_pkg::*;
  import sluice_rmt_rows_pkg::*;
  import sluice_rmt_act_pkg::*;
#(
    parameter int unsigned Rows = 512,
    localparam int unsigned AddrWidth = $clog2(Rows)
) (
    input logic clk_i,
    input logic rst_ni,

    input logic                            write_i,
    input logic            [AddrWidth-1:0] write_index_i,
    input rmt_action_row_t                 write_row_i,

    // c3
    input logic [AddrWidth-1:0] index_i,
    input logic                 read_i,
    input logic [          3:0] slice_i,

    output act_pick_t    pick_o,
    output act_rotate_t  rotate_o,
    output act_operand_t operand_o,
    output act_result_t  result_o,

    output logic                           read_valid_o,
    output logic [32*MessageDataWords-1:0] read_data_o
);

  if (2 ** AddrWidth != Rows || Rows < 2) begin : gen_bad_rows
    $fatal(1, "rmt_action_rows: Rows is %0d, expected a power of two from 2 on (%m)", Rows);
  end

  localparam int unsigned SliceBits = 32 * MessageDataWords;
  localparam int unsigned Slices = (RmtActionRowWords + MessageDataWords - 1) / MessageDataWords;

  logic [AddrWidth-1:0] index4_q, index5_q, index6_q;
  always_ff @(posedge clk_i) begin
    index4_q <= index_i;
    index5_q <= index4_q;
    index6_q <= index5_q;
  end

  sluice_ram_1r1w #(
      .Width($bits(act_pick_t)),
      .Depth(Rows)
  ) u_pick (
      .clk_i,
      .wr_en_i  (write_i),
      .wr_addr_i(write_index_i),
      .wr_data_i(act_pick(write_row_i)),
      .rd_en_i  (1'b1),
      .rd_addr_i(index_i),
      .rd_data_o(pick_o)
  );

  sluice_ram_1r1w #(
      .Width($bits(act_rotate_t)),
      .Depth(Rows)
  ) u_rotate (
      .clk_i,
      .wr_en_i  (write_i),
      .wr_addr_i(write_index_i),
      .wr_data_i(act_rotate(write_row_i)),
      .rd_en_i  (1'b1),
      .rd_addr_i(index4_q),
      .rd_data_o(rotate_o)
  );

  sluice_ram_1r1w #(
      .Width($bits(act_operand_t)),
      .Depth(Rows)
  ) u_operand (
      .clk_i,
      .wr_en_i  (write_i),
      .wr_addr_i(write_index_i),
      .wr_data_i(act_operand(write_row_i)),
      .rd_en_i  (1'b1),
      .rd_addr_i(index5_q),
      .rd_data_o(operand_o)
  );

  sluice_ram_1r1w #(
      .Width($bits(act_result_t)),
      .Depth(Rows)
  ) u_result (
      .clk_i,
      .wr_en_i  (write_i),
      .wr_addr_i(write_index_i),
      .wr_data_i(act_result(write_row_i)),
      .rd_en_i  (1'b1),
      .rd_addr_i(index6_q),
      .rd_data_o(result_o)
  );

  // Host reads. Slices 0 to 4 are complete in c6, where the columns of c4 and c5 are kept for this alone; 5 lies on
  // both sides; 6 to 9 are there in c7.
  localparam int unsigned EarlySlices = 5;
  localparam int unsigned LateBit = RmtActionRowBits - $bits(act_result_t);  // columns of c7 lie above all others

  act_pick_t pick5_q, pick6_q;
  act_rotate_t rotate6_q;
  logic [Slices-1:0][SliceBits-1:0] slices6, slices7;
  logic [SliceBits-1:0] early_q, middle_q, late;
  logic [6:4] read_q;
  logic read7_q;

  assign slices6 = (Slices * SliceBits)'(act_row(pick6_q, rotate6_q, operand_o, '0));
  assign slices7 = (Slices * SliceBits)'(act_row('0, '0, '0, result_o));

  always_comb begin
    unique case (slice_i)
      4'd6: late = slices7[6];
      4'd7: late = slices7[7];
      4'd8: late = slices7[8];
      default: late = slices7[9];
    endcase
  end

  always_ff @(posedge clk_i) begin
    pick5_q   <= pick_o;
    pick6_q   <= pick5_q;
    rotate6_q <= rotate_o;
    early_q   <= slices6[slice_i[1:0]];
    middle_q  <= slice_i[0] ? slices6[5] : slices6[4];
  end

  // Bits of slice 5 that were read in c6.
  localparam logic [SliceBits-1:0] Before = SliceBits'((257'd1 << (LateBit - EarlySlices * SliceBits)) - 257'd1);
  always_ff @(posedge clk_i) begin
    if (!read7_q) read_data_o <= '0;
    else if (slice_i < 4'd4) read_data_o <= early_q;
    else if (slice_i == 4'd4) read_data_o <= middle_q;
    else if (slice_i == 4'd5) read_data_o <= (Before & middle_q) | (~Before & slices7[5]);
    else read_data_o <= late;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      read_q       <= '0;
      read7_q      <= 1'b0;
      read_valid_o <= 1'b0;
    end else begin
      read_q       <= {read_q[5:4], read_i};
      read7_q      <= read_q[6];
      read_valid_o <= read7_q;
    end
  end

endmodule
