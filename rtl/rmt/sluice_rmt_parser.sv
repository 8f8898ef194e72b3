/// The parser: two selections over the window's bytes give a path, the path fills the PHV.
///
/// docs/design/rmt.md, "Parser". A packet comes as 1 to WindowBeats slots of the window in consecutive cycles; its PHV
/// leaves in order, `ctl_valid_o`, `ctl_o` one cycle before `phv_o`. Packets that are to be dropped leave too, with
/// the reason in `ctl_o`; their containers, headers and status are zero.
///
///   cycle 0  slot at the input: first row read        4  compare; path's row read
///         1  selector bytes taken from the slot       5  containers taken from the slot, verdict
///         2  compare; node's row read                 6  checksum; `ctl_o`
///         3  selector bytes taken from the slot       7  `phv_o`
///
/// The slots pass each row one a cycle: a packet of n slots is n - 1 cycles in cycles 1, 3 and 5. They are kept for it
/// until the row is there.
///
/// Latency: from a packet's last slot to `ctl_o` 6 + 2 (n - 1) cycles, and less than 2 (WindowBeats - n) more
/// where longer packets are right in front of it: 6 for one slot alone or among its like, never more than
/// 6 + 2 (WindowBeats - 1). Throughput: 1 slot a cycle. Never stalls.
/// Configuration: writes at any time; reads wait for a cycle in which no slot passes the table (`slot_request_o`).
module sluice_rmt_parser
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_rmt_pkg::*;
  import sluice_rmt_rows_pkg::*;
