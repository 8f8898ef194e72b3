/// The Warp Engine: what a packet's first bytes decide, before a core sees it (docs/design/warp-engine.md).
///
/// hXDP (M. Spaziani Brunella), chapter 5. Beats leave as they came; `leaf_o` and `out_ifindex_o` stand beside all beats of their packet. `in_length_i` is
/// valid with a packet's first beat; `in_ifindex_i`, of its interface, in the cycle behind the one in which that is taken. Words of packets that resume
/// with steps come as `set_*`, behind the packet's first beat at out and in the order of packets.
///
/// `out_plain_i`, with a packet's first beat at out when that is taken: whoever takes it treats the packet as plain. Then no words come, and it is not counted.
/// It may depend on `leaf_o` and the beat. A packet whose leaf is not plain, and which is not taken as plain, is counted by its leaf; `hits_*` reads that, 3 cycles
/// later, with the packets of all earlier cycles. A write to a counter takes the place of these, and one of the same cycle is added to it. For each read and
/// write of a counter a packet that is to be counted may wait a cycle at out; reads and writes of the host have a cycle between them.
///
/// The host writes a row of a table in a cycle (`write_*`, rows of xdp_warp_*; of a chunk's memory at chunk * 32 * 2 * `Modules` + index). It is read from the
/// second cycle on. A write to a row that is not there does nothing; one to a key's row is lost while these are cleared.
///
/// Latency: 11 cycles from a first beat in to the first beat out. Throughput: a beat, two steps and a word a cycle. Stall behaviour: in_ready_o is low while `Beats`
/// beats wait, and for 2 * `Modules` cycles behind a reset, in which all tables become invalid. A packet with steps waits at out while 8 packets
/// wait for theirs, and a packet that is counted for a cycle behind each read or write of a counter.
module sluice_warp
  import sluice_pkg::*;
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_streams_pkg::*;
  import sluice_warp_pkg::*;
