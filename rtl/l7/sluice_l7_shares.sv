/// Room of the staging buffer: packets and beats, of which modules have some for themselves (table `l7_share`, which has weights too).
///
/// A packet reserves its room before it is sent here. The one that `ask_i` names fits when its module has both left of its own, or when
/// both are left of what nobody has reserved: so a module with a share waits for no other one. `take_i` takes the room: of the module's own,
/// or of what all share. Where `plenty` says that all share room for two packets of any length, a packet whose length is not known yet takes that of the longest,
/// and what it does not need comes back in the next cycle. `back_*` gives a packet's room back: those that leave the buffer, and those that never came into it.
/// The host reserves no more than there is, and leaves two packets' room to all.
///
/// Configuration: answered a cycle after `cfg_valid_i`. A clear empties a module's counts; no packet is there then.
/// Latency: 0 cycles from `ask_i` to `fits` and `own`; room that has come back is there after 2 cycles, and told (`freed_*`) with that.
/// Throughput: a packet a cycle in, and two back. Never stalls.
module sluice_l7_shares
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_l7_rows_pkg::*;
#(
    parameter int unsigned Modules = 64,
    parameter int unsigned Packets = 256,
    parameter int unsigned Beats = 1024,
    parameter int unsigned MostBeats = 144,
    localparam int unsigned IndexBits = $clog2(Modules),
    localparam int unsigned PacketBits = $clog2(Packets + 1),
    localparam int unsigned BeatBits = $clog2(Beats + 1)
) (
    input logic clk_i,
    input logic rst_ni,

    // "Bits of signal are not used": modules are numbered as for the largest target.
    // verilator lint_off UNUSEDSIGNAL
    input  room_ask_t  ask_i,
    // verilator lint_on UNUSEDSIGNAL
    input  room_take_t take_i,
    output room_t      room_o,

    input logic        [1:0]                back_valid_i,
    input logic        [1:0][IndexBits-1:0] back_module_i,
    input beat_count_t [1:0]                back_beats_i,
    input logic        [1:0]                back_own_i,

    output logic empty_o,

    // Of the scheduler in front, answered in the same cycle.
    input  logic [IndexBits-1:0] weight_index_i,
    output logic [         15:0] weight_o,

    input  logic     cfg_valid_i,
    // "Bits of signal are not used": a row has some of a message's.
    // verilator lint_off UNUSEDSIGNAL
    input  cfg_req_t cfg_req_i,
    // verilator lint_on UNUSEDSIGNAL
    output logic     cfg_valid_o,
    output cfg_rsp_t cfg_rsp_o
);

  typedef struct packed {
    logic [PacketBits-1:0] packets;
    logic [BeatBits-1:0]   beats;
  } count_t;
  // With a bit more, which is the sign of what is left.
  typedef struct packed {
    logic [PacketBits:0] packets;
    logic [BeatBits:0]   beats;
  } own_t;

  // Packets of any length: one that is taken in this cycle, and the next.
  localparam int unsigned PlentyPackets = L7SharedPackets;
  localparam int unsigned PlentyBeats = PlentyPackets * MostBeats;

  if (Packets < PlentyPackets || Beats < PlentyBeats || BeatBits > 16) begin : gen_bad_room
    $fatal(
        1,
        "l7_shares: Packets, Beats are %0d, %0d, expected at least %0d and %0d, at most 65535 (%m)",
        Packets,
        Beats,
        PlentyPackets,
        PlentyBeats
    );
  end

  logic clear, write;
  logic [IndexBits-1:0] index, module_in;
  cfg_status_e status;
  // "Bits of signal are not used": the weight is not for what is done here, and the rest not for the scheduler.
  // verilator lint_off UNUSEDSIGNAL
  l7_share_row_t row_in, row_read, weight_row;
  // verilator lint_on UNUSEDSIGNAL

  assign clear = cfg_req_i.clear;
  assign index = cfg_req_i.index[IndexBits-1:0];
  assign module_in = ask_i.module_id[IndexBits-1:0];
  assign status = cfg_check(cfg_req_i, 1'b1, 1'b1, 24'(Modules), 4'(L7ShareRowWords));
  assign write = cfg_valid_i && cfg_req_i.write && status == StatusOk;
  assign row_in = clear ? '0 : cfg_req_i.data[L7ShareRowBits-1:0];

  sluice_ram_lut #(
      .Width    (L7ShareRowBits),
      .Depth    (Modules),
      .ReadPorts(2)
  ) u_rows (
      .clk_i,
      .we_i   (write || clear),
      .waddr_i(index),
      .wdata_i(row_in),
      .raddr_i({weight_index_i, index}),
      .rdata_o({weight_row, row_read})
  );

  // What a module has of its own, as far as there is so much.
  own_t limit_in, limit;
  assign limit_in = '{
          packets: (32'(row_in.packets) > Packets) ? (PacketBits + 1)'(Packets) : (PacketBits + 1)'(row_in.packets),
          beats: (32'(row_in.beats) > Beats) ? (BeatBits + 1)'(Beats) : (BeatBits + 1)'(row_in.beats)
      };
  sluice_ram_lut #(
      .Width($bits(own_t)),
      .Depth(Modules)
  ) u_limits (
      .clk_i,
      .we_i   (write || clear),
      .waddr_i(index),
      .wdata_i(limit_in),
      .raddr_i(module_in),
      .rdata_o(limit)
  );

  assign weight_o = weight_row.weight;

  always_ff @(posedge clk_i) begin
    cfg_valid_o <= cfg_valid_i && rst_ni;
    cfg_rsp_o   <= '{status: status, words: 4'(L7ShareRowWords), data: 256'(row_read)};
  end

  // What is reserved, and what is left to all; none where the host has reserved too much.
  logic [31:0] reserved_packets_q, reserved_beats_q;
  count_t room_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear) begin
      reserved_packets_q <= '0;
      reserved_beats_q   <= '0;
    end else if (write) begin
      reserved_packets_q <= reserved_packets_q - 32'(row_read.packets) + 32'(row_in.packets);
      reserved_beats_q   <= reserved_beats_q - 32'(row_read.beats) + 32'(row_in.beats);
    end
    room_q.packets <= (reserved_packets_q > 32'(Packets)) ? '0 : PacketBits'(32'(Packets) - reserved_packets_q);
    room_q.beats   <= (reserved_beats_q > 32'(Beats)) ? '0 : BeatBits'(32'(Beats) - reserved_beats_q);
  end

  // Each count has one writer: what has come, and what has gone by either way, of the module's own.
  count_t shared_used_q, all_q;
  own_t own_in, left;
  own_t [1:0] own_out;
  logic fits_own, fits_shared, fits_all, takes_own;

  assign takes_own = take_i.valid && take_i.own;

  sluice_ram_lut #(
      .Width($bits(own_t)),
      .Depth(Modules)
  ) u_in (
      .clk_i,
      .we_i   (takes_own || clear),
      .waddr_i(clear ? index : module_in),
      .wdata_i(clear ? '0 : {own_in.packets + (PacketBits + 1)'(1), own_in.beats + (BeatBits + 1)'(take_i.beats)}),
      .raddr_i(module_in),
      .rdata_o(own_in)
  );

  for (genvar b = 0; b < 2; b++) begin : gen_back
    own_t gone;

    sluice_ram_lut #(
        .Width    ($bits(own_t)),
        .Depth    (Modules),
        .ReadPorts(2)
    ) u_out (
        .clk_i,
        .we_i   ((back_valid_i[b] && back_own_i[b]) || clear),
        .waddr_i(clear ? index : back_module_i[b]),
        .wdata_i(clear ? '0 : {gone.packets + (PacketBits + 1)'(1), gone.beats + (BeatBits + 1)'(back_beats_i[b])}),
        .raddr_i({module_in, back_module_i[b]}),
        .rdata_o({own_out[b], gone})
    );
  end

  // Behind the packet that is asked for. One sum, so that its carries go through once.
  assign left = '{
          packets: limit.packets + own_out[0].packets + own_out[1].packets - own_in.packets - (PacketBits + 1)'(1),
          beats: limit.beats + own_out[0].beats + own_out[1].beats - own_in.beats - (BeatBits + 1)'(ask_i.beats)
      };
  assign fits_own = !left.packets[PacketBits] && !left.beats[BeatBits];
  assign fits_shared = shared_used_q.packets < room_q.packets &&
      17'(shared_used_q.beats) + 17'(ask_i.beats) <= 17'(room_q.beats);
  assign fits_all = all_q.packets < PacketBits'(Packets) && 17'(all_q.beats) + 17'(ask_i.beats) <= 17'(Beats);

  // What comes back, a cycle later.
  count_t back_shared, back_all, back_shared_q, back_all_q;

  always_comb begin
    back_shared = '{packets: '0, beats: BeatBits'(take_i.less)};
    back_all = '{packets: '0, beats: BeatBits'(take_i.less)};
    for (int unsigned b = 0; b < 2; b++) begin
      if (back_valid_i[b] && !back_own_i[b]) begin
        back_shared.packets += PacketBits'(1);
        back_shared.beats += BeatBits'(back_beats_i[b]);
      end
      if (back_valid_i[b]) begin
        back_all.packets += PacketBits'(1);
        back_all.beats += BeatBits'(back_beats_i[b]);
      end
    end
  end

  logic all_tight, plenty_q;
  assign all_tight = 32'(all_q.packets) + PlentyPackets > Packets || 32'(all_q.beats) + PlentyBeats > Beats;
  logic [1:0] freed_q, freed_own_q;
  logic [1:0][ModuleBits-1:0] back_module_q, freed_module_q;
  logic freed_all_q, changed_q, changed_all_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      back_shared_q <= '0;
      back_all_q <= '0;
      shared_used_q <= '0;
      all_q <= '0;
      plenty_q <= 1'b0;
      freed_q <= '0;
      freed_own_q <= '0;
      freed_all_q <= 1'b0;
      changed_q <= 1'b0;
      changed_all_q <= 1'b0;
    end else begin
      back_shared_q <= back_shared;
      back_all_q <= back_all;
      shared_used_q.packets <= shared_used_q.packets + PacketBits'(take_i.valid && !take_i.own) - back_shared_q.packets;
      shared_used_q.beats <= shared_used_q.beats + ((take_i.valid && !take_i.own) ? BeatBits'(take_i.beats) : '0) -
          back_shared_q.beats;
      all_q.packets <= all_q.packets + PacketBits'(take_i.valid) - back_all_q.packets;
      all_q.beats <= all_q.beats + (take_i.valid ? BeatBits'(take_i.beats) : '0) - back_all_q.beats;
      // A packet that is taken in this cycle is the first of the two.
      plenty_q <= 32'(shared_used_q.packets) + PlentyPackets <= 32'(room_q.packets) &&
          32'(shared_used_q.beats) + PlentyBeats <= 32'(room_q.beats) && !all_tight;
      freed_q <= back_valid_i & back_own_i;
      freed_own_q <= freed_q;
      // Rows that change make room too; and where they have changed, another's room may be what is waited for.
      changed_q <= write || back_shared != '0 || (back_all != '0 && all_tight);
      changed_all_q <= changed_q;
      freed_all_q <= changed_all_q;
    end
    for (int unsigned b = 0; b < 2; b++) back_module_q[b] <= ModuleBits'(back_module_i[b]);
    freed_module_q <= back_module_q;
  end

  assign room_o = '{
          fits: (fits_own || fits_shared) && fits_all,
          own: fits_own,
          plenty: plenty_q,
          freed_own: freed_own_q,
          freed_module: freed_module_q,
          freed_all: freed_all_q
      };
  assign empty_o = all_q.packets == '0;

`ifndef SYNTHESIS
  // Rows that change may take room away that was answered before.
  logic [2:0] written_q;
  always_ff @(posedge clk_i) written_q <= rst_ni ? {written_q[1:0], write || clear} : '0;

  NoMoreThanThereIs_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) 32'(all_q.packets) <= Packets && 32'(all_q.beats) <= Beats);
  OnlyWhereThereIsRoom_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni || written_q != '0) !take_i.valid ||
                   (take_i.own ? fits_own : fits_shared || plenty_q));
  WithoutPacketsNothingIsTaken_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) all_q.packets == '0 && back_all_q == '0 && back_all == '0 |->
                   all_q == '0 && shared_used_q == '0);
`endif

endmodule
