/// System node: identity, tick counter, error counts, snapshot epoch, hold, watchdog limit, secret of the flow hash.
///
/// Node NodeSystem. Configuration: answered 4 cycles after the access; writes take effect in
/// the cycle after it. Error counts are 32 bits and wrap.
module sluice_shell_system
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
#(
    parameter int unsigned TargetHash = NicCfgDefault.target_hash,
    parameter int unsigned Engines = 0,  // that are there, a bit each
    parameter int unsigned Nodes = 8
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic     cfg_valid_i,
    input  cfg_req_t cfg_req_i,
    output logic     cfg_valid_o,
    output cfg_rsp_t cfg_rsp_o,

    input logic [Nodes-1:0] bad_message_i,
    input logic [Nodes-1:0] timeout_i,
    input logic             wedged_i,

    output logic         [TickBits-1:0] ticks_o,
    output logic         [        31:0] epoch_o,
    output logic                        hold_o,
    output logic         [        31:0] watchdog_o,
    output flow_secret_t                flow_secret_o
);

  localparam int unsigned InfoRows = 7;
  localparam int unsigned AnswerCycles = 4;

  logic is_info, is_control, write;
  cfg_status_e status, status_q;
  logic [3:0] words_q;
  logic [$clog2(FlowSecretWords)-1:0] secret_word;
  logic [AnswerCycles-1:0] answer_q;
  logic [31:0] bad_messages_q, timeouts_q, wedges_q;
  logic [63:0] row_q;
  // Counters outlive a reset, so their epoch does too.
  // "Procedural assignment to declaration with initial value": the epoch starts at 0 like the counters' RAM and,
  // like them, has no reset.
  // verilator lint_off PROCASSINIT
  logic [31:0] epoch_q = '0;
  // verilator lint_on PROCASSINIT
  assign epoch_o = epoch_q;

  // Cycles that a simulation of an idle NIC leaves out behind this one (docs/decisions/idle-jump.md).
`ifdef VERILATOR
  logic [31:0] skip  /*verilator public_flat_rw*/ = '0;
`else
  localparam logic [31:0] skip = '0;
`endif

  assign is_info = cfg_req_i.tab == TableInfo;
  assign is_control = cfg_req_i.tab == TableControl;
  assign secret_word = $clog2(FlowSecretWords)'(32'(cfg_req_i.index) - ControlFlowSecret);
  always_comb begin
    status = cfg_check(cfg_req_i, is_info, 1'b0, 24'(InfoRows), 4'd2);
    if (is_control) status = cfg_check(cfg_req_i, 1'b1, 1'b1, 24'(ControlRows), 4'd1);
  end
  assign write = cfg_valid_i && cfg_req_i.write && status == StatusOk;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      ticks_o        <= '0;
      hold_o         <= 1'b0;
      watchdog_o     <= '0;
      flow_secret_o  <= FlowSecretAtReset;
      bad_messages_q <= '0;
      timeouts_q     <= '0;
      wedges_q       <= '0;
      answer_q       <= '0;
    end else begin
      ticks_o        <= ticks_o + 1'b1 + TickBits'(skip);
      bad_messages_q <= bad_messages_q + 32'($countones(bad_message_i));
      timeouts_q     <= timeouts_q + 32'($countones(timeout_i));
      wedges_q       <= wedges_q + 32'(wedged_i);
      answer_q       <= {answer_q[AnswerCycles-2:0], cfg_valid_i};
      if (write) begin
        unique case (32'(cfg_req_i.index))
          ControlEpoch:    epoch_q <= cfg_req_i.data[31:0];
          ControlHold:     hold_o <= cfg_req_i.data[0];
          ControlWatchdog: watchdog_o <= cfg_req_i.data[31:0];
          // The others are its words.
          default:         flow_secret_o[secret_word] <= cfg_req_i.data[31:0];
        endcase
      end
    end
  end

  always_ff @(posedge clk_i) begin
    status_q <= status;
    words_q  <= is_info ? 4'd2 : 4'd1;
    if (is_info) begin
      unique case (32'(cfg_req_i.index))
        InfoVersion:     row_q <= 64'(FormatVersion);
        InfoTargetHash:  row_q <= 64'(TargetHash);
        InfoTicks:       row_q <= 64'(ticks_o);
        InfoBadMessages: row_q <= 64'(bad_messages_q);
        InfoTimeouts:    row_q <= 64'(timeouts_q);
        InfoWedges:      row_q <= 64'(wedges_q);
        default:         row_q <= 64'(Engines);
      endcase
    end else begin
      unique case (32'(cfg_req_i.index))
        ControlEpoch:    row_q <= 64'(epoch_o);
        ControlHold:     row_q <= 64'(hold_o);
        ControlWatchdog: row_q <= 64'(watchdog_o);
        default:         row_q <= 64'(flow_secret_o[secret_word]);
      endcase
    end
  end

  assign cfg_valid_o = answer_q[AnswerCycles-1];
  assign cfg_rsp_o   = '{status: status_q, words: words_q, data: 256'(row_q)};

endmodule
