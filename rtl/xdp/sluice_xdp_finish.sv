/// Ends packets: what a program said of its packet, where and as what it faulted; gives back what it held.
///
/// A fault ends it as aborted. Of a late result that faults the bundle that launched it is told. A packet may end with a late result
/// (`late_i`), in a cycle in which nobody else does; `busy_o` says that somebody may.
///
/// Latency: 1 cycle. Throughput: an end a cycle. Never stalls.
module sluice_xdp_finish
  import sluice_pkg::*;
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_stages_pkg::*;
#(
    parameter int unsigned Contexts = 8,
    localparam int unsigned ContextBits = $clog2(Contexts)
) (
    input logic clk_i,
    input logic rst_ni,

    input logic [ClockBits-1:0] now_i,

    // The memory stage's bundle, and what was decided of it.
    // "Bits of signal are not used": of a bundle and its context what ends a packet.
    // verilator lint_off UNUSEDSIGNAL
    input xdp_second_t                     bundle_i,
    input xdp_decided_t                    decided_i,
    input xdp_fixed_t                      fixed_i,
    // Where its packet goes, as this bundle leaves it.
    input xdp_redirect_t                   redirect_i,
    // verilator lint_on UNUSEDSIGNAL
    input logic          [ContextBits-1:0] context_i,
    // What its packet has cost before its start, and steps of a unit that has answered.
    input steps_t                          before_i,
    input logic                            steps_valid_i,
    input steps_t                          steps_i,
    input logic          [ContextBits-1:0] steps_context_i,
    // What its helper has left of a record.
    input xdp_record_t                     record_i,

    output logic                            busy_o,
    // "Bits of signal are not used": which register is written.
    // verilator lint_off UNUSEDSIGNAL
    input  xdp_late_t                       late_i,
    // verilator lint_on UNUSEDSIGNAL
    input  logic          [ContextBits-1:0] late_context_i,
    // Where a late reference leads.
    output xdp_redirect_t                   late_redirect_o,

    output logic     end_valid_o,
    output xdp_end_t end_o,

    // Its lock is free.
    output logic                   free_valid_o,
    output logic [ContextBits-1:0] free_context_o,

    // It has left its flow's section, or has ended.
    output logic       left_valid_o,
    output logic [7:0] left_slot_o,

    // Room of its record's event.
    output logic       abandon_valid_o,
    output xdp_event_t abandon_o
);

  cost_t cost;
  sluice_xdp_cost #(
      .Contexts(Contexts)
  ) u_cost (
      .clk_i,
      .rst_ni,
      .valid_i  (bundle_i.valid),
      .start_i  (bundle_i.start),
      .retries_i(decided_i.retries),
      .late_i   (decided_i.commits && bundle_i.launch),
      .context_i,
      .before_i,
      .cost_o   (cost),
      .steps_valid_i,
      .steps_i,
      .steps_context_i
  );

  // What a packet has said whose end is a late result's.
  logic late_ends;
  xdp_ending_t ending, ends;
  assign busy_o = decided_i.ends;
  assign late_ends = late_i.valid && late_i.ends;
  assign ends = '{
          slot: fixed_i.slot,
          verdict: (bundle_i.verdict > VerdictRedirect) ? 3'd0 : bundle_i.verdict[2:0],
          bounds: bundle_i.kept.bounds,
          redirect: bundle_i.kept.redirect,
          index: bundle_i.address[31:0],
          cost: cost
      };
  sluice_ram_lut #(
      .Width($bits(xdp_ending_t)),
      .Depth(Contexts)
  ) u_ending (
      .clk_i,
      .we_i   (decided_i.launches),
      .waddr_i(context_i),
      .wdata_i(ends),
      .raddr_i(late_context_i),
      .rdata_o(ending)
  );
  assign late_redirect_o = redirect_to(ending.redirect, late_i.result, ending.index);

  always_ff @(posedge clk_i) begin
    free_valid_o   <= decided_i.ends && rst_ni;
    free_context_o <= context_i;
  end

  always_ff @(posedge clk_i) begin
    left_valid_o <= (busy_o || late_ends) && rst_ni;
    left_slot_o  <= late_ends ? ending.slot : fixed_i.slot;
  end

  // A helper may have changed what is held.
  // "Bits of signal are not used": which ring it is in.
  // verilator lint_off UNUSEDSIGNAL
  xdp_record_t record;
  // verilator lint_on UNUSEDSIGNAL
  assign record = decided_i.helped ? record_i : bundle_i.kept.record;
  always_ff @(posedge clk_i) begin
    abandon_valid_o <= decided_i.ends && record.held && rst_ni;
    abandon_o <= '{
        op: EventReturn,
        module_id: fixed_i.module_id,
        reserved: 1'b0,
        words: record_words(record.bytes),
        data: '0
    };
  end

  // Of the bundle that was launched last: where its late result faults, and as what.
  xdp_outcome_t launching, launched;
  assign launching = '{
          fault: bundle_i.helps ? XdpFaultArgument : XdpFaultAccess,
          row: bundle_i.row,
          lane: bundle_i.long_behind
      };
  sluice_ram_lut #(
      .Width($bits(xdp_outcome_t)),
      .Depth(Contexts)
  ) u_launched (
      .clk_i,
      .we_i   (decided_i.launches),
      .waddr_i(context_i),
      .wdata_i(launching),
      .raddr_i(context_i),
      .rdata_o(launched)
  );

  xdp_fault_e fault;
  always_comb begin
    fault = XdpFaultNone;
    if (decided_i.out_of_work) fault = XdpFaultWork;
    if (bundle_i.fault) begin
      if (bundle_i.foreign) fault = XdpFaultBundle;
      else if (bundle_i.frames) fault = XdpFaultDepth;
      else if (bundle_i.holds) fault = decided_i.out_of_work ? XdpFaultWork : XdpFaultLock;
      else if (bundle_i.wrong) fault = XdpFaultBundle;
      else fault = bundle_i.helps ? XdpFaultArgument : XdpFaultAccess;
    end
  end

  xdp_outcome_t outcome;
  always_comb begin
    outcome = '{fault: fault, row: bundle_i.row, lane: bundle_i.behind};
    if (bundle_i.late_fault) outcome = launched;
  end

  // A verdict that there is not is none.
  logic aborted;
  assign aborted = bundle_i.fault || decided_i.out_of_work || bundle_i.verdict > VerdictRedirect;

  always_ff @(posedge clk_i) begin
    end_valid_o <= (decided_i.ends || late_ends) && rst_ni;
    end_o <= '{
        slot: fixed_i.slot,
        verdict: aborted ? 3'd0 : bundle_i.verdict[2:0],
        bounds: bundle_i.kept.bounds,
        redirected: redirect_i.redirected,
        to_host: redirect_i.to_host,
        ifindex: redirect_i.to,
        cost: cost,
        outcome: outcome,
        ended: now_i
    };
    if (late_ends) begin
      end_o.slot <= ending.slot;
      end_o.verdict <= ending.verdict;
      end_o.bounds <= ending.bounds;
      end_o.cost <= ending.cost;
      end_o.outcome <= '0;
      {end_o.redirected, end_o.to_host, end_o.ifindex} <= {
        ending.redirect.redirected, ending.redirect.to_host, ending.redirect.to
      };
      if (late_i.refers) begin
        end_o.verdict <= (late_i.result.value > 64'(VerdictRedirect)) ? 3'd0 : late_i.result.value[2:0];
        {end_o.redirected, end_o.to_host, end_o.ifindex} <= {
          late_redirect_o.redirected, late_redirect_o.to_host, late_redirect_o.to
        };
      end
    end
  end

endmodule
