/// The first rule that a packet's key agrees with.
///
/// Each chunk of 5 bits of the key has a memory, whose word at {module, generation, chunk} says which rules agree with it. All words' AND are the
/// rules that match. Chunks that hold predicates are read last.
///
/// Latency, from the cycle of `index_i` (module and generation) and `lanes_i`: `holds_i` 3 cycles later, `match_o` and `rule_o` 6. Throughput: a packet a
/// cycle. Never stalls.
module sluice_warp_table
  import sluice_warp_pkg::*;
#(
    parameter int unsigned Modules = 64,
    parameter int unsigned Rules = 64,
    localparam int unsigned LookBits = $clog2(2 * Modules),
    localparam int unsigned RuleBits = $clog2(Rules)
) (
    input logic clk_i,

    input warp_write_t write_i,

    input logic        [      LookBits-1:0] index_i,
    input warp_lanes_t                      lanes_i,
    input logic        [WarpPredicates-1:0] holds_i,

    output logic                match_o,
    output logic [RuleBits-1:0] rule_o
);

  localparam int unsigned RowBits = LookBits + WarpChunkBits;
  localparam int unsigned LateBits = WarpChunkBits * (WarpChunks - WarpLaneChunks);

  // Module and generation and the lanes wait for the predicates; chunks of lanes are read a cycle earlier.
  localparam int unsigned Wait = 3;
  localparam int unsigned LastLaneBits = 8 * WarpLanes - WarpChunkBits * WarpLaneChunks;
  logic [Wait-1:0][LookBits-1:0] index_q;
  logic [Wait-2:0][8*WarpLanes-1:0] lanes_q;
  logic [LastLaneBits-1:0] last_lanes_q;
  logic [LateBits-1:0] late_chunks;
  always_ff @(posedge clk_i) begin
    index_q <= {index_q[Wait-2:0], index_i};
    lanes_q <= {lanes_q[Wait-3:0], lanes_i};
    last_lanes_q <= lanes_q[Wait-2][8*WarpLanes-1-:LastLaneBits];
  end
  assign late_chunks = {holds_i, last_lanes_q};

  logic [WarpChunks-1:0][Rules-1:0] word;
  for (genvar c = 0; c < int'(WarpChunks); c++) begin : gen_chunk
    logic [RowBits-1:0] row;
    logic writes;
    if (c < int'(WarpLaneChunks)) begin : gen_lanes
      assign row = {index_q[Wait-2], lanes_q[Wait-2][WarpChunkBits*c+:WarpChunkBits]};
    end else begin : gen_late
      assign row = {index_q[Wait-1], late_chunks[WarpChunkBits*(c-int'(WarpLaneChunks))+:WarpChunkBits]};
    end
    assign writes = write_i.valid && write_i.tab == WarpTableChunk && (write_i.index >> RowBits) == WarpIndexBits'(c);

    sluice_ram_banks #(
        .Width(Rules),
        .Depth(2 ** RowBits),
        .Lanes(1)
    ) u_words (
        .clk_i,
        .wr_en_i  (writes),
        .wr_addr_i(write_i.index[RowBits-1:0]),
        .wr_data_i(write_i.row[Rules-1:0]),
        .rd_en_i  (1'b1),
        .rd_addr_i(row),
        .rd_data_o(word[c])
    );
  end

  // Chunks of lanes in groups, so that each group's AND and that of all are one LUT.
  localparam int unsigned Groups = 4;
  logic [Groups-1:0][Rules-1:0] agree, agree_q;
  always_comb begin
    agree = '1;
    for (int unsigned c = 0; c < WarpLaneChunks; c++) agree[c%Groups] &= word[c];
  end
  always_ff @(posedge clk_i) agree_q <= agree;

  logic [Rules-1:0] rules_q, unused_onehot;
  logic match;
  logic [RuleBits-1:0] rule;
  always_ff @(posedge clk_i) begin
    rules_q <= agree_q[0] & agree_q[1] & agree_q[2] & agree_q[3] & word[WarpChunks-2] & word[WarpChunks-1];
    match_o <= match;
    rule_o  <= rule;
  end
  sluice_prio_enc #(
      .Width(Rules)
  ) u_first (
      .req_i   (rules_q),
      .valid_o (match),
      .index_o (rule),
      .onehot_o(unused_onehot)
  );

endmodule
