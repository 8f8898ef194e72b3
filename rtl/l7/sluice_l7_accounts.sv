/// Accounts of the engine: what is done with gives its token back, is traced and is counted.
///
/// Records come from two sources and take turns: the second one, whose may come late in a cycle, is told before whether it is its turn. In one cycle a record's token leaves, its trace and verdict stand, and it is counted: as dropped for
/// its reason, as left or as consumed, and the bytes of what was not dropped. A fault is counted in the cycle before.
///
/// Configuration: `l7_drops` and `l7_bytes`, answered 3 cycles after `cfg_valid_i`. Latency: 1 cycle. Throughput: a record a cycle, a
/// fault takes 2, and only records of the second source may be faults. Stall behaviour: a source waits for its turn only, `record_ready_o[1]` not
/// for `record_valid_i[1]`.
module sluice_l7_accounts
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_l7_rows_pkg::*;
  import sluice_l7_pkg::*;
#(
    parameter int unsigned Modules = 64
) (
    input logic clk_i,
    input logic rst_ni,

    input logic [31:0] epoch_i,

    input  logic       [1:0] record_valid_i,
    output logic       [1:0] record_ready_o,
    input  l7_record_t [1:0] record_i,

    output logic           leave_valid_o,
    output token_t         leave_o,
    output logic           verdict_valid_o,
    output verdict_trace_t verdict_o,
    output l7_trace_row_t  trace_o,

    input  logic     cfg_valid_i,
    // "Bits of signal are not used": a counter has an index and no row.
    // verilator lint_off UNUSEDSIGNAL
    input  cfg_req_t cfg_req_i,
    // verilator lint_on UNUSEDSIGNAL
    output logic     cfg_valid_o,
    output cfg_rsp_t cfg_rsp_o
);

  localparam int unsigned IndexBits = $clog2(Modules);

  logic first_turn_q, first_now, of_first, valid, twice, taken, second_q, count_q, bytes_q, consumed_q;
  l7_record_t record;
  l7_event_e kind_q;
  logic [IndexBits-1:0] module_q;
  logic [LengthBits-1:0] length_q;

  // Behind one of the second source the first one has its turn, if it has a record; else the second one has it, and the first one goes where that has none.
  // The second half of a fault comes at once.
  assign first_now = first_turn_q && record_valid_i[0] && !second_q;
  assign of_first = first_now || !record_valid_i[1];
  assign valid = record_valid_i != '0;
  assign record = of_first ? record_i[0] : record_i[1];
  assign twice = !of_first && record_i[1].trace.fault && !second_q;
  assign taken = valid && !twice;
  assign record_ready_o = {!first_now && (!record_i[1].trace.fault || second_q), record_valid_i[0] && of_first};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      second_q        <= 1'b0;
      first_turn_q    <= 1'b0;
      count_q         <= 1'b0;
      bytes_q         <= 1'b0;
      leave_valid_o   <= 1'b0;
      verdict_valid_o <= 1'b0;
    end else begin
      second_q <= valid && twice;
      if (taken) first_turn_q <= !of_first;
      count_q         <= valid;
      bytes_q         <= taken && !record.trace.dropped;
      leave_valid_o   <= taken;
      verdict_valid_o <= taken;
    end
    if (twice) kind_q <= L7EventFaults;
    else if (record.trace.dropped) kind_q <= l7_event_e'(record.trace.kind);
    else kind_q <= record.trace.consumed ? L7EventConsumed : L7EventLeft;
    module_q <= record.trace.module_id[IndexBits-1:0];
    consumed_q <= record.trace.consumed;
    length_q <= record.length;
    leave_o <= record.token;
    trace_o <= record.trace;
    verdict_o <= '{
        destinations: '0,
        reason: record.trace.dropped ? 6'(FirstL7Reason) + 6'(record.trace.kind) : '0,
        dropped: record.trace.dropped,
        module_id: record.trace.module_id,
        id: record.trace.id
    };
  end

  logic is_bytes, refused_q;
  logic [1:0] counted_valid;
  cfg_status_e status, status_q;
  logic [1:0][CounterBits-1:0] counted;

  assign is_bytes = cfg_req_i.tab == TableL7Bytes;
  assign status   = cfg_check(cfg_counter(cfg_req_i), 1'b1, 1'b0, 24'((is_bytes ? 2 : 16) * Modules), 4'd2);

  sluice_counter_bank #(
      .Entries (16 * Modules),
      .Width   (CounterBits),
      .IncWidth(1)
  ) u_drops (
      .clk_i,
      .rst_ni,
      .epoch_i,
      .inc_valid_i  (count_q),
      .inc_index_i  ({module_q, kind_q}),
      .inc_amount_i (1'b1),
      .rd_valid_i   (cfg_valid_i && !is_bytes && status == StatusOk),
      .rd_snapshot_i(cfg_req_i.index[SnapshotIndexBit]),
      .rd_index_i   (cfg_req_i.index[IndexBits+3:0]),
      .rd_valid_o   (counted_valid[0]),
      .rd_data_o    (counted[0])
  );
  sluice_counter_bank #(
      .Entries (2 * Modules),
      .Width   (CounterBits),
      .IncWidth(LengthBits)
  ) u_bytes (
      .clk_i,
      .rst_ni,
      .epoch_i,
      .inc_valid_i  (bytes_q),
      .inc_index_i  ({module_q, consumed_q}),
      .inc_amount_i (length_q),
      .rd_valid_i   (cfg_valid_i && is_bytes && status == StatusOk),
      .rd_snapshot_i(cfg_req_i.index[SnapshotIndexBit]),
      .rd_index_i   (cfg_req_i.index[IndexBits:0]),
      .rd_valid_o   (counted_valid[1]),
      .rd_data_o    (counted[1])
  );

  always_ff @(posedge clk_i) begin
    refused_q <= rst_ni && cfg_valid_i && status != StatusOk;
    status_q  <= status;
  end
  assign cfg_valid_o = counted_valid != '0 || refused_q;
  assign cfg_rsp_o = '{
          status: refused_q ? status_q : StatusOk,
          words: 4'd2,
          data: 256'(counted_valid[1] ? counted[1] : counted[0])
      };

endmodule
