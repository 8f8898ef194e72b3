/// Tables of the deparser: patterns and deparse rows (docs/design/rmt-rows.md), for packets and for the host.
///
/// A packet reads a patterns row with `patterns_select_i`, a deparse row with `row_select_i`, unless the packet before
/// keeps the RAM's output, `patterns_stay_i` or `row_stay_i`; that one reads further beats of its row with
/// `row_next_i`. The row is there in the next cycle and stays until the next read. The part of a row in which all
/// beats agree, `head_o`, is not read with `row_next_i`. Which of them is said last: `*_stay_i` comes late.
///
/// Configuration: tables patterns and deparse of the node, one access at a time; others are not answered. A write
/// takes effect in one cycle. A host read waits, with `slot_request_o` high, until the packets leave a RAM's output
/// alone. When that has not come for `Patience` cycles, `patterns_hold_o` or `row_hold_o` asks for no further packet's
/// row until it has. While the packets stand still, reads do. While `cfg_valid_o` is low `cfg_rsp_o` is zero.
///
/// Latency: 1 cycle. Throughput: one patterns row and one beat of a deparse row a cycle.
module sluice_rmt_deparse_rows
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_rmt_rows_pkg::*;
  import sluice_rmt_pkg::*;
  import sluice_rmt_deparse_pkg::*;
