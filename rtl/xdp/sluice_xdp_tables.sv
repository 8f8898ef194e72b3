/// Tables of the XDP engine: programs, interfaces, instruction memory with its pages, drops (docs/design/hxdp-core.md).
///
/// Each row that is looked up comes in the cycle behind its `*_valid_i` and stays until the next. `fetch_*` gives a row of the instruction
/// memory and its page's together. Each core has copies of its own of what it asks for: instructions, pages, interfaces. `event_*` is counted
/// in its cycle.
///
/// Configuration: answered 4 cycles after `cfg_valid_i`. Never stalls. A clear takes programs, interfaces and pages; a row of
/// instructions whose page has no owner decides nothing.
module sluice_xdp_tables
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_room_pkg::*;
#(
    parameter int unsigned Modules = 64,
    parameter int unsigned Rows = 8192,
    parameter int unsigned Cores = 2,
    parameter bit Outside = 1'b0,
    localparam int unsigned LookBits = $clog2(2 * Modules),
    localparam int unsigned RowIndexBits = $clog2(Rows),
    localparam int unsigned Pages = Rows / XdpPageRows,
    localparam int unsigned PageBits = $clog2(Pages),
    localparam int unsigned ModuleIndexBits = $clog2(Modules)
) (
    input logic clk_i,
    input logic rst_ni,

    input logic [31:0] epoch_i,

    // Whether there is a program and what its packets take, in the same cycle.
    input  logic       [LookBits-1:0] known_index_i,
    output xdp_known_t                known_o,

    input  logic                            program_valid_i,
    input  logic             [LookBits-1:0] program_index_i,
    output xdp_program_row_t                program_o,

    // Interfaces for a packet that comes, of which one port's is wanted, and for those that leave.
    input  logic                                             arrival_valid_i,
    input  logic                [LookBits-1:0]               arrival_index_i,
    output xdp_interfaces_row_t                              arrival_o,
    input  logic                [   Cores-1:0]               interfaces_valid_i,
    input  logic                [   Cores-1:0][LookBits-1:0] interfaces_index_i,
    output xdp_interfaces_row_t [   Cores-1:0]               interfaces_o,

    input  logic          [Cores-1:0]               fetch_valid_i,
    // "Bits of signal are not used": rows are numbered as for the largest memory.
    // verilator lint_off UNUSEDSIGNAL
    input  logic          [Cores-1:0][CodeBits-1:0] fetch_row_i,
    // verilator lint_on UNUSEDSIGNAL
    output xdp_code_row_t [Cores-1:0]               code_o,
    output xdp_page_row_t [Cores-1:0]               page_o,

    input logic                             event_valid_i,
    input logic       [ModuleIndexBits-1:0] event_module_i,
    input xdp_event_e                       event_kind_i,
    input logic       [                2:0] event_amount_i,

    input  logic     cfg_valid_i,
    input  cfg_req_t cfg_req_i,
    output logic     cfg_valid_o,
    output cfg_rsp_t cfg_rsp_o
);

  localparam int unsigned AnswerCycles = 4;

  if (Modules < 2 || 2 ** ModuleIndexBits != Modules || Modules > 2 ** ModuleBits) begin : gen_bad_modules
    $fatal(1, "xdp_tables: Modules is %0d, expected a power of two from 2 to %0d (%m)", Modules, 2 ** ModuleBits);
  end
  if (Rows < 2 * XdpPageRows || 2 ** RowIndexBits != Rows || RowIndexBits > CodeBits) begin : gen_bad_rows
    $fatal(
        1, "xdp_tables: Rows is %0d, expected a power of two from %0d to %0d (%m)", Rows, 2 * XdpPageRows, 2 ** CodeBits
    );
  end

  logic is_drops, is_program, is_interfaces, is_page, is_code, writes_row, clears, elsewhere;
  cfg_req_t row_req;
  cfg_status_e status;
  logic [AnswerCycles-1:0] answer_q;
  logic drops_valid;
  logic [CounterBits-1:0] drops, drops_q;
  xdp_program_row_t program_read;
  // "Bits of signal are not used": the host reads the first core's copies.
  // verilator lint_off UNUSEDSIGNAL
  xdp_interfaces_row_t [Cores-1:0] interfaces_read;
  xdp_page_row_t [Cores-1:0] page_read;
  xdp_code_row_t [Cores-1:0] code_read;
  // verilator lint_on UNUSEDSIGNAL
  xdp_interfaces_row_t unused_arrival_read;

  assign is_drops = cfg_req_i.tab == TableXdpDrops;
  assign is_program = cfg_req_i.tab == TableXdpProgram;
  assign is_interfaces = cfg_req_i.tab == TableXdpInterfaces;
  assign is_page = cfg_req_i.tab == TableXdpPage;
  assign is_code = cfg_req_i.tab == TableXdpCode;
  // Maps, values, accounts, events, queues and the warp engine answer for their own tables.
  assign elsewhere = cfg_req_i.tab inside {TableXdpRegion, TableXdpMap, TableXdpValue, TableXdpSearch, TableXdpHost,
                                           TableXdpHostData, TableXdpPasses, TableXdpEnds, TableXdpFault, TableXdpEvents,
                                           TableXdpEventsTaken, TableXdpEventData, TableXdpShare, TableXdpPool,
                                           TableXdpWarpKey, TableXdpWarpPredicates, TableXdpWarpChunk, TableXdpWarpLeaf,
                                           TableXdpWarpStep, TableXdpWarpHits} ||
      (Outside && cfg_req_i.tab == TableXdpOutside);
  assign row_req = is_drops ? cfg_counter(cfg_req_i) : cfg_req_i;
  assign clears = cfg_req_i.clear;
  assign writes_row = (cfg_req_i.write && status == StatusOk) || clears;

  always_comb begin
    case (cfg_req_i.tab)
      TableXdpDrops: status = cfg_check(row_req, 1'b1, 1'b0, 24'(8 * Modules), 4'd2);
      TableXdpProgram: status = cfg_check(row_req, 1'b1, 1'b1, 24'(2 * Modules), 4'(XdpProgramRowWords));
      TableXdpInterfaces: status = cfg_check(row_req, 1'b1, 1'b1, 24'(2 * Modules), 4'(XdpInterfacesRowWords));
      TableXdpPage: status = cfg_check(row_req, 1'b1, 1'b1, 24'(Pages), 4'(XdpPageRowWords));
      TableXdpCode: status = cfg_check(row_req, 1'b1, 1'b1, 24'(Rows), 4'(XdpCodeRowWords));
      default: status = StatusBadAddress;
    endcase
  end

  sluice_ram_dp #(
      .Width(XdpProgramRowBits),
      .Depth(2 * Modules)
  ) u_program (
      .clk_i,
      .a_en_i   ((cfg_valid_i && is_program) || clears),
      .a_we_i   (writes_row),
      .a_addr_i (cfg_req_i.index[LookBits-1:0]),
      .a_wdata_i(cfg_req_i.data[XdpProgramRowBits-1:0]),
      .a_rdata_o(program_read),
      .b_en_i   (program_valid_i),
      .b_addr_i (program_index_i),
      .b_rdata_o(program_o)
  );

  // Of each program's row what is asked for as a packet comes.
  // "Bits of signal are not used": these fields are.
  // verilator lint_off UNUSEDSIGNAL
  xdp_program_row_t program_written;
  // verilator lint_on UNUSEDSIGNAL
  assign program_written = cfg_req_i.data[XdpProgramRowBits-1:0];
  xdp_known_t known_written;
  assign known_written = '{
          valid: program_written.valid,
          growth: program_written.growth,
          grows: program_written.grows,
          front: 4'(program_written.frames) + 4'(program_written.records)
      };
  sluice_ram_lut #(
      .Width($bits(xdp_known_t)),
      .Depth(2 * Modules)
  ) u_known (
      .clk_i,
      .we_i   (((cfg_valid_i && is_program) || clears) && writes_row),
      .waddr_i(cfg_req_i.index[LookBits-1:0]),
      .wdata_i(known_written),
      .raddr_i(known_index_i),
      .rdata_o(known_o)
  );

  // Interfaces once more, for packets that come.
  sluice_ram_dp #(
      .Width(XdpInterfacesRowBits),
      .Depth(2 * Modules)
  ) u_arrivals (
      .clk_i,
      .a_en_i   ((cfg_valid_i && is_interfaces && cfg_req_i.write) || clears),
      .a_we_i   (writes_row),
      .a_addr_i (cfg_req_i.index[LookBits-1:0]),
      .a_wdata_i(cfg_req_i.data[XdpInterfacesRowBits-1:0]),
      .a_rdata_o(unused_arrival_read),
      .b_en_i   (arrival_valid_i),
      .b_addr_i (arrival_index_i),
      .b_rdata_o(arrival_o)
  );

  for (genvar c = 0; c < int'(Cores); c++) begin : gen_core
    sluice_ram_dp #(
        .Width(XdpInterfacesRowBits),
        .Depth(2 * Modules)
    ) u_interfaces (
        .clk_i,
        .a_en_i   ((cfg_valid_i && is_interfaces) || clears),
        .a_we_i   (writes_row),
        .a_addr_i (cfg_req_i.index[LookBits-1:0]),
        .a_wdata_i(cfg_req_i.data[XdpInterfacesRowBits-1:0]),
        .a_rdata_o(interfaces_read[c]),
        .b_en_i   (interfaces_valid_i[c]),
        .b_addr_i (interfaces_index_i[c]),
        .b_rdata_o(interfaces_o[c])
    );

    sluice_ram_dp #(
        .Width(XdpPageRowBits),
        .Depth(Pages)
    ) u_pages (
        .clk_i,
        .a_en_i   ((cfg_valid_i && is_page) || clears),
        .a_we_i   (writes_row),
        .a_addr_i (cfg_req_i.index[PageBits-1:0]),
        .a_wdata_i(cfg_req_i.data[XdpPageRowBits-1:0]),
        .a_rdata_o(page_read[c]),
        .b_en_i   (fetch_valid_i[c]),
        .b_addr_i (fetch_row_i[c][RowIndexBits-1:6]),
        .b_rdata_o(page_o[c])
    );

    sluice_ram_dp #(
        .Width   (XdpCodeRowBits),
        .Depth   (Rows),
        .InitZero(1'b0)
    ) u_code (
        .clk_i,
        .a_en_i   (cfg_valid_i && is_code),
        .a_we_i   (cfg_req_i.write && status == StatusOk),
        .a_addr_i (cfg_req_i.index[RowIndexBits-1:0]),
        .a_wdata_i(cfg_req_i.data[XdpCodeRowBits-1:0]),
        .a_rdata_o(code_read[c]),
        .b_en_i   (fetch_valid_i[c]),
        .b_addr_i (fetch_row_i[c][RowIndexBits-1:0]),
        .b_rdata_o(code_o[c])
    );
  end

  sluice_counter_bank #(
      .Entries (8 * Modules),
      .Width   (CounterBits),
      .IncWidth(3)
  ) u_drops (
      .clk_i,
      .rst_ni,
      .epoch_i,
      .inc_valid_i  (event_valid_i),
      .inc_index_i  ({event_module_i, event_kind_i}),
      .inc_amount_i (event_amount_i),
      .rd_valid_i   (cfg_valid_i && is_drops),
      .rd_snapshot_i(cfg_req_i.index[SnapshotIndexBit]),
      .rd_index_i   (cfg_req_i.index[ModuleIndexBits+2:0]),
      .rd_valid_o   (drops_valid),
      .rd_data_o    (drops)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) answer_q <= '0;
    else answer_q <= {answer_q[AnswerCycles-2:0], cfg_valid_i && !elsewhere};
    if (drops_valid) drops_q <= drops;
  end

  assign cfg_valid_o = answer_q[AnswerCycles-1];
  // Which table answers.
  logic drops_answer_q, program_answers_q, interfaces_answer_q, page_answers_q, code_answers_q, ready;
  assign ready = answer_q[AnswerCycles-2] && rst_ni;
  always_ff @(posedge clk_i) begin
    drops_answer_q      <= ready && !(is_program || is_interfaces || is_page || is_code);
    program_answers_q   <= ready && is_program;
    interfaces_answer_q <= ready && is_interfaces;
    page_answers_q      <= ready && is_page;
    code_answers_q      <= ready && is_code;
  end
  assign cfg_rsp_o = answer_if(
      drops_answer_q, '{status: status, words: 4'd2, data: 256'(drops_q)}
  ) | answer_if(
      program_answers_q, '{status: status, words: 4'(XdpProgramRowWords), data: 256'(program_read)}
  ) | answer_if(
      interfaces_answer_q, '{status: status, words: 4'(XdpInterfacesRowWords), data: 256'(interfaces_read[0])}
  ) | answer_if(
      page_answers_q, '{status: status, words: 4'(XdpPageRowWords), data: 256'(page_read[0])}
  ) | answer_if(
      code_answers_q, '{status: status, words: 4'(XdpCodeRowWords), data: 256'(code_read[0])}
  );

endmodule
