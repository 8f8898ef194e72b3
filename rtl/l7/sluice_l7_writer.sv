/// Packets on their way into host memory.
///
/// `s_*`: packets that are consumed, each with the order at the head of `order_*`. Their bytes leave on `m_*`, packed from the first one on, with the descriptor of
/// their write beside the first beat: a whole frame without its padding, or what is behind the header. A packet without bytes writes nothing.
/// A write has a tag until host memory says that it is done (`status_*`, always taken); then the packet is told (`written_*`).
///
/// Latency: 1 cycle. Throughput: a beat a cycle. Stall behaviour: a packet waits for a tag and for `m_ready_i`; valid never depends on ready.
module sluice_l7_writer
  import sluice_l7_rows_pkg::*;
  import sluice_l7_pkg::*;
#(
    parameter int unsigned Bytes  = 64,
    parameter int unsigned Writes = 64
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic               s_valid_i,
    output logic               s_ready_o,
    input  logic [8*Bytes-1:0] s_data_i,
    input  logic               s_last_i,

    // There before its packet is.
    input  logic      order_valid_i,
    output logic      order_ready_o,
    input  l7_order_t order_i,

    output logic                  m_valid_o,
    input  logic                  m_ready_i,
    output l7_dma_t               m_desc_o,
    output logic                  m_first_o,
    output logic                  m_last_o,
    output logic    [  Bytes-1:0] m_keep_o,
    output logic    [8*Bytes-1:0] m_data_o,

    input logic                  status_valid_i,
    // "Bits of signal are not used": tags are as wide as for the largest target.
    // verilator lint_off UNUSEDSIGNAL
    input logic [DmaTagBits-1:0] status_tag_i,
    // verilator lint_on UNUSEDSIGNAL

    output logic        written_valid_o,
    input  logic        written_ready_i,
    output l7_written_t written_o
);

  localparam int unsigned WriteBits = $clog2(Writes);
  localparam int unsigned ByteBits = $clog2(Bytes);
  localparam int unsigned HeaderBeats = L7HeaderBytes / Bytes;

  if (2 ** WriteBits != Writes || Writes < 2 || WriteBits >= DmaTagBits) begin : gen_bad_writes
    $fatal(1, "l7_writer: Writes is %0d, expected a power of two below %0d (%m)", Writes, 2 ** DmaTagBits);
  end

  // ---------------------------------------------------------------------------------------------------------------
  // Beats. Those of a header that is there, and those of padding, are passed over.

  logic [1:0] beat_q;  // of the header's, counted up to their end
  logic [LengthBits-1:0] left_q, left;
  logic started_q, none_q, in_header, passes_over, tag_valid, put, takes, first, last;
  logic [WriteBits-1:0] tag;
  logic [Bytes-1:0] keep;

  assign in_header = order_i.later && beat_q < 2'(HeaderBeats);
  assign left = started_q ? left_q : order_i.length;
  assign passes_over = in_header || (started_q ? none_q : order_i.empty);
  assign first = !started_q;
  assign last = left <= LengthBits'(Bytes);
  assign put = s_valid_i && order_valid_i && !passes_over && (started_q || tag_valid);
  assign s_ready_o = order_valid_i && (passes_over || ((started_q || tag_valid) && (!m_valid_o || m_ready_i)));
  assign takes = s_valid_i && s_ready_o;
  assign order_ready_o = takes && s_last_i;
  assign keep = last ? {Bytes{1'b1}} >> (ByteBits'(0) - left[ByteBits-1:0]) : '1;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      m_valid_o <= 1'b0;
      started_q <= 1'b0;
      beat_q    <= '0;
    end else begin
      if (!m_valid_o || m_ready_i) m_valid_o <= put;
      if (takes) begin
        started_q <= !s_last_i && (started_q || !passes_over);
        beat_q    <= s_last_i ? '0 : (beat_q < 2'(HeaderBeats)) ? beat_q + 2'd1 : beat_q;
      end
    end
    if (takes && !passes_over) begin
      left_q <= left - LengthBits'(Bytes);
      none_q <= last;
    end
    if (!m_valid_o || m_ready_i) begin
      m_desc_o  <= '{tag: DmaTagBits'(tag), length: 16'(order_i.length), address: order_i.address};
      m_first_o <= first;
      m_last_o  <= last;
      m_keep_o  <= keep;
      m_data_o  <= s_data_i;
    end
  end

  // ---------------------------------------------------------------------------------------------------------------
  // Tags: whose write it is.

  logic begins, done_valid, done_ready, completion, room;
  logic [WriteBits-1:0] done;
  logic [$clog2(Writes+1)-1:0] unused_level;
  l7_written_t under_way;

  assign begins = takes && !passes_over && !started_q;
  assign completion = &status_tag_i;

  sluice_l7_slots #(
      .Slots(Writes)
  ) u_tags (
      .clk_i,
      .rst_ni,
      .valid_o    (tag_valid),
      .slot_o     (tag),
      .take_i     (begins),
      .back_i     (done_valid && done_ready),
      .back_slot_i(done)
  );

  sluice_fifo #(
      .Width(WriteBits),
      .Depth(Writes)
  ) u_done (
      .clk_i,
      .rst_ni,
      .valid_i(status_valid_i && !completion),
      .ready_o(room),
      .data_i (status_tag_i[WriteBits-1:0]),
      .valid_o(done_valid),
      .ready_i(done_ready),
      .data_o (done),
      .level_o(unused_level)
  );

  sluice_ram_lut #(
      .Width   ($bits(l7_written_t)),
      .Depth   (Writes),
      .InitZero(1'b0)
  ) u_under_way (
      .clk_i,
      .we_i   (begins),
      .waddr_i(tag),
      .wdata_i({order_i.entry, order_i.place, order_i.sender, order_i.length}),
      .raddr_i(done),
      .rdata_o(under_way)
  );

  assign done_ready = !written_valid_o || written_ready_i;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) written_valid_o <= 1'b0;
    else if (done_ready) written_valid_o <= done_valid;
    if (done_ready) written_o <= under_way;
  end

`ifndef SYNTHESIS
  OrdersComeFirst_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !s_valid_i || order_valid_i);
  StatusHasRoom_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !(status_valid_i && !completion) || room);
  BytesAreThere_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !(takes && s_last_i) || passes_over || last);
`endif

endmodule
