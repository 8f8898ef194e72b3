/// Completions: what ended is written into its ring, with the phase of the ring's turn.
///
/// `s_*`: a message that has ended. `end_*` asks sluice_l7_rings for the place; the completion leaves on `m_*`, one beat beside the descriptor of its write.
///
/// Latency: 2 cycles. Throughput: one in 2 cycles. Stall behaviour: waits for `m_ready_i`; valid never depends on ready.
module sluice_l7_completions
  import sluice_l7_rows_pkg::*;
  import sluice_l7_pkg::*;
#(
    parameter int unsigned Bytes = 64,
    parameter int unsigned Rings = 256,
    localparam int unsigned RingBits = $clog2(Rings)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic      s_valid_i,
    output logic      s_ready_o,
    input  l7_ended_t s_ended_i,

    output logic [RingBits-1:0] end_ring_o,
    input  logic [        15:0] end_number_i,
    input  logic [         3:0] end_log_i,
    input  logic [        63:0] end_address_i,  // a cycle later
    output logic                end_valid_o,

    output logic                  m_valid_o,
    input  logic                  m_ready_i,
    output l7_dma_t               m_desc_o,
    output logic    [  Bytes-1:0] m_keep_o,
    output logic    [8*Bytes-1:0] m_data_o
);

  logic looked_q, moves;
  l7_ended_t ended_q;
  logic [15:0] place_q;
  logic phase_q;
  l7_completion_t completion;

  assign end_ring_o = s_ended_i.sender.ring[RingBits-1:0];
  assign s_ready_o = !looked_q;
  assign end_valid_o = s_valid_i && s_ready_o;
  assign moves = looked_q && (!m_valid_o || m_ready_i);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      looked_q  <= 1'b0;
      m_valid_o <= 1'b0;
    end else begin
      looked_q <= end_valid_o || (looked_q && !moves);
      if (!m_valid_o || m_ready_i) m_valid_o <= looked_q;
    end
    if (end_valid_o) begin
      ended_q <= s_ended_i;
      place_q <= end_number_i & 16'((17'd1 << end_log_i) - 17'd1);
      phase_q <= !(|(end_number_i & 16'(17'd1 << end_log_i)));
    end
  end

  // The address stands in the cycle behind the look only.
  logic fresh_q;
  logic [63:0] address, address_q;
  assign address = fresh_q ? end_address_i : address_q;
  always_ff @(posedge clk_i) begin
    fresh_q   <= end_valid_o;
    address_q <= address;
  end

  always_comb begin
    completion = '{
        cookie: ended_q.sender.cookie,
        length: 32'(ended_q.length),
        message: ended_q.sender.message,
        session: ended_q.sender.session,
        source: ended_q.sender.source,
        port: ended_q.sender.port,
        application: ended_q.sender.application,
        message_type: ended_q.sender.message_type,
        packets: ended_q.sender.packets,
        status: ended_q.status,
        reserved_0: '0,
        reserved_1: '0,
        phase: phase_q
    };
  end

  always_ff @(posedge clk_i) begin
    if (!m_valid_o || m_ready_i) begin
      m_desc_o <= '{tag: '1, length: 16'(L7CompletionBytes), address: address + {43'd0, place_q, 5'd0}};
      m_data_o <= (8 * Bytes)'(completion);
    end
  end
  assign m_keep_o = Bytes'({L7CompletionBytes{1'b1}});

`ifndef SYNTHESIS
  CompletionsHold_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) m_valid_o && !m_ready_i |=> m_valid_o && $stable(m_desc_o));
`endif

endmodule