#(
    parameter rmt_cfg_t Cfg = RmtCfgDefault,
    parameter int unsigned Patience = MaintenancePeriod - 1,
    localparam int unsigned ModuleRowBits = $clog2(2 * Cfg.modules),
    localparam int unsigned BeatBits = $clog2(RmtWindowBytes / Cfg.bus_bytes),
    localparam int unsigned RowBits = ModuleRowBits + 4 + BeatBits
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic                                  patterns_select_i,
    input  logic                                  patterns_stay_i,
    input  logic              [ModuleRowBits-1:0] patterns_index_i,
    output logic                                  patterns_hold_o,
    output rmt_patterns_row_t                     patterns_o,

    input  logic                         row_select_i,
    input  logic                         row_stay_i,
    input  logic                         row_next_i,
    input  logic                         row_packet_i,  // the index is a packet's
    input  logic           [RowBits-1:0] row_index_i,
    output logic                         row_hold_o,
    output deparse_head_t                head_o,
    output deparse_lanes_t               lanes_o,

    input  logic                                      cfg_valid_i,
    input  rmt_cfg_req_t                              cfg_req_i,
    // "Bits of signal are not used": the structure travels whole, this module takes the fields that concern it.
    // verilator lint_off UNUSEDSIGNAL
    input  logic         [32*RmtPatternsRowWords-1:0] cfg_row_i,
    // verilator lint_on UNUSEDSIGNAL
    output logic                                      cfg_valid_o,
    output cfg_rsp_t                                  cfg_rsp_o,
    output logic                                      slot_request_o
);

  localparam int unsigned PatternsRows = 2 * Cfg.modules;
  localparam int unsigned Rows = 2 ** RowBits;
  localparam int unsigned WaitBits = $clog2(Patience + 1);

  if (2 ** ModuleRowBits != PatternsRows) begin : gen_bad_modules
    $fatal(1, "rmt_deparse_rows: modules is %0d, expected a power of two (%m)", Cfg.modules);
  end
  if (Cfg.bus_bytes != 64 && Cfg.bus_bytes != 32) begin : gen_bad_bus
    $fatal(1, "rmt_deparse_rows: bus_bytes is %0d, expected 32 or 64 (%m)", Cfg.bus_bytes);
  end
  if (Patience < 1) begin : gen_bad_patience
    $fatal(1, "rmt_deparse_rows: Patience is %0d, expected at least 1 (%m)", Patience);
  end

  logic is_patterns, is_deparse, access_q, write_now, read_now;
  cfg_status_e status_q;
  logic [3:0] words_q;
  logic [6:0] row_words;
  rmt_deparse_row_t written;

  assign is_patterns = cfg_req_i.tab == TableRmtPatterns;
  assign is_deparse  = cfg_req_i.tab == TableRmtDeparse;
  assign row_words   = is_patterns ? 7'(RmtPatternsRowWords) : 7'(RmtDeparseRowWords);
  assign write_now   = access_q && cfg_req_i.write && status_q == StatusOk;
  assign read_now    = access_q && !cfg_req_i.write && status_q == StatusOk;
  assign written     = cfg_row_i[32*(RmtPatternsRowWords-RmtDeparseRowWords)+:RmtDeparseRowBits];

  // The check has a cycle of its own.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) access_q <= 1'b0;
    else access_q <= cfg_valid_i && (is_patterns || is_deparse);
  end
  always_ff @(posedge clk_i) begin
    status_q <= rmt_cfg_status(
        cfg_req_i,
        1'b0,
        is_patterns ? |cfg_req_i.index[15:ModuleRowBits] : |(17'(cfg_req_i.index) >> RowBits),
        row_words
    );
    words_q <= rmt_slice_words(cfg_req_i, row_words);
  end

  // Which read waits, and the cycle in which its row is there.
  logic patterns_waits_q, patterns_slot, patterns_slot_q, row_waits_q, row_slot, row_slot_q;
  logic [WaitBits-1:0] waited_q;
  logic impatient;

  assign patterns_slot  = patterns_waits_q && !patterns_select_i && !patterns_stay_i;
  assign row_slot       = row_waits_q && !row_select_i && !row_stay_i;
  assign slot_request_o = patterns_waits_q || row_waits_q;
  assign impatient      = waited_q == WaitBits'(Patience);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      patterns_waits_q <= 1'b0;
      row_waits_q      <= 1'b0;
      patterns_slot_q  <= 1'b0;
      patterns_hold_o  <= 1'b0;
      row_hold_o       <= 1'b0;
      row_slot_q       <= 1'b0;
      waited_q         <= '0;
    end else begin
      if (read_now && is_patterns) patterns_waits_q <= 1'b1;
      else if (patterns_slot) patterns_waits_q <= 1'b0;
      if (read_now && is_deparse) row_waits_q <= 1'b1;
      else if (row_slot) row_waits_q <= 1'b0;
      patterns_slot_q <= patterns_slot;
      patterns_hold_o <= patterns_waits_q && !patterns_slot && impatient;
      row_hold_o      <= row_waits_q && !row_slot && impatient;
      row_slot_q      <= row_slot;
      if (!slot_request_o) waited_q <= '0;
      else if (!impatient) waited_q <= waited_q + 1'b1;
    end
  end

  sluice_ram_1r1w #(
      .Width   (RmtPatternsRowBits),
      .Depth   (PatternsRows),
      .InitZero(1'b0)
  ) u_patterns (
      .clk_i,
      .wr_en_i  ((write_now && is_patterns) || cfg_req_i.clear),
      .wr_addr_i(cfg_req_i.index[ModuleRowBits-1:0]),
      .wr_data_i(cfg_row_i[RmtPatternsRowBits-1:0]),
      .rd_en_i  ((patterns_select_i || patterns_waits_q) && !patterns_stay_i),
      .rd_addr_i(patterns_select_i ? patterns_index_i : cfg_req_i.index[ModuleRowBits-1:0]),
      .rd_data_o(patterns_o)
  );

  logic [RowBits-1:0] row_address;
  assign row_address = row_packet_i ? row_index_i : cfg_req_i.index[RowBits-1:0];

  sluice_ram_1r1w #(
      .Width   ($bits(deparse_head_t)),
      .Depth   (Rows),
      .InitZero(1'b0)
  ) u_head (
      .clk_i,
      .wr_en_i  ((write_now && is_deparse) || cfg_req_i.clear),
      .wr_addr_i(cfg_req_i.index[RowBits-1:0]),
      .wr_data_i({written.adjust, written.updates, written.least, written.split, written.half_delta, written.odd}),
      .rd_en_i  ((row_select_i || row_waits_q) && !row_stay_i),
      .rd_addr_i(row_address),
      .rd_data_o(head_o)
  );

  sluice_ram_1r1w #(
      .Width   ($bits(deparse_lanes_t)),
      .Depth   (Rows),
      .InitZero(1'b0)
  ) u_lanes (
      .clk_i,
      .wr_en_i  ((write_now && is_deparse) || cfg_req_i.clear),
      .wr_addr_i(cfg_req_i.index[RowBits-1:0]),
      .wr_data_i({written.lanes, written.rotate6, written.rotate4, written.rotate2}),
      .rd_en_i  (row_next_i || ((row_select_i || row_waits_q) && !row_stay_i)),
      .rd_addr_i(row_address),
      .rd_data_o(lanes_o)
  );

  // Answers. Each slice of each row has a register of its own, which is zero but for its answer: an OR is less than a
  // multiplexer.
  localparam int unsigned SliceBits = 32 * MessageDataWords;
  logic answer_q;
  logic [2:0][SliceBits-1:0] patterns_slice_q;
  logic [1:0][SliceBits-1:0] row_slice_q;
  rmt_deparse_row_t row;

  assign row = {head_o.delta[0], head_o.adjust, lanes_o, head_o.updates, head_o.least, head_o.split, head_o.delta[7:1]};

  for (genvar s = 0; s < 3; s++) begin : gen_patterns_slice
    always_ff @(posedge clk_i) begin
      if (!(patterns_slot_q && cfg_req_i.slice[1:0] == 2'(s))) patterns_slice_q[s] <= '0;
      else patterns_slice_q[s] <= SliceBits'(patterns_o >> (s * SliceBits));
    end
  end
  for (genvar s = 0; s < 2; s++) begin : gen_row_slice
    always_ff @(posedge clk_i) begin
      if (!(row_slot_q && cfg_req_i.slice[0] == 1'(s))) row_slice_q[s] <= '0;
      else row_slice_q[s] <= SliceBits'(row >> (s * SliceBits));
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) answer_q <= 1'b0;
    else answer_q <= (access_q && (status_q != StatusOk || cfg_req_i.write)) || patterns_slot_q || row_slot_q;
  end

  assign cfg_valid_o = answer_q;
  always_comb begin
    cfg_rsp_o = '0;
    if (answer_q) begin
      cfg_rsp_o.status = status_q;
      cfg_rsp_o.words  = words_q;
    end
    cfg_rsp_o.data = patterns_slice_q[0] | patterns_slice_q[1] | patterns_slice_q[2] | row_slice_q[0] | row_slice_q[1];
  end

`ifndef SYNTHESIS
  OnlyWhoStaysReadsOn_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !row_next_i || row_stay_i);
  HostReadsItsOwnIndex_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !(row_slot && row_packet_i));
`endif

endmodule
