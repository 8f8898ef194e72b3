/// The writes of host memory, one behind the other: packets and completions take turns.
///
/// `s_*`: two streams of writes, the descriptor beside the first beat. Descriptors and data leave as two streams, in the same order.
///
/// Latency: 2 cycles. Throughput: a beat a cycle. Stall behaviour: descriptors and data wait for their own ready, and run up to 4 apart; valid never depends
/// on ready.
module sluice_l7_dma
  import sluice_l7_pkg::*;
#(
    parameter int unsigned Bytes = 64
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic    [1:0]              s_valid_i,
    output logic    [1:0]              s_ready_o,
    input  l7_dma_t [1:0]              s_desc_i,
    input  logic    [1:0]              s_first_i,
    input  logic    [1:0]              s_last_i,
    input  logic    [1:0][  Bytes-1:0] s_keep_i,
    input  logic    [1:0][8*Bytes-1:0] s_data_i,

    output logic    desc_valid_o,
    input  logic    desc_ready_i,
    output l7_dma_t desc_o,

    output logic               data_valid_o,
    input  logic               data_ready_i,
    output logic [8*Bytes-1:0] data_o,
    output logic [  Bytes-1:0] keep_o,
    output logic               last_o
);

  localparam int unsigned Depth = 4;
  localparam int unsigned BeatBits = 9 * Bytes;

  typedef struct packed {
    l7_dma_t desc;
    logic first;
    logic [Bytes-1:0] keep;
    logic [8*Bytes-1:0] data;
  } write_t;
  write_t [1:0] in;
  write_t write;
  logic valid, ready, last, desc_room, data_room;
  logic [1:0][$clog2(Depth+1)-1:0] unused_level;

  for (genvar s = 0; s < 2; s++) begin : gen_in
    assign in[s] = '{desc: s_desc_i[s], first: s_first_i[s], keep: s_keep_i[s], data: s_data_i[s]};
  end

  sluice_l7_exit #(
      .Width($bits(write_t))
  ) u_turn (
      .clk_i,
      .rst_ni,
      .s_claims_i(s_valid_i),
      .s_valid_i,
      .s_ready_o,
      .s_last_i,
      .s_data_i  (in),
      .m_valid_o (valid),
      .m_ready_i (ready),
      .m_last_o  (last),
      .m_data_o  (write)
  );

  assign ready = desc_room && data_room;

  sluice_fifo #(
      .Width($bits(l7_dma_t)),
      .Depth(Depth)
  ) u_descs (
      .clk_i,
      .rst_ni,
      .valid_i(valid && ready && write.first),
      .ready_o(desc_room),
      .data_i (write.desc),
      .valid_o(desc_valid_o),
      .ready_i(desc_ready_i),
      .data_o (desc_o),
      .level_o(unused_level[0])
  );
  sluice_fifo #(
      .Width(BeatBits + 1),
      .Depth(Depth)
  ) u_data (
      .clk_i,
      .rst_ni,
      .valid_i(valid && ready),
      .ready_o(data_room),
      .data_i ({last, write.keep, write.data}),
      .valid_o(data_valid_o),
      .ready_i(data_ready_i),
      .data_o ({last_o, keep_o, data_o}),
      .level_o(unused_level[1])
  );

endmodule
