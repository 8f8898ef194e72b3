/// Lanes of packets' keys: bytes of the frame, of its interface and of its length, as the module's key row says.
///
/// `index_i` is module and generation, `length_i` the frame's: bytes behind its end are zero, and so is a lane whose number is no byte.
/// While `clearing_o`, 2 * `Modules` cycles behind a reset, all keys' rows become invalid; no packet may come, and a row that is written is lost.
///
/// Latency, from a packet's cycle 0: `ifindex_i` in cycle 1, `known_o` (its key's row is valid) in cycle 1, `lanes_o` in cycle 3. Throughput: a packet a
/// cycle. Never stalls.
module sluice_warp_gather
  import sluice_xdp_rows_pkg::*;
  import sluice_warp_pkg::*;
#(
    parameter  int unsigned Modules  = 64,
    localparam int unsigned LookBits = $clog2(2 * Modules)
) (
    input logic clk_i,
    input logic rst_ni,

    input  warp_write_t write_i,
    output logic        clearing_o,

    input logic        [      LookBits-1:0] index_i,
    input warp_bytes_t                      data_i,
    input logic        [WarpLengthBits-1:0] length_i,

    input  logic        [31:0] ifindex_i,
    output logic               known_o,
    output warp_lanes_t        lanes_o
);

  // Bytes among which one choice is made, and how many choices there are.
  localparam int unsigned GroupBytes = 16;
  localparam int unsigned FrameGroups = WarpFrameBytes / GroupBytes;
  localparam int unsigned Interface = FrameGroups;
  localparam int unsigned Length = FrameGroups + 1;
  localparam int unsigned Groups = FrameGroups + 2;
  localparam int unsigned LaneBits = 7;

  // The row that is cleared; beyond the last one none.
  logic [LookBits:0] clear_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) clear_q <= '0;
    else if (clearing_o) clear_q <= clear_q + (LookBits + 1)'(1);
  end
  assign clearing_o = !clear_q[LookBits];

  logic writes;
  assign writes = write_i.valid && write_i.tab == WarpTableKey && (write_i.index >> LookBits) == '0;

  xdp_warp_key_row_t key, key_written;
  always_comb begin
    key_written = write_i.row[XdpWarpKeyRowBits-1:0];
    key_written.valid &= !clearing_o;
  end
  sluice_ram_1r1w #(
      .Width(XdpWarpKeyRowBits),
      .Depth(2 * Modules)
  ) u_keys (
      .clk_i,
      .wr_en_i  (writes || clearing_o),
      .wr_addr_i(clearing_o ? clear_q[LookBits-1:0] : write_i.index[LookBits-1:0]),
      .wr_data_i(key_written),
      .rd_en_i  (1'b1),
      .rd_addr_i(index_i),
      .rd_data_o(key)
  );
  assign known_o = key.valid;

  warp_bytes_t frame_q;
  logic whole_q;  // all bytes are there
  logic [WarpLengthBits-1:0] length_q;
  always_ff @(posedge clk_i) begin
    frame_q  <= data_i;
    whole_q  <= length_i >= WarpLengthBits'(WarpFrameBytes);
    length_q <= length_i;
  end

  // Cycle 1: a byte of each group; of those that the lane is not in, and behind the frame's end, zero.
  logic [WarpLanes-1:0][Groups-1:0][7:0] choice, choice_q;
  logic [WarpLanes-1:0] behind;
  for (genvar l = 0; l < int'(WarpLanes); l++) begin : gen_lane
    for (genvar g = 0; g < int'(FrameGroups); g++) begin : gen_group
      sluice_mux #(
          .Inputs(GroupBytes),
          .Width (8)
      ) u_choice (
          .data_i (frame_q[g*GroupBytes+:GroupBytes]),
          .index_i(key.lanes[l][3:0]),
          .data_o (choice[l][g])
      );
    end
    assign behind[l] = !whole_q && key.lanes[l][5:0] >= length_q[5:0];
    assign choice[l][Interface] = ifindex_i[8*key.lanes[l][1:0]+:8];
    assign choice[l][Length] = key.lanes[l][0] ? 8'(length_q[WarpLengthBits-1:8]) : length_q[7:0];
  end
  always_ff @(posedge clk_i) begin
    for (int unsigned l = 0; l < WarpLanes; l++) begin
      for (int unsigned g = 0; g < FrameGroups; g++) begin
        if (key.lanes[l][LaneBits-1:4] != 3'(g) || behind[l]) choice_q[l][g] <= '0;
        else choice_q[l][g] <= choice[l][g];
      end
      if (key.lanes[l][LaneBits-1:2] != 5'(16)) choice_q[l][Interface] <= '0;
      else choice_q[l][Interface] <= choice[l][Interface];
      if (key.lanes[l][LaneBits-1:1] != 6'(36)) choice_q[l][Length] <= '0;
      else choice_q[l][Length] <= choice[l][Length];
    end
  end

  // Cycle 2.
  always_ff @(posedge clk_i) begin
    for (int unsigned l = 0; l < WarpLanes; l++) begin
      lanes_o[l] <= choice_q[l][0] | choice_q[l][1] | choice_q[l][2] | choice_q[l][3] | choice_q[l][Interface] | choice_q[l][Length];
    end
  end

`ifndef SYNTHESIS
  NoKeyIsWrittenWhileKeysAreCleared_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !writes || !clearing_o);
`endif

endmodule
