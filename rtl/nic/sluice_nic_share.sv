/// Keeps each tenant's share of a port's FIFO: judges a frame at its end, before it is stored.
///
/// docs/decisions/isolation.md, "Share at ingress". The cost of a packet is the beats of the most bytes that its
/// module's programs can make of it: what it takes of the pipeline at most. Each module has a token bucket in cost
/// beats, the packet included in the burst (GCRA over the arrival). A good frame that conforms is stored if there is
/// room; one beyond its share only while the FIFO holds at most `excess` cost beats with it, else it is
/// dropped as `over_share`. A module whose row has ticks_per_beat 0 is never beyond its share.
///
/// `cost_o` and `beyond_o` are those of the frame that ends in `last_o`. `level` counts the cost of what is stored:
/// `stored_i` in the cycle after the frame's end, `taken_i` with its `taken_cost_i` when it leaves the FIFO.
///
/// Latency: 5 cycles, fixed, from `valid_i` to `valid_o`. Throughput: one beat a cycle. Never stalls.
/// Configuration: `share_we_i`, `excess_we_i` write in their cycle; a bucket is full behind its write. `share_en_i`
/// without `share_we_i` reads: `share_o` is the row from the next cycle on, while `share_index_i` holds. A reset
/// makes `excess` 0 and all buckets full, and leaves the rows, which the clearing behind it zeroes.
module sluice_nic_share
  import sluice_pkg::*;
  import sluice_nic_pkg::*;
