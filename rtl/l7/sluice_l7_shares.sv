/// Room of the staging buffer: packets and beats, of which modules have some for themselves (table `l7_share`, which has weights too).
///
/// A packet of `beats_i` beats fits when the module has both left of its own, or when both are left of what nobody has
/// reserved (`shared_o`): so a module with a share waits for no other one. `take_i` gives the packet its room, in a cycle with `fits_o`;
/// `back_*` gives it back. Room that has come back is there from the next cycle on. The host reserves no more than there is.
///
/// Configuration: answered a cycle after `cfg_valid_i`. A clear empties a module's counts; no packet is there then.
/// Latency: 0 cycles. Throughput: a packet a cycle in, and one back. Never stalls.
module sluice_l7_shares
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_l7_rows_pkg::*;
#(
    parameter int unsigned Modules = 64,
    parameter int unsigned Packets = 256,
    parameter int unsigned Beats = 1024,
    localparam int unsigned IndexBits = $clog2(Modules),
    localparam int unsigned PacketBits = $clog2(Packets + 1),
    localparam int unsigned BeatBits = $clog2(Beats + 1)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic [IndexBits-1:0] module_i,
    input  logic [ BeatBits-1:0] beats_i,
    output logic                 fits_o,
    output logic                 shared_o,
    input  logic                 take_i,

    input logic                 back_valid_i,
    input logic [IndexBits-1:0] back_module_i,
    input logic [ BeatBits-1:0] back_beats_i,
    input logic                 back_shared_i,

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

  logic clear, write;
  logic [IndexBits-1:0] index;
  cfg_status_e status;
  // "Bits of signal are not used": the weight is not for what is done here, and the rest not for the scheduler.
  // verilator lint_off UNUSEDSIGNAL
  l7_share_row_t row_in, row_read, row, weight_row;
  // verilator lint_on UNUSEDSIGNAL

  assign clear  = cfg_req_i.clear;
  assign index  = cfg_req_i.index[IndexBits-1:0];
  assign status = cfg_check(cfg_req_i, 1'b1, 1'b1, 24'(Modules), 4'(L7ShareRowWords));
  assign write  = cfg_valid_i && cfg_req_i.write && status == StatusOk;
  assign row_in = clear ? '0 : cfg_req_i.data[L7ShareRowBits-1:0];

  sluice_ram_lut #(
      .Width    (L7ShareRowBits),
      .Depth    (Modules),
      .ReadPorts(3)
  ) u_rows (
      .clk_i,
      .we_i   (write || clear),
      .waddr_i(index),
      .wdata_i(row_in),
      .raddr_i({weight_index_i, module_i, index}),
      .rdata_o({weight_row, row, row_read})
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

  // Each count has one writer: what has come, and what has gone, of the module's own.
  count_t own_in, own_out, own_gone, used, shared_used_q, all_q;
  logic fits_own, fits_shared, fits_all;

  assign used = '{packets: own_in.packets - own_out.packets, beats: own_in.beats - own_out.beats};
  assign fits_own = 17'(used.packets) < 17'(row.packets) && 17'(used.beats) + 17'(beats_i) <= 17'(row.beats);
  assign fits_shared = shared_used_q.packets < room_q.packets &&
      17'(shared_used_q.beats) + 17'(beats_i) <= 17'(room_q.beats);
  assign fits_all = all_q.packets < PacketBits'(Packets) && 17'(all_q.beats) + 17'(beats_i) <= 17'(Beats);
  assign fits_o = (fits_own || fits_shared) && fits_all;
  assign shared_o = !fits_own;

  sluice_ram_lut #(
      .Width($bits(count_t)),
      .Depth(Modules)
  ) u_in (
      .clk_i,
      .we_i   ((take_i && fits_own) || clear),
      .waddr_i(clear ? index : module_i),
      .wdata_i(clear ? '0 : {own_in.packets + PacketBits'(1), own_in.beats + beats_i}),
      .raddr_i(module_i),
      .rdata_o(own_in)
  );
  sluice_ram_lut #(
      .Width    ($bits(count_t)),
      .Depth    (Modules),
      .ReadPorts(2)
  ) u_out (
      .clk_i,
      .we_i   ((back_valid_i && !back_shared_i) || clear),
      .waddr_i(clear ? index : back_module_i),
      .wdata_i(clear ? '0 : {own_gone.packets + PacketBits'(1), own_gone.beats + back_beats_i}),
      .raddr_i({module_i, back_module_i}),
      .rdata_o({own_out, own_gone})
  );

  logic takes_shared, back_shared;
  assign takes_shared = take_i && !fits_own;
  assign back_shared  = back_valid_i && back_shared_i;
  assign empty_o      = all_q.packets == '0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      shared_used_q <= '0;
      all_q         <= '0;
    end else begin
      all_q.packets <= all_q.packets + PacketBits'(take_i) - PacketBits'(back_valid_i);
      all_q.beats <= all_q.beats + (take_i ? beats_i : '0) - (back_valid_i ? back_beats_i : '0);
      shared_used_q.packets <= shared_used_q.packets + PacketBits'(takes_shared) - PacketBits'(back_shared);
      shared_used_q.beats <= shared_used_q.beats + (takes_shared ? beats_i : '0) - (back_shared ? back_beats_i : '0);
    end
  end

`ifndef SYNTHESIS
  RoomIsTakenWhereItIs_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !take_i || fits_o);
`endif

endmodule
