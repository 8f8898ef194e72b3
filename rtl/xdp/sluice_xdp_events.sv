/// Events of programs on their way to the host: perf events, records of ring buffers, numbers for `trace_printk`
/// (docs/design/hxdp-core.md, "Events").
///
/// Each module has a ring of `XdpEventWords` words of its own, so none takes another's room. An event is a header and its data, and is there
/// for the host as a whole or not at all: `EventBegin` asks for its room, `EventWord` adds 8 bytes, `EventEnd` shows it, and
/// `EventUndo` forgets it. They come from the helper, one event behind the other. `EventReserve`
/// sets room aside for a later begin (with `reserved`), `EventReturn` and `abandon_valid_i` give it back.
///
/// `event_room_o` says with `event_ready_o` whether a begin or reserve has found room; what has not is counted as lost.
///
/// Configuration: `xdp_events`, `xdp_events_taken` (the host frees what it has read; a place beyond what is there spoils that module's own
/// ring), `xdp_event_data`; answered 2 cycles after `cfg_valid_i`. A clear empties a module's ring.
///
/// Latency: 2 cycles. Throughput: a request every two cycles, an abandoned record every two. Stall behaviour: a request holds with its values
/// until `event_ready_o`; what was abandoned goes first.
module sluice_xdp_events
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
#(
    parameter int unsigned Modules = 64,
    parameter int unsigned Cores = 2,
    parameter int unsigned Contexts = 8,
    localparam int unsigned IndexBits = $clog2(Modules)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic       event_valid_i,
    output logic       event_ready_o,
    // "Bits of signal are not used": modules are numbered as for the largest target.
    // verilator lint_off UNUSEDSIGNAL
    input  xdp_event_t event_i,
    // verilator lint_on UNUSEDSIGNAL
    output logic       event_room_o,

    // A program has ended while it had room set aside.
    input logic       [Cores-1:0] abandon_valid_i,
    // verilator lint_off UNUSEDSIGNAL
    input xdp_event_t [Cores-1:0] abandon_i,
    // verilator lint_on UNUSEDSIGNAL

    input  logic     cfg_valid_i,
    // "Bits of signal are not used": the tables take a few words.
    // verilator lint_off UNUSEDSIGNAL
    input  cfg_req_t cfg_req_i,
    // verilator lint_on UNUSEDSIGNAL
    output logic     cfg_valid_o,
    output cfg_rsp_t cfg_rsp_o
);

  localparam int unsigned PlaceBits = $clog2(XdpEventWords);
  localparam int unsigned CoreBits = (Cores == 1) ? 1 : $clog2(Cores);
  localparam int unsigned Depth = Modules * XdpEventWords;

  typedef logic [IndexBits-1:0] index_t;
  typedef logic [CoreBits-1:0] core_t;

  // ---------------------------------------------------------------------------------------------------------------
  // Abandoned records: each context has one at most, for it reserves another one only when all that were abandoned are done.

  logic [Cores-1:0] abandoned_valid, abandoned_ready, unused_abandon_room;
  xdp_event_t [Cores-1:0] abandoned;
  for (genvar c = 0; c < int'(Cores); c++) begin : gen_abandoned
    logic [$clog2(Contexts+1)-1:0] unused_level;
    sluice_fifo #(
        .Width($bits(xdp_event_t)),
        .Depth(Contexts)
    ) u_abandoned (
        .clk_i,
        .rst_ni,
        .valid_i(abandon_valid_i[c]),
        .ready_o(unused_abandon_room[c]),
        .data_i (abandon_i[c]),
        .valid_o(abandoned_valid[c]),
        .ready_i(abandoned_ready[c]),
        .data_o (abandoned[c]),
        .level_o(unused_level)
    );
