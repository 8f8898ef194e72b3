/// Back of the deparser: the delay line in which header beats wait for the packet's checksums, and its output.
///
/// The sums of a packet are complete with the last beat of its window, and may have to be written into an earlier one.
/// So beats stand in a queue until their packet's sums are there; beats behind the window follow. This queue also
/// takes up what is in flight when the output stalls: nothing before it stops at once, `room_o` says that there is
/// room for everything that may still come. It is registered, so no path leads from `m_ready_i` to the front.
///
/// Bytes behind the packet's last one are zero, and so is their keep.
///
/// Latency: a beat offered in a cycle leaves the output register three cycles later if its packet's sums come with
/// `sums_valid_i` two cycles after it. Throughput: one beat a cycle. The output holds until `m_ready_i`.
module sluice_rmt_deparse_out
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_rmt_rows_pkg::*;
  import sluice_rmt_pkg::*;
  import sluice_rmt_deparse_pkg::*;
#(
    parameter int unsigned Bytes = 64,
    // Beats that may come while `room_o` has not fallen yet.
    parameter int unsigned InFlight = 4,
    localparam int unsigned ByteBits = $clog2(Bytes)
) (
    input logic clk_i,
    input logic rst_ni,

    output logic room_o,

    input logic                     beat_valid_i,
    input logic [   Bytes-1:0][7:0] beat_data_i,
    input logic                     beat_last_i,
    input logic [ByteBits-1:0]      beat_end_i,     // last byte of the last beat
    input logic                     beat_window_i,
    input logic [         1:0]      beat_number_i,  // in the window

    // Once a packet, with or before its first beat.
    input logic      meta_valid_i,
    input sideband_t meta_side_i,
    input route_t    meta_route_i,

    // Once a packet.
    input logic          sums_valid_i,
    input deparse_sums_t sums_i,

    output logic                    m_valid_o,
    input  logic                    m_ready_i,
    output logic      [8*Bytes-1:0] m_data_o,
    output logic      [  Bytes-1:0] m_keep_o,
    output logic                    m_last_o,
    output sideband_t               m_side_o,
    output route_t                  m_route_o
);

  localparam int unsigned Depth = 32;
  localparam int unsigned LevelBits = $clog2(Depth + 1);

  typedef struct packed {
    logic                  last;
    leading_t              end_code;  // bytes before the last one, or all
    logic                  window;
    logic [1:0]            number;
    logic [Bytes-1:0][7:0] data;
  } beat_t;

  typedef struct packed {
    sideband_t side;
    route_t route;
  } meta_t;

  beat_t beat_in, beat;
  meta_t meta_in, meta;
  deparse_sums_t sums;
  logic beat_valid, beat_ready, meta_valid, meta_ready, sums_valid, sums_ready, go, done;
  logic [LevelBits-1:0] level;

  assign beat_in = '{
          last: beat_last_i,
          end_code: leading(!beat_last_i, 6'(beat_end_i)),
          window: beat_window_i,
          number: beat_number_i,
          data: beat_data_i
      };
  assign meta_in = '{side: meta_side_i, route: meta_route_i};

  sluice_fifo #(
      .Width($bits(beat_t)),
      .Depth(Depth)
  ) u_beats (
      .clk_i,
      .rst_ni,
      .valid_i(beat_valid_i),
      .ready_o(beat_ready),
      .data_i (beat_in),
      .valid_o(beat_valid),
      .ready_i(go),
      .data_o (beat),
      .level_o(level)
  );

  // Each packet of these two has a beat in the queue or on its way there, or is the one that leaves: they have room.
  logic [LevelBits-1:0] unused_meta_level, unused_sums_level;

  sluice_fifo #(
      .Width($bits(meta_t)),
      .Depth(Depth)
  ) u_meta (
      .clk_i,
      .rst_ni,
      .valid_i(meta_valid_i),
      .ready_o(meta_ready),
      .data_i (meta_in),
      .valid_o(meta_valid),
      .ready_i(done),
      .data_o (meta),
      .level_o(unused_meta_level)
  );

  sluice_fifo #(
      .Width($bits(deparse_sums_t)),
      .Depth(Depth)
  ) u_sums (
      .clk_i,
      .rst_ni,
      .valid_i(sums_valid_i),
      .ready_o(sums_ready),
      .data_i (sums_i),
      .valid_o(sums_valid),
      .ready_i(done),
      .data_o (sums),
      .level_o(unused_sums_level)
  );

  assign go   = beat_valid && sums_valid && (!m_valid_o || m_ready_i);
  assign done = go && beat.last;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) room_o <= 1'b0;
    else room_o <= level <= LevelBits'(Depth - InFlight);
  end

  // Patch. Whatever the parity of `at`: even bytes take the high byte, odd ones the low byte.
  logic [Bytes-1:0] keep;
  logic [1:0] number_before;
  logic [1:0][Bytes-1:0] hit;
  logic [Bytes-1:0][7:0] data;

  assign keep = Bytes'({leading_bytes(beat.end_code), 1'b1});

  // One less; an operator would become a carry chain.
  assign number_before = {beat.number[1] ^ !beat.number[0], !beat.number[0]};

  for (genvar u = 0; u < 2; u++) begin : gen_hit
    (* keep *) logic [7:0] low;
    (* keep *) logic [Bytes/8:0] high;
    logic [6:0] at;
    assign at = sums.at[u];
    for (genvar i = 0; i < 8; i++) begin : gen_low
      assign low[i] = at[2:0] == 3'(i);
    end
    // Eight bytes each; the first one are those before the beat, whose last byte's partner is this beat's first.
    for (genvar i = 0; i <= int'(Bytes / 8); i++) begin : gen_high
      localparam int unsigned Group = (i + Bytes / 8 - 1) % (Bytes / 8);
      assign high[i] = sums.valid[u] && beat.window && at[ByteBits-1:3] == (ByteBits - 3)'(Group) &&
          2'(at[6:ByteBits]) == ((i == 0) ? number_before : beat.number);
    end
    for (genvar i = 0; i < int'(Bytes); i++) begin : gen_byte
      assign hit[u][i] = (high[i/8+1] && low[i%8]) || (high[(i+7)/8] && low[(i+7)%8]);
    end
  end

  for (genvar i = 0; i < int'(Bytes); i++) begin : gen_patch
    logic [1:0][7:0] sum;
    assign sum[0]  = i % 2 == 0 ? sums.sum[0][15:8] : sums.sum[0][7:0];
    assign sum[1]  = i % 2 == 0 ? sums.sum[1][15:8] : sums.sum[1][7:0];
    assign data[i] = {8{keep[i]}} & (hit[1][i] ? ~sum[1] : (hit[0][i] ? ~sum[0] : beat.data[i]));
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) m_valid_o <= 1'b0;
    else if (!m_valid_o || m_ready_i) m_valid_o <= go;
  end

  always_ff @(posedge clk_i) begin
    if (go) begin
      m_data_o  <= data;
      m_keep_o  <= keep;
      m_last_o  <= beat.last;
      m_side_o  <= meta.side;
      m_route_o <= meta.route;
    end
  end

`ifndef SYNTHESIS
  logic stalled;
  assign stalled = rst_ni && m_valid_o && !m_ready_i;

  QueuesHaveRoom_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni)
      (!beat_valid_i || beat_ready) && (!meta_valid_i || meta_ready) && (!sums_valid_i || sums_ready));
  EveryBeatHasItsPacketsMeta_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !go || meta_valid);
  // A property would copy what is wide in every cycle.
  logic stalled_q;
  logic [9 * Bytes + 1 + $bits(meta_t)-1:0] held_q;
  always_ff @(posedge clk_i) begin
    stalled_q <= stalled;
    if (stalled) held_q <= {m_data_o, m_keep_o, m_last_o, m_side_o, m_route_o};
    if (rst_ni && stalled_q) begin
      OutputHoldsUntilReady_A : assert (m_valid_o && {m_data_o, m_keep_o, m_last_o, m_side_o, m_route_o} == held_q);
    end
  end
`endif

endmodule
