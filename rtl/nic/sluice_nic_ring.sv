/// The configuration ring of a top with the match-action pipeline (docs/design/nic.md, "Configuration").
///
/// Nodes in order: system, stamp; egress and the ports if there are any; parser, stages, deparser. Messages come in on
/// `s_axis_cfg_*` and go through all nodes back to the host. Requests and answers as sluice_cfg_node.
///
/// Latency: 1 cycle a node for messages that pass. Throughput: one word a cycle.
/// Stall behaviour: as sluice_cfg_node.
module sluice_nic_ring
  import sluice_pkg::*;
  import sluice_nic_pkg::*;
  import sluice_rmt_rows_pkg::*;
  import sluice_rmt_pkg::*;
#(
    parameter  int unsigned Ports  = 0,
    parameter  int unsigned Stages = 5,
    // Nodes in front of the pipeline's.
    localparam int unsigned Fronts = (Ports == 0) ? 2 : 3 + Ports,
    localparam int unsigned Nodes  = Fronts + 2 + Stages
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic        s_axis_cfg_tvalid,
    output logic        s_axis_cfg_tready,
    input  logic [31:0] s_axis_cfg_tdata,
    input  logic        s_axis_cfg_tlast,
    output logic        m_axis_cfg_tvalid,
    input  logic        m_axis_cfg_tready,
    output logic [31:0] m_axis_cfg_tdata,
    output logic        m_axis_cfg_tlast,

    output logic         [                 Nodes-1:0]                           req_valid_o,
    output cfg_req_t     [                Fronts-1:0]                           req_o,
    output rmt_cfg_req_t [              Stages+2-1:0]                           rmt_req_o,
    output logic         [  32*RmtSelectRowWords-1:0]                           parser_row_o,
    output logic         [                Stages-1:0][32*RmtActionRowWords-1:0] stage_row_o,
    output logic         [32*RmtPatternsRowWords-1:0]                           deparser_row_o,
    input  logic         [                 Nodes-1:0]                           rsp_valid_i,
    input  cfg_rsp_t     [                 Nodes-1:0]                           rsp_i,

    output logic [Nodes-1:0] bad_message_o,
    output logic [Nodes-1:0] timeout_o
);

  localparam int unsigned AtEgress = 2;
  localparam int unsigned AtPort0 = 3;
  localparam int unsigned AtDeparser = Nodes - 1;

  function automatic logic [7:0] node_number(int unsigned at);
    if (at == 0) return NodeSystem;
    if (at == 1) return NodeStamp;
    if (at == Fronts) return NodeRmtParser;
    if (at == AtDeparser) return NodeRmtDeparser;
    if (at > Fronts) return NodeRmtStage0 + 8'(at - Fronts - 1);
    if (at == AtEgress) return NodeEgress;
    return NodePort0 + 8'(at - AtPort0);
  endfunction

  function automatic int unsigned row_words(int unsigned at);
    if (at < Fronts) return MessageDataWords;
    if (at == Fronts) return RmtSelectRowWords;
    if (at == AtDeparser) return RmtPatternsRowWords;
    return RmtActionRowWords;
  endfunction

  logic [Nodes:0] valid, ready, last;
  logic [Nodes:0][31:0] data;

  assign valid[0] = s_axis_cfg_tvalid;
  assign data[0] = s_axis_cfg_tdata;
  assign last[0] = s_axis_cfg_tlast;
  assign s_axis_cfg_tready = ready[0];
  assign m_axis_cfg_tvalid = valid[Nodes];
  assign m_axis_cfg_tdata = data[Nodes];
  assign m_axis_cfg_tlast = last[Nodes];
  assign ready[Nodes] = m_axis_cfg_tready;

  for (genvar n = 0; n < Nodes; n++) begin : gen_node
    // "Bits of signal are not used": the structure travels whole, this module takes the fields that concern it.
    // verilator lint_off UNUSEDSIGNAL
    cfg_req_t req;
    // verilator lint_on UNUSEDSIGNAL
    logic [6:0] words;
    logic [32*row_words(n)-1:0] row;

    sluice_cfg_node #(
        .Node    (node_number(n)),
        .RowWords(row_words(n))
    ) u_node (
        .clk_i,
        .rst_ni,
        .s_valid_i    (valid[n]),
        .s_ready_o    (ready[n]),
        .s_data_i     (data[n]),
        .s_last_i     (last[n]),
        .m_valid_o    (valid[n+1]),
        .m_ready_i    (ready[n+1]),
        .m_data_o     (data[n+1]),
        .m_last_o     (last[n+1]),
        .req_valid_o  (req_valid_o[n]),
        .req_o        (req),
        .row_o        (row),
        .words_o      (words),
        .rsp_valid_i  (rsp_valid_i[n]),
        .rsp_i        (rsp_i[n]),
        .bad_message_o(bad_message_o[n]),
        .timeout_o    (timeout_o[n])
    );

    if (n < Fronts) begin : gen_front
      logic unused;
      assign unused   = ^{words, row};
      assign req_o[n] = req;
    end else begin : gen_pipeline
      assign rmt_req_o[n-Fronts] = '{
              write: req.write,
              tab: req.tab,
              snapshot: req.index[SnapshotIndexBit],
              slice: req.index[RmtSliceIndexBit+:7],
              index: req.index[15:0],
              words: words
          };
      if (n == Fronts) begin : gen_parser
        assign parser_row_o = row;
      end else if (n == AtDeparser) begin : gen_deparser
        assign deparser_row_o = row;
      end else begin : gen_stage
        assign stage_row_o[n-Fronts-1] = row;
      end
    end
  end

endmodule
