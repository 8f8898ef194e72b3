/// sluice_warp behind ports that a bench can name: the beat's fields that it looks at, and the rest of it as it is.
module warp_bench
  import sluice_pkg::*;
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_streams_pkg::*;
  import sluice_warp_pkg::*;
#(
    parameter int unsigned Modules = 64,
    parameter int unsigned Rules = 64,
    parameter int unsigned Steps = 128,
    localparam int unsigned BeatBits = $bits(xdp_in_t)
) (
    input logic clk_i,
    input logic rst_ni,

    input logic                     write_valid_i,
    input logic [              2:0] write_table_i,
    input logic [WarpIndexBits-1:0] write_index_i,
    input logic [  WarpRowBits-1:0] write_row_i,

    input  logic                      in_valid_i,
    output logic                      in_ready_o,
    input  logic [      BeatBits-1:0] in_rest_i,
    input  logic [             511:0] in_data_i,
    input  logic                      in_last_i,
    input  logic [    ModuleBits-1:0] in_module_i,
    input  logic                      in_generation_i,
    input  logic [WarpLengthBits-1:0] in_length_i,
    input  logic [              31:0] in_ifindex_i,
    output logic [      BeatBits-1:0] in_beat_o,        // as sluice_warp gets it

    output logic                out_valid_o,
    input  logic                out_ready_i,
    output logic [BeatBits-1:0] out_beat_o,
    output logic                out_last_o,
    output logic [        31:0] out_ifindex_o,
    input  logic                out_plain_i,

    output logic [               1:0] leaf_kind_o,
    output logic [  WarpRuleBits-1:0] leaf_rule_o,
    output logic [               1:0] leaf_verdict_o,
    output logic [              12:0] leaf_start_o,
    output logic [               7:0] leaf_work_o,
    output logic                      leaf_has_steps_o,
    output logic                      leaf_looks_up_o,
    output logic [              15:0] leaf_map_o,
    output logic [               6:0] leaf_key_bytes_o,
    output logic [               1:0] leaf_counts_o,
    output logic [              81:0] leaf_counted_o,
    output logic [WarpLengthBits-1:0] leaf_length_o,

    output logic                        set_valid_o,
    input  logic                        set_ready_i,
    output logic [                 1:0] set_valids_o,
    output logic [2*WarpTargetBits-1:0] set_targets_o,
    output logic [               127:0] set_data_o,
    output logic                        set_first_o,
    output logic                        set_last_o,

    input  logic                          hits_read_valid_i,
    input  logic [     WarpIndexBits-1:0] hits_read_index_i,
    output logic                          hits_valid_o,
    output logic [XdpWarpHitsRowBits-1:0] hits_o
);

  xdp_in_t in, out;
  warp_leaf_t leaf;
  warp_set_t  set;

  always_comb begin
    in = in_rest_i;
    in.data = in_data_i;
    in.last = in_last_i;
    in.side.module_id = in_module_i;
    in.side.generation = in_generation_i;
  end
  assign in_beat_o  = in;
  assign out_beat_o = out;
  assign out_last_o = out.last;

  sluice_warp #(
      .Modules(Modules),
      .Rules  (Rules),
      .Steps  (Steps)
  ) u_warp (
      .clk_i,
      .rst_ni,
      .write_valid_i,
      .write_table_i(warp_table_e'(write_table_i)),
      .write_index_i,
      .write_row_i,
      .in_valid_i,
      .in_ready_o,
      .in_i         (in),
      .in_length_i,
      .in_ifindex_i,
      .out_valid_o,
      .out_ready_i,
      .out_o        (out),
      .leaf_o       (leaf),
      .out_ifindex_o,
      .out_plain_i,
      .set_valid_o,
      .set_ready_i,
      .set_o        (set),
      .hits_read_valid_i,
      .hits_read_index_i,
      .hits_valid_o,
      .hits_o
  );

  assign set_valids_o = set.valid;
  assign set_targets_o = set.target;
  assign set_data_o = set.data;
  assign set_first_o = set.first;
  assign set_last_o = set.last;

  assign leaf_kind_o = leaf.kind;
  assign leaf_rule_o = leaf.rule;
  assign leaf_verdict_o = leaf.verdict;
  assign leaf_start_o = leaf.start;
  assign leaf_work_o = leaf.work;
  assign leaf_has_steps_o = leaf.has_steps;
  assign leaf_looks_up_o = leaf.looks_up;
  assign leaf_map_o = leaf.map;
  assign leaf_key_bytes_o = leaf.key_bytes;
  assign leaf_counts_o = {leaf.counts[1].valid, leaf.counts[0].valid};
  assign leaf_counted_o = leaf.counts;
  assign leaf_length_o = leaf.length;

endmodule
