/// The configuration ring, made from a list of nodes (docs/design/nic.md, "Configuration").
///
/// Messages come in on `s_axis_cfg_*` and go through all nodes, in the order of `List`, back to the host. Requests and
/// answers as sluice_shell_cfg_node. A node without wide rows has its access in `req_o`, one with them in `wide_req_o`;
/// the other one is 0. `rows_o` has the rows of the wide nodes, the first one's lowest.
///
/// Behind a reset all tables are cleared, `ClearRows` rows each (sluice_shell_clear); meanwhile `clearing_o` is high and
/// messages wait.
///
/// Latency: 1 cycle a node for messages that pass. Throughput: one word a cycle.
/// Stall behaviour: as sluice_shell_cfg_node.
module sluice_shell_ring
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
#(
    parameter int unsigned Nodes = 1,
    parameter node_list_t List = '0,
    parameter int unsigned ClearRows = 1,
    localparam int unsigned WideBits = (wide_bits(List, Nodes) == 0) ? 1 : wide_bits(List, Nodes)
) (
    input logic clk_i,
    input logic rst_ni,

    output logic clearing_o,

    input  logic        s_axis_cfg_tvalid,
    output logic        s_axis_cfg_tready,
    input  logic [31:0] s_axis_cfg_tdata,
    input  logic        s_axis_cfg_tlast,
    output logic        m_axis_cfg_tvalid,
    input  logic        m_axis_cfg_tready,
    output logic [31:0] m_axis_cfg_tdata,
    output logic        m_axis_cfg_tlast,

    output logic      [   Nodes-1:0] req_valid_o,
    output cfg_req_t  [   Nodes-1:0] req_o,
    output wide_req_t [   Nodes-1:0] wide_req_o,
    output logic      [WideBits-1:0] rows_o,
    input  logic      [   Nodes-1:0] rsp_valid_i,
    input  cfg_rsp_t  [   Nodes-1:0] rsp_i,

    output logic [Nodes-1:0] bad_message_o,
    output logic [Nodes-1:0] timeout_o
);

  if (Nodes < 1 || Nodes > MostNodes) begin : gen_bad_nodes
    $fatal(1, "shell_ring: Nodes is %0d, expected 1 to %0d (%m)", Nodes, MostNodes);
  end

  logic [Nodes:0] valid, ready, last;
  logic [Nodes:0][31:0] data;

  sluice_shell_clear #(
      .Rows(ClearRows)
  ) u_clear (
      .clk_i,
      .rst_ni,
      .clearing_o,
      .s_valid_i    (s_axis_cfg_tvalid),
      .s_ready_o    (s_axis_cfg_tready),
      .s_data_i     (s_axis_cfg_tdata),
      .s_last_i     (s_axis_cfg_tlast),
      .first_valid_o(valid[0]),
      .first_ready_i(ready[0]),
      .first_data_o (data[0]),
      .first_last_o (last[0]),
      .last_valid_i (valid[Nodes]),
      .last_ready_o (ready[Nodes]),
      .last_last_i  (last[Nodes]),
      .m_valid_o    (m_axis_cfg_tvalid),
      .m_ready_i    (m_axis_cfg_tready)
  );
  assign m_axis_cfg_tdata = data[Nodes];
  assign m_axis_cfg_tlast = last[Nodes];

  if (wide_bits(List, Nodes) == 0) begin : gen_no_rows
    assign rows_o = '0;
  end

  for (genvar n = 0; n < int'(Nodes); n++) begin : gen_node
    localparam bit Wide = List[n].wide_words != '0;
    localparam int unsigned RowWords = Wide ? 32'(List[n].wide_words) : MessageDataWords;

    // "Bits of signal are not used": the structure travels whole, this module takes the fields that concern it.
    // verilator lint_off UNUSEDSIGNAL
    cfg_req_t req;
    // verilator lint_on UNUSEDSIGNAL
    logic [6:0] words;
    logic [32*RowWords-1:0] row;

    sluice_shell_cfg_node #(
        .Node    (List[n].number),
        .RowWords(RowWords)
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

    if (Wide) begin : gen_wide
      assign req_o[n] = '0;
      assign wide_req_o[n] = '{clear: req.clear, write: req.write, tab: req.tab, index: req.index, words: words};
      assign rows_o[wide_bits(List, n)+:32*RowWords] = row;
    end else begin : gen_narrow
      logic unused;
      assign unused = ^{words, row};
      assign req_o[n] = req;
      assign wide_req_o[n] = '0;
    end
  end

endmodule