`ifndef SYNTHESIS
    AbandonedHaveRoom_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) !abandon_valid_i[c] || unused_abandon_room[c]);
`endif
  end

  // ---------------------------------------------------------------------------------------------------------------
  // Who is next: what was abandoned, else the helper's event.

  logic busy_q, is_event_q, picks_abandoned;
  core_t picked;
  // "Bits of signal are not used": modules are numbered as for the largest target.
  // verilator lint_off UNUSEDSIGNAL
  xdp_event_t event_q;
  // verilator lint_on UNUSEDSIGNAL

  always_comb begin
    picks_abandoned = 1'b0;
    picked = '0;
    for (int unsigned c = 0; c < Cores; c++) begin
      if (abandoned_valid[c]) begin
        picks_abandoned = 1'b1;
        picked = core_t'(c);
      end
    end
    abandoned_ready = '0;
    if (!busy_q && picks_abandoned) abandoned_ready[picked] = 1'b1;
  end

  always_ff @(posedge clk_i) begin
    busy_q <= !busy_q && (event_valid_i || picks_abandoned) && rst_ni;
    if (!busy_q) begin
      is_event_q <= !picks_abandoned;
      event_q    <= picks_abandoned ? abandoned[picked] : event_i;
    end
  end

  // ---------------------------------------------------------------------------------------------------------------
  // What becomes of it.

  // A reset leaves RAM alone: a clear empties it.
  logic clear, room, writes_state, writes_word, taken_written, cfg_hit, cfg_hit_q;
  index_t index, cfg_index;
  xdp_events_row_t state, cfg_state, cfg_state_q, new_state;
  xdp_events_taken_row_t taken, cfg_taken, cfg_taken_q;
  logic [PlaceBits:0] cursor_q, free;
  logic [63:0] cfg_word;
  cfg_status_e status;

  assign clear = cfg_req_i.clear;
  assign cfg_index = cfg_req_i.index[IndexBits-1:0];
  assign index = event_q.module_id[IndexBits-1:0];
  assign free = (PlaceBits + 1)'(XdpEventWords) - (state.produced - taken.taken) - state.reserved;
  assign room = event_q.reserved || event_q.words <= free;

  always_comb begin
    new_state = state;
    case (event_q.op)
      EventReserve: if (room) new_state.reserved = state.reserved + event_q.words;
      EventReturn: new_state.reserved = state.reserved - event_q.words;
      EventBegin: if (event_q.reserved) new_state.reserved = state.reserved - event_q.words;
      EventEnd: new_state.produced = cursor_q;
      default: ;
    endcase
    if (event_q.op inside {EventReserve, EventBegin} && !room) new_state.lost = state.lost + 32'd1;
  end

  always_ff @(posedge clk_i) begin
    if (busy_q && event_q.op == EventBegin) cursor_q <= state.produced + (PlaceBits + 1)'(1);
    if (busy_q && event_q.op == EventWord) cursor_q <= cursor_q + (PlaceBits + 1)'(1);
  end

  assign writes_state  = busy_q && event_q.op != EventWord && event_q.op != EventUndo;
  assign writes_word   = busy_q && ((event_q.op == EventBegin && room) || event_q.op == EventWord);
  assign event_room_o  = room;
  assign event_ready_o = busy_q && is_event_q;

  // An event's words come from one module, which does not change while it is written.
  sluice_ram_lut #(
      .Width    (XdpEventsRowBits),
      .Depth    (Modules),
      .ReadPorts(2)
  ) u_state (
      .clk_i,
      .we_i   (writes_state || clear),
      .waddr_i(clear ? cfg_index : index),
      .wdata_i(clear ? '0 : new_state),
      .raddr_i({cfg_index, index}),
      .rdata_o({cfg_state, state})
  );

  sluice_ram_lut #(
      .Width    (XdpEventsTakenRowBits),
      .Depth    (Modules),
      .ReadPorts(2)
  ) u_taken (
      .clk_i,
      .we_i   (taken_written || clear),
      .waddr_i(cfg_index),
      .wdata_i(clear ? '0 : cfg_req_i.data[XdpEventsTakenRowBits-1:0]),
      .raddr_i({cfg_index, index}),
      .rdata_o({cfg_taken, taken})
  );

  sluice_ram_1r1w #(
      .Width(64),
      .Depth(Depth),
      .Style("block")
  ) u_words (
      .clk_i,
      .wr_en_i  (writes_word),
      .wr_addr_i({index, (event_q.op == EventBegin) ? state.produced[PlaceBits-1:0] : cursor_q[PlaceBits-1:0]}),
      .wr_data_i(event_q.data),
      .rd_en_i  (cfg_hit),
      .rd_addr_i(cfg_req_i.index[PlaceBits+IndexBits-1:0]),
      .rd_data_o(cfg_word)
  );

  // ---------------------------------------------------------------------------------------------------------------
  // The host.

  assign cfg_hit = cfg_valid_i && cfg_req_i.tab inside {TableXdpEvents, TableXdpEventsTaken, TableXdpEventData};
  assign taken_written = cfg_hit && cfg_req_i.tab == TableXdpEventsTaken && cfg_req_i.write && status == StatusOk;
  always_comb begin
    case (cfg_req_i.tab)
      TableXdpEvents: status = cfg_check(cfg_req_i, 1'b1, 1'b0, 24'(Modules), 4'(XdpEventsRowWords));
      TableXdpEventsTaken: status = cfg_check(cfg_req_i, 1'b1, 1'b1, 24'(Modules), 4'(XdpEventsTakenRowWords));
      default: status = cfg_check(cfg_req_i, 1'b1, 1'b0, 24'(Depth), 4'(XdpEventDataRowWords));
    endcase
  end

  always_ff @(posedge clk_i) begin
    cfg_hit_q   <= cfg_hit && rst_ni;
    cfg_valid_o <= cfg_hit_q && rst_ni;
    if (cfg_hit) begin
      cfg_state_q <= cfg_state;
      cfg_taken_q <= cfg_taken;
    end
    case (cfg_req_i.tab)
      TableXdpEvents: cfg_rsp_o <= '{status: status, words: 4'(XdpEventsRowWords), data: 256'(cfg_state_q)};
      TableXdpEventsTaken:
      cfg_rsp_o <= '{status: status, words: 4'(XdpEventsTakenRowWords), data: 256'(cfg_taken_q)};
      default: cfg_rsp_o <= '{status: status, words: 4'(XdpEventDataRowWords), data: 256'(cfg_word)};
    endcase
    if (!cfg_hit_q) cfg_rsp_o <= '0;
  end

endmodule
