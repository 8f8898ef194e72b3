/// Two streams of packets become one: they take turns by packets.
///
/// `s_claims_i`: streams whose next word is there in time to choose among them. Where none is and no packet is half out, what the first stream
/// offers passes, which may be known late in the cycle: so the second one's ready does not wait for it.
///
/// Latency: 1 cycle. Throughput: a beat a cycle, no cycle between packets. Stall behaviour: that of the `sluice_skid` at its end; a stream
/// waits while a packet of the other one leaves.
module sluice_l7_exit #(
    parameter int unsigned Width = 64
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic [1:0]            s_claims_i,  // only with `s_valid_i`
    input  logic [1:0]            s_valid_i,
    output logic [1:0]            s_ready_o,
    input  logic [1:0]            s_last_i,
    input  logic [1:0][Width-1:0] s_data_i,

    output logic             m_valid_o,
    input  logic             m_ready_i,
    output logic             m_last_o,
    output logic [Width-1:0] m_data_o
);

  // Whose packet is half out.
  logic inside_q, whose_q, index, unused_valid, ready, turn;
  logic [1:0] unused_grant;

  sluice_arb_rr #(
      .Requests(2)
  ) u_turn (
      .clk_i,
      .rst_ni,
      .req_i    (s_claims_i),
      .advance_i(!inside_q && ready),
      .grant_o  (unused_grant),
      .index_o  (index),
      .valid_o  (unused_valid)
  );

  assign turn = inside_q ? whose_q : index;
  assign s_ready_o = {ready && turn, ready && !turn};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) inside_q <= 1'b0;
    else if (ready && s_valid_i[turn]) inside_q <= !s_last_i[turn];
    if (ready && !inside_q) whose_q <= index;
  end

  sluice_skid #(
      .Width(Width + 1)
  ) u_skid (
      .clk_i,
      .rst_ni,
      .valid_i(s_valid_i[turn]),
      .ready_o(ready),
      .data_i ({s_last_i[turn], s_data_i[turn]}),
      .valid_o(m_valid_o),
      .ready_i(m_ready_i),
      .data_o ({m_last_o, m_data_o})
  );

endmodule
