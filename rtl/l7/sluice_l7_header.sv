/// Gives each packet's first beat the frame's first 64 bytes.
///
/// With beats of 64 bytes the first one has them. With beats of 32 bytes it waits for the second one, unless there is none; bytes
/// behind the frame's end are undefined. `m_*` has the beats of `s_*`; `m_header_o` counts in a packet's first beat.
///
/// Latency: 0 cycles for 64 bytes, 1 for 32. Throughput: a beat a cycle. Stall behaviour: holds; `m_valid_o` does not
/// depend on `m_ready_i`.
module sluice_l7_header #(
    parameter int unsigned Bytes = 64,
    parameter int unsigned UserBits = 8  // what travels beside
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic                s_valid_i,
    output logic                s_ready_o,
    input  logic [ 8*Bytes-1:0] s_data_i,
    input  logic                s_last_i,
    input  logic [UserBits-1:0] s_user_i,

    output logic                     m_valid_o,
    input  logic                     m_ready_i,
    output logic [ 8*Bytes-1:0]      m_data_o,
    output logic                     m_last_o,
    output logic [UserBits-1:0]      m_user_o,
    output logic                     m_first_o,
    output logic [        63:0][7:0] m_header_o
);

  logic first_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) first_q <= 1'b1;
    else if (m_valid_o && m_ready_i) first_q <= m_last_o;
  end
  assign m_first_o = first_q;

  if (Bytes == 64) begin : gen_wide
    assign m_valid_o = s_valid_i;
    assign s_ready_o = m_ready_i;
    assign {m_data_o, m_last_o, m_user_o} = {s_data_i, s_last_i, s_user_i};
    assign m_header_o = s_data_i;
  end else if (Bytes == 32) begin : gen_narrow
    logic held_q, last_q;
    logic [ 8*Bytes-1:0] data_q;
    logic [UserBits-1:0] user_q;

    assign m_valid_o = held_q && (!first_q || last_q || s_valid_i);
    assign s_ready_o = !held_q || (m_valid_o && m_ready_i);
    assign {m_data_o, m_last_o, m_user_o} = {data_q, last_q, user_q};
    assign m_header_o = {s_data_i, data_q};

    always_ff @(posedge clk_i) begin
      if (!rst_ni) held_q <= 1'b0;
      else if (s_ready_o) held_q <= s_valid_i;
      if (s_ready_o) {data_q, last_q, user_q} <= {s_data_i, s_last_i, s_user_i};
    end
  end else begin : gen_bad_bytes
    $fatal(1, "l7_header: Bytes is %0d, expected 32 or 64 (%m)", Bytes);
  end

endmodule
