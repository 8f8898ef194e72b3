/// The action rows of a stage, in RAMs by the cycle that uses their columns (docs/design/rmt-rows.md, rmt_action_row).
///
/// The row named in c3 appears column by column: `pick_o` in c4, `early_o` in c5, `operand_o` in c6, `result_o` in
/// c7, each for one cycle. So no column is ever delayed in registers. A write puts the whole row there in one cycle; none
/// comes between a host read and its answer.
///
/// A host read (`read_i`) takes the place of a packet in c3: it reads the row as a packet would and gives the 8 words
/// of `slice_i` five cycles later with `read_valid_o`; zeros behind the row's end and without it. `slice_i` holds until then.
///
/// For synthesis there is a RAM for each group of columns and slice of the row; simulation has one for each group, in the
/// order in which the columns are used. formal/rmt/action_rows.sby proves both.
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
    input logic                 valid_i,  // the row is a packet's
    input logic [AddrWidth-1:0] index_i,
    input logic                 read_i,
    input logic [          3:0] slice_i,

    output act_pick_t    pick_o,
    output act_early_t  early_o,
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
  localparam int unsigned Groups = 4;
  typedef logic [Slices-1:0][SliceBits-1:0] slices_t;

  logic [AddrWidth-1:0] index[Groups];
  logic [Groups:1] read_q;

  assign index[0] = index_i;
  for (genvar g = 1; g < int'(Groups); g++) begin : gen_index
    always_ff @(posedge clk_i) index[g] <= index[g-1];
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      read_q       <= '0;
      read_valid_o <= 1'b0;
    end else begin
      read_q       <= {read_q[Groups-1:1], read_i};
      read_valid_o <= read_q[Groups];
    end
  end

`ifdef SYNTHESIS
  // What a group has of a row: the columns used in c4, c5, c6 and c7. Those of c7 lie above all others.
  localparam rmt_action_row_t [Groups-1:0] Columns = {
    act_row('0, '0, '0, '1), act_row('0, '0, '1, '0), act_row('0, '1, '0, '0), act_row('1, '0, '0, '0)
  };

  slices_t written[Groups], columns[Groups];
  logic [Groups-1:0] reads;

  always_comb for (int unsigned g = 0; g < Groups; g++) written[g] = (Slices * SliceBits)'(write_row_i & Columns[g]);

  assign reads = {read_q[Groups-1:1], read_i};

  // A RAM for each group and slice. While the host reads, all slices but its own are cleared.
  for (genvar g = 0; g < int'(Groups); g++) begin : gen_group
    for (genvar s = 0; s < int'(Slices); s++) begin : gen_slice
      localparam slices_t Present = (Slices * SliceBits)'(Columns[g]);
      if (Present[s] != '0) begin : gen_columns
        sluice_ram_1r1w_clear #(
            .Width(SliceBits),
            .Depth(Rows)
        ) u_columns (
            .clk_i,
            .wr_en_i   (write_i),
            .wr_addr_i (write_index_i),
            .wr_data_i (written[g][s]),
            .rd_clear_i(reads[g] && slice_i != 4'(s)),
            .rd_addr_i (index[g]),
            .rd_data_o (columns[g][s])
        );
      end else begin : gen_none
        assign columns[g][s] = '0;
      end
    end
  end

  assign pick_o = act_pick(RmtActionRowBits'(columns[0]));
  assign early_o = act_early(RmtActionRowBits'(columns[1]));
  assign operand_o = act_operand(RmtActionRowBits'(columns[2]));
  assign result_o = act_result(RmtActionRowBits'(columns[3]));

  // Host reads: columns of c4 to c6 meet in c6, those of c7 join them; a bit of a slice is in one group.
  slices_t pick5_q, pick6_q, early6_q;
  logic [SliceBits-1:0] before_q;

  function automatic logic [SliceBits-1:0] joined(slices_t slices);
    joined = '0;
    for (int unsigned s = 0; s < Slices; s++) joined |= slices[s];
  endfunction

  always_ff @(posedge clk_i) begin
    if (read_q[1]) pick5_q <= columns[0];
    if (read_q[2]) begin
      pick6_q  <= pick5_q;
      early6_q <= columns[1];
    end
    if (read_q[3]) before_q <= joined(pick6_q | early6_q | columns[2]);
    if (!read_q[Groups]) read_data_o <= '0;
    else read_data_o <= before_q | joined(columns[3]);
  end
`else
  act_pick_t picks[Rows];
  act_early_t earlies[Rows];
  act_operand_t operands[Rows];
  act_result_t results[Rows];
  logic [Groups-1:1] named_q;
  logic [AddrWidth-1:0] read_index_q;

`ifdef SLUICE_ZERO_RAMS
  initial begin
    /* verilator unroll_disable */
    for (int unsigned i = 0; i < Rows; i++) begin
      picks[i]    = '0;
      earlies[i]  = '0;
      operands[i] = '0;
      results[i]  = '0;
    end
  end
`endif

  function automatic logic [SliceBits-1:0] slice_of(rmt_action_row_t row, logic [3:0] slice);
    slices_t slices;
    slices   = (Slices * SliceBits)'(row);
    slice_of = '0;
    for (int unsigned s = 0; s < Slices; s++) if (32'(slice) == s) slice_of = slices[s];
  endfunction

  // `always`, not `always_ff`: the initial block above is a second driver of the memories.
  always @(posedge clk_i) begin
    if (write_i) begin
      picks[write_index_i]    <= act_pick(write_row_i);
      earlies[write_index_i]  <= act_early(write_row_i);
      operands[write_index_i] <= act_operand(write_row_i);
      results[write_index_i]  <= act_result(write_row_i);
    end
  end

  always_ff @(posedge clk_i) begin
    named_q <= {named_q[Groups-2:1], valid_i};
    if (valid_i) pick_o <= picks[index[0]];
    if (named_q[1]) early_o <= earlies[index[1]];
    if (named_q[2]) operand_o <= operands[index[2]];
    if (named_q[3]) result_o <= results[index[3]];
    if (read_i) read_index_q <= index_i;
    if (read_q[Groups]) begin
      read_data_o <= slice_of(
          act_row(picks[read_index_q], earlies[read_index_q], operands[read_index_q], results[read_index_q]), slice_i);
    end else begin
      read_data_o <= '0;
    end
  end

  NoWriteBetweenAReadAndItsAnswer_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !write_i || (read_q == '0 && !read_i));
`endif

endmodule