#(
    parameter int unsigned Modules = 64,
    parameter int unsigned Rules   = 64,   // of a module, in each generation; and so are steps
    parameter int unsigned Steps   = 128,
    // That wait for their packet's leaf. With fewer than the cycles that it takes the input stalls.
    parameter int unsigned Beats   = 16
) (
    input logic clk_i,
    input logic rst_ni,

    input logic                            write_valid_i,
    input warp_table_e                     write_table_i,
    input logic        [WarpIndexBits-1:0] write_index_i,
    input logic        [  WarpRowBits-1:0] write_row_i,

    input  logic                         in_valid_i,
    output logic                         in_ready_o,
    input  xdp_in_t                      in_i,
    input  logic    [WarpLengthBits-1:0] in_length_i,
    input  logic    [              31:0] in_ifindex_i,

    output logic              out_valid_o,
    input  logic              out_ready_i,
    output xdp_in_t           out_o,
    output warp_leaf_t        leaf_o,
    output logic       [31:0] out_ifindex_o,
    input  logic              out_plain_i,

    output logic      set_valid_o,
    input  logic      set_ready_i,
    output warp_set_t set_o,

    input  logic                          hits_read_valid_i,
    input  logic [     WarpIndexBits-1:0] hits_read_index_i,
    output logic                          hits_valid_o,
    output logic [XdpWarpHitsRowBits-1:0] hits_o
);

  localparam int unsigned LookBits = $clog2(2 * Modules);
  localparam int unsigned RuleBits = $clog2(Rules);

  if (2 ** LookBits != 2 * Modules || Modules < 2 || Modules > 2 ** ModuleBits) begin : gen_bad_modules
    $fatal(1, "warp: Modules is %0d, expected a power of two from 2 to %0d (%m)", Modules, 2 ** ModuleBits);
  end
  if (2 ** $clog2(Rules) != Rules || Rules < 2 || Rules > 2 ** WarpRuleBits) begin : gen_bad_rules
    $fatal(1, "warp: Rules is %0d, expected a power of two from 2 to %0d (%m)", Rules, 2 ** WarpRuleBits);
  end
  if (2 ** $clog2(Steps) != Steps || Steps < 2 || Steps > 2 ** WarpStepBits) begin : gen_bad_steps
    $fatal(1, "warp: Steps is %0d, expected a power of two from 2 to %0d (%m)", Steps, 2 ** WarpStepBits);
  end

  // A row goes to every memory: a cycle later.
  warp_write_t write_q;
  always_ff @(posedge clk_i) begin
    write_q <= '{valid: write_valid_i && rst_ni, tab: write_table_i, index: write_index_i, row: write_row_i};
  end

  // ---------------------------------------------------------------------------------------------------------------
  // Beats wait for the leaf of their packet.

  logic tables_ready, beats_ready, beat_valid, take_in, first_in_q, take_out, first_out_q;
  assign in_ready_o = tables_ready && beats_ready;
  assign take_in = in_valid_i && in_ready_o;
  assign take_out = out_valid_o && out_ready_i;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      first_in_q  <= 1'b1;
      first_out_q <= 1'b1;
    end else begin
      if (take_in) first_in_q <= in_i.last;
      if (take_out) first_out_q <= out_o.last;
    end
  end

  logic [$clog2(Beats+1)-1:0] unused_beats_level;
  sluice_fifo #(
      .Width($bits(xdp_in_t)),
      .Depth(Beats)
  ) u_beats (
      .clk_i,
      .rst_ni,
      .valid_i(in_valid_i && tables_ready),
      .ready_o(beats_ready),
      .data_i (in_i),
      .valid_o(beat_valid),
      .ready_i(take_out),
      .data_o (out_o),
      .level_o(unused_beats_level)
  );

  logic enter, enter_q, found_valid, leaf_valid, leave, unused_leaves_ready, unused_ifindexes_ready, ifindex_valid;
  warp_found_t found, leaf;
  assign enter = take_in && first_in_q;
  sluice_warp_match #(
      .Modules(Modules),
      .Rules  (Rules)
  ) u_match (
      .clk_i,
      .rst_ni,
      .write_i      (write_q),
      .ready_o      (tables_ready),
      .valid_i      (enter),
      .module_i     (in_i.side.module_id),
      .generation_i (in_i.side.generation),
      .data_i       (in_i.data),
      .length_i     (in_length_i),
      .ifindex_i    (in_ifindex_i),
      .found_valid_o(found_valid),
      .found_o      (found)
  );

  // Of packets whose last beat has not left each has a beat that waits, but one that is alone: leaves have room where beats do.
  logic [$clog2(Beats+1)-1:0] unused_leaves_level, unused_ifindexes_level;
  assign leave = take_out && out_o.last;
  sluice_fifo #(
      .Width($bits(warp_found_t)),
      .Depth(Beats)
  ) u_leaves (
      .clk_i,
      .rst_ni,
      .valid_i(found_valid),
      .ready_o(unused_leaves_ready),
      .data_i (found),
      .valid_o(leaf_valid),
      .ready_i(leave),
      .data_o (leaf),
      .level_o(unused_leaves_level)
  );
  assign leaf_o = leaf.leaf;

  always_ff @(posedge clk_i) enter_q <= enter && rst_ni;
  sluice_fifo #(
      .Width(32),
      .Depth(Beats)
  ) u_ifindexes (
      .clk_i,
      .rst_ni,
      .valid_i(enter_q),
      .ready_o(unused_ifindexes_ready),
      .data_i (in_ifindex_i),
      .valid_o(ifindex_valid),
      .ready_i(leave),
      .data_o (out_ifindex_o),
      .level_o(unused_ifindexes_level)
  );

  // ---------------------------------------------------------------------------------------------------------------
  // Out. What has steps is put beside, and leaves are counted.

  logic has_steps, put_ready, counts, hits_ready;
  logic [LookBits-1:0] out_index;
  assign has_steps = leaf.leaf.has_steps && first_out_q;
  assign counts = leaf.leaf.kind != XdpWarpPlain && first_out_q;
  assign out_valid_o = beat_valid && leaf_valid && (!has_steps || put_ready) && (!counts || hits_ready);
  assign out_index = {out_o.side.module_id[LookBits-2:0], out_o.side.generation};

  sluice_warp_steps #(
      .Modules(Modules),
      .Steps  (Steps)
  ) u_steps (
      .clk_i,
      .rst_ni,
      .write_i      (write_q),
      .put_valid_i  (take_out && has_steps && !out_plain_i),
      .put_ready_o  (put_ready),
      .put_index_i  (out_index),
      .put_step_i   (leaf.step),
      .put_steps_i  (leaf.steps),
      .put_frame_i  (out_o.data),
      .put_length_i (leaf.leaf.length),
      .put_ifindex_i(out_ifindex_o),
      .set_valid_o,
      .set_ready_i,
      .set_o
  );

  sluice_warp_hits #(
      .Modules(Modules),
      .Rules  (Rules)
  ) u_hits (
      .clk_i,
      .rst_ni,
      .write_i     (write_q),
      .valid_i     (take_out && counts && !out_plain_i),
      .ready_o     (hits_ready),
      .index_i     ({out_index, leaf.leaf.rule[RuleBits-1:0]}),
      .read_valid_i(hits_read_valid_i),
      .read_index_i(hits_read_index_i),
      .hits_valid_o,
      .hits_o
  );

`ifndef SYNTHESIS
  NoLeafIsLost_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !found_valid || unused_leaves_ready);
  APacketsInterfaceIsThereWithItsLeaf_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !leaf_valid || ifindex_valid);
  logic stalled_q;
  xdp_in_t held_q;
  warp_leaf_t held_leaf_q;
  logic [31:0] held_ifindex_q;
  always_ff @(posedge clk_i) begin
    stalled_q <= rst_ni && out_valid_o && !out_ready_i;
    held_q <= out_o;
    held_leaf_q <= leaf_o;
    held_ifindex_q <= out_ifindex_o;
    if (rst_ni && stalled_q) begin
      OutputHoldsUntilReady_A :
      assert (out_valid_o && out_o == held_q && leaf_o == held_leaf_q && out_ifindex_o == held_ifindex_q);
    end
  end
`endif

endmodule
