/// What a core's units answer, and when it is written: units that are the core's own, one context at a time in each, and late results.
///
/// A result goes to its context's next pass; or it comes late: into a register, in a cycle in which the last lane writes nothing, or as its packet's end. One that waits for
/// long says so (`wants_o`): then nobody is picked. One that is sure to be written in the next cycle is *woken* with its answer. A helper is taken up again only when its bundle has had its second pass, which writes
/// what the helper left.
///
/// Latency: an answer is with the stages in the cycle behind it. Throughput: an answer a cycle; others wait in their order: values, maps, helper,
/// multiplication, locks.
module sluice_xdp_units
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_instructions_pkg::*;
  import sluice_xdp_stages_pkg::*;
#(
    parameter int unsigned Contexts = 8,
    localparam int unsigned ContextBits = $clog2(Contexts)
) (
    input logic clk_i,
    input logic rst_ni,

    // The memory stage's bundle.
    // "Bits of signal are not used": of a bundle what is multiplied, and which registers it writes.
    // verilator lint_off UNUSEDSIGNAL
    input xdp_second_t                    bundle_i,
    // verilator lint_on UNUSEDSIGNAL
    input logic         [ContextBits-1:0] context_i,
    input logic                           muldiv_takes_i,
    input logic                           helper_takes_i,
    // "Bits of signal are not used": whether it launches, and what it was.
    // verilator lint_off UNUSEDSIGNAL
    input xdp_decided_t                   decided_i,
    // The bundle behind it.
    input xdp_first_t                     next_i,
    // verilator lint_on UNUSEDSIGNAL
    input xdp_waits_t                     waits_i,
    // What the bundle writes of what its context keeps, and that its packet ends or leaves its section.
    input logic                           keeps_i,
    input logic                           ends_i,

    output logic                          muldiv_ready_o,
    output logic                          helper_busy_o,
    output logic        [ContextBits-1:0] helper_context_o,
    output xdp_return_t                   helper_return_o,
    output logic        [           31:0] helper_redirect_o, // its first argument

    input  logic                               return_valid_i,
    input  xdp_return_t                        return_i,
    input  logic                               done_valid_i,
    input  logic             [ContextBits-1:0] done_context_i,
    input  logic                               done_fault_i,
    input  logic             [           63:0] done_value_i,
    input  logic                               map_answer_valid_i,
    output logic                               map_answer_ready_o,
    input  logic             [ContextBits-1:0] map_answer_context_i,
    // "Bits of signal are not used": its steps are the packet's cost.
    // verilator lint_off UNUSEDSIGNAL
    input  xdp_map_answer_t                    map_answer_i,
    // verilator lint_on UNUSEDSIGNAL
    input  logic                               lock_valid_i,
    output logic                               lock_ready_o,
    input  logic             [ContextBits-1:0] lock_context_i,
    // "Bits of signal are not used": its steps are the packet's cost.
    // verilator lint_off UNUSEDSIGNAL
    input  xdp_lock_answer_t                   lock_i,
    // verilator lint_on UNUSEDSIGNAL

    // Whose unit has answered: its result is still to be written, or its bundle has another pass.
    output logic                   done_valid_o,
    output logic                   done_late_o,
    output logic                   done_woken_o,
    output logic                   done_again_o,
    output logic [ContextBits-1:0] done_context_o,

    // The first stage's.
    input  logic        [ContextBits-1:0] first_context_i,
    output xdp_result_t                   result_o,

    output xdp_late_t                   late_o,
    output logic      [ContextBits-1:0] late_context_o,
    output logic                        late_wants_o
);

  localparam int unsigned Lanes = XdpLanes;
  // Cycles that a late result waits before nobody is picked for one.
  localparam int unsigned LatePatience = 7;

  typedef logic [ContextBits-1:0] context_t;

  // Operations of the multiplier that are under way, or done and not yet written.
  localparam int unsigned Muldivs = 4;

  logic muldiv_free, muldiv_room, muldiv_done, muldiv_waits, muldiv_leaves, helper_waits_q, answered;
  logic unused_muldiv_valid, unused_muldiv_ready;
  logic [$clog2(Muldivs+1)-1:0] unused_muldiv_level, unused_result_level;
  logic [63:0] muldiv_result, muldiv_value;
  context_t muldiv_context;

  // ---------------------------------------------------------------------------------------------------------------
  // The core's own units.

  sluice_xdp_muldiv u_muldiv (
      .clk_i,
      .rst_ni,
      .valid_i (muldiv_takes_i),
      .ready_o (muldiv_free),
      .op_i    (bundle_i.muldiv_op),
      .wide_i  (bundle_i.muldiv_wide),
      .a_i     (bundle_i.address),
      .b_i     (bundle_i.data),
      .done_o  (muldiv_done),
      .result_o(muldiv_result)
  );
  assign muldiv_ready_o = muldiv_free && muldiv_room;
  assign muldiv_leaves  = muldiv_waits && !helper_waits_q && !answered;

  // Whose operations they are, and their results, in the order in which they were taken.
  sluice_fifo #(
      .Width(ContextBits),
      .Depth(Muldivs)
  ) u_muldiv_contexts (
      .clk_i,
      .rst_ni,
      .valid_i(muldiv_takes_i),
      .ready_o(muldiv_room),
      .data_i (context_i),
      .valid_o(unused_muldiv_valid),
      .ready_i(muldiv_leaves),
      .data_o (muldiv_context),
      .level_o(unused_muldiv_level)
  );
  sluice_fifo #(
      .Width(64),
      .Depth(Muldivs)
  ) u_muldiv_results (
      .clk_i,
      .rst_ni,
      .valid_i(muldiv_done),
      .ready_o(unused_muldiv_ready),
      .data_i (muldiv_result),
      .valid_o(muldiv_waits),
      .ready_i(muldiv_leaves),
      .data_o (muldiv_value),
      .level_o(unused_result_level)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      helper_busy_o  <= 1'b0;
      helper_waits_q <= 1'b0;
    end else begin
      if (helper_takes_i) helper_busy_o <= 1'b1;
      else if (decided_i.helped) helper_busy_o <= 1'b0;
      if (return_valid_i) helper_waits_q <= 1'b1;
      else if (!answered) helper_waits_q <= 1'b0;
    end
    if (helper_takes_i) begin
      helper_context_o  <= context_i;
      helper_redirect_o <= bundle_i.data[31:0];
    end
    if (return_valid_i) helper_return_o <= return_i;
  end

  // ---------------------------------------------------------------------------------------------------------------
  // Answers. A result waits while the other unit's is written.

  // "Bits of signal are not used": each reader takes what concerns it.
  // verilator lint_off UNUSEDSIGNAL
  xdp_waits_t waits, waits_value, waits_map, waits_muldiv, written;
  xdp_result_t late_result;
  // verilator lint_on UNUSEDSIGNAL
  xdp_result_t done_result;
  context_t late_context;

  assign answered = done_valid_i || map_answer_valid_i;
  assign map_answer_ready_o = !done_valid_i;
  // Contexts are fewer than the cycles that each takes from one answer to the next: a cycle for locks is always near.
  assign lock_ready_o = !answered && !helper_waits_q && !muldiv_waits;
  assign done_valid_o = answered || helper_waits_q || muldiv_waits || lock_valid_i;
  assign done_context_o = done_valid_i ? done_context_i : map_answer_valid_i ? map_answer_context_i :
      helper_waits_q ? helper_context_o : muldiv_waits ? muldiv_context : lock_context_i;
  always_comb begin
    done_result = muldiv_waits ?
    '{fault: 1'b0, value: muldiv_value, default: '0}
    :
    '{fault: lock_i.fault, value: 64'(lock_i.misused), default: '0};
    if (helper_waits_q) done_result = '{fault: helper_return_o.fault, value: helper_return_o.value, default: '0};
    if (map_answer_valid_i) done_result = {1'b0, map_answer_i[$bits(xdp_map_answer_t)-1:StepBits]};
    if (done_valid_i) done_result = '{fault: done_fault_i, value: done_value_i, default: '0};
    // The lowest two bits of the flags are the verdict where there is no entry.
    if (done_valid_i && waits_value.refers) begin
      done_result = '{
          late: 1'b0,
          fault: done_fault_i,
          value: 64'(waits_value.verdict),
          failed: waits_value.plain && done_value_i[31:0] == '0,
          refers: waits_value.several || (waits_value.plain && done_value_i[31:0] != '0),
          to_host: waits_value.several || waits_value.to_host,
          referent: waits_value.several ? to_several(done_value_i[7:0], waits_value.excludes) : done_value_i[31:0]
      };
      if (done_result.refers) done_result.value = 64'(VerdictRedirect);
      else if (!waits_value.plain) done_result.value = '0;
    end
    done_result.late = waits.late;
  end

  // What of a launched bundle is still to be done, by context.
  sluice_ram_lut #(
      .Width    ($bits(xdp_waits_t)),
      .Depth    (Contexts),
      .ReadPorts(4)
  ) u_waits (
      .clk_i,
      .we_i   (decided_i.launches),
      .waddr_i(context_i),
      .wdata_i(waits_i),
      .raddr_i({late_context, muldiv_context, map_answer_context_i, done_context_i}),
      .rdata_o({written, waits_muldiv, waits_map, waits_value})
  );
  // A helper has two passes, and so has a lock.
  always_comb begin
    waits = done_valid_i ? waits_value : map_answer_valid_i ? waits_map : waits_muldiv;
    if (!answered && (helper_waits_q || !muldiv_waits)) waits = '0;
  end
  assign done_late_o  = waits.late && (waits.writes || waits.ends) && !done_result.fault;
  assign done_again_o = !waits.late || done_result.fault;

  // Results, by context.
  sluice_ram_lut #(
      .Width    ($bits(xdp_result_t)),
      .Depth    (Contexts),
      .ReadPorts(2)
  ) u_result (
      .clk_i,
      .we_i   (done_valid_o),
      .waddr_i(done_context_o),
      .wdata_i(done_result),
      .raddr_i({late_context, first_context_i}),
      .rdata_o({late_result, result_o})
  );

  // ---------------------------------------------------------------------------------------------------------------
  // Those whose result is there, in the order in which it came.

  logic late_valid, late_blocked, late_woken, comes_alone, unused_late_ready;
  logic [2:0] late_wait_q;
  logic [$clog2(Contexts+1)-1:0] late_level;

  logic next_writes;
  assign next_writes = next_i.valid && (next_i.turn.pass != PassBundle || writes(next_i.lanes[Lanes-1]));

  // The next one in line, and no bundle that could want the port: of r5 and of a reference no bundle at all.
  assign comes_alone = 32'(late_level) == 32'd0 || (32'(late_level) == 32'd1 && !late_blocked);
  assign done_woken_o = done_late_o && !waits.ends && comes_alone &&
      !next_writes && !(next_i.valid && (waits.target == 4'd5 || waits.refers));

  sluice_fifo #(
      .Width(ContextBits + 1),
      .Depth(Contexts)
  ) u_late (
      .clk_i,
      .rst_ni,
      .valid_i(done_valid_o && done_late_o),
      .ready_o(unused_late_ready),
      .data_i ({done_woken_o, done_context_o}),
      .valid_o(late_valid),
      .ready_i(!late_blocked),
      .data_o ({late_woken, late_context}),
      .level_o(late_level)
  );

  // The last lane's port is free, and for r5 the copy of it too; for a reference, what contexts keep; for a packet's end, that of packets.
  always_comb begin
    late_blocked = bundle_i.write[Lanes-1];
    if (written.target == 4'd5) late_blocked = bundle_i.start || bundle_i.write != '0;
    if (written.refers) late_blocked = late_blocked || keeps_i;
    if (written.ends) late_blocked = ends_i;
    if (!bundle_i.valid) late_blocked = 1'b0;
  end
  assign late_o = '{
          valid: late_valid && !late_blocked,
          writes: !written.ends,
          refers: written.refers,
          ends: written.ends,
          woken: late_woken,
          target: written.target,
          result: late_result
      };
  assign late_context_o = late_context;
  assign late_wants_o = late_wait_q == 3'(LatePatience);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) late_wait_q <= '0;
    else late_wait_q <= (late_valid && late_blocked && !late_wants_o) ? late_wait_q + 3'd1 : '0;
  end

`ifndef SYNTHESIS
  WhoIsWokenIsWrittenAtOnce_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !(late_valid && late_woken) || late_o.valid);
  ResultsHaveRoom_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !muldiv_done || unused_muldiv_ready);
`endif

endmodule
