/// Configuration of the parser's tables: first, node, path.
///
/// A write is done two cycles after the access, whole; packets that read later see it. A read waits until the
/// table's port is free (`free_i`), with `slot_request_o` high, and takes the slice from the row that is read
/// then. Other tables than these answer StatusBadAddress. The node's row is used as it stands: it has to hold
/// until the answer.
///
/// Latency: 3 cycles for writes and refusals, 4 and more for reads. One access at a time.
module sluice_rmt_parser_config
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_rmt_pkg::*;
  import sluice_rmt_rows_pkg::*;
#(
    parameter  int unsigned Modules = 64,
    localparam int unsigned Tables  = 3
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic         cfg_valid_i,
    input  rmt_cfg_req_t cfg_req_i,
    output logic         cfg_valid_o,
    output cfg_rsp_t     cfg_rsp_o,
    output logic         slot_request_o,

    // By table.
    output logic [Tables-1:0] write_o,
    output logic [Tables-1:0] read_o,
    input  logic [Tables-1:0] free_i,

    // Rows in the cycle after a read.
    input rmt_select_row_t first_row_i,
    input rmt_select_row_t node_row_i,
    input rmt_path_row_t   path_row_i
);

  localparam int unsigned SliceBits = 32 * MessageDataWords;
  localparam int unsigned RowBits = $clog2(2 * Modules);  // of the first table; more for the others
  localparam int unsigned SelectSlices = (RmtSelectRowBits + SliceBits - 1) / SliceBits;

  // What is asked for: valid in the cycle of the access, as the request holds.
  logic [Tables-1:0] asked;
  logic beyond;
  logic [6:0] words;
  always_comb begin
    asked  = '0;
    beyond = 1'b1;
    words  = 7'(RmtSelectRowWords);
    unique case (cfg_req_i.tab)
      TableRmtFirst: {asked[0], beyond} = {1'b1, |(cfg_req_i.index >> RowBits)};
      TableRmtNode: {asked[1], beyond} = {1'b1, |(cfg_req_i.index >> (RowBits + $clog2(RmtNodes)))};
      TableRmtPath: begin
        {asked[2], beyond} = {1'b1, |(cfg_req_i.index >> (RowBits + $clog2(RmtPaths)))};
        words = 7'(RmtPathRowWords);
      end
      default: ;
    endcase
  end

  // The check has a cycle of its own.
  logic [Tables-1:0] asked_q, write_q, wait_q, read_q;
  logic access_q, done_q, answer;
  cfg_status_e status_q;
  logic [3:0] words_q;

  assign write_o = write_q | {Tables{cfg_req_i.clear}};
  assign read_o = wait_q & free_i;
  assign slot_request_o = wait_q != '0;
  assign answer = done_q || read_q != '0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      access_q    <= 1'b0;
      write_q     <= '0;
      wait_q      <= '0;
      read_q      <= '0;
      done_q      <= 1'b0;
      cfg_valid_o <= 1'b0;
    end else begin
      access_q    <= cfg_valid_i;
      write_q     <= asked_q & {Tables{access_q && cfg_req_i.write && status_q == StatusOk}};
      wait_q      <= (wait_q & ~free_i) | (asked_q & {Tables{access_q && !cfg_req_i.write && status_q == StatusOk}});
      read_q      <= read_o;
      done_q      <= access_q && (cfg_req_i.write || status_q != StatusOk);
      cfg_valid_o <= answer;
    end
  end

  // Slices: 0 to 4 of the first row, 5 to 9 of the node's, 10 the path's. The short last ones of both stand beside
  // the path's row.
  logic [15:0][SliceBits-1:0] slices;
  logic [3:0] slice_q;
  logic [SliceBits-1:0] slice;
  always_comb begin
    slices = '0;
    for (int unsigned s = 0; s + 1 < SelectSlices; s++) begin
      slices[s]   = first_row_i[SliceBits*s+:SliceBits];
      slices[s+4] = node_row_i[SliceBits*s+:SliceBits];
    end
    slices[8]  = SliceBits'(first_row_i[RmtSelectRowBits-1:SliceBits*(SelectSlices-1)]);
    slices[9]  = SliceBits'(node_row_i[RmtSelectRowBits-1:SliceBits*(SelectSlices-1)]);
    slices[10] = SliceBits'(path_row_i);
  end
  sluice_mux #(
      .Inputs(16),
      .Width (SliceBits)
  ) u_slice (
      .data_i (slices),
      .index_i(slice_q),
      .data_o (slice)
  );

  always_ff @(posedge clk_i) begin
    if (asked[2]) slice_q <= 4'd10;
    else if (cfg_req_i.slice[2]) slice_q <= {3'b100, asked[1]};
    else slice_q <= {1'b0, asked[1], cfg_req_i.slice[1:0]};
    asked_q  <= asked;
    status_q <= rmt_cfg_status(cfg_req_i, 1'b0, beyond, words);
    words_q  <= rmt_slice_words(cfg_req_i, words);
  end

  always_ff @(posedge clk_i) begin
    cfg_rsp_o <= '{status: StatusOk, words: '0, data: '0};
    if (done_q) cfg_rsp_o.status <= status_q;
    if (read_q != '0) begin
      cfg_rsp_o.words <= words_q;
      cfg_rsp_o.data  <= slice;
    end
  end

`ifndef SYNTHESIS
  OneAccessAtATime_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !cfg_valid_i || (wait_q == '0 && !access_q && !answer));
`endif

endmodule