#(
    parameter nic_cfg_t Cfg = NicCfgDefault,
    localparam int unsigned Bytes = Cfg.bus_bytes,
    localparam int unsigned ModuleIndexBits = $clog2(Cfg.modules)
) (
    input logic clk_i,
    input logic rst_ni,

    input logic [31:0] ticks_i,

    input  logic                      valid_i,
    input  logic       [ 8*Bytes-1:0] data_i,
    input  logic                      last_i,
    input  frame_end_t                end_i,
    output logic                      valid_o,
    output logic       [ 8*Bytes-1:0] data_o,
    output logic                      last_o,
    output frame_end_t                end_o,
    output logic       [CostBits-1:0] cost_o,
    output logic                      beyond_o,

    input logic                stored_i,
    input logic                taken_i,
    input logic [CostBits-1:0] taken_cost_i,

    input  logic                              share_en_i,
    input  logic                              share_we_i,
    input  logic        [ModuleIndexBits-1:0] share_index_i,
    input  share_row_t                        share_i,
    output share_row_t                        share_o,
    input  logic                              excess_we_i,
    input  excess_row_t                       excess_i,
    output excess_row_t                       excess_o
);

  localparam int unsigned Latency = 5;
  localparam int unsigned SlotBits = 3;
  localparam int unsigned OffsetBits = $clog2(Bytes);
  localparam int unsigned BucketLatency = Latency - 1;
  // Beats of the longest outgoing packet, which is the longest that the pipeline makes.
  localparam int unsigned MaxCost = (MaxFrameBytes + Bytes - 1) / Bytes;
  // The growth field's most, in beats, on each stored packet's beats.
  localparam int unsigned MaxGrowthBeats = (2 ** $bits(share_i.growth) - 1 + Bytes - 1) / Bytes;
  localparam int unsigned LevelBits = $clog2(Cfg.port_beats * (1 + MaxGrowthBeats) + 1);

  if (MaxCost >= 2 ** CostBits) begin : gen_bad_cost
    $fatal(1, "nic_share: the longest frame has %0d beats, expected below %0d (%m)", MaxCost, 2 ** CostBits);
  end
  if (Cfg.port_packets < Cfg.port_beats) begin : gen_bad_packets
    $fatal(
        1,
        "nic_share: port_packets is %0d, expected port_beats, %0d: shares are counted in beats alone (%m)",
        Cfg.port_packets,
        Cfg.port_beats
    );
  end

  // What a packet costs at most, a cycle after its end.
  logic [ModuleIndexBits-1:0] module_index;
  logic [$bits(share_i.growth)-1:0] growth;
  logic [1:0][$bits(share_i.growth)-1:0] growths;
  logic [14:0] longest, limited;
  logic [CostBits-1:0] cost, cost_q;
  logic ask_q;
  logic [ModuleIndexBits-1:0] ask_index_q;

  assign module_index = end_i.module_id[ModuleIndexBits-1:0];

  sluice_ram_lut #(
      .Width    ($bits(share_i.growth)),
      .Depth    (Cfg.modules),
      .ReadPorts(2),
      .InitZero (1'b0)
  ) u_growth (
      .clk_i,
      .we_i   (share_en_i && share_we_i),
      .waddr_i(share_index_i),
      .wdata_i(share_i.growth),
      .raddr_i({share_index_i, module_index}),
      .rdata_o(growths)
  );

  assign growth  = growths[0];
  assign longest = 15'(end_i.length) + 15'(growth);
  assign limited = (longest > 15'(MaxFrameBytes)) ? 15'(MaxFrameBytes) : longest;
  assign cost    = CostBits'((limited + 15'(Bytes - 1)) >> OffsetBits);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) ask_q <= 1'b0;
    else ask_q <= valid_i && last_i && !end_i.drop;
  end
  always_ff @(posedge clk_i) begin
    cost_q      <= cost;
    ask_index_q <= module_index;
  end

  // The bucket is asked for the cycle in which the frame's last beat is stored, its arrival.
  logic unused_answer, conform;
  sluice_token_bucket #(
      .Buckets      (Cfg.modules),
      .TimeWidth    (32),
      .LengthWidth  (CostBits),
      .CostIntWidth ($bits(share_i.ticks_per_beat) - CostFractionBits),
      .FracWidth    (CostFractionBits),
      .BurstWidth   ($bits(share_i.burst)),
      .PacketInBurst(1'b1)
  ) u_bucket (
      .clk_i,
      .rst_ni,
      .valid_i    (ask_q),
      .index_i    (ask_index_q),
      .now_i      (ticks_i + 32'(BucketLatency)),
      .length_i   (cost_q),
      .valid_o    (unused_answer),
      .conform_o  (conform),
      .cfg_en_i   (share_en_i),
      .cfg_we_i   (share_we_i),
      .cfg_index_i(share_index_i),
      .cfg_cost_i (share_i.ticks_per_beat),
      .cfg_burst_i(share_i.burst),
      .cfg_cost_o (share_o.ticks_per_beat),
      .cfg_burst_o(share_o.burst)
  );
  assign share_o.growth = growths[1];

  // Beats wait for the answer in a ring of slots, one a cycle.
  typedef struct packed {
    frame_end_t         frame_end;
    logic               last;
    logic [8*Bytes-1:0] data;
  } slot_t;

  slot_t slot_in, slot_out;
  frame_end_t judged;
  logic [SlotBits-1:0] slot_q;
  logic [Latency-1:0] valid_q;
  logic [BucketLatency-1:0][CostBits-1:0] costs_q;

  assign slot_in = '{frame_end: end_i, last: last_i, data: data_i};

  sluice_ram_lut #(
      .Width   ($bits(slot_t)),
      .Depth   (2 ** SlotBits),
      .InitZero(1'b0)
  ) u_slots (
      .clk_i,
      .we_i   (valid_i),
      .waddr_i(slot_q),
      .wdata_i(slot_in),
      .raddr_i(slot_q - SlotBits'(Latency)),
      .rdata_o(slot_out)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      slot_q  <= '0;
      valid_q <= '0;
    end else begin
      slot_q  <= slot_q + 1'b1;
      valid_q <= {valid_q[Latency-2:0], valid_i};
    end
  end
  always_ff @(posedge clk_i) costs_q <= {costs_q[BucketLatency-2:0], cost_q};

  // Cost of what is stored. The frame that ended in the cycle before is known now.
  excess_row_t excess_q;
  logic [LevelBits-1:0] level_q, level;
  logic [CostBits-1:0] ended_cost_q;
  logic beyond, refused;

  assign level   = level_q + (stored_i ? LevelBits'(ended_cost_q) : '0);
  assign beyond  = !slot_out.frame_end.drop && !conform;
  assign refused = beyond && 17'(level) + 17'(cost_o) > 17'(excess_q.beats);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      level_q  <= '0;
      excess_q <= '0;
    end else begin
      level_q <= level - (taken_i ? LevelBits'(taken_cost_i) : '0);
      if (excess_we_i) excess_q <= excess_i;
    end
  end
  always_ff @(posedge clk_i) ended_cost_q <= cost_o;

  always_comb begin
    judged = slot_out.frame_end;
    if (refused) begin
      judged.drop   = 1'b1;
      judged.reason = ReasonOverShare;
    end
  end

  assign valid_o  = valid_q[Latency-1];
  assign data_o   = slot_out.data;
  assign last_o   = slot_out.last;
  assign end_o    = judged;
  assign cost_o   = costs_q[BucketLatency-1];
  assign beyond_o = beyond;
  assign excess_o = excess_q;

`ifndef SYNTHESIS
  EmptyFifoHasNoCost_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !taken_i || level >= LevelBits'(taken_cost_i));
  ConformingFramesAreNotRefused_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !refused || beyond);
  BucketAnswersWithTheBeat_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni)
                   !(valid_o && last_o && !slot_out.frame_end.drop) || unused_answer);
`endif

endmodule
