/// Decided packets on their way out of the message table: two queues, each with a place for every slot, take turns.
///
/// `direct_*`: packets that the table does not look at, without an entry. `table_*`: all others. Those of each queue leave in their order.
///
/// Latency: 1 cycle. Throughput: one a cycle; of each queue one a cycle in. Stall behaviour: nothing that comes in waits, for no slot is in a queue twice; valid
/// does not depend on ready.
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

  logic [1:0] valid, grant, room;
  logic [1:0][$clog2(Packets+1)-1:0] unused_level;
  logic unused_index;
  direct_t direct;
  table_t of_table;

  sluice_fifo #(
      .Width($bits(direct_t)),
      .Depth(Packets)
  ) u_direct (
      .clk_i,
      .rst_ni,
      .valid_i(direct_valid_i),
      .ready_o(room[0]),
      .data_i ({direct_i.slot[SlotBits-1:0], direct_i.decision, direct_i.fault}),
      .valid_o(valid[0]),
      .ready_i(grant[0] && m_ready_i),
      .data_o (direct),
      .level_o(unused_level[0])
  );
  sluice_fifo #(
      .Width($bits(table_t)),
      .Depth(Packets)
  ) u_table (
      .clk_i,
      .rst_ni,
      .valid_i(table_valid_i),
      .ready_o(room[1]),
      .data_i ({table_i.slot[SlotBits-1:0], table_i.decision, table_i.fault, table_i.member, table_i.repeated}),
      .valid_o(valid[1]),
      .ready_i(grant[1] && m_ready_i),
      .data_o (of_table),
      .level_o(unused_level[1])
  );

  sluice_arb_rr #(
      .Requests(2)
  ) u_turn (
      .clk_i,
      .rst_ni,
      .req_i    (valid),
      .advance_i(m_ready_i),
      .grant_o  (grant),
      .index_o  (unused_index),
      .valid_o  (m_valid_o)
  );

  always_comb begin
    m_o = '{
        slot: TagBits'(direct.slot),
        decision: direct.decision,
        fault: direct.fault,
        member: '0,
        repeated: 1'b0
    };
    if (grant[1]) begin
      m_o = '{
          slot: TagBits'(of_table.direct.slot),
          decision: of_table.direct.decision,
          fault: of_table.direct.fault,
          member: of_table.member,
          repeated: of_table.repeated
      };
    end
  end

`ifndef SYNTHESIS
  DecisionsHaveRoom_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) (!direct_valid_i || room[0]) && (!table_valid_i || room[1]));
`endif

endmodule
