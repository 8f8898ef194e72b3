/// Drops packets for what is known a few cycles behind their first slot (docs/design/rmt.md, "Entrance").
///
/// A token comes with the first slot; its rate limit's answer (`conform_i`) 4 cycles later, when the
/// reconfiguration rule has been looked at too. `window_*_i` say once a packet, in their order and no later than
/// a cycle behind the token, whether what came is what the sideband says. The verdict waits until the parser gives the packet's `ctl_i`,
/// at least 5 cycles behind the token, and takes precedence over the parser's.
///
/// Latency: 0 cycles from `ctl_i` to `ctl_o`. Throughput: a packet a cycle. Never stalls.
module sluice_rmt_refuse
  import sluice_pkg::*;
  import sluice_shell_pkg::*;
  import sluice_rmt_rows_pkg::*;
  import sluice_rmt_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,

    input logic                     token_valid_i,
    input logic                     token_foreign_i,
    input logic [             13:0] token_length_i,
    input logic [8*WindowBytes-1:0] token_window_i,
    input logic                     conform_i,

    input logic window_valid_i,
    input logic window_misfit_i,

    input  logic     ctl_valid_i,
    input  rmt_ctl_t ctl_i,
    output rmt_ctl_t ctl_o
);

  localparam int unsigned AnswerCycles = 4;
  // Packets between the answer and the parser's end.
  localparam int unsigned Depth = 16;

  typedef struct packed {
    logic foreign;
    logic reconfig;
  } finding_t;

  typedef struct packed {
    logic       dropped;
    rmt_event_e reason;
  } refusal_t;

  logic [AnswerCycles-1:0] valid_q;
  finding_t [AnswerCycles-1:0] finding_q;
  logic [8*WindowBytes-1:0] window_q;
  logic [13:0] length_q;
  // "Bits of signal are not used": the structure travels whole, this module takes the fields that concern it.
  // verilator lint_off UNUSEDSIGNAL
  fields_t fields;
  // verilator lint_on UNUSEDSIGNAL
  finding_t finding;
  refusal_t verdict_in, verdict;
  logic verdict_in_ready, verdict_valid;
  logic misfit_in_ready, misfit_valid, misfit;
  logic [$clog2(Depth+1)-1:0] unused_level, unused_misfit_level;

  sluice_shell_extract u_extract (
      .window_i(window_q),
      .length_i(length_q),
      .fields_o(fields)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_q <= '0;
    else valid_q <= {valid_q[AnswerCycles-2:0], token_valid_i};
  end
  always_ff @(posedge clk_i) begin
    window_q <= token_window_i;
    length_q <= token_length_i;
    finding_q[0] <= '{foreign: token_foreign_i, reconfig: 1'b0};
    finding_q[1] <= '{foreign: finding_q[0].foreign, reconfig: fields.reconfig};
    for (int unsigned i = 2; i < AnswerCycles; i++) finding_q[i] <= finding_q[i-1];
  end

  sluice_fifo #(
      .Width(1),
      .Depth(Depth)
  ) u_misfits (
      .clk_i,
      .rst_ni,
      .valid_i(window_valid_i),
      .ready_o(misfit_in_ready),
      .data_i (window_misfit_i),
      .valid_o(misfit_valid),
      .ready_i(valid_q[AnswerCycles-1]),
      .data_o (misfit),
      .level_o(unused_misfit_level)
  );

  assign finding = finding_q[AnswerCycles-1];
  always_comb begin
    verdict_in = '{dropped: 1'b1, reason: RmtEventReconfig};
    if (finding.foreign) verdict_in.reason = RmtEventNoModule;
    else if (misfit) verdict_in.reason = RmtEventBadLength;
    else if (!conform_i) verdict_in.reason = RmtEventRate;
    else verdict_in.dropped = finding.reconfig;
  end

  sluice_fifo #(
      .Width($bits(refusal_t)),
      .Depth(Depth)
  ) u_verdicts (
      .clk_i,
      .rst_ni,
      .valid_i(valid_q[AnswerCycles-1]),
      .ready_o(verdict_in_ready),
      .data_i (verdict_in),
      .valid_o(verdict_valid),
      .ready_i(ctl_valid_i),
      .data_o (verdict),
      .level_o(unused_level)
  );

  always_comb begin
    ctl_o = ctl_i;
    if (verdict.dropped) begin
      ctl_o.dropped = 1'b1;
      ctl_o.reason  = verdict.reason;
    end
  end

`ifndef SYNTHESIS
  VerdictIsThereInTime_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !ctl_valid_i || verdict_valid);
  MisfitIsKnownInTime_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !valid_q[AnswerCycles-1] || misfit_valid);
  MisfitHasRoom_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !window_valid_i || misfit_in_ready);
  VerdictHasRoom_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !valid_q[AnswerCycles-1] || verdict_in_ready);
`endif

endmodule
