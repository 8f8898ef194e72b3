/// Proof about sluice_l7_receive: a write of a packet lies in a buffer that a ring of the packet's own module gave its message; each of a message's packets is written
/// once; a message that took a buffer ends exactly once, and whole only when all of its packets are in host memory.
///
/// 2 entries, 2 rings, messages of up to 4 packets of up to 15 bytes; descriptors, rings, packets and the order of everything are free. What the blocks around
/// see to is assumed: a message begins at a place that is free, its packets say how many they are, and host memory says of each write once that it is done.
module receive
  import sluice_pkg::*;
  import sluice_l7_rows_pkg::*;
  import sluice_l7_pkg::*;
(
    input logic                            clk_i,
    input logic                            rst_ni,
    input logic                            hold_i,
    input logic                            ticket_valid_i,
    input logic           [   TagBits-1:0] ticket_slot_i,
    input l7_ticket_t                      ticket_i,
    input logic                            decided_valid_i,
    input l7_decided_t                     decided_i,
    input logic                            written_valid_i,
    input l7_written_t                     written_i,
    input logic                            sweep_valid_i,
    input logic                            sweep_urgent_i,
    input logic                            sweep_place_i,
    input logic           [ L7AgeBits-1:0] now_i,
    input logic                            look_now_i,
    input logic           [ModuleBits-1:0] look_module_i,
    input logic                            look_free_i,
    input logic                            look_soon_i,
    input logic           [          15:0] look_number_i,
    input l7_descriptor_t                  descriptor_i,
    input logic                            sorted_ready_i,
    input logic                            order_ready_i,
    input logic                            ended_ready_i,
    input logic                            done_ready_i,
    input logic                            forget_ready_i
);

  localparam int unsigned Entries = 2;

  // Buffers that messages have, by this harness's own account.
  logic [1:0] open_q;
  logic [1:0][63:0] address_q;
  logic [1:0][31:0] length_q;
  logic [1:0][3:0] passed_q;
  logic [1:0][2:0] packets_q, outstanding_q, there_q;
  logic [3:0] alone_q, alone_open_q;

  logic [2:0] clear_q = '0;
  logic clear, written_ready, take_valid;
  logic [0:0] take_ring, unused_look, unused_descriptor;
  logic look_valid_q;
  assign clear = clear_q < 3'(Entries);

  sluice_l7_receive #(
      .Packets(4),
      .Entries(Entries),
      .Rings(2),
      .MessagePackets(4)
  ) u_dut (
      .clk_i,
      .rst_ni,
      .hold_i,
      .quiet_o          (),
      .clear_i          (clear),
      .clear_place_i    (clear_q[0]),
      .ticket_valid_i,
      .ticket_slot_i,
      .ticket_i,
      .decided_valid_i,
      .decided_ready_o  (),
      .decided_i,
      .written_valid_i,
      .written_ready_o  (written_ready),
      .written_i,
      .sweep_valid_i,
      .sweep_urgent_i,
      .sweep_ready_o    (),
      .sweep_place_i,
      .now_i,
      .look_ring_o      (unused_look),
      .look_now_i,
      .look_valid_i     (look_valid_q),
      .look_module_i,
      .look_free_i,
      .look_soon_i,
      .look_number_i,
      .descriptor_ring_o(unused_descriptor),
      .descriptor_i,
      .take_valid_o     (take_valid),
      .take_ring_o      (take_ring),
      .take_number_o    (),
      .sorted_valid_o   (),
      .sorted_ready_i,
      .sorted_o         (),
      .order_valid_o    (),
      .order_ready_i,
      .order_o          (),
      .ended_valid_o    (),
      .ended_ready_i,
      .ended_o          (),
      .done_valid_o     (),
      .done_ready_i,
      .done_o           (),
      .forget_valid_o   (),
      .forget_ready_i,
      .forget_o         (),
      .event_valid_o    (),
      .event_o          ()
  );

  logic init_q = 1'b1;
  always_ff @(posedge clk_i) begin
    init_q <= 1'b0;
    if (!rst_ni) clear_q <= '0;
    else if (clear) clear_q <= clear_q + 3'd1;
    look_valid_q <= look_now_i;
  end
  always_comb assume (rst_ni == !init_q);

  // ---------------------------------------------------------------------------------------------------------------
  // What others see to.

  always_comb begin
    // A ticket as the filter makes it.
    assume (u_dut.ticket1.packets != '0 && u_dut.ticket1.packets <= 8'd4 && u_dut.ticket1.number < u_dut.ticket1.packets);
    assume (u_dut.ticket1.payload < 14'd16 && u_dut.ticket1.length == u_dut.ticket1.payload + 14'd64);
    if (u_dut.valid1_q && 2'(u_dut.op1_q.kind) == 2'd0) begin
      if (!u_dut.op1_q.entry) begin
        assume (u_dut.ticket1.packets == 8'd1);
      end else if (u_dut.op1_q.decided.member.begins) begin
        // Of a place that is free; whoever has waited aside has the place already.
        assume (u_dut.ticket1.number == '0 && (u_dut.op1_q.again || !u_dut.known1.live));
      end else begin
        assume (u_dut.ticket1.number != '0 && u_dut.ticket1.packets == u_dut.known1.packets);
      end
    end
    // As many packets as there are slots.
    assume (u_dut.aside_room);
    assume (!decided_i.member.begins || decided_i.member.valid);
    assume (!decided_i.repeated || !decided_i.member.valid);
    assume (!written_valid_i || outstanding_q[written_i.place[0]] != '0 || !written_i.entry);
    assume (!written_valid_i || written_i.entry || alone_q != '0);
    assume (!clear || (!decided_valid_i && !written_valid_i && !sweep_valid_i));
  end

  // ---------------------------------------------------------------------------------------------------------------
  // What was looked at, as the pipeline goes on.

  logic [ModuleBits-1:0] module2_q, module3_q;
  logic ring2_q, ring3_q, free2_q, free3_q;
  l7_descriptor_t descriptor3_q;
  always_ff @(posedge clk_i) begin
    module2_q     <= look_module_i;
    module3_q     <= module2_q;
    ring2_q       <= look_valid_q;
    ring3_q       <= ring2_q;
    free2_q       <= look_free_i;
    free3_q       <= free2_q;
    descriptor3_q <= descriptor_i;
  end

  // ---------------------------------------------------------------------------------------------------------------
  // What happens at the pipeline's end.

  logic place, put_order, put_ended, entry, starts, written;
  l7_order_t order;
  logic [63:0] offset;
  logic [PacketsBits-1:0] number;

  assign place = u_dut.op3_q.place[0];
  assign entry = u_dut.op3_q.entry;
  assign put_order = u_dut.put_order;
  assign put_ended = u_dut.put_ended;
  assign starts = take_valid;
  assign order = u_dut.order;
  assign number = u_dut.ticket3_q.number;
  assign written = written_valid_i && written_ready;
  assign offset = order.address - address_q[place];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      open_q        <= '0;
      passed_q      <= '0;
      outstanding_q <= '0;
      there_q       <= '0;
      alone_q       <= '0;
      alone_open_q  <= '0;
    end else begin
      if (starts && entry) begin
        open_q[place]    <= 1'b1;
        address_q[place] <= descriptor3_q.address;
        length_q[place]  <= descriptor3_q.length;
        packets_q[place] <= u_dut.ticket3_q.packets[2:0];
        passed_q[place]  <= 4'd1;
        there_q[place]   <= '0;
      end
      if (put_order && entry && !starts) passed_q[place][number[1:0]] <= 1'b1;
      if (put_ended && entry) open_q[place] <= 1'b0;
      for (int unsigned p = 0; p < 2; p++) begin
        outstanding_q[p] <= outstanding_q[p] + 3'(put_order && entry && order.length != '0 && place == 1'(p)) -
            3'(written && written_i.entry && written_i.place[0] == 1'(p));
      end
      // Counted when it is looked at.
      if (u_dut.is_written && entry) there_q[place] <= there_q[place] + 3'd1;
      alone_q <= alone_q + 4'(starts && !entry) - 4'(written && !written_i.entry);
      alone_open_q <= alone_open_q + 4'(starts && !entry) - 4'(put_ended && !entry);
    end
  end

  // ---------------------------------------------------------------------------------------------------------------
  // Claims.

  // The first packet: a descriptor of a ring of the packet's module, that is there, and inside of its buffer.
  AWriteBeginsInABufferOfItsModule_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !(put_order && starts) ||
      (ring3_q && free3_q && module3_q == u_dut.ticket3_q.module_id && order.address == descriptor3_q.address &&
       32'(order.length) <= descriptor3_q.length));
  OrdersWithoutABufferBegin_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !put_order || entry || starts);
  // Later ones: inside of the buffer that the message took.
  LaterWritesLieInTheMessagesBuffer_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !(put_order && !starts) ||
      (open_q[place] && offset >= 64'd64 && offset <= 64'(length_q[place]) &&
       offset + 64'(order.length) <= 64'(length_q[place])));
  EachPacketIsWrittenOnce_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !(put_order && !starts) || !passed_q[place][number[1:0]]);
  AMessageEndsOnce_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !put_ended || (entry ? open_q[place] : alone_open_q != '0));
  ABufferIsNotLost_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !(starts && entry) || !open_q[place]);
  APlaceIsGivenBackBehindItsBuffer_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !(u_dut.put_done || u_dut.put_forget) || !open_q[place] || put_ended);
  // Whole: every packet passed, and host memory has all that had bytes.
  WholeMeansAll_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !(put_ended && entry && u_dut.ended.status == L7StatusWhole) ||
      ((passed_q[place] | ((u_dut.is_packet && put_order) ? 4'd1 << number : 4'd0)) == 4'd15 >> (3'd4 - packets_q[place]) &&
       outstanding_q[place] == '0));
  NobodyExpiresWithAWriteUnderWay_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !(u_dut.put_forget && u_dut.is_sweep) || outstanding_q[place] == '0);

  AMessageOfTwoIsWhole_C :
  cover property (@(posedge clk_i) rst_ni && put_ended && entry && u_dut.ended.status == L7StatusWhole && packets_q[place] == 3'd2);
  AMessageExpires_C :
  cover property (@(posedge clk_i) rst_ni && put_ended && u_dut.is_sweep);
  OneThatWaitedAsideStarts_C :
  cover property (@(posedge clk_i) rst_ni && starts && u_dut.op3_q.again);
  AMessageOfOneEnds_C :
  cover property (@(posedge clk_i) rst_ni && put_ended && !entry);

endmodule
