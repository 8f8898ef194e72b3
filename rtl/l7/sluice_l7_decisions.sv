/// Decided packets on their way out of the message table: two queues, each with a place for every slot, take turns.
///
/// `direct_*`: packets that the table does not look at, without an entry. `table_*`: all others. Those of each queue leave in their order.
///
/// The output is a register, and where nobody waits what comes in goes by the queues into it. Where both come in one cycle that of the table does.
///
/// Latency: 1 cycle while the output is empty, 2 behind another. Throughput: one a cycle; of each queue one a cycle in. Stall behaviour: nothing that comes in
/// waits, for no slot is in a queue twice; valid does not depend on ready.
module sluice_l7_decisions
  import sluice_l7_pkg::*;
#(
    parameter int unsigned Packets = 256
) (
    input logic clk_i,
    input logic rst_ni,

    input logic        direct_valid_i,
    // "Bits of signal are not used": slots are numbered as for the largest target, and a direct packet has no entry.
    // verilator lint_off UNUSEDSIGNAL
    input l7_decided_t direct_i,
    input logic        table_valid_i,
    input l7_decided_t table_i,
    // verilator lint_on UNUSEDSIGNAL

    output logic        m_valid_o,
    input  logic        m_ready_i,
    output l7_decided_t m_o
);

  localparam int unsigned SlotBits = $clog2(Packets);

  typedef struct packed {
    logic [SlotBits-1:0] slot;
    l7_decision_t decision;
    logic fault;
  } direct_t;
  typedef struct packed {
    direct_t direct;
    l7_member_t member;
    logic repeated;
  } table_t;

  logic [1:0] valid, grant, room, passes;
  logic any, empty, loads;
  logic [1:0][$clog2(Packets+1)-1:0] unused_level;
  logic unused_index;
  direct_t direct, direct_in;
  table_t of_table, table_in, next;

  assign direct_in = '{slot: direct_i.slot[SlotBits-1:0], decision: direct_i.decision, fault: direct_i.fault};
  assign table_in = '{
          direct: '{slot: table_i.slot[SlotBits-1:0], decision: table_i.decision, fault: table_i.fault},
          member: table_i.member,
          repeated: table_i.repeated
      };
  // Not while the output leaves: so no queue waits for ready.
  assign empty = !m_valid_o && !any;
  assign passes = {empty && table_valid_i, empty && direct_valid_i && !table_valid_i};
  assign loads = !m_valid_o || m_ready_i;

  sluice_fifo #(
      .Width($bits(direct_t)),
      .Depth(Packets)
  ) u_direct (
      .clk_i,
      .rst_ni,
      .valid_i(direct_valid_i && !passes[0]),
      .ready_o(room[0]),
      .data_i (direct_in),
      .valid_o(valid[0]),
      .ready_i(grant[0] && loads),
      .data_o (direct),
      .level_o(unused_level[0])
  );
  sluice_fifo #(
      .Width($bits(table_t)),
      .Depth(Packets)
  ) u_table (
      .clk_i,
      .rst_ni,
      .valid_i(table_valid_i && !passes[1]),
      .ready_o(room[1]),
      .data_i (table_in),
      .valid_o(valid[1]),
      .ready_i(grant[1] && loads),
      .data_o (of_table),
      .level_o(unused_level[1])
  );

  sluice_arb_rr #(
      .Requests(2)
  ) u_turn (
      .clk_i,
      .rst_ni,
      .req_i    (valid),
      .advance_i(loads),
      .grant_o  (grant),
      .index_o  (unused_index),
      .valid_o  (any)
  );

  always_comb begin
    next = '{direct: any ? direct : direct_in, member: '0, repeated: 1'b0};
    if (grant[1]) next = of_table;
    else if (passes[1]) next = table_in;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) m_valid_o <= 1'b0;
    else if (loads) m_valid_o <= any || passes != '0;
    if (loads) begin
      m_o <= '{
          slot: TagBits'(next.direct.slot),
          decision: next.direct.decision,
          fault: next.direct.fault,
          member: next.member,
          repeated: next.repeated
      };
    end
  end

`ifndef SYNTHESIS
  DecisionsHaveRoom_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) (!direct_valid_i || room[0]) && (!table_valid_i || room[1]));
`endif

endmodule