#(
    parameter rmt_cfg_t Cfg = RmtCfgDefault,
    parameter int unsigned RowWords = RmtSelectRowWords,
    localparam int unsigned Bytes = Cfg.bus_bytes
) (
    input logic clk_i,
    input logic rst_ni,

    input logic                    slot_valid_i,
    input logic                    slot_first_i,
    input logic                    slot_last_i,
    input logic      [8*Bytes-1:0] slot_data_i,
    input rmt_desc_t               desc_i,

    output logic     ctl_valid_o,
    output rmt_ctl_t ctl_o,
    output rmt_phv_t phv_o,

    output logic                           slot_request_o,
    input  logic                           cfg_valid_i,
    input  rmt_cfg_req_t                   cfg_req_i,
    // "Bits of signal are not used": the structure travels whole, this module takes the fields that concern it.
    // verilator lint_off UNUSEDSIGNAL
    input  logic         [32*RowWords-1:0] cfg_row_i,
    // verilator lint_on UNUSEDSIGNAL
    output logic                           cfg_valid_o,
    output cfg_rsp_t                       cfg_rsp_o
);

  localparam int unsigned WindowBeats = RmtWindowBytes / Bytes;
  localparam int unsigned BeatBits = $clog2(WindowBeats);
  localparam int unsigned ModuleIndexBits = $clog2(Cfg.modules);
  localparam int unsigned NodeBits = $clog2(RmtNodes);
  localparam int unsigned PathBits = $clog2(RmtPaths);
  // Slots and packets in flight: 5 cycles and two waits of WindowBeats - 1, and a packet's own slots.
  localparam int unsigned Slots = 16;

  if (Bytes != 64 && Bytes != 32) begin : gen_bad_bytes
    $fatal(1, "rmt_parser: bus_bytes is %0d, expected 32 or 64 (%m)", Bytes);
  end
  if (2 ** ModuleIndexBits != Cfg.modules || ModuleIndexBits > ModuleBits) begin : gen_bad_modules
    $fatal(1, "rmt_parser: modules is %0d, expected a power of two from 1 to 64 (%m)", Cfg.modules);
  end
  if (RowWords < RmtSelectRowWords) begin : gen_bad_row_words
    $fatal(1, "rmt_parser: RowWords is %0d, expected at least %0d (%m)", RowWords, RmtSelectRowWords);
  end

  // Rows of a module and generation.
  typedef logic [ModuleIndexBits:0] bank_t;

  // What is known of a packet after the first, and after the second selection.
  typedef struct packed {
    bank_t               bank;
    logic                has_program;
    logic                hit;
    logic [NodeBits-1:0] node;
    logic [7:0]          length;
  } at_node_t;
  typedef struct packed {
    bank_t               bank;
    logic                has_program;
    logic                hit;
    logic [PathBits-1:0] path;
  } at_path_t;

  // A path's row as it is kept: beside the span its bytes one by one, for there is no time to find them.
  typedef struct packed {
    logic [RmtWindowBytes-1:0] span;
    rmt_path_row_t             row;
  } kept_path_t;

  // Configuration.
  logic [2:0] write, read, free;
  rmt_select_row_t first_row, node_row, written_select;
  rmt_path_row_t path_row, written_path;
  kept_path_t kept_path, written_kept_path;

  assign written_select = cfg_row_i[32*RowWords-32*RmtSelectRowWords+:RmtSelectRowBits];
  assign written_path   = cfg_row_i[32*RowWords-32*RmtPathRowWords+:RmtPathRowBits];

  // The request's row stands two cycles before it is written.
  logic [7:0] span_end_q;
  always_ff @(posedge clk_i) begin
    span_end_q <= 8'(written_path.verify.start) + {1'b0, written_path.verify.words, 1'b0};
    written_kept_path.row <= written_path;
    // Ones from the start on, less those from the end on.
    written_kept_path.span <= ({RmtWindowBytes{1'b1}} << written_path.verify.start) &
        ~({RmtWindowBytes{1'b1}} << span_end_q);
  end
  assign path_row = kept_path.row;

  sluice_rmt_parser_config #(
      .Modules(Cfg.modules)
  ) u_config (
      .clk_i,
      .rst_ni,
      .cfg_valid_i,
      .cfg_req_i,
      .cfg_valid_o,
      .cfg_rsp_o,
      .slot_request_o,
      .write_o    (write),
      .read_o     (read),
      .free_i     (free),
      .first_row_i(first_row),
      .node_row_i (node_row),
      .path_row_i (path_row)
  );

  // 0: first row.
  bank_t bank0;
  assign bank0   = bank_t'({desc_i.ctl.module_id, desc_i.ctl.generation});
  assign free[0] = !slot_valid_i;

  sluice_ram_1r1w #(
      .Width   (RmtSelectRowBits),
      .Depth   (2 * Cfg.modules),
      .InitZero(1'b0)
  ) u_first (
      .clk_i,
      .wr_en_i  (write[0]),
      .wr_addr_i(cfg_req_i.index[ModuleIndexBits:0]),
      .wr_data_i(written_select),
      .rd_en_i  ((slot_valid_i && slot_first_i) || read[0]),
      .rd_addr_i(slot_valid_i ? bank0 : cfg_req_i.index[ModuleIndexBits:0]),
      .rd_data_o(first_row)
  );

  // 1: selector bytes of the first row.
  logic valid1_q, first1_q, last1_q;
  logic [BeatBits-1:0] beat1_q;
  logic [ 8*Bytes-1:0] data1_q;
  bank_t bank1_q, bank2_q;
  logic [7:0] length1_q, length2_q;  // 255 stands for more, too

  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid1_q <= 1'b0;
    else valid1_q <= slot_valid_i;
  end
  always_ff @(posedge clk_i) begin
    first1_q  <= slot_first_i;
    last1_q   <= slot_last_i;
    beat1_q   <= slot_first_i ? '0 : beat1_q + 1'b1;
    data1_q   <= slot_data_i;
    bank1_q   <= bank0;
    bank2_q   <= bank1_q;
    length1_q <= (desc_i.length[13:8] != '0) ? 8'd255 : desc_i.length[7:0];
    length2_q <= length1_q;
  end

  // 2: compare.
  logic valid2, hit2, program2;
  // "Bits of signal are not used": the word has the width of what it is computed from; some of it decides nothing.
  // verilator lint_off UNUSEDSIGNAL
  logic [3:0] to2, address2;
  // verilator lint_on UNUSEDSIGNAL
  logic early2;
  // "Bits of signal are not used": the structure travels whole, this module takes the fields that concern it.
  // verilator lint_off UNUSEDSIGNAL
  at_node_t at_node, early_node, started_node, started_node_q;
  // verilator lint_on UNUSEDSIGNAL

  sluice_rmt_select #(
      .Bytes(Bytes)
  ) u_select_first (
      .clk_i,
      .rst_ni,
      .valid_i   (valid1_q),
      .first_i   (first1_q),
      .last_i    (last1_q),
      .beat_i    (beat1_q),
      .data_i    (data1_q),
      .row_i     (first_row),
      .length_i  (length1_q),
      .valid_o   (valid2),
      .program_o (program2),
      .hit_o     (hit2),
      .to_o      (to2),
      .other_i   (early2),
      .other_to_i(4'(early_node.node)),
      .address_o (address2)
  );
  assign at_node = '{bank: bank2_q, has_program: program2, hit: hit2, node: to2[NodeBits-1:0], length: length2_q};

  at_node_t other_node;
  assign other_node = '{
          bank: cfg_req_i.index[NodeBits+:ModuleIndexBits+1],
          node: cfg_req_i.index[NodeBits-1:0],
          default: '0
      };

  // 2 and later: node's row, when the slots can pass it.
  logic start_node, valid3, first3, last3;
  logic [BeatBits-1:0] beat3;
  logic [ 8*Bytes-1:0] data3;

  sluice_rmt_slot_walk #(
      .Bytes      (Bytes),
      .ResultWidth($bits(at_node_t)),
      .Slots      (Slots)
  ) u_walk_node (
      .clk_i,
      .rst_ni,
      .slot_valid_i,
      .slot_last_i,
      .slot_data_i,
      .result_valid_i(valid2),
      .result_i      (at_node),
      .idle_result_i (other_node),
      .early_o       (early2),
      .early_result_o(early_node),
      .start_o       (start_node),
      .result_o      (started_node),
      .idle_o        (free[1]),
      .valid_o       (valid3),
      .first_o       (first3),
      .last_o        (last3),
      .beat_o        (beat3),
      .data_o        (data3)
  );

  sluice_ram_1r1w #(
      .Width   (RmtSelectRowBits),
      .Depth   (2 * Cfg.modules * RmtNodes),
      .InitZero(1'b0)
  ) u_node (
      .clk_i,
      .wr_en_i  (write[1]),
      .wr_addr_i(cfg_req_i.index[NodeBits+ModuleIndexBits:0]),
      .wr_data_i(written_select),
      .rd_en_i  (start_node || read[1]),
      .rd_addr_i({started_node.bank, address2[NodeBits-1:0]}),
      .rd_data_o(node_row)
  );

  always_ff @(posedge clk_i) begin
    if (start_node) started_node_q <= started_node;
  end

  // 4: compare.
  logic valid4, hit4, unused_program4;
  logic [3:0] to4, address4;
  logic early4;
  // "Bits of signal are not used": the structure travels whole, this module takes the fields that concern it.
  // verilator lint_off UNUSEDSIGNAL
  at_node_t at_node4_q;
  at_path_t at_path, early_path, started_path, started_path_q;
  // verilator lint_on UNUSEDSIGNAL

  sluice_rmt_select #(
      .Bytes(Bytes)
  ) u_select_node (
      .clk_i,
      .rst_ni,
      .valid_i   (valid3),
      .first_i   (first3),
      .last_i    (last3),
      .beat_i    (beat3),
      .data_i    (data3),
      .row_i     (node_row),
      .length_i  (started_node_q.length),
      .valid_o   (valid4),
      .program_o (unused_program4),
      .hit_o     (hit4),
      .to_o      (to4),
      .other_i   (early4),
      .other_to_i(early_path.path),
      .address_o (address4)
  );
  always_ff @(posedge clk_i) at_node4_q <= started_node_q;
  assign at_path = '{
          bank: at_node4_q.bank,
          has_program: at_node4_q.has_program,
          hit: at_node4_q.hit && hit4,
          path: to4
      };

  at_path_t other_path;
  assign other_path = '{
          bank: cfg_req_i.index[PathBits+:ModuleIndexBits+1],
          path: cfg_req_i.index[PathBits-1:0],
          default: '0
      };

  // 4 and later: path's row.
  logic start_path, valid5, first5, last5;
  logic [BeatBits-1:0] beat5;
  logic [ 8*Bytes-1:0] data5;

  sluice_rmt_slot_walk #(
      .Bytes      (Bytes),
      .ResultWidth($bits(at_path_t)),
      .Slots      (Slots)
  ) u_walk_path (
      .clk_i,
      .rst_ni,
      .slot_valid_i,
      .slot_last_i,
      .slot_data_i,
      .result_valid_i(valid4),
      .result_i      (at_path),
      .idle_result_i (other_path),
      .early_o       (early4),
      .early_result_o(early_path),
      .start_o       (start_path),
      .result_o      (started_path),
      .idle_o        (free[2]),
      .valid_o       (valid5),
      .first_o       (first5),
      .last_o        (last5),
      .beat_o        (beat5),
      .data_o        (data5)
  );

  sluice_ram_1r1w #(
      .Width   ($bits(kept_path_t)),
      .Depth   (2 * Cfg.modules * RmtPaths),
      .InitZero(1'b0)
  ) u_path (
      .clk_i,
      .wr_en_i  (write[2]),
      .wr_addr_i(cfg_req_i.index[PathBits+ModuleIndexBits:0]),
      .wr_data_i(written_kept_path),
      .rd_en_i  (start_path || read[2]),
      .rd_addr_i({started_path.bank, address4}),
      .rd_data_o(kept_path)
  );

  // Descriptors, kept until their packet's path is there.
  logic [$clog2(Slots)-1:0] desc_write_q, desc_read_q;
  // "Bits of signal are not used": the structure travels whole, this module takes the fields that concern it.
  // verilator lint_off UNUSEDSIGNAL
  rmt_desc_t desc, desc5_q, desc6_q;
  // verilator lint_on UNUSEDSIGNAL

  sluice_ram_lut #(
      .Width($bits(rmt_desc_t)),
      .Depth(Slots)
  ) u_desc (
      .clk_i,
      .we_i   (slot_valid_i && slot_last_i),
      .waddr_i(desc_write_q),
      .wdata_i(desc_i),
      .raddr_i(desc_read_q),
      .rdata_o(desc)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      desc_write_q <= '0;
      desc_read_q  <= '0;
    end else begin
      if (slot_valid_i && slot_last_i) desc_write_q <= desc_write_q + 1'b1;
      if (start_path) desc_read_q <= desc_read_q + 1'b1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (start_path) begin
      started_path_q <= started_path;
      started_path_q.path <= address4;
      desc5_q <= desc;
    end
  end

  // 5: containers, checksum, verdict.
  rmt_containers_t containers;
  for (genvar n = 0; n < 8; n++) begin : gen_container
    sluice_rmt_extract #(
        .Bytes(Bytes),
        .Size (2)
    ) u_c2 (
        .clk_i,
        .first_i  (first5),
        .beat_i   (beat5),
        .data_i   (data5),
        .extract_i(path_row.extract[n]),
        .value_o  (containers.c2[n])
    );
    sluice_rmt_extract #(
        .Bytes(Bytes),
        .Size (4)
    ) u_c4 (
        .clk_i,
        .first_i  (first5),
        .beat_i   (beat5),
        .data_i   (data5),
        .extract_i(path_row.extract[8+n]),
        .value_o  (containers.c4[n])
    );
    sluice_rmt_extract #(
        .Bytes(Bytes),
        .Size (6)
    ) u_c6 (
        .clk_i,
        .first_i  (first5),
        .beat_i   (beat5),
        .data_i   (data5),
        .extract_i(path_row.extract[16+n]),
        .value_o  (containers.c6[n])
    );
  end

  logic wrong;
  logic [WindowBeats-1:0][Bytes-1:0] span5;
  (* keep *) logic [Bytes-1:0] mask5;
  assign span5 = kept_path.span;
  assign mask5 = span5[beat5];
  sluice_rmt_checksum_verify #(
      .Bytes(Bytes)
  ) u_checksum (
      .clk_i,
      .rst_ni,
      .valid_i(valid5),
      .last_i (last5),
      .data_i (data5),
      .mask_i (mask5),
      .wrong_o(wrong)
  );

  logic dropped, short;
  rmt_event_e reason;
  rmt_ctl_t   ctl_q;
  assign short = desc5_q.length < 14'(path_row.least);
  always_comb begin
    dropped = 1'b1;
    if (desc5_q.ctl.dropped) reason = desc5_q.ctl.reason;
    else if (!started_path_q.has_program) reason = RmtEventNoModule;
    else if (!started_path_q.hit) reason = RmtEventParseReject;
    else begin
      reason  = RmtEventParseShort;
      dropped = short;
    end
  end

  logic [15:0] headers_q, constant_q;
  logic [7:0][1:0] known_q;
  logic port_numbers_q;
  logic [PathBits-1:0] path_q;
  logic verify_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) ctl_valid_o <= 1'b0;
    else ctl_valid_o <= valid5 && last5;
  end
  always_ff @(posedge clk_i) begin
    ctl_q          <= desc5_q.ctl;
    ctl_q.dropped  <= dropped;
    ctl_q.reason   <= dropped ? reason : desc5_q.ctl.reason;
    desc6_q        <= desc5_q;
    headers_q      <= path_row.headers;
    path_q         <= started_path_q.path;
    verify_q       <= path_row.verify.valid;
    constant_q     <= path_row.constant;
    port_numbers_q <= path_row.port_numbers;
    for (int unsigned n = 0; n < 8; n++) begin
      known_q[n] <= path_row.extract[n].taken ? RmtKnownZero : path_row.extract[n].offset[1:0];
    end
  end
  assign ctl_o = ctl_q;

  // 6: checksum, and what is known without the packet's bytes: containers that are not taken are zero.
  logic [7:0][15:0] known;
  always_comb begin
    for (int unsigned n = 0; n < 8; n++) begin
      unique case (known_q[n])
        RmtKnownConstant: known[n] = constant_q;
        RmtKnownPort: known[n] = 16'(desc6_q.port);
        RmtKnownLength: known[n] = 16'(desc6_q.length);
        default: known[n] = '0;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    phv_o.words <= '0;
    phv_o.words[WordIngressPort] <= 16'(desc6_q.port);
    phv_o.words[WordLength] <= 16'(desc6_q.length);
    phv_o.words[WordArrival+:3] <= desc6_q.arrival;
    phv_o.words[WordQueueing+:2] <= desc6_q.queueing[31:0];
    phv_o.queueing_high <= desc6_q.queueing[47:32];
    phv_o.words[WordTenant] <= 16'(desc6_q.tenant);
    if (ctl_q.dropped) begin
      phv_o.c <= '0;
    end else begin
      phv_o.words[WordStatus] <= {7'd0, port_numbers_q, path_q, 3'd0, verify_q && wrong};
      phv_o.words[WordHeaders] <= headers_q;
      phv_o.c    <= containers;
      phv_o.c.c2 <= containers.c2 | known;
    end
  end

endmodule
