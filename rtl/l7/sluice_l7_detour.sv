/// A queue that costs no cycle while its output takes words: they go by it when it is empty.
///
/// Latency: 0 cycles when empty, else as `sluice_fifo`. Throughput: a word a cycle. Stall behaviour: `s_ready_o` is a function
/// of the level alone; `m_valid_o` does not depend on `m_ready_i`, and what is offered holds.
module sluice_l7_detour #(
    parameter int unsigned Width = 8,
    parameter int unsigned Depth = 32
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic             s_valid_i,
    output logic             s_ready_o,
    input  logic [Width-1:0] s_data_i,

    output logic             waits_o,    // the output is of the queue
    output logic             m_valid_o,
    input  logic             m_ready_i,
    output logic [Width-1:0] m_data_o
);

  logic waits;
  logic [Width-1:0] waiting;
  logic [$clog2(Depth+1)-1:0] unused_level;

  sluice_fifo #(
      .Width(Width),
      .Depth(Depth)
  ) u_fifo (
      .clk_i,
      .rst_ni,
      .valid_i(s_valid_i && (waits || !m_ready_i)),
      .ready_o(s_ready_o),
      .data_i (s_data_i),
      .valid_o(waits),
      .ready_i(m_ready_i),
      .data_o (waiting),
      .level_o(unused_level)
  );

  // A word is taken, and so may be offered, while there is a place for it.
  assign waits_o   = waits;
  assign m_valid_o = waits || (s_valid_i && s_ready_o);
  assign m_data_o  = waits ? waiting : s_data_i;

endmodule
