/// Lets the slots of each packet pass a table row that is known only after its last slot has come.
///
/// Slots are kept as they come. When a packet's result (the row to be read) is there and the packet before has
/// passed, `start_o` asks for the row with `result_o`, and from the next cycle on the packet's slots leave, one a
/// cycle: a table with a registered read has its row with the first of them. Packets stay in order. `idle_o` says
/// that no slot leaves in the next cycle, so that the table may be read for somebody else.
///
/// A packet of n slots starts in the cycle of its result, or up to WindowBeats - n cycles later when longer ones are
/// in front of it: these need time that they had while they came. As results come no faster
/// than slots, no more than WindowBeats - 1 of them ever wait.
///
/// Latency: 0 to WindowBeats - n cycles from `result_valid_i` to `start_o`, 1 from there to the first slot.
/// Throughput: 1 slot a cycle. Never stalls what comes. At most `Slots` slots from coming to leaving.
module sluice_rmt_slot_walk
  import sluice_rmt_rows_pkg::*;
#(
    parameter int unsigned Bytes = 64,
    parameter int unsigned ResultWidth = 8,
    parameter int unsigned Slots = 16,
    localparam int unsigned WindowBeats = RmtWindowBytes / Bytes,
    localparam int unsigned BeatBits = $clog2(WindowBeats)
) (
    input logic clk_i,
    input logic rst_ni,

    input logic                  slot_valid_i,
    input logic                  slot_last_i,
    input logic [Bytes-1:0][7:0] slot_data_i,

    input logic                   result_valid_i,
    input logic [ResultWidth-1:0] result_i,

    // What counts instead of `result_i`: a result that has waited, or `idle_result_i` while nothing starts. Known early.
    input  logic [ResultWidth-1:0] idle_result_i,
    output logic                   early_o,
    output logic [ResultWidth-1:0] early_result_o,

    output logic                   start_o,
    output logic [ResultWidth-1:0] result_o,
    output logic                   idle_o,

    output logic                     valid_o,
    output logic                     first_o,
    output logic                     last_o,
    output logic [BeatBits-1:0]      beat_o,
    output logic [   Bytes-1:0][7:0] data_o
);

  localparam int unsigned PointerBits = $clog2(Slots);
  localparam int unsigned Waiting = WindowBeats - 1;
  localparam int unsigned CountBits = $clog2(Waiting + 1);

  if (2 ** PointerBits != Slots) begin : gen_bad_slots
    $fatal(1, "rmt_slot_walk: Slots is %0d, expected a power of two (%m)", Slots);
  end

  // Slots.
  logic [PointerBits-1:0] write_q, read_q;
  logic kept_last, load, more_q;
  logic [Bytes-1:0][7:0] kept_data;

  sluice_ram_lut #(
      .Width(8 * Bytes + 1),
      .Depth(Slots)
  ) u_slots (
      .clk_i,
      .we_i   (slot_valid_i),
      .waddr_i(write_q),
      .wdata_i({slot_last_i, slot_data_i}),
      .raddr_i(read_q),
      .rdata_o({kept_last, kept_data})
  );

  // Results that wait, the oldest in waiting_q[0].
  logic [CountBits-1:0] count_d, count_q;
  logic [Waiting-1:0][ResultWidth-1:0] waiting_d, waiting_q;
  logic waits;

  assign waits          = count_q != '0;
  assign load           = more_q || waits || result_valid_i;
  assign start_o        = !more_q && (waits || result_valid_i);
  assign early_o        = waits || !result_valid_i;
  assign early_result_o = waits ? waiting_q[0] : idle_result_i;
  assign result_o       = early_o ? early_result_o : result_i;
  assign idle_o         = !load;

  always_comb begin
    waiting_d = waiting_q;
    count_d   = count_q;
    if (start_o && waits) begin
      count_d = count_q - 1'b1;
      for (int unsigned i = 0; i + 1 < Waiting; i++) waiting_d[i] = waiting_q[i+1];
    end
    if (result_valid_i && !(start_o && !waits)) begin
      for (int unsigned i = 0; i < Waiting; i++) if (32'(count_d) == i) waiting_d[i] = result_i;
      count_d = count_d + 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      write_q <= '0;
      read_q  <= '0;
      count_q <= '0;
      more_q  <= 1'b0;
      valid_o <= 1'b0;
    end else begin
      write_q <= write_q + PointerBits'(slot_valid_i);
      read_q  <= read_q + PointerBits'(load);
      count_q <= count_d;
      if (load) more_q <= !kept_last;
      valid_o <= load;
    end
  end

  always_ff @(posedge clk_i) begin
    waiting_q <= waiting_d;
    first_o   <= !more_q;
    last_o    <= kept_last;
    beat_o    <= more_q ? beat_o + 1'b1 : '0;
    data_o    <= kept_data;
  end

`ifndef SYNTHESIS
  logic [PointerBits:0] level_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) level_q <= '0;
    else level_q <= level_q + (PointerBits + 1)'(slot_valid_i) - (PointerBits + 1)'(load);
  end
  SlotsAreThereBeforeTheyLeave_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !load || level_q != '0);
  NoSlotIsOverwritten_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !slot_valid_i || level_q < (PointerBits + 1)'(Slots));
  WaitingResultsHaveRoom_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !result_valid_i || start_o || 32'(count_q) < Waiting);
`endif

endmodule
