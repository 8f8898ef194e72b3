/// Words that packets' steps make, for registers and keys: what all steps of one target give, OR-ed.
///
/// A packet is put with what is seen of it; 8 have room, each until its last step is read. Steps are read one a cycle, in the order of packets and of the table;
/// behind a module's last row comes its first. A word is whole when the next step has another target, or with the packet's last step.
///
/// Latency: 5 cycles from `put_valid_i` to a packet's first word, if nobody is before it and its target has one step. Throughput: a step a cycle, no
/// cycle between packets. Stall behaviour: a word holds until `set_ready_i`; meanwhile no step is read. `put_ready_o` is a function of the packets
/// that wait alone.
module sluice_warp_steps
  import sluice_xdp_rows_pkg::*;
  import sluice_warp_pkg::*;
#(
    parameter int unsigned Modules = 64,
    // Of a module, in each generation.
    parameter int unsigned Steps = 128,
    localparam int unsigned LookBits = $clog2(2 * Modules),
    localparam int unsigned StepBits = $clog2(Steps)
) (
    input logic clk_i,
    input logic rst_ni,

    input warp_write_t write_i,

    input  logic                             put_valid_i,
    output logic                             put_ready_o,
    input  logic        [      LookBits-1:0] put_index_i,   // module and generation
    input  logic        [  WarpStepBits-1:0] put_step_i,    // the first
    input  logic        [               4:0] put_steps_i,   // from 1 on
    input  warp_bytes_t                      put_frame_i,
    input  logic        [WarpLengthBits-1:0] put_length_i,
    input  logic        [              31:0] put_ifindex_i,

    output logic                      set_valid_o,
    input  logic                      set_ready_i,
    output logic [WarpTargetBits-1:0] set_target_o,
    output logic [              63:0] set_data_o,
    output logic                      set_first_o,
    output logic                      set_last_o
);

  // What is seen of a packet beside its frame.
  typedef struct packed {
    logic [LookBits-1:0]       index;
    logic [WarpStepBits-1:0]   step;
    logic [4:0]                steps;
    logic [31:0]               ifindex;
    logic [WarpLengthBits-1:0] length;
  } waiting_t;

  logic advance, head_valid, issue, last, take;
  waiting_t put, head;
  assign put = '{
          index: put_index_i,
          step: put_step_i,
          steps: put_steps_i,
          ifindex: put_ifindex_i,
          length: put_length_i
      };
  assign take = issue && last;

  logic [$clog2(WarpSets+1)-1:0] unused_level;
  sluice_fifo #(
      .Width($bits(waiting_t)),
      .Depth(WarpSets)
  ) u_waiting (
      .clk_i,
      .rst_ni,
      .valid_i(put_valid_i),
      .ready_o(put_ready_o),
      .data_i (put),
      .valid_o(head_valid),
      .ready_i(advance && last),
      .data_o (head),
      .level_o(unused_level)
  );

  // Frames wait beside, where they are read with a step's row.
  localparam int unsigned SlotBits = $clog2(WarpSets);
  logic [SlotBits-1:0] put_slot_q, slot_q;
  warp_bytes_t frame;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      put_slot_q <= '0;
      slot_q     <= '0;
    end else begin
      if (put_valid_i && put_ready_o)
        put_slot_q <= (put_slot_q == SlotBits'(WarpSets - 1)) ? '0 : put_slot_q + SlotBits'(1);
      if (take) slot_q <= (slot_q == SlotBits'(WarpSets - 1)) ? '0 : slot_q + SlotBits'(1);
    end
  end
  sluice_ram_1r1w #(
      .Width   ($bits(warp_bytes_t)),
      .Depth   (WarpSets),
      .InitZero(1'b0),
      .Style   ((2 * Modules >= 128) ? "block" : "auto")
  ) u_frames (
      .clk_i,
      .wr_en_i  (put_valid_i && put_ready_o),
      .wr_addr_i(put_slot_q),
      .wr_data_i(put_frame_i),
      .rd_en_i  (advance),
      .rd_addr_i(slot_q),
      .rd_data_o(frame)
  );

  // ---------------------------------------------------------------------------------------------------------------
  // A step of the first packet is read.

  logic [4:0] done_q;  // of its steps
  assign issue = head_valid && advance;
  assign last  = done_q + 5'd1 == head.steps;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) done_q <= '0;
    else if (issue) done_q <= last ? '0 : done_q + 5'd1;
  end

  logic writes;
  logic [WarpIndexBits-WarpStepBits-1:0] write_index;
  assign write_index = write_i.index[WarpIndexBits-1:WarpStepBits];
  if (StepBits < WarpStepBits) begin : gen_few
    assign writes = write_i.valid && write_i.tab == WarpTableStep && (write_index >> LookBits) == '0 &&
        write_i.index[WarpStepBits-1:StepBits] == '0;
  end else begin : gen_all
    assign writes = write_i.valid && write_i.tab == WarpTableStep && (write_index >> LookBits) == '0;
  end

  xdp_warp_step_row_t row;
  sluice_ram_banks #(
      .Width(XdpWarpStepRowBits),
      .Depth(2 * Modules * Steps),
      .Lanes(1)
  ) u_rows (
      .clk_i,
      .wr_en_i  (writes),
      .wr_addr_i({write_index[LookBits-1:0], write_i.index[StepBits-1:0]}),
      .wr_data_i(write_i.row[XdpWarpStepRowBits-1:0]),
      .rd_en_i  (advance),
      .rd_addr_i({head.index, StepBits'(head.step + WarpStepBits'(done_q))}),
      .rd_data_o(row)
  );

  // ---------------------------------------------------------------------------------------------------------------
  // What it takes. Steps of a packet follow each other without a gap.

  logic read_q, read_last_q, taken_q, taken_last_q, value_q, value_last_q;
  logic [WarpTargetBits-1:0] taken_target_q, value_target_q;
  logic [31:0] ifindex_q;
  logic [WarpLengthBits-1:0] length_q;
  logic [6:0] bytes_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      read_q  <= 1'b0;
      taken_q <= 1'b0;
      value_q <= 1'b0;
    end else if (advance) begin
      read_q  <= head_valid;
      taken_q <= read_q;
      value_q <= taken_q;
    end
    if (advance) begin
      ifindex_q <= head.ifindex;
      length_q <= head.length;
      bytes_q <= (head.length >= WarpLengthBits'(WarpFrameBytes)) ? 7'(WarpFrameBytes) : 7'(head.length);
      read_last_q    <= last;
      taken_last_q   <= read_last_q;
      value_last_q   <= taken_last_q;
      taken_target_q <= row.target;
      value_target_q <= taken_target_q;
    end
  end

  logic [63:0] value;
  sluice_warp_extract u_extract (
      .clk_i,
      .advance_i (advance),
      .number_i  (row.number),
      .constant_i(row.constant),
      .frame_i   (frame),
      .bytes_i   (bytes_q),
      .ifindex_i (ifindex_q),
      .length_i  (length_q),
      .value_o   (value)
  );

  // ---------------------------------------------------------------------------------------------------------------
  // The word.

  logic whole, set_valid_q, begins_q, first_q;
  // Behind a step that is not the packet's last one the next one stands.
  assign whole   = value_last_q || taken_target_q != value_target_q;
  assign advance = !set_valid_q || set_ready_i;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      set_valid_q <= 1'b0;
      begins_q    <= 1'b1;
      first_q     <= 1'b1;
    end else if (advance) begin
      set_valid_q <= value_q && whole;
      if (value_q) begins_q <= whole;
      if (value_q && whole) first_q <= value_last_q;
    end
    if (advance && value_q) begin
      set_data_o   <= value | (begins_q ? '0 : set_data_o);
      set_target_o <= value_target_q;
      set_first_o  <= first_q;
      set_last_o   <= value_last_q;
    end
  end
  assign set_valid_o = set_valid_q;

`ifndef SYNTHESIS
  StepsOfAPacketHaveNoGap_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !value_q || value_last_q || taken_q);
  OnlyPacketsWithSteps_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !put_valid_i || put_steps_i != '0);
`endif

endmodule
