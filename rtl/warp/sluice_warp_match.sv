/// A packet's leaf, from its first beat.
///
/// In cycle 0 `valid_i` says that a packet's first beat is taken; `ifindex_i`, of its interface, comes in cycle 1. `ready_o` is low for 2 * `Modules` cycles behind
/// a reset: all tables become invalid, and no packet may come.
///
/// Latency: `found_valid_o` in cycle 10. Throughput: a packet a cycle. Never stalls.
module sluice_warp_match
  import sluice_pkg::*;
  import sluice_xdp_rows_pkg::*;
  import sluice_warp_pkg::*;
#(
    parameter int unsigned Modules = 64,
    parameter int unsigned Rules = 64,
    localparam int unsigned LookBits = $clog2(2 * Modules),
    localparam int unsigned RuleBits = $clog2(Rules)
) (
    input logic clk_i,
    input logic rst_ni,

    input warp_write_t write_i,

    output logic                             ready_o,
    input  logic                             valid_i,
    input  logic        [    ModuleBits-1:0] module_i,
    input  logic                             generation_i,
    input  warp_bytes_t                      data_i,
    input  logic        [WarpLengthBits-1:0] length_i,
    input  logic        [              31:0] ifindex_i,

    output logic        found_valid_o,
    output warp_found_t found_o
);

  // Cycles in which parts begin or end.
  localparam int unsigned Predicates = 2;
  localparam int unsigned Lanes = 3;
  localparam int unsigned Limit = 4;
  localparam int unsigned Leaf = 9;
  localparam int unsigned Found = 10;

  // Of the packet that is in a cycle, from cycle 1 on.
  logic [LookBits-1:0] index;
  logic [Found:1] valid_q, here_q;
  logic [Found:1][LookBits-1:0] index_q;
  logic [Found:1][WarpLengthBits-1:0] length_q;
  assign index = {module_i[LookBits-2:0], generation_i};
  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_q <= '0;
    else valid_q <= {valid_q[Found-1:1], valid_i};
    here_q   <= {here_q[Found-1:1], 32'(module_i) < Modules};
    index_q  <= {index_q[Found-1:1], index};
    length_q <= {length_q[Found-1:1], length_i};
  end

  logic clearing, known, match, match_q;
  logic [Found:2] known_q;
  warp_lanes_t lanes;
  logic [WarpPredicates-1:0] holds;
  logic [RuleBits-1:0] rule, rule_q;
  assign ready_o = !clearing;

  sluice_warp_gather #(
      .Modules(Modules)
  ) u_gather (
      .clk_i,
      .rst_ni,
      .write_i,
      .clearing_o(clearing),
      .index_i   (index),
      .data_i,
      .length_i,
      .ifindex_i,
      .known_o   (known),
      .lanes_o   (lanes)
  );

  sluice_warp_predicates #(
      .Modules(Modules)
  ) u_predicates (
      .clk_i,
      .write_i,
      .index_i (index_q[Predicates]),
      .lanes_i (lanes),
      .length_i(length_q[Limit]),
      .holds_o (holds)
  );

  sluice_warp_table #(
      .Modules(Modules),
      .Rules  (Rules)
  ) u_table (
      .clk_i,
      .write_i,
      .index_i(index_q[Lanes]),
      .lanes_i(lanes),
      .holds_i(holds),
      .match_o(match),
      .rule_o (rule)
  );

  always_ff @(posedge clk_i) begin
    known_q <= {known_q[Found-1:2], known};
    match_q <= match;
    rule_q  <= rule;
  end

  // ---------------------------------------------------------------------------------------------------------------
  // Its row.

  logic writes;
  logic [WarpIndexBits-WarpRuleBits-1:0] write_index;
  assign write_index = write_i.index[WarpIndexBits-1:WarpRuleBits];
  if (RuleBits < WarpRuleBits) begin : gen_few
    assign writes = write_i.valid && write_i.tab == WarpTableLeaf && (write_index >> LookBits) == '0 &&
        write_i.index[WarpRuleBits-1:RuleBits] == '0;
  end else begin : gen_all
    assign writes = write_i.valid && write_i.tab == WarpTableLeaf && (write_index >> LookBits) == '0;
  end

  xdp_warp_leaf_row_t row;
  sluice_ram_banks #(
      .Width(XdpWarpLeafRowBits),
      .Depth(2 * Modules * Rules),
      .Lanes(1)
  ) u_rows (
      .clk_i,
      .wr_en_i  (writes),
      .wr_addr_i({write_index[LookBits-1:0], write_i.index[RuleBits-1:0]}),
      .wr_data_i(write_i.row[XdpWarpLeafRowBits-1:0]),
      .rd_en_i  (1'b1),
      .rd_addr_i({index_q[Leaf], rule}),
      .rd_data_o(row)
  );

  logic decides, verdict, resumes;
  assign decides = here_q[Found] && known_q[Found] && match_q;
  assign verdict = decides && row.kind == XdpWarpVerdict;
  assign resumes = decides && row.kind == XdpWarpResume;

  assign found_valid_o = valid_q[Found];
  always_comb begin
    found_o.step = row.step;
    found_o.steps = row.steps;
    found_o.leaf = '{
        kind: verdict ? XdpWarpVerdict : resumes ? XdpWarpResume : XdpWarpPlain,
        rule: WarpRuleBits'(rule_q),
        verdict: row.verdict,
        start: row.start,
        work: row.work,
        has_steps: resumes && row.steps != '0,
        looks_up: resumes && row.looks_up,
        map: row.map,
        key_bytes: row.key_bytes,
        counts: row.counts,
        length: length_q[Found]
    };
    // Of a resume the first one says where the lookup finds nothing.
    found_o.leaf.counts[0].valid = (verdict || resumes) && row.counts[0].valid;
    found_o.leaf.counts[1].valid = verdict && row.counts[1].valid;
  end

`ifndef SYNTHESIS
  NoPacketComesWhileTablesAreCleared_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !valid_i || ready_o);
`endif

endmodule
