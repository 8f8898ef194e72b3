/// What modules have taken of the cores, and the last fault of each, for the host (docs/design/hxdp-core.md, "Accounts").
///
/// Each core has a pass a cycle at most (`pass_i`), and all cores together an end (`end_i`, of the kind of its fault). Each core has
/// counters of its own, so that two cores' passes of one module lose nothing; the host adds them.
///
/// Configuration: `xdp_passes`, `xdp_ends` and `xdp_fault`, which are only read, answered 2 cycles after `cfg_valid_i`. A clear takes the last
/// faults; counters stay.
///
/// Latency: 3 cycles. Throughput: a pass of each core and an end a cycle. Never stalls.
module sluice_xdp_accounts
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
#(
    parameter int unsigned Modules = 64,
    parameter int unsigned Cores = 2,
    localparam int unsigned ModuleIndexBits = $clog2(Modules)
) (
    input logic clk_i,
    input logic rst_ni,

    // "Bits of signal are not used": modules are numbered as for the largest target.
    // verilator lint_off UNUSEDSIGNAL
    input logic       [Cores-1:0] pass_valid_i,
    input xdp_spent_t [Cores-1:0] pass_i,

    input logic         end_valid_i,
    input xdp_spent_t   end_i,
    // verilator lint_on UNUSEDSIGNAL
    input xdp_outcome_t end_outcome_i,
    input logic         end_generation_i,

    input  logic     cfg_valid_i,
    // "Bits of signal are not used": tables that are only read take no data.
    // verilator lint_off UNUSEDSIGNAL
    input  cfg_req_t cfg_req_i,
    // verilator lint_on UNUSEDSIGNAL
    output logic     cfg_valid_o,
    output cfg_rsp_t cfg_rsp_o
);

  localparam int unsigned Kinds = 8;
  localparam int unsigned PairBits = ModuleIndexBits + 3;

  logic asked, asked_q, clear;
  cfg_status_e status;
  logic [PairBits-1:0] pair;
  logic [7:0] core_q;
  xdp_spent_row_t [Cores-1:0] passes;
  xdp_spent_row_t ends;
  xdp_fault_row_t fault, last, last_q;

  assign asked = cfg_valid_i && cfg_req_i.tab inside {TableXdpPasses, TableXdpEnds, TableXdpFault};
  assign clear = cfg_req_i.clear;
  assign pair  = cfg_req_i.index[PairBits-1:0];

  always_comb begin
    case (cfg_req_i.tab)
      TableXdpPasses: status = cfg_check(cfg_req_i, 1'b1, 1'b0, 24'(Cores * Modules * Kinds), 4'(XdpSpentRowWords));
      TableXdpEnds: status = cfg_check(cfg_req_i, 1'b1, 1'b0, 24'(Modules * Kinds), 4'(XdpSpentRowWords));
      default: status = cfg_check(cfg_req_i, 1'b1, 1'b0, 24'(Modules), 4'(XdpFaultRowWords));
    endcase
  end

  for (genvar c = 0; c < int'(Cores); c++) begin : gen_core
    sluice_xdp_spent #(
        .Entries(Modules * Kinds)
    ) u_passes (
        .clk_i,
        .rst_ni,
        .valid_i     (pass_valid_i[c]),
        .index_i     ({pass_i[c].module_id[ModuleIndexBits-1:0], pass_i[c].kind}),
        .cycles_i    (pass_i[c].cycles),
        .bundle_i    (pass_i[c].bundle),
        .read_valid_i(asked),
        .read_index_i(pair),
        .count_o     (passes[c].count),
        .cycles_o    (passes[c].cycles),
        .bundles_o   (passes[c].bundles)
    );
  end

  sluice_xdp_spent #(
      .Entries(Modules * Kinds)
  ) u_ends (
      .clk_i,
      .rst_ni,
      .valid_i     (end_valid_i),
      .index_i     ({end_i.module_id[ModuleIndexBits-1:0], end_i.kind}),
      .cycles_i    (end_i.cycles),
      .bundle_i    (end_i.bundle),
      .read_valid_i(asked),
      .read_index_i(pair),
      .count_o     (ends.count),
      .cycles_o    (ends.cycles),
      .bundles_o   (ends.bundles)
  );

  assign fault = '{
          kind: end_outcome_i.fault,
          generation: end_generation_i,
          row: end_outcome_i.row,
          lane: end_outcome_i.lane
      };
  sluice_ram_lut #(
      .Width(XdpFaultRowBits),
      .Depth(Modules)
  ) u_faults (
      .clk_i,
      .we_i   ((end_valid_i && end_outcome_i.fault != XdpFaultNone) || clear),
      .waddr_i(clear ? cfg_req_i.index[ModuleIndexBits-1:0] : end_i.module_id[ModuleIndexBits-1:0]),
      .wdata_i(clear ? '0 : fault),
      .raddr_i(cfg_req_i.index[ModuleIndexBits-1:0]),
      .rdata_o(last)
  );

  always_ff @(posedge clk_i) begin
    asked_q <= asked && rst_ni;
    cfg_valid_o <= asked_q && rst_ni;
    core_q <= 8'(cfg_req_i.index >> PairBits);
    if (asked) last_q <= last;
    cfg_rsp_o <= '{status: status, words: 4'(XdpSpentRowWords), data: 256'(ends)};
    for (int unsigned c = 0; c < Cores; c++) begin
      if (cfg_req_i.tab == TableXdpPasses && core_q == 8'(c)) cfg_rsp_o.data <= 256'(passes[c]);
    end
    if (cfg_req_i.tab == TableXdpFault) begin
      cfg_rsp_o.words <= 4'(XdpFaultRowWords);
      cfg_rsp_o.data  <= 256'(last_q);
    end
    if (!asked_q) cfg_rsp_o <= '0;
  end

endmodule
